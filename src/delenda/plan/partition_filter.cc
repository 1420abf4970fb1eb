#include "delenda/plan/partition_filter.h"

#include <algorithm>
#include <optional>

#include "delenda/base/bytes.h"
#include "delenda/model/pruning.h"

namespace delenda::plan {
namespace {

ColumnStats SummaryStats(const iceberg::FieldSummary& summary, const Type& type) {
  ColumnStats stats;
  if (summary.lower) stats.lower = PruningBound(type, AsBytes(*summary.lower));
  if (summary.upper) stats.upper = PruningBound(type, AsBytes(*summary.upper));
  if (!summary.contains_null) stats.null_count = 0;
  if (summary.contains_nan == false) stats.nan_count = 0;
  return stats;
}

}  // namespace

const PartitionDecision& PartitionFilter::For(const std::shared_ptr<const PartitionTuple>& tuple) {
  // Neighbours mostly share a partition.
  if (last_ != nullptr && last_->first == tuple) return last_->second;
  const auto [found, is_new] = decisions_.try_emplace(tuple);
  last_ = &*found;
  PartitionDecision& decision = found->second;
  if (!is_new) return decision;
  if (only_ != nullptr && (only_->spec_id != spec_.spec.spec_id || !(*only_->tuple == *tuple))) return decision;
  if (keys_ != nullptr && !keys_->CouldBeIn(*tuple)) return decision;
  if (filter_->op == Op::kTrue)
    // With a count of its own: threads that add to the one of a filter for each file get in each other's way.
    decision = {.may_match = true, .residual = ExprRef(std::make_shared<const ExprRef>(filter_), filter_.get())};
  else {
    decision.may_match = EvaluateRow(*projected_, [&](const BoundColumn& column) -> const Datum& {
                           return ValueOf(*tuple, column);
                         }) == Truth::kTrue;
    if (decision.may_match) decision.residual = ResidualFor(*filter_, spec_, *tuple);
    decision.may_match = decision.may_match && decision.residual->op != Op::kFalse;
  }
  return decision;
}

const Datum& PartitionFilter::ValueOf(const PartitionTuple& tuple, const BoundColumn& column) const {
  static const Datum kNull;
  for (size_t i = 0; i < tuple.values.size(); ++i) {
    if (spec_.spec.fields[i].field_id == column.field_id) return tuple.values[i];
  }
  return kNull;
}

ProjectedFilters ProjectFilter(const Expr& filter, const std::map<int32_t, BoundSpec>& specs) {
  ProjectedFilters projected;
  for (const auto& [id, spec] : specs) projected.emplace(id, ProjectInclusive(filter, spec));
  return projected;
}

Result<bool> MayMatchPartitions(const iceberg::ManifestFile& manifest, const Expr& filter,
                                const ProjectedFilters& projected, const std::map<int32_t, BoundSpec>& specs) {
  if (!manifest.spec_id || manifest.partitions.empty()) return filter.op != Op::kFalse;
  const auto spec = specs.find(*manifest.spec_id);
  if (spec == specs.end())
    return Corrupt("manifest {} has partition spec {}, which the table does not have", manifest.path,
                   *manifest.spec_id);
  const auto& fields = spec->second.spec.fields;
  return CouldMatch(*projected.at(*manifest.spec_id), [&](const BoundColumn& column) -> std::optional<ColumnStats> {
    const auto field = std::ranges::find(fields, column.field_id, &PartitionField::field_id);
    const auto at = static_cast<size_t>(field - fields.begin());
    if (field == fields.end() || at >= manifest.partitions.size()) return std::nullopt;
    return SummaryStats(manifest.partitions[at], column.type);
  });
}

bool MayHoldKeys(const iceberg::ManifestFile& manifest, const BoundSpec& spec, const KeyPartitions& keys) {
  const auto& fields = spec.spec.fields;
  // Summaries that are unknown, or not of this spec, rule nothing out.
  const bool known = manifest.partitions.size() == fields.size();
  return keys.CouldBeIn([&](const BoundColumn& column) -> std::optional<ColumnStats> {
    const auto field = std::ranges::find(fields, column.field_id, &PartitionField::field_id);
    if (!known || field == fields.end()) return std::nullopt;
    return SummaryStats(manifest.partitions[static_cast<size_t>(field - fields.begin())], column.type);
  });
}

bool MayHoldPartition(const iceberg::ManifestFile& manifest, const BoundSpec& spec, const PartitionTuple& tuple) {
  // Summaries that are unknown, or not of this spec, rule nothing out.
  const auto& fields = spec.spec.fields;
  if (manifest.partitions.size() != fields.size() || tuple.values.size() != fields.size()) return true;
  for (size_t i = 0; i < fields.size(); ++i) {
    const Type& type = spec.result_types[i];
    // Values of a transform that is not known have no order.
    if (fields[i].transform.kind() == Transform::Kind::kUnknown || type.is_nested()) continue;
    const BoundColumn column{.field_id = fields[i].field_id, .type = type, .name = {}, .path = {}};
    const Datum& value = tuple.values[i];
    const ExprRef same = IsNull(value) ? Expr::Leaf(Op::kIsNull, column, {}) : Expr::Leaf(Op::kEqual, column, {value});
    if (!CouldMatch(*same, [&](const BoundColumn&) { return SummaryStats(manifest.partitions[i], type); }))
      return false;
  }
  return true;
}

}  // namespace delenda::plan
