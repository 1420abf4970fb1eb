#include "delenda/commit/manifest_merge.h"

#include <algorithm>
#include <utility>

#include "delenda/commit/next_metadata.h"

namespace delenda::commit {
namespace {

using Kind = std::pair<iceberg::ManifestContent, int32_t>;

struct Bin {
  std::vector<size_t> members;
  uint64_t bytes = 0;
};

}  // namespace

Result<ManifestMergePolicy> ManifestMergePolicy::From(const std::map<std::string, std::string>& properties) {
  ManifestMergePolicy policy;
  if (const auto enabled = properties.find("commit.manifest-merge.enabled"); enabled != properties.end()) {
    if (enabled->second != "true" && enabled->second != "false")
      return InvalidArgument("table property {} is '{}': expected true or false", enabled->first, enabled->second);
    policy.enabled = enabled->second == "true";
  }
  policy.min_count = DELENDA_TRY(NumberProperty(properties, "commit.manifest.min-count-to-merge", policy.min_count));
  policy.target_bytes =
      DELENDA_TRY(NumberProperty(properties, "commit.manifest.target-size-bytes", policy.target_bytes));
  return policy;
}

std::vector<std::vector<size_t>> GroupManifests(const std::vector<ManifestSize>& manifests,
                                                const ManifestMergePolicy& policy) {
  const auto target = static_cast<uint64_t>(policy.target_bytes);
  std::map<Kind, std::vector<Bin>> bins;
  for (const ManifestSize& manifest : manifests) {
    if (manifest.is_new && policy.enabled) bins[{manifest.content, manifest.spec_id}];
  }
  for (size_t i = manifests.size(); i-- > 0;) {
    const auto of_kind = bins.find({manifests[i].content, manifests[i].spec_id});
    if (of_kind == bins.end() || manifests[i].bytes >= target / 2) continue;
    auto& packed = of_kind->second;
    if (packed.empty() || packed.back().bytes + manifests[i].bytes > target) packed.emplace_back();
    packed.back().members.push_back(i);
    packed.back().bytes += manifests[i].bytes;
  }
  std::vector<std::vector<size_t>> groups;
  std::vector<bool> is_grouped(manifests.size());
  for (auto& [kind, packed] : bins) {
    for (Bin& bin : packed) {
      const bool is_last = &bin == &packed.back();
      if (bin.members.size() < 2 || (is_last && std::cmp_less(bin.members.size(), policy.min_count))) continue;
      std::ranges::reverse(bin.members);
      for (const size_t member : bin.members) is_grouped[member] = true;
      groups.push_back(std::move(bin.members));
    }
  }
  for (size_t i = 0; i < manifests.size(); ++i) {
    if (!is_grouped[i]) groups.push_back({i});
  }
  std::ranges::sort(groups, {}, [](const std::vector<size_t>& group) { return group.front(); });
  return groups;
}

}  // namespace delenda::commit
