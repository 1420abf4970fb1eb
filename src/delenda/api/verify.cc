#include "delenda/verify.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "delenda/api/table_impl.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/iceberg/metadata_check.h"
#include "delenda/iceberg/name_mapping_json.h"
#include "delenda/iceberg/snapshot_check.h"
#include "delenda/model/finding.h"
#include "delenda/ops/verify_files.h"
#include "delenda/ops/verify_row_ids.h"
#include "delenda/plan/delete_check.h"

namespace delenda {
namespace {

class Verifier {
 public:
  Verifier(const Table::Impl& table, const VerifyOptions& options)
      : table_(table), metadata_(table.loaded.metadata), options_(options) {}

  Result<VerifyReport> Run() && {
    const std::vector<iceberg::SelectedSnapshot> selected = DELENDA_TRY(Select());
    Take(iceberg::CheckTableMetadata(metadata_), std::nullopt);
    for (const auto& [snapshot, schema] : selected) {
      report_.snapshots += 1;
      DELENDA_TRY(VerifySnapshot(*snapshot, *schema));
    }
    report_.manifests = manifests_.size();
    for (auto& warning : warnings_) report_.findings.push_back(std::move(warning));
    return std::move(report_);
  }

 private:
  Result<std::vector<iceberg::SelectedSnapshot>> Select() const {
    std::vector<iceberg::SelectedSnapshot> selected;
    if (!options_.all_snapshots) {
      const auto one = DELENDA_TRY(iceberg::SelectSnapshot(metadata_, table_.Select(options_.at)));
      if (one.snapshot != nullptr) selected.push_back(one);
      return selected;
    }
    if (options_.at.snapshot_id || options_.at.ref || options_.at.as_of_ms)
      return InvalidArgument("give one snapshot or ask for all of them, not both");
    for (const auto& snapshot : metadata_.snapshots) {
      selected.push_back(DELENDA_TRY(iceberg::SelectSnapshot(metadata_, {.snapshot_id = snapshot.snapshot_id})));
    }
    return selected;
  }

  void Take(const Findings& findings, std::optional<int64_t> snapshot_id) {
    for (const Finding& finding : findings) {
      // Files that are live in several snapshots would be reported for each.
      if (!known_.emplace(finding.check->id, finding.place, finding.what).second) continue;
      const bool is_error = finding.check->severity == Severity::kError;
      (is_error ? report_.findings : warnings_)
          .push_back({.check = std::string(finding.check->id),
                      .is_error = is_error,
                      .place = Redact(finding.place),
                      .snapshot_id = finding.snapshot_id ? finding.snapshot_id : snapshot_id,
                      .what = Redact(finding.what),
                      .effect = std::string(finding.check->effect),
                      .remedy = std::string(finding.check->remedy)});
    }
  }

  Result<void> VerifySnapshot(const iceberg::Snapshot& snapshot, const Schema& schema) {
    const size_t errors_before = report_.findings.size();
    const auto specs = iceberg::BindSpecs(metadata_, schema);
    const iceberg::SnapshotSource source{.metadata = metadata_,
                                         .specs = specs,
                                         .io = *table_.io,
                                         .schemas = schemas_,
                                         .executor = table_.executor,
                                         .hooks = table_.options.hooks};
    auto contents = DELENDA_TRY(iceberg::CheckSnapshot(source, snapshot));
    Take(contents.findings, snapshot.snapshot_id);
    const plan::LiveFiles live{
        .data = contents.data, .deletes = contents.deletes, .scopes = contents.scopes, .all_data = contents.all_data};
    const auto deletes = DELENDA_TRY(plan::CheckDeletes(live, specs, metadata_.format_version, snapshot.snapshot_id));
    Take(deletes.findings, snapshot.snapshot_id);
    Count(contents);
    if (!options_.deep) return {};

    auto names = iceberg::NameMappingOf(metadata_.properties);
    if (!names) {
      Findings findings;
      DELENDA_TRY(AddAsFinding(names.error(), checks::kFileSchema, table_.loaded.metadata_path, findings));
      Take(findings, snapshot.snapshot_id);
    }
    const ops::VerifyContext context{.io = *table_.io,
                                     .executor = table_.executor,
                                     .hooks = table_.options.hooks,
                                     .names = std::move(names).value_or(std::nullopt)};
    Take(
        DELENDA_TRY(ops::VerifyVectors(context, contents.data, contents.deletes, deletes.vector_target, read_vectors_)),
        snapshot.snapshot_id);
    if (contents.all_data && contents.all_deletes) DELENDA_TRY(VerifyReplaced(source, context, snapshot, contents));
    DELENDA_TRY(VerifyFiles(source, context, snapshot, schema, contents));
    return VerifyRows(snapshot, report_.findings.size() == errors_before);
  }

  void Count(const iceberg::SnapshotContents& contents) {
    for (const auto& manifest : contents.manifests) manifests_.insert(manifest.path);
    for (const auto& file : contents.data) report_.data_files += data_files_.insert(file.path).second ? 1 : 0;
    for (const auto& file : contents.deletes) {
      std::string identity = file.path;
      if (file.IsDeletionVector()) identity += fmt::format(":{}", file.content_offset.value_or(-1));
      if (!delete_files_.insert(std::move(identity)).second) continue;
      (file.IsDeletionVector() ? report_.deletion_vectors : report_.delete_files) += 1;
    }
  }

  Result<void> VerifyReplaced(const iceberg::SnapshotSource& source, const ops::VerifyContext& context,
                              const iceberg::Snapshot& snapshot, const iceberg::SnapshotContents& contents) {
    const iceberg::Snapshot* parent = snapshot.parent_id ? metadata_.FindSnapshot(*snapshot.parent_id) : nullptr;
    if (parent == nullptr) return {};
    auto replaced = iceberg::ReadReplacedVectors(source, *parent, contents.manifests);
    if (!replaced) {
      Findings findings;
      DELENDA_TRY(AddAsFinding(std::move(replaced).error(), checks::kReplacedUnread,
                               fmt::format("snapshot {}", parent->snapshot_id), findings));
      Take(findings, parent->snapshot_id);
      return {};
    }
    Take(DELENDA_TRY(ops::VerifyReplacedVectors(context, contents.data, contents.deletes, *replaced)),
         snapshot.snapshot_id);
    return {};
  }

  // Manifest by manifest, so that the metrics of one are held at a time.
  Result<void> VerifyFiles(const iceberg::SnapshotSource& source, const ops::VerifyContext& context,
                           const iceberg::Snapshot& snapshot, const Schema& schema,
                           const iceberg::SnapshotContents& contents) {
    for (const auto& manifest : contents.manifests) {
      // Manifests never change: those of an earlier snapshot are done.
      if (!read_manifests_.insert(manifest.path).second) continue;
      const auto files = iceberg::ReadFilesWithMetrics(source, manifest);
      if (!files) {
        // That it can't be read is a finding already.
        if (files.error().kind() == ErrorKind::kCorrupt || files.error().kind() == ErrorKind::kNotFound) continue;
        return std::unexpected(files.error());
      }
      std::vector<const ContentFile*> fresh;
      for (const auto& file : *files) {
        if (!file.IsDeletionVector() && read_files_.insert(file.path).second) fresh.push_back(&file);
      }
      Take(DELENDA_TRY(ops::VerifyFiles(context, fresh, schema, source.specs)), snapshot.snapshot_id);
    }
    return {};
  }

  Result<void> VerifyRows(const iceberg::Snapshot& snapshot, bool is_sound_so_far) {
    // Snapshots from before version 3 have no row ids.
    if (!snapshot.first_row_id || !metadata_.next_row_id) return {};
    Findings findings;
    const auto verify = [&]() -> Result<void> {
      plan::ScanRequest request;
      request.snapshot.snapshot_id = snapshot.snapshot_id;
      request.select_all = false;
      request.select = {"_row_id", "_last_updated_sequence_number", "_file", "_pos"};
      auto planned = DELENDA_TRY(plan::PlanScan(metadata_, *table_.io, request, table_.executor, table_.options.hooks));
      findings = DELENDA_TRY(
          ops::VerifyRowIds(std::make_shared<const plan::ScanPlan>(std::move(planned)), table_.io,
                            {.next_row_id = *metadata_.next_row_id, .sequence_number = snapshot.sequence_number},
                            table_.options.threads, table_.options.hooks));
      return {};
    };
    auto verified = verify();
    if (!verified) {
      Error error = std::move(verified).error();
      // Files of a format that can't be read have a finding of their own.
      if (error.kind() == ErrorKind::kNotSupported) return {};
      DELENDA_TRY(AddAsFinding(std::move(error), checks::kRowsUnread, fmt::format("snapshot {}", snapshot.snapshot_id),
                               findings));
      // What is broken has been found in most cases, and this says only that a scan finds it too.
      if (!is_sound_so_far) return {};
    }
    Take(findings, snapshot.snapshot_id);
    return {};
  }

  const Table::Impl& table_;
  const iceberg::TableMetadata& metadata_;
  const VerifyOptions& options_;
  avro::SchemaCache schemas_;
  std::set<std::tuple<std::string_view, std::string, std::string>> known_;
  std::set<std::string> manifests_, read_manifests_, read_files_, read_vectors_;
  std::unordered_set<std::string> data_files_, delete_files_;
  VerifyReport report_;  // its findings are the errors, until the warnings join them
  std::vector<VerifyFinding> warnings_;
};

}  // namespace

Result<VerifyReport> Table::Verify(const VerifyOptions& options) const {
  return parquet::Guarded([&] { return Verifier(*impl_, options).Run(); });
}

}  // namespace delenda
