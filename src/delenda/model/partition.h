// Partition specs, transforms and tuples (Iceberg spec, "Partitioning"), and what a filter says about partitions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/datum.h"
#include "delenda/model/expression.h"
#include "delenda/model/type.h"

namespace delenda {

// identity, bucket[N], truncate[W], year, month, day, hour, void, or one that a later format version brought (kept by
// name, prunes nothing).
class Transform {
 public:
  enum class Kind : uint8_t { kIdentity, kBucket, kTruncate, kYear, kMonth, kDay, kHour, kVoid, kUnknown };

  // Never fails for a well-formed name; Corrupt for bucket[0], truncate[-1], bucket[x].
  static Result<Transform> Parse(std::string_view text);

  Kind kind() const { return kind_; }
  int32_t parameter() const { return parameter_; }
  std::string ToString() const;

  // Type of the transform's values. (day gives date, as Java writes it; unknown transforms give string.)
  Type ResultType(const Type& source) const;
  // The value for a source value; NULL for NULL. InvalidArgument when the transform does not take the type.
  // Bucket hashes by Murmur3-32 (spec, Appendix B); dates and times before 1970 round down.
  Result<Datum> Apply(const Type& source, const Datum& value) const;

  bool operator==(const Transform&) const = default;

 private:
  Kind kind_ = Kind::kIdentity;
  int32_t parameter_ = 0;
  std::string name_;  // of kUnknown
};

struct PartitionField {
  int32_t source_id = 0;  // the first of several, for a multi-argument transform (which is kUnknown)
  int32_t field_id = 0;
  std::string name;
  Transform transform;
};

struct PartitionSpec {
  int32_t spec_id = 0;
  std::vector<PartitionField> fields;

  // No field, or void ones only (v1 tables have them): its equality deletes are global.
  bool IsUnpartitioned() const;
};

// The values of a partition, by position in its spec.
struct PartitionTuple {
  std::vector<Datum> values;

  bool operator==(const PartitionTuple& other) const;  // SamePartitionValue on each
};
size_t HashPartitionTuple(const PartitionTuple& tuple);

// A partition of one spec, as key of a hash map or set. The tuple must outlive it.
struct PartitionKey {
  int32_t spec_id = 0;
  const PartitionTuple* tuple = nullptr;

  bool operator==(const PartitionKey& other) const { return spec_id == other.spec_id && *tuple == *other.tuple; }
};
struct PartitionKeyHash {
  size_t operator()(const PartitionKey& key) const {
    return HashPartitionTuple(*key.tuple) * 31 + static_cast<size_t>(key.spec_id);
  }
};

// A spec with the types of its values, resolved once against a schema that still holds the source columns (a dropped
// source column gives type unknown and prunes nothing).
struct BoundSpec {
  PartitionSpec spec;
  std::vector<Type> source_types;
  std::vector<Type> result_types;

  static BoundSpec Make(const PartitionSpec& spec, const Schema& schema);
};

// What must hold for the partition tuple if any row of the partition can match: the inclusive projection. The result's
// columns have the ids of the partition fields and the transforms' result types; evaluate it with EvaluateRow on a
// tuple or CouldMatch on a manifest's field summaries. EXAMPLE  day(ts), "ts > '2024-02-29T12:00:00'"  →  ts_day >=
// 2024-02-29
ExprRef ProjectInclusive(const Expr& expr, const BoundSpec& spec);

// What is left of the filter for rows of this partition: leaves that the partition's values decide for *every* row are
// replaced by True or False. EXAMPLE  identity(region), "region = 'eu' AND id > 5", tuple ('eu')  →  id > 5;  tuple
// ('us')  →  False
ExprRef ResidualFor(const Expr& expr, const BoundSpec& spec, const PartitionTuple& tuple);

// A partition value as people read it: years, months and hours instead of ordinals ("2024", "2024-02",
// "2024-02-29-23").
std::string PartitionValueText(const Transform& transform, const Type& result_type, const Datum& value);
// "region=eu/ts_day=2024-02-29" for messages and tables (NULL as null; not a path).
std::string PartitionText(const BoundSpec& spec, const PartitionTuple& tuple);

}  // namespace delenda
