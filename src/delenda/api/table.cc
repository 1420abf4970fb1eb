#include "delenda/table.h"

#include <utility>

#include "delenda/api/plan_info.h"
#include "delenda/api/storage.h"
#include "delenda/api/table_impl.h"
#include "delenda/api/table_place.h"
#include "delenda/api/table_rows.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/plan/change_planner.h"
#include "delenda/plan/plan_json.h"
#include "delenda/plan/shard.h"
#include "delenda/read/count.h"

namespace delenda {
namespace {

read::ReadOptions ToReadOptions(const ScanOptions& options, const OpenOptions& open) {
  read::ReadOptions result;
  result.threads = open.threads;
  result.ordered = options.ordered;
  result.limit = options.limit;
  result.verify_footers = options.verify_footers;
  result.hooks = open.hooks;
  return result;
}

void LogWarnings(const Hooks& hooks, const std::vector<std::string>& warnings) {
  if (!hooks.log) return;
  for (const auto& warning : warnings) hooks.log(LogLevel::kWarning, warning);
}

}  // namespace

Result<LocationMapping> ParseLocationMapping(std::string_view text) {
  auto mapping = DELENDA_TRY(io::ParseLocationMapping(text));
  return LocationMapping{.from = std::move(mapping.from), .to = std::move(mapping.to)};
}

Table::Impl::Impl(OpenOptions open_options) : options(std::move(open_options)), executor(options.threads) {
  api::Storage storage = api::MakeStorage(options);
  mappings = std::move(storage.mappings);
  counter = std::move(storage.counter);
  io = std::move(storage.io);
}

Result<plan::ScanPlan> Table::Impl::MakePlan(const ScanOptions& scan) const {
  plan::ScanRequest request;
  request.snapshot = Select(scan.at);
  request.select_all = !scan.columns.has_value();
  if (scan.columns) request.select = *scan.columns;
  request.with_metadata = scan.with_metadata;
  request.where = scan.where;
  request.split_size = scan.split_size;
  request.allow_dangling_dvs = scan.allow_dangling_dvs;
  auto planned = DELENDA_TRY(plan::PlanScan(loaded.metadata, *io, request, executor, options.hooks));
  LogWarnings(options.hooks, planned.warnings);
  return planned;
}

Result<std::shared_ptr<const plan::ScanPlan>> Table::Impl::Plan(const ScanOptions& scan) const {
  return std::make_shared<const plan::ScanPlan>(DELENDA_TRY(MakePlan(scan)));
}

Result<std::shared_ptr<const plan::ChangePlan>> Table::Impl::PlanChanges(const ChangeOptions& changes) const {
  plan::ChangeRequest request;
  request.from = Select(changes.from);
  request.from_inclusive = changes.from_inclusive;
  request.to = Select(changes.to);
  request.branch = changes.branch;
  request.select_all = !changes.columns.has_value();
  if (changes.columns) request.select = *changes.columns;
  request.with_metadata = changes.with_metadata;
  request.where = changes.where;
  request.resolve_deletes = changes.resolve_deletes;
  auto planned = DELENDA_TRY(plan::PlanChanges(loaded.metadata, *io, request, executor, options.hooks));
  LogWarnings(options.hooks, planned.warnings);
  return std::make_shared<const plan::ChangePlan>(std::move(planned));
}

Table::Table(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Table> Table::Open(std::string_view location, OpenOptions options) {
  auto impl = std::make_shared<Impl>(std::move(options));
  const auto place = DELENDA_TRY(api::FindTable(location, impl->options, impl->io));
  const std::string path = place.catalog ? DELENDA_TRY(place.catalog->Locate(place.name)) : place.path;
  impl->loaded = DELENDA_TRY(iceberg::LoadTable(*impl->io, path));
  return Table(std::move(impl));
}

std::string_view Table::format() const { return "iceberg"; }
int32_t Table::format_version() const { return impl_->loaded.metadata.format_version; }
const std::string& Table::location() const { return impl_->loaded.metadata.location; }
const std::string& Table::metadata_path() const { return impl_->loaded.metadata_path; }
const std::string& Table::uuid() const { return impl_->loaded.metadata.table_uuid; }
std::optional<int64_t> Table::current_snapshot_id() const { return impl_->loaded.metadata.current_snapshot_id; }

Result<RowStream> Table::Scan(const ScanOptions& options) const {
  return parquet::Guarded([&]() -> Result<RowStream> {
    auto planned = DELENDA_TRY(impl_->Plan(options));
    return api::OpenRows(std::move(planned), impl_->io, ToReadOptions(options, impl_->options));
  });
}

Result<CountInfo> Table::Count(const ScanOptions& options) const {
  return parquet::Guarded([&]() -> Result<CountInfo> {
    // No column is wanted but those of the filter.
    ScanOptions counted = options;
    counted.columns = std::vector<std::string>();
    counted.with_metadata = false;
    const auto planned = DELENDA_TRY(impl_->Plan(counted));
    const auto count = DELENDA_TRY(read::CountRows(planned, impl_->io, ToReadOptions(options, impl_->options)));
    return CountInfo{.rows = count.rows,
                     .files_by_metadata = count.files_by_metadata,
                     .files_read = count.files_read,
                     .files_pruned = planned->metrics.data_files_pruned};
  });
}

Result<PlanInfo> Table::Plan(const ScanOptions& options) const {
  plan::ScanPlan planned = DELENDA_TRY(impl_->MakePlan(options));
  auto info = api::ToPlanInfo(planned, impl_->executor);
  // Nothing is left in it, but giving back the memory of hundreds of thousands of tasks takes its time.
  impl_->executor.Submit([planned = std::move(planned)]() mutable { planned = {}; });
  return info;
}

Result<std::string> Table::PlanJson(const ScanOptions& options) const {
  return plan::PlanToJson(*DELENDA_TRY(impl_->Plan(options)));
}

Result<std::vector<std::string>> Table::Shards(const ScanOptions& options, size_t count) const {
  const auto planned = DELENDA_TRY(impl_->Plan(options));
  std::vector<std::string> texts;
  for (const auto& shard : DELENDA_TRY(plan::SplitPlan(*planned, count))) {
    texts.push_back(DELENDA_TRY(plan::PlanToJson(shard, json::Writer::Style::kCompact)));
  }
  return texts;
}

IoStats Table::Io() const { return api::ToIoStats(*impl_->counter); }

}  // namespace delenda
