#include "delenda/ops/convert_deletes.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "delenda/commit/intent.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/delete_loader.h"

namespace delenda::ops {
namespace {

using ConvertOutcome = Result<std::variant<RowChange, commit::LookAgain>>;

Result<std::vector<ContentFile>> LiveDeletesOf(const commit::TableSession& session, const std::string& branch,
                                               FileContent content) {
  auto files = DELENDA_TRY(session.LiveDeletes(branch));
  std::erase_if(files, [&](const ContentFile& file) { return file.content != content || file.IsDeletionVector(); });
  return files;
}

commit::Intent ConversionIntent(const commit::TableSession& session, const std::string& branch) {
  commit::Intent intent;
  intent.operation = commit::Operation::kReplace;
  intent.branch = branch;
  intent.base_snapshot_id = session.head(branch);
  return intent;
}

ConvertOutcome FinishConversion(const commit::TableSession& session, commit::Intent intent,
                                const ConvertOptions& options, RowChange change) {
  change.is_dry_run = options.dry_run;
  change.delete_files_converted = intent.removed_delete_files.size();
  for (const auto& file : intent.deletes) {
    const bool is_whole = file.deleted.cardinality() == static_cast<uint64_t>(file.file.record_count);
    ++(is_whole ? change.files_dropped : change.files_changed);
  }
  if (options.dry_run || intent.removed_delete_files.empty()) return change;
  write::StagedFiles staged(session.io());
  return CommitChange(session, intent, staged, change);
}

ConvertOutcome TryEqualityDeletes(const commit::TableSession& session, const ConvertOptions& options) {
  DELENDA_TRY(session.CheckBranch(options.branch));
  const ScanKeyPositionResolver scan;
  const auto files = DELENDA_TRY(LiveDeletesOf(session, options.branch, FileContent::kEqualityDeletes));
  const EqualityDeleteConverter converter(
      session, options.branch, options.resolver != nullptr ? *options.resolver : scan, options.position_deletes);
  auto converted = DELENDA_TRY(converter.Convert(files));
  commit::Intent intent = ConversionIntent(session, options.branch);
  intent.conflict_filter = converted.conflict_filter;
  intent.deletes = std::move(converted.vectors);
  intent.removed_delete_files = std::move(converted.converted_deletes);
  RowChange change;
  change.rows_converted = converted.rows;
  return FinishConversion(session, std::move(intent), options, change);
}

// Every data file with position deletes gets a vector of what they and its own vector delete.
ConvertOutcome TryPositionDeletes(const commit::TableSession& session, const ConvertOptions& options) {
  DELENDA_TRY(session.CheckBranch(options.branch));
  DELENDA_TRY(CheckDeletes(session, options.branch));
  commit::Intent intent = ConversionIntent(session, options.branch);
  intent.removed_delete_files = DELENDA_TRY(LiveDeletesOf(session, options.branch, FileContent::kPositionDeletes));
  RowChange change;
  if (!intent.removed_delete_files.empty()) {
    const auto plan = DELENDA_TRY(session.Plan(options.branch, {.select_all = false}));
    std::vector<read::DeleteLoader::Need> needs;
    for (const plan::FileTask& task : plan->tasks) {
      if (!task.position_deletes.empty())
        needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
    }
    const auto loader = DELENDA_TRY(read::DeleteLoader::Make(*plan, needs, session.io(), false, session.hooks()));
    for (const auto& need : needs) {
      const PositionSet deleted = DELENDA_TRY(loader->Load(need));
      if (deleted.empty()) continue;
      change.rows_converted += deleted.cardinality();
      intent.deletes.push_back({.file = *need.file, .before = deleted, .deleted = deleted});
    }
  }
  return FinishConversion(session, std::move(intent), options, change);
}

}  // namespace

Result<RowChange> ConvertDeletes(commit::TableSession& session, const ConvertOptions& options) {
  RowChange positions;
  if (options.position_deletes)
    positions = DELENDA_TRY(RunUntilCommitted(session, [&] { return TryPositionDeletes(session, options); }));
  RowChange change = DELENDA_TRY(RunUntilCommitted(session, [&] { return TryEqualityDeletes(session, options); }));
  change.rows_converted += positions.rows_converted;
  change.delete_files_converted += positions.delete_files_converted;
  change.files_changed += positions.files_changed;
  change.files_dropped += positions.files_dropped;
  change.looked_again += positions.looked_again;
  if (!change.snapshot_id) change.snapshot_id = positions.snapshot_id;
  return change;
}

}  // namespace delenda::ops
