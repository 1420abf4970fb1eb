// Which manifests of a snapshot are to be written as one, so that their number does not grow with every commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/manifest_list.h"

namespace delenda::commit {

// The table's properties commit.manifest-merge.enabled, commit.manifest.min-count-to-merge and
// commit.manifest.target-size-bytes, with the defaults that Iceberg has.
struct ManifestMergePolicy {
  bool enabled = true;
  int64_t min_count = 100;
  int64_t target_bytes = int64_t{8} << 20;

  static Result<ManifestMergePolicy> From(const std::map<std::string, std::string>& properties);
};

// What is known of a manifest before it is decided.
struct ManifestSize {
  iceberg::ManifestContent content = iceberg::ManifestContent::kData;
  int32_t spec_id = 0;
  uint64_t bytes = 0;
  bool is_new = false;  // of this commit
};

// Cuts the manifests, newest first, into groups: the manifests of a group of two or more are to be written as one.
// Groups, and indexes in them, are in the order of the manifests. Manifests of different content or spec never meet.
//
// Only where the commit has a new manifest, the small ones (below half the target size) are packed from the oldest on
// into bins of at most the target size. A full bin is a group; the last one, which has the new manifest, only if it
// holds `min_count`. So a manifest that was merged to at least half the target size is never written again, and the
// others once in `min_count` commits.
//
// EXAMPLE  min_count 3, target 100; sizes, newest first: new 10, 10, 10, 60, 10, 10
//          →  {10 new, 10, 10, 10, 10} are packed to one bin of five, hence one group; {60} stays.
std::vector<std::vector<size_t>> GroupManifests(const std::vector<ManifestSize>& manifests,
                                                const ManifestMergePolicy& policy);

}  // namespace delenda::commit
