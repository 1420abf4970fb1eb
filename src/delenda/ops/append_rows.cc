#include "delenda/ops/append_rows.h"

#include <arrow/record_batch.h>

#include <memory>
#include <utility>
#include <variant>

#include "delenda/commit/intent.h"
#include "delenda/commit/upgrade.h"
#include "delenda/ops/new_rows.h"
#include "delenda/write/partitioned_writer.h"
#include "delenda/write/row_conform.h"

namespace delenda::ops {
namespace {

// The rows of one file.
Result<void> AppendFile(const commit::TableSession& session, io::FileIO& files, const std::string& path,
                        const AppendOptions& options, write::PartitionedWriter& writer, RowChange& change) {
  const auto source = DELENDA_TRY(write::RowSource::Open(
      files, path,
      {.format = options.format, .table = session.schema(), .ignore_unknown_columns = options.ignore_unknown_columns}));
  auto conformer = DELENDA_TRY(write::RowConformer::Make(
      *source->schema(), session.schema(),
      {.ignore_unknown_columns = options.ignore_unknown_columns, .parse_text = source->is_text()}));
  while (const auto batch = DELENDA_TRY(source->Next())) {
    if (session.hooks().cancel.cancelled()) return Cancelled("the append was cancelled; nothing was changed");
    const auto rows = DELENDA_TRY(conformer.Conform(*batch));
    change.rows_added += static_cast<uint64_t>(rows->num_rows());
    if (!options.dry_run) DELENDA_TRY(writer.Write(*rows));
    if (session.hooks().progress) session.hooks().progress({.stage = "append", .done = change.rows_added, .total = 0});
  }
  return {};
}

}  // namespace

Result<RowChange> AppendRows(commit::TableSession& session, io::FileIO& files, const AppendOptions& options) {
  if (options.files.empty()) return InvalidArgument("there is no file to append");
  DELENDA_TRY(session.Refresh());
  // Before rows are read: the answers would come late.
  DELENDA_TRY(commit::CheckTakesAppends(session.format_version()));
  DELENDA_TRY(session.CheckBranch(options.branch));
  const auto staged = std::make_shared<write::StagedFiles>(session.io());
  auto writer = DELENDA_TRY(write::PartitionedWriter::Make(DELENDA_TRY(NewFiles(session, staged, false))));
  RowChange change;
  change.is_dry_run = options.dry_run;
  for (const auto& path : options.files)
    DELENDA_TRY(WithContext(AppendFile(session, files, path, options, writer, change), "file", path));
  if (options.dry_run) return change;
  commit::Intent intent;
  intent.operation = commit::Operation::kAppend;
  intent.branch = options.branch;
  intent.added_files = DELENDA_TRY(writer.Finish());
  CountAdded(intent.added_files, change);
  if (intent.added_files.empty()) return change;
  const auto outcome = DELENDA_TRY(CommitChange(session, intent, *staged, change));
  const auto* appended = std::get_if<RowChange>(&outcome);
  if (appended == nullptr) return InternalError("an append was asked to look again");
  return *appended;
}

}  // namespace delenda::ops
