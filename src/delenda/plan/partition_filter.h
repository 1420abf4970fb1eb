// What the filter of a plan says about partitions, and about manifests by the partitions that they hold.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "delenda/base/result.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/model/expression.h"
#include "delenda/model/partition.h"
#include "delenda/model/sorted_keys.h"

namespace delenda::plan {

// A partition of one spec.
struct OnePartition {
  int32_t spec_id = 0;
  std::shared_ptr<const PartitionTuple> tuple;
};

// What the filter says about one partition.
struct PartitionDecision {
  bool may_match = false;
  ExprRef residual;
};

// The filter's answers per partition, each computed once: many files share few partitions.
class PartitionFilter {
 public:
  // `keys`: only partitions that may hold one of them; `only`: only this one. Null: all.
  PartitionFilter(const ExprRef& filter, const ExprRef& projected, const BoundSpec& spec,
                  const KeyPartitions* keys = nullptr, const OnePartition* only = nullptr)
      : filter_(filter), projected_(projected), spec_(spec), keys_(keys), only_(only) {}

  const PartitionDecision& For(const std::shared_ptr<const PartitionTuple>& tuple);

 private:
  const Datum& ValueOf(const PartitionTuple& tuple, const BoundColumn& column) const;

  const ExprRef& filter_;
  const ExprRef& projected_;
  const BoundSpec& spec_;
  const KeyPartitions* keys_;
  const OnePartition* only_;
  std::unordered_map<std::shared_ptr<const PartitionTuple>, PartitionDecision> decisions_;
  std::pair<const std::shared_ptr<const PartitionTuple>, PartitionDecision>* last_ = nullptr;
};

// The filter on each spec's partition fields, by spec id.
using ProjectedFilters = std::map<int32_t, ExprRef>;
ProjectedFilters ProjectFilter(const Expr& filter, const std::map<int32_t, BoundSpec>& specs);

// May an entry of the manifest, live or DELETED, lie in a partition that the filter lets pass? Corrupt: the manifest
// has a spec that is not the table's.
Result<bool> MayMatchPartitions(const iceberg::ManifestFile& manifest, const Expr& filter,
                                const ProjectedFilters& projected, const std::map<int32_t, BoundSpec>& specs);

// May the manifest hold a file of a partition that may hold one of the keys? `keys`: in the partitions of its spec.
bool MayHoldKeys(const iceberg::ManifestFile& manifest, const BoundSpec& spec, const KeyPartitions& keys);

// May the manifest hold a file of this partition of its spec?
bool MayHoldPartition(const iceberg::ManifestFile& manifest, const BoundSpec& spec, const PartitionTuple& tuple);

}  // namespace delenda::plan
