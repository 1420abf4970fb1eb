#include "delenda/shard.h"

#include <utility>

#include "delenda/api/change_rows.h"
#include "delenda/api/plan_info.h"
#include "delenda/api/storage.h"
#include "delenda/api/table_rows.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/plan/change_plan_json.h"
#include "delenda/plan/plan_json.h"

namespace delenda {

class Shard::Impl {
 public:
  OpenOptions options;
  api::Storage storage;
  std::shared_ptr<const plan::ScanPlan> plan;
};

Shard::Shard(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Shard> Shard::Parse(std::string_view json, OpenOptions options) {
  auto impl = std::make_shared<Impl>();
  impl->storage = api::MakeStorage(options);
  impl->options = std::move(options);
  impl->plan = std::make_shared<const plan::ScanPlan>(DELENDA_TRY(plan::PlanFromJson(json)));
  return Shard(std::move(impl));
}

Result<RowStream> Shard::Scan(const ShardScanOptions& options) const {
  return parquet::Guarded([&]() -> Result<RowStream> {
    read::ReadOptions read;
    read.threads = impl_->options.threads;
    read.ordered = options.ordered;
    read.limit = options.limit;
    read.verify_footers = options.verify_footers;
    read.hooks = impl_->options.hooks;
    return api::OpenRows(impl_->plan, impl_->storage.io, std::move(read));
  });
}

PlanInfo Shard::Plan() const { return api::ToPlanInfo(*impl_->plan); }

IoStats Shard::Io() const { return api::ToIoStats(*impl_->storage.counter); }

class ChangeShard::Impl {
 public:
  OpenOptions options;
  api::Storage storage;
  std::shared_ptr<const plan::ChangePlan> plan;
};

ChangeShard::ChangeShard(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<ChangeShard> ChangeShard::Parse(std::string_view json, OpenOptions options) {
  auto impl = std::make_shared<Impl>();
  impl->storage = api::MakeStorage(options);
  impl->options = std::move(options);
  impl->plan = std::make_shared<const plan::ChangePlan>(DELENDA_TRY(plan::ChangePlanFromJson(json)));
  return ChangeShard(std::move(impl));
}

Result<RowStream> ChangeShard::Changes(bool verify_footers) const {
  return parquet::Guarded([&]() -> Result<RowStream> {
    api::ChangeSource source{.plan = impl_->plan, .io = impl_->storage.io};
    source.read.threads = impl_->options.threads;
    source.read.verify_footers = verify_footers;
    source.read.hooks = impl_->options.hooks;
    return api::OpenChangeRows(source, impl_->plan->tasks, {.raw = true, .updates = ChangeUpdates::kNone});
  });
}

IoStats ChangeShard::Io() const { return api::ToIoStats(*impl_->storage.counter); }

}  // namespace delenda
