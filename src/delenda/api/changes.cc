#include "delenda/changes.h"

#include <map>
#include <span>
#include <utility>

#include "delenda/api/change_rows.h"
#include "delenda/api/table_impl.h"
#include "delenda/formats/parquet/arrow_status.h"

namespace delenda {
namespace {

api::ChangeSource SourceOf(const Table::Impl& table, std::shared_ptr<const plan::ChangePlan> plan,
                           const ChangeReadOptions& options) {
  api::ChangeSource source{.plan = std::move(plan), .io = table.io};
  source.read.threads = table.options.threads;
  source.read.verify_footers = options.verify_footers;
  source.read.hooks = table.options.hooks;
  std::map<int64_t, int64_t> sequence_numbers;
  for (const auto& snapshot : table.loaded.metadata.snapshots)
    sequence_numbers[snapshot.snapshot_id] = snapshot.sequence_number;
  source.sequence_numbers = std::make_shared<const std::map<int64_t, int64_t>>(std::move(sequence_numbers));
  return source;
}

}  // namespace

class SnapshotChanges::Impl {
 public:
  api::ChangeSource source;
  std::span<const plan::ChangeTask> tasks;  // of the plan; never empty
  ChangeReadOptions options;
};

SnapshotChanges::SnapshotChanges(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

int64_t SnapshotChanges::snapshot_id() const { return impl_->tasks.front().commit_snapshot_id; }

int32_t SnapshotChanges::ordinal() const {
  return impl_->options.first_ordinal + static_cast<int32_t>(impl_->tasks.front().change_ordinal);
}

Result<RowStream> SnapshotChanges::Read() const {
  return parquet::Guarded([&] { return api::OpenChangeRows(impl_->source, impl_->tasks, impl_->options); });
}

Result<RowStream> Table::Changes(const ChangeReadOptions& options) const {
  return parquet::Guarded([&]() -> Result<RowStream> {
    const auto planned = DELENDA_TRY(impl_->PlanChanges(options.range));
    return api::OpenChangeRows(SourceOf(*impl_, planned, options), planned->tasks, options);
  });
}

Result<std::vector<SnapshotChanges>> Table::ChangesBySnapshot(const ChangeReadOptions& options) const {
  return parquet::Guarded([&]() -> Result<std::vector<SnapshotChanges>> {
    if (options.net) return InvalidArgument("net changes are those of a whole range, not of each snapshot");
    const auto planned = DELENDA_TRY(impl_->PlanChanges(options.range));
    const api::ChangeSource source = SourceOf(*impl_, planned, options);
    std::vector<SnapshotChanges> result;
    const std::span<const plan::ChangeTask> tasks(planned->tasks);
    for (size_t begin = 0; begin < tasks.size();) {
      size_t end = begin + 1;
      while (end < tasks.size() && tasks[end].commit_snapshot_id == tasks[begin].commit_snapshot_id) ++end;
      auto impl = std::make_shared<SnapshotChanges::Impl>();
      impl->source = source;
      impl->tasks = tasks.subspan(begin, end - begin);
      impl->options = options;
      result.push_back(SnapshotChanges(std::move(impl)));
      begin = end;
    }
    return result;
  });
}

}  // namespace delenda
