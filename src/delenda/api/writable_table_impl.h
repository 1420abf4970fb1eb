// What a WritableTable holds, and how changes are reported.
#pragma once

#include <optional>

#include "delenda/api/storage.h"
#include "delenda/base/executor.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/row_change.h"
#include "delenda/write.h"

namespace delenda {

class WritableTable::Impl {
 public:
  explicit Impl(const OpenOptions& options) : storage(api::MakeStorage(options)), executor(options.threads) {}

  api::Storage storage;
  Executor executor;
  std::optional<commit::TableSession> session;
};

namespace api {

ChangeReport ToReport(const ops::RowChange& change);

}  // namespace api
}  // namespace delenda
