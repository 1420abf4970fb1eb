#include "delenda/plan/changelog_snapshots.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace delenda::plan {
namespace {

using iceberg::ManifestContent;
using iceberg::ManifestFile;

// Entries of one content in the manifests of `of` that `others` has not. Nothing: some manifest does not say.
template <typename Count>
std::optional<int64_t> CountOnlyIn(const std::vector<ManifestFile>& of, const std::vector<ManifestFile>& others,
                                   ManifestContent content, Count count) {
  std::unordered_set<std::string_view> shared;
  for (const auto& manifest : others) shared.insert(manifest.path);
  int64_t sum = 0;
  for (const auto& manifest : of) {
    if (manifest.content != content || shared.contains(manifest.path)) continue;
    const std::optional<int64_t> entries = count(manifest);
    if (!entries || __builtin_add_overflow(sum, *entries, &sum)) return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> Sum(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

Result<void> CheckAgainstParent(const ChangelogSnapshot& snapshot, const std::vector<ManifestFile>& parent) {
  for (const auto content : {ManifestContent::kData, ManifestContent::kDeletes}) {
    const auto had = CountOnlyIn(parent, snapshot.manifests, content,
                                 [](const ManifestFile& m) { return Sum(m.added_files, m.existing_files); });
    const auto told = CountOnlyIn(snapshot.manifests, parent, content,
                                  [](const ManifestFile& m) { return Sum(m.existing_files, m.deleted_files); });
    if (!had || !told || *had <= *told) continue;
    return Corrupt(
        "snapshot {} took {} {} files out of its parent's manifests and accounts for {}: which ones it removed can't "
        "be "
        "told",
        snapshot.snapshot->snapshot_id, *had, content == ManifestContent::kData ? "data" : "delete", *told);
  }
  return {};
}

}  // namespace

Result<std::vector<ChangelogSnapshot>> ReadChangelogSnapshots(const iceberg::TableMetadata& metadata,
                                                              const std::vector<const iceberg::Snapshot*>& snapshots,
                                                              io::FileIO& io, avro::SchemaCache& schemas,
                                                              Executor& executor, const Hooks& hooks) {
  std::vector<ChangelogSnapshot> read;
  std::unordered_map<int64_t, size_t> at;
  for (const auto* snapshot : snapshots) {
    at.emplace(snapshot->snapshot_id, read.size());
    read.push_back({.snapshot = snapshot, .manifests = {}});
  }
  const size_t in_range = read.size();
  for (const auto* snapshot : snapshots) {
    const auto* parent = snapshot->parent_id ? metadata.FindSnapshot(*snapshot->parent_id) : nullptr;
    if (parent == nullptr || !at.emplace(parent->snapshot_id, read.size()).second) continue;
    read.push_back({.snapshot = parent, .manifests = {}});
  }
  DELENDA_TRY(executor.ParallelFor(
      read.size(),
      [&](size_t i) -> Result<void> {
        read[i].manifests = DELENDA_TRY(ReadManifests(io, *read[i].snapshot, schemas));
        return {};
      },
      hooks.cancel));
  for (const auto& snapshot : std::span(read).first(in_range)) {
    std::unordered_set<std::string_view> paths;
    for (const auto& manifest : snapshot.manifests) {
      if (!paths.insert(manifest.path).second) {
        return Corrupt("the manifest list of snapshot {} names {} twice", snapshot.snapshot->snapshot_id,
                       manifest.path);
      }
    }
    const auto parent = snapshot.snapshot->parent_id ? at.find(*snapshot.snapshot->parent_id) : at.end();
    if (parent != at.end()) DELENDA_TRY(CheckAgainstParent(snapshot, read[parent->second].manifests));
  }
  read.resize(in_range);
  return read;
}

}  // namespace delenda::plan
