#include "delenda/commit/committer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include "delenda/base/uuid.h"
#include "delenda/commit/branch_state.h"
#include "delenda/commit/snapshot_metadata.h"
#include "delenda/commit/summary.h"
#include "delenda/commit/table_writer.h"
#include "delenda/iceberg/manifest_list_writer.h"
#include "delenda/iceberg/metadata_writer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

using Clock = std::chrono::steady_clock;

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
    const auto begin = Clock::now();
    std::optional<RetryPolicy> policy;
    for (uint64_t attempt = 1;; ++attempt) {
      if (context_.hooks.cancel.cancelled()) return Cancelled("the commit was cancelled; nothing was changed");
      const auto loaded = DELENDA_TRY(Load());
      if (!policy) policy = DELENDA_TRY(RetryPolicy::From(loaded.metadata.properties));
      auto outcome = DELENDA_TRY(Try(loaded));
      if (auto* committed = std::get_if<Committed>(&outcome)) {
        committed->attempts = attempt;
        return std::move(*committed);
      }
      if (auto* again = std::get_if<LookAgain>(&outcome)) return std::move(*again);
      const auto& reason = std::get<TryAgain>(outcome).reason;
      const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
      const int64_t wait = policy->WaitMs(attempt);
      if (attempt > policy->retries || waited + wait > policy->total_ms) {
        return CommitConflict(
            "other writers were faster in all of {} attempts ({}); run it again, or raise the table's property "
            "commit.retry.num-retries",
            attempt, reason);
      }
      if (context_.hooks.log)
        context_.hooks.log(LogLevel::kInfo, fmt::format("commit attempt {} failed, trying again: {}", attempt, reason));
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    }
  }

 private:
  Result<iceberg::LoadedTable> Load() const {
    return iceberg::LoadTable(*context_.io, DELENDA_TRY(context_.point->Current()));
  }

  Result<void> CheckVersion(const iceberg::TableMetadata& metadata) const {
    if (metadata.format_version == 1)
      return NotSupported("tables of format version 1 can't be written: upgrade the table to format version 3 first");
    const bool changes_rows =
        !intent_.deletes.empty() || !intent_.rewritten_files.empty() || !intent_.removed_delete_files.empty();
    if (metadata.format_version == 2 && changes_rows) {
      return NotSupported("deletion vectors need format version 3, the table has {}: upgrade it first",
                          metadata.format_version);
    }
    return {};
  }

  Result<BranchState> LoadState(const iceberg::TableMetadata& metadata) const {
    std::vector<ContentFile> data;
    for (const auto& wanted : intent_.deletes) data.push_back(wanted.file);
    for (const auto& wanted : intent_.rewritten_files) data.push_back(wanted.file);
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
    const auto vectors = DELENDA_TRY(WriteVectors(changes.vectors, metadata, *context_.io, attempt));
    DELENDA_TRY(WriteList(metadata, state, changes, vectors, snapshot, attempt));
    snapshot.summary = SummaryOf(state.head(), changes, vectors);
    snapshot.summary["engine-name"] = "delenda";
    snapshot.summary["engine-version"] = DELENDA_VERSION;
    snapshot.summary.insert(intent_.summary.begin(), intent_.summary.end());
    const auto next =
        DELENDA_TRY(WithSnapshot(metadata, PathInTable(metadata, loaded.metadata_path), intent_.branch, snapshot));
    const std::string text = DELENDA_TRY(iceberg::TableMetadataToJson(next));

    Committed committed{.snapshot_id = snapshot.snapshot_id, .metadata_path = {}};
    committed.deleted_rows = changes.deleted_rows;
    committed.restored_rows = changes.restored_rows;
    committed.new_vectors = changes.vectors.size();
    committed.dropped_files = changes.removed_files.size();
    for (const auto& vector : changes.vectors) {
      const auto wanted = std::ranges::find(intent_.deletes, vector.data_file.path,
                                            [](const FileDelete& one) -> const std::string& { return one.file.path; });
      if (wanted != intent_.deletes.end() && !(wanted->deleted == vector.positions)) ++committed.merged_files;
    }
    auto published = context_.point->Publish(loaded.metadata_path, text, WritesGzip(next));
    if (!published && published.error().kind() == ErrorKind::kCommitStateUnknown)
      return Resolve(published.error(), *std::move(committed.snapshot_id), attempt, committed);
    if (!published && published.error().kind() == ErrorKind::kCommitConflict)
      return TryAgain{published.error().message()};
    if (!published) return std::unexpected(published.error());
    attempt.Release();
    staged_.Release();
    committed.metadata_path = *published;
    DeleteOldMetadata(metadata, next);
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
    // Surely not there: but a late write of its metadata file could still arrive, so its files are not deleted.
    attempt.Release();
    return TryAgain{lost.message()};
  }

  Result<void> WriteList(const iceberg::TableMetadata& metadata, const BranchState& state, const Changes& changes,
                         const std::vector<ContentFile>& vectors, NewSnapshot& snapshot,
                         write::StagedFiles& attempt) const {
    auto manifests = DELENDA_TRY(WriteManifests(metadata, state, changes, vectors, snapshot.snapshot_id, *context_.io,
                                                attempt, *context_.executor, context_.hooks));
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

  // The metadata file as other readers of the table know it: the caller may have named its folder in another way,
  // relative or by where a copy lies.
  static std::string PathInTable(const iceberg::TableMetadata& metadata, const std::string& path) {
    if (path.starts_with(metadata.location)) return path;
    return io::Join(io::Join(metadata.location, "metadata"), io::Basename(path));
  }

  static int64_t UnusedId(const iceberg::TableMetadata& metadata) {
    for (;;) {
      const int64_t id = RandomId();
      if (metadata.FindSnapshot(id) == nullptr) return id;
    }
  }

  // Files that have left the metadata log, if the table's owner wants them deleted. One that stays does no harm.
  void DeleteOldMetadata(const iceberg::TableMetadata& before, const iceberg::TableMetadata& after) const {
    const auto wanted = after.properties.find("write.metadata.delete-after-commit.enabled");
    if (wanted == after.properties.end() || wanted->second != "true") return;
    for (const auto& entry : before.metadata_log) {
      const bool kept = std::ranges::any_of(after.metadata_log, [&](const iceberg::MetadataLogEntry& other) {
        return other.metadata_file == entry.metadata_file;
      });
      if (!kept) static_cast<void>(context_.io->Delete(entry.metadata_file));
    }
  }

  const Intent& intent_;
  write::StagedFiles& staged_;
  const CommitContext& context_;
};

}  // namespace

Result<RetryPolicy> RetryPolicy::From(const std::map<std::string, std::string>& properties) {
  RetryPolicy policy;
  policy.retries = static_cast<uint64_t>(DELENDA_TRY(NumberProperty(properties, "commit.retry.num-retries", 100)));
  policy.min_wait_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.min-wait-ms", 20));
  policy.max_wait_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.max-wait-ms", 5000));
  policy.total_ms = DELENDA_TRY(NumberProperty(properties, "commit.retry.total-timeout-ms", 1800000));
  return policy;
}

int64_t RetryPolicy::WaitMs(uint64_t retry) const {
  int64_t most = std::max<int64_t>(min_wait_ms, 1);
  for (uint64_t i = 1; i < retry && most < max_wait_ms; ++i) most *= 2;
  most = std::min(most, std::max<int64_t>(max_wait_ms, 1));
  std::random_device device;
  return std::uniform_int_distribution<int64_t>(most / 2, most)(device);
}

Result<std::variant<Committed, LookAgain>> Commit(const Intent& intent, write::StagedFiles& staged,
                                                  const CommitContext& context) {
  return CommitLoop(intent, staged, context).Run();
}

}  // namespace delenda::commit
