#include "delenda/ops/delete_keys.h"

#include <arrow/record_batch.h>

#include <memory>
#include <utility>

#include "delenda/commit/intent.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/keyed_source.h"

namespace delenda::ops {
namespace {

Result<std::variant<RowChange, commit::LookAgain>> TryDeleteKeys(const commit::TableSession& session,
                                                                 KeyedSource& source,
                                                                 const DeleteKeysOptions& options) {
  DELENDA_TRY(CheckDeletes(session, options.branch));
  DELENDA_TRY(CheckColumnsStayed(source, session));
  commit::Intent intent;
  intent.operation = commit::Operation::kDelete;
  intent.branch = options.branch;
  intent.base_snapshot_id = session.head(options.branch);
  const auto isolation = DELENDA_TRY(session.IsolationOf("delete"));
  // What the filter of a predicate is to others are the keys here.
  intent.isolation = commit::Isolation::kSnapshot;
  JoinedDeletes joined;
  std::shared_ptr<const plan::ScanPlan> plan;
  for (size_t part = 0; part < source.parts(); ++part) {
    auto scan = DELENDA_TRY(KeyScan::Start(session, options.branch, DELENDA_TRY(source.Part(part)), source.key(),
                                           KeyScanColumns::kKey, {"_file", "_pos"}));
    plan = scan.plan();
    ChangedFiles changed(*plan);
    while (const auto batch = DELENDA_TRY(scan.Next()).rows) {
      DELENDA_TRY(changed.Add(*batch, scan.columns()));
    }
    joined.Add(DELENDA_TRY(changed.Deletes(session)));
  }
  intent.deletes = joined.Take();
  RowChange change;
  change.is_dry_run = options.dry_run;
  CountChanged(intent.deletes, change);
  change.rows_deleted = DeletedRows(intent.deletes);
  if (options.dry_run || intent.deletes.empty()) return change;
  AddedKeyCheck check(session, KeyParts::Of(source), plan);
  if (isolation == commit::Isolation::kSerializable)
    intent.touches_added = [&](const std::vector<ContentFile>& added) { return check.Touches(added); };
  write::StagedFiles staged(session.io());
  return CommitChange(session, intent, staged, change);
}

}  // namespace

Result<RowChange> DeleteKeys(commit::TableSession& session, io::FileIO& files, const DeleteKeysOptions& options) {
  DELENDA_TRY(session.Refresh());
  // Before keys are read: the answer would come late.
  DELENDA_TRY(CheckDeletes(session, options.branch));
  auto source = DELENDA_TRY(KeyedSource::Open(files, session.schema(), {.rows = options.rows, .only_keys = true}));
  DELENDA_TRY(source.Read(session.hooks()));
  return RunUntilCommitted(session, [&] { return TryDeleteKeys(session, source, options); });
}

}  // namespace delenda::ops
