// Compaction as any engine might do it, for tests of what commits at the same time: the program has none yet.
#pragma once

#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/uuid.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/branch_state.h"
#include "delenda/commit/next_metadata.h"
#include "delenda/commit/snapshot_manifests.h"
#include "delenda/commit/snapshot_metadata.h"
#include "delenda/commit/summary.h"
#include "delenda/commit/table_writer.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/manifest_writer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/file_io.h"
#include "delenda/io/location.h"
#include "delenda/plan/scan_planner.h"
#include "delenda/read/delete_loader.h"
#include "delenda/read/scan_stream.h"
#include "delenda/write/partitioned_writer.h"

namespace delenda::testing {

// Rewrites data files of main, in two steps, so that others may commit in between. The new files hold the rows that
// were live at the beginning, with their row ids, and have the data sequence number of the snapshot that was read:
// equality deletes that are committed later go on to apply to them.
//
// EXAMPLE  snapshot of sequence number 4: a.parquet (1) with vector {0}, b.parquet (3)  →  c.parquet (4) with the rows
//          of a but the first, and those of b; snapshot 7: adds c, removes a and its vector, and b
class Compaction {
 public:
  // Reads and writes; nobody sees it yet. Nothing: less than two data files were `chosen`, or none of their rows lives.
  static Result<std::optional<Compaction>> Begin(const std::shared_ptr<io::FileIO>& io, catalog::CommitPoint& point,
                                                 const std::function<bool(const ContentFile&)>& chosen) {
    const auto loaded = DELENDA_TRY(iceberg::LoadTable(*io, DELENDA_TRY(point.Current())));
    const iceberg::TableMetadata& metadata = loaded.metadata;
    if (!metadata.current_snapshot_id) return std::nullopt;
    const Schema& schema = metadata.CurrentSchema();
    Executor executor(1);
    plan::ScanRequest request{.select_all = false};
    for (const Field& field : schema.fields()) request.select.push_back(field.name);
    for (const char* name : {"_row_id", "_last_updated_sequence_number"}) request.select.emplace_back(name);
    auto plan = DELENDA_TRY(plan::PlanScan(metadata, *io, request, executor, {}));
    std::erase_if(plan.tasks, [&](const plan::FileTask& task) { return !chosen(task.file); });
    if (plan.tasks.size() < 2) return std::nullopt;

    Compaction compaction;
    compaction.sequence_number_ = metadata.FindSnapshot(*metadata.current_snapshot_id)->sequence_number;
    std::vector<read::DeleteLoader::Need> needs;
    for (const plan::FileTask& task : plan.tasks)
      needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
    const auto loader = DELENDA_TRY(read::DeleteLoader::Make(plan, needs, io, true, {}));
    for (const auto& need : needs)
      compaction.sources_.push_back({ .file = *need.file, .before = DELENDA_TRY(loader->Load(need)) });

    write::WriteTarget target;
    target.io = io;
    target.table_location = metadata.location;
    target.schema = schema;
    target.spec = iceberg::BindSpecs(metadata, schema).at(metadata.default_spec_id);
    target.properties = DELENDA_TRY(write::WriteProperties::Parse(metadata.properties, schema));
    target.staged = compaction.staged_ = std::make_shared<write::StagedFiles>(io);
    target.row_lineage = true;
    auto writer = DELENDA_TRY(write::PartitionedWriter::Make(std::move(target)));
    const auto batch_schema = DELENDA_TRY(writer.target().BatchSchema());
    const auto stream =
        DELENDA_TRY(read::OpenScan(std::make_shared<plan::ScanPlan>(std::move(plan)), io, {.threads = 1}));
    while (const auto batch = DELENDA_TRY(stream->Next()))
      DELENDA_TRY(writer.Write(*arrow::RecordBatch::Make(batch_schema, batch->num_rows(), batch->columns())));
    compaction.added_ = DELENDA_TRY(writer.Finish());
    if (compaction.added_.empty()) return std::nullopt;
    return compaction;
  }

  // Commits. False: others removed one of the files or deleted rows of it, and so it is given up; nothing is changed.
  Result<bool> Finish(const std::shared_ptr<io::FileIO>& io, catalog::CommitPoint& point) {
    Executor executor(1);
    for (;;) {
      const auto loaded = DELENDA_TRY(iceberg::LoadTable(*io, DELENDA_TRY(point.Current())));
      std::vector<ContentFile> files;
      for (const auto& source : sources_) files.push_back(source.file);
      const auto state = DELENDA_TRY(commit::BranchState::Load(loaded.metadata, "main", *io, files, {}, executor, {}));
      commit::Changes changes;
      for (const auto& source : sources_) {
        const plan::FileTask* task = state.Find(source.file.path);
        if (task == nullptr) return false;
        const auto deleted = DELENDA_TRY(state.LoadDeleted({task}, io));
        if (!(deleted.at(source.file.path) == source.before)) return false;
        changes.removed_files.push_back(task->file);
        std::ranges::move(state.Superseded(source.file.path), std::back_inserter(changes.removed_delete_files));
      }
      write::StagedFiles attempt(io);
      const auto next = DELENDA_TRY(Next(loaded, state, std::move(changes), *io, attempt, executor));
      const auto published = commit::PublishMetadata(loaded, next, point, *io);
      if (!published && published.error().kind() == ErrorKind::kCommitConflict) continue;
      if (!published) return std::unexpected(published.error());
      attempt.Release();
      staged_->Release();
      return true;
    }
  }

 private:
  struct Source {
    ContentFile file;
    PositionSet before;  // deleted when it was read
  };

  Compaction() = default;

  Result<iceberg::TableMetadata> Next(const iceberg::LoadedTable& base, const commit::BranchState& state,
                                      commit::Changes changes, io::FileIO& io, write::StagedFiles& attempt,
                                      Executor& executor) const {
    const iceberg::TableMetadata& metadata = base.metadata;
    commit::NewSnapshot snapshot;
    snapshot.snapshot_id = RandomId();
    snapshot.operation = commit::Operation::kReplace;
    auto manifests = DELENDA_TRY(
        commit::WriteManifests(metadata, state, changes, {}, snapshot.snapshot_id, io, attempt, executor, {}));
    std::map<int32_t, std::vector<const ContentFile*>> by_spec;
    for (const ContentFile& file : added_) by_spec[file.spec_id].push_back(&file);
    for (const auto& [spec, added] : by_spec) {
      const std::string path = io::Join(commit::MetadataFolder(metadata), RandomUuid() + "-compacted.avro");
      auto writer = DELENDA_TRY(iceberg::ManifestWriter::Make(metadata.CurrentSchema(), state.specs().at(spec),
                                                              {.format_version = metadata.format_version,
                                                               .content = iceberg::ManifestContent::kData,
                                                               .snapshot_id = snapshot.snapshot_id,
                                                               .path = path}));
      for (const ContentFile* file : added) DELENDA_TRY(writer.Add(*file, sequence_number_));
      const auto written = DELENDA_TRY(std::move(writer).Finish());
      attempt.Add(path);
      DELENDA_TRY(io::WriteWholeFile(io, path, written.bytes));
      manifests.insert(manifests.begin(), written.file);
    }
    const auto list = DELENDA_TRY(
        iceberg::WriteManifestList(std::move(manifests), {.format_version = metadata.format_version,
                                                          .snapshot_id = snapshot.snapshot_id,
                                                          .parent_snapshot_id = state.head()->snapshot_id,
                                                          .sequence_number = metadata.last_sequence_number + 1,
                                                          .first_row_id = metadata.next_row_id.value_or(0)}));
    snapshot.next_row_id = list.next_row_id;
    snapshot.manifest_list =
        io::Join(commit::MetadataFolder(metadata), fmt::format("snap-{}-compacted.avro", snapshot.snapshot_id));
    attempt.Add(snapshot.manifest_list);
    DELENDA_TRY(io::WriteWholeFile(io, snapshot.manifest_list, list.bytes));
    changes.added_files = added_;
    snapshot.summary = commit::SummaryOf(state.head(), changes, {});
    return commit::WithSnapshot(base, "main", snapshot);
  }

  std::vector<Source> sources_;
  std::vector<ContentFile> added_;
  int64_t sequence_number_ = 0;
  std::shared_ptr<write::StagedFiles> staged_;
};

}  // namespace delenda::testing
