// Callers' resolvers, as operations call their own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/delta_writer.h"
#include "delenda/ops/key_positions.h"

namespace delenda::api {

// What a caller's resolver finds is checked: a file or position that is not there would be deleted from nothing, and
// one of another partition or of newer rows from the wrong ones.
class CallersResolver final : public ops::KeyPositionResolver {
 public:
  // Null: of no use. `resolver` must outlive it.
  static std::optional<CallersResolver> Of(const delenda::KeyPositionResolver* resolver);

  Result<std::vector<ops::KeyPositions>> Resolve(const commit::TableSession& session,
                                                 std::span<const ops::KeyQuery> queries) const override;

 private:
  explicit CallersResolver(const delenda::KeyPositionResolver& resolver) : resolver_(&resolver) {}

  const delenda::KeyPositionResolver* resolver_;
};

}  // namespace delenda::api
