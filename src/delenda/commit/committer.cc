#include "delenda/commit/committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/base/uuid.h"
#include "delenda/commit/branch_state.h"
#include "delenda/commit/next_metadata.h"
#include "delenda/commit/snapshot_manifests.h"
#include "delenda/commit/snapshot_metadata.h"
#include "delenda/commit/summary.h"
#include "delenda/commit/table_writer.h"
#include "delenda/commit/upgrade.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

// How one attempt ended: at an outcome, or to be tried again.
struct TryAgain {
  std::string reason;
};
using Attempt = std::variant<Committed, LookAgain, TryAgain>;

class CommitLoop {
 public:
  CommitLoop(const Intent& intent, write::StagedFiles& staged, const CommitContext& context)
      : intent_(intent), staged_(staged), context_(context) {}

  Result<std::variant<Committed, LookAgain>> Run() {
    std::optional<RetryPolicy> policy;
    for (Attempts attempts;;) {
      if (context_.hooks.cancel.cancelled()) return Cancelled("the commit was cancelled; nothing was changed");
      const auto loaded = DELENDA_TRY(Load());
      if (!policy) policy = DELENDA_TRY(RetryPolicy::From(loaded.metadata.properties));
      if (auto earlier = FindUnsure(loaded)) {
        earlier->attempts = attempts.count();
        return *std::move(earlier);
      }
      auto outcome = DELENDA_TRY(Try(loaded));
      if (auto* committed = std::get_if<Committed>(&outcome)) {
        committed->attempts = attempts.count();
        return std::move(*committed);
      }
      if (auto* again = std::get_if<LookAgain>(&outcome)) return std::move(*again);
      DELENDA_TRY(attempts.Next(*policy, std::get<TryAgain>(outcome).reason, context_.hooks));
    }
  }

 private:
  Result<iceberg::LoadedTable> Load() const {
    return iceberg::LoadTable(*context_.io, DELENDA_TRY(context_.point->Current()));
  }

  Result<void> CheckVersion(const iceberg::TableMetadata& metadata) const {
    const bool changes_rows = !intent_.deletes.empty() || !intent_.rewritten_files.empty() ||
                              !intent_.removed_delete_files.empty() || !intent_.deletes_of_added.empty() ||
                              !intent_.added_delete_files.empty();
    return changes_rows ? CheckTakesDeletes(metadata.format_version) : CheckTakesAppends(metadata.format_version);
  }

  Result<BranchState> LoadState(const iceberg::TableMetadata& metadata) const {
    std::vector<ContentFile> data;
    for (const auto& wanted : intent_.deletes) data.push_back(wanted.file);
    for (const auto& wanted : intent_.rewritten_files) data.push_back(wanted.file);
    for (const auto& read : intent_.read_rows) data.push_back(read.file);
    return BranchState::Load(metadata, intent_.branch, *context_.io, data, intent_.removed_delete_files,
                             *context_.executor, context_.hooks);
  }

  Result<Attempt> Try(const iceberg::LoadedTable& loaded) {
    const iceberg::TableMetadata& metadata = loaded.metadata;
    DELENDA_TRY(CheckVersion(metadata));
    const BranchState state = DELENDA_TRY(LoadState(metadata));
    auto rebased = DELENDA_TRY(Rebase(intent_, metadata, state, context_.io, *context_.executor, context_.hooks));
    if (auto* again = std::get_if<LookAgain>(&rebased)) return std::move(*again);
    const Changes& changes = std::get<Changes>(rebased);
    if (changes.empty()) return Committed{.snapshot_id = {}, .metadata_path = loaded.metadata_path};

    write::StagedFiles attempt(context_.io);
    NewSnapshot snapshot;
    snapshot.snapshot_id = UnusedId(metadata);
    snapshot.operation = intent_.operation;
    auto new_deletes = DELENDA_TRY(WriteVectors(changes.vectors, metadata, *context_.io, attempt));
    std::ranges::copy(changes.added_delete_files, std::back_inserter(new_deletes));
    DELENDA_TRY(WriteList(metadata, state, changes, new_deletes, snapshot, attempt));
    snapshot.summary = SummaryOf(state.head(), changes, new_deletes);
    snapshot.summary["engine-name"] = "delenda";
    snapshot.summary["engine-version"] = DELENDA_VERSION;
    snapshot.summary.insert(intent_.summary.begin(), intent_.summary.end());
    const auto next = DELENDA_TRY(WithSnapshot(loaded, intent_.branch, snapshot));

    Committed committed{.snapshot_id = snapshot.snapshot_id, .metadata_path = {}};
    committed.deleted_rows = changes.deleted_rows;
    committed.restored_rows = changes.restored_rows;
    committed.new_vectors = changes.vectors.size();
    committed.dropped_files = changes.removed_files.size();
    std::unordered_map<std::string_view, const PositionSet*> wanted;
    for (const FileDelete& one : intent_.deletes) wanted.emplace(one.file.path, &one.deleted);
    for (const auto& vector : changes.vectors) {
      const auto found = wanted.find(vector.data_file.path);
      if (found != wanted.end() && !(*found->second == vector.positions)) ++committed.merged_files;
    }
    const auto published = PublishMetadata(loaded, next, *context_.point, *context_.io);
    if (!published && published.error().kind() == ErrorKind::kCommitStateUnknown)
      return Resolve(published.error(), *committed.snapshot_id, attempt, committed);
    if (!published && published.error().kind() == ErrorKind::kCommitConflict)
      return TryAgain{published.error().message()};
    if (!published) return std::unexpected(published.error());
    attempt.Release();
    staged_.Release();
    committed.metadata_path = *published;
    return committed;
  }

  // The answer to a publication was lost: only the table knows. Until it says, nothing may be deleted, since the table
  // may refer to it.
  Result<Attempt> Resolve(const Error& lost, int64_t snapshot_id, write::StagedFiles& attempt, Committed committed) {
    const auto now = Load();
    if (!now) {
      attempt.Release();
      staged_.Release();
      return CommitStateUnknown(
          "whether snapshot {} was committed is not known ({}), and the table can't be read ({}): see whether it is "
          "there before you run this again",
          snapshot_id, lost.ToString(), now.error().ToString());
    }
    // Whoever committed on top has it among the snapshots too.
    if (now->metadata.FindSnapshot(snapshot_id) != nullptr) {
      attempt.Release();
      staged_.Release();
      committed.metadata_path = now->metadata_path;
      return committed;
    }
    // Not there: but its metadata file may still arrive, or others may have built on it and be about to commit. So no
    // file is deleted, and each later attempt looks for it first: else the change could be made twice.
    attempt.Release();
    staged_.Release();
    unsure_.push_back(std::move(committed));
    return TryAgain{lost.message()};
  }

  // An earlier attempt that has come to be after all.
  std::optional<Committed> FindUnsure(const iceberg::LoadedTable& loaded) const {
    for (const Committed& earlier : unsure_) {
      if (loaded.metadata.FindSnapshot(*earlier.snapshot_id) == nullptr) continue;
      Committed found = earlier;
      found.metadata_path = loaded.metadata_path;
      return found;
    }
    return std::nullopt;
  }

  Result<void> WriteList(const iceberg::TableMetadata& metadata, const BranchState& state, const Changes& changes,
                         const std::vector<ContentFile>& new_deletes, NewSnapshot& snapshot,
                         write::StagedFiles& attempt) const {
    auto manifests = DELENDA_TRY(WriteManifests(metadata, state, changes, new_deletes, snapshot.snapshot_id,
                                                *context_.io, attempt, *context_.executor, context_.hooks));
    iceberg::ManifestListOptions options;
    options.format_version = metadata.format_version;
    options.snapshot_id = snapshot.snapshot_id;
    if (state.head() != nullptr) options.parent_snapshot_id = state.head()->snapshot_id;
    options.sequence_number = metadata.last_sequence_number + 1;
    options.first_row_id = metadata.next_row_id.value_or(0);
    const auto list = DELENDA_TRY(iceberg::WriteManifestList(std::move(manifests), options));
    snapshot.next_row_id = list.next_row_id;
    snapshot.manifest_list =
        io::Join(MetadataFolder(metadata), fmt::format("snap-{}-{}.avro", snapshot.snapshot_id, RandomUuid()));
    attempt.Add(snapshot.manifest_list);
    return io::WriteWholeFile(*context_.io, snapshot.manifest_list, list.bytes);
  }

  static int64_t UnusedId(const iceberg::TableMetadata& metadata) {
    for (;;) {
      const int64_t id = RandomId();
      if (metadata.FindSnapshot(id) == nullptr) return id;
    }
  }

  const Intent& intent_;
  write::StagedFiles& staged_;
  const CommitContext& context_;
  std::vector<Committed> unsure_;  // attempts whose answer was lost, and that were not there when the table was read
};

}  // namespace

Result<std::variant<Committed, LookAgain>> Commit(const Intent& intent, write::StagedFiles& staged,
                                                  const CommitContext& context) {
  return CommitLoop(intent, staged, context).Run();
}

}  // namespace delenda::commit
