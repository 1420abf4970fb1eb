#include "delenda/write.h"

#include <utility>

#include "delenda/api/key_resolver.h"
#include "delenda/api/table_place.h"
#include "delenda/api/writable_table_impl.h"
#include "delenda/commit/table_session.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/ops/append_rows.h"
#include "delenda/ops/convert_deletes.h"
#include "delenda/ops/delete_keys.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/merge_rows.h"
#include "delenda/ops/update_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "delenda/write/row_source.h"

namespace delenda {
namespace {

Result<std::shared_ptr<catalog::CommitPoint>> FindCommitPoint(std::string_view location, const OpenOptions& options,
                                                              std::shared_ptr<io::FileIO> io) {
  if (location.ends_with(".json"))
    return InvalidArgument("{} is one version of a table: name the table's folder, or the table in its catalog",
                           location);
  const auto place = DELENDA_TRY(api::FindTable(location, options, io));
  if (place.catalog) return place.catalog->Open(place.name);
  return catalog::MakeFolderCommitPoint(std::move(io), place.path);
}

Result<ops::KeyedFiles> ToKeyedFiles(const KeyedRowsRequest& request) {
  ops::KeyedFiles rows{.files = request.files,
                       .key = request.key,
                       .ignore_unknown_columns = request.ignore_unknown_columns,
                       .memory_budget = request.memory,
                       .temp_folder = request.temp_folder};
  if (!request.format.empty()) rows.format = DELENDA_TRY(write::RowFormatFromName(request.format));
  return rows;
}

}  // namespace

ChangeReport api::ToReport(const ops::RowChange& change) {
  return {.is_dry_run = change.is_dry_run,
          .snapshot_id = change.snapshot_id,
          .rows_added = change.rows_added,
          .rows_deleted = change.rows_deleted,
          .rows_updated = change.rows_updated,
          .files_added = change.files_added,
          .files_dropped = change.files_dropped,
          .files_changed = change.files_changed,
          .files_merged = change.files_merged,
          .bytes_added = change.bytes_added,
          .rows_converted = change.rows_converted,
          .delete_files_converted = change.delete_files_converted,
          .delete_files_added = change.delete_files_added,
          .attempts = change.attempts,
          .looked_again = change.looked_again};
}

WritableTable::WritableTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WritableTable::WritableTable(WritableTable&&) noexcept = default;
WritableTable& WritableTable::operator=(WritableTable&&) noexcept = default;
WritableTable::~WritableTable() = default;

Result<WritableTable> WritableTable::Open(std::string_view location, OpenOptions options) {
  auto impl = std::make_unique<Impl>(options);
  const auto& io = impl->storage.io;
  auto point = DELENDA_TRY(FindCommitPoint(location, options, io));
  impl->session = DELENDA_TRY(commit::TableSession::Open(io, std::move(point), impl->executor, options.hooks));
  return WritableTable(std::move(impl));
}

const std::string& WritableTable::location() const { return impl_->session->location(); }
IoStats WritableTable::Io() const { return api::ToIoStats(*impl_->storage.counter); }

Result<ChangeReport> WritableTable::Delete(const DeleteRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    return api::ToReport(DELENDA_TRY(ops::DeleteRows(
        *impl_->session, {.where = request.where, .branch = request.branch, .dry_run = request.dry_run})));
  });
}

Result<ChangeReport> WritableTable::Convert(const ConvertRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    const auto resolver = api::CallersResolver::Of(request.resolver);
    return api::ToReport(
        DELENDA_TRY(ops::ConvertDeletes(*impl_->session, {.branch = request.branch,
                                                          .position_deletes = request.position_deletes,
                                                          .dry_run = request.dry_run,
                                                          .resolver = resolver ? &*resolver : nullptr})));
  });
}

Result<ChangeReport> WritableTable::Append(const AppendRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    ops::AppendOptions options;
    options.files = request.files;
    if (!request.format.empty()) options.format = DELENDA_TRY(write::RowFormatFromName(request.format));
    options.branch = request.branch;
    options.ignore_unknown_columns = request.ignore_unknown_columns;
    options.dry_run = request.dry_run;
    // The rows come from where the caller is: mappings are for the files of the table.
    return api::ToReport(DELENDA_TRY(ops::AppendRows(*impl_->session, *impl_->storage.counter, options)));
  });
}

Result<ChangeReport> WritableTable::Update(const UpdateRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    return api::ToReport(DELENDA_TRY(ops::UpdateRows(
        *impl_->session,
        {.where = request.where, .set = request.set, .branch = request.branch, .dry_run = request.dry_run})));
  });
}

// The rows come from where the caller is, as for Append.

Result<ChangeReport> WritableTable::DeleteKeys(const DeleteKeysRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    const auto rows = DELENDA_TRY(ToKeyedFiles(request.rows));
    return api::ToReport(
        DELENDA_TRY(ops::DeleteKeys(*impl_->session, *impl_->storage.counter,
                                    {.rows = rows, .branch = request.rows.branch, .dry_run = request.rows.dry_run})));
  });
}

Result<ChangeReport> WritableTable::Upsert(const UpsertRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    ops::UpsertOptions options;
    options.rows = DELENDA_TRY(ToKeyedFiles(request.rows));
    options.branch = request.rows.branch;
    options.dry_run = request.rows.dry_run;
    options.delete_when = request.delete_when;
    options.strict = request.strict;
    if (request.via == UpsertVia::kEqualityDeletes) options.via = ops::UpsertVia::kEqualityDeletes;
    options.most_tries = request.most_tries;
    if (request.fallback == DeltaFallback::kCommitEqualityDeletes)
      options.fallback = ops::DeltaFallback::kCommitEqualityDeletes;
    return api::ToReport(DELENDA_TRY(ops::UpsertRows(*impl_->session, *impl_->storage.counter, options)));
  });
}

Result<ChangeReport> WritableTable::Merge(const MergeRequest& request) {
  return parquet::Guarded([&]() -> Result<ChangeReport> {
    ops::MergeOptions options;
    options.rows = DELENDA_TRY(ToKeyedFiles(request.rows));
    options.branch = request.rows.branch;
    options.dry_run = request.rows.dry_run;
    options.matched_delete = request.matched_delete;
    options.matched_update = request.matched_update;
    options.matched_update_all = request.matched_update_all;
    options.matched_update_when = request.matched_update_when;
    options.not_matched_insert = request.not_matched_insert;
    return api::ToReport(DELENDA_TRY(ops::MergeRows(*impl_->session, *impl_->storage.counter, options)));
  });
}

Result<UpgradeReport> WritableTable::Upgrade(const UpgradeRequest& request) {
  const auto upgraded = DELENDA_TRY(impl_->session->Upgrade(request.format_version, request.dry_run));
  return UpgradeReport{.is_dry_run = request.dry_run,
                       .from = upgraded.from,
                       .to = request.format_version,
                       .metadata_path = upgraded.metadata_path,
                       .attempts = upgraded.attempts};
}

}  // namespace delenda
