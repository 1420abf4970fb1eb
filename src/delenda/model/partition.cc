#include "delenda/model/partition.h"

#include <algorithm>

#include "delenda/model/calendar.h"

namespace delenda {

bool PartitionSpec::IsUnpartitioned() const {
  return std::all_of(fields.begin(), fields.end(),
                     [](const PartitionField& field) { return field.transform.kind() == Transform::Kind::kVoid; });
}

bool PartitionTuple::operator==(const PartitionTuple& other) const {
  return std::equal(values.begin(), values.end(), other.values.begin(), other.values.end(), SamePartitionValue);
}

size_t HashPartitionTuple(const PartitionTuple& tuple) {
  size_t hash = tuple.values.size();
  for (const Datum& value : tuple.values)
    hash = (hash ^ HashPartitionValue(value)) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
  return hash;
}

BoundSpec BoundSpec::Make(const PartitionSpec& spec, const Schema& schema) {
  BoundSpec bound;
  bound.spec = spec;
  for (const PartitionField& field : spec.fields) {
    const Schema::Path path = schema.FindById(field.source_id);
    const Type source = path.empty() ? Type() : path.back()->type;
    bound.source_types.push_back(source);
    bound.result_types.push_back(field.transform.ResultType(source));
  }
  return bound;
}

std::string PartitionValueText(const Transform& transform, const Type& type, const Datum& value) {
  const auto* ordinal = std::get_if<int64_t>(&value);
  if (ordinal == nullptr) return DatumToText(type, value);
  const auto year_text = [](int64_t years) {
    return fmt::format("{:04}", static_cast<int64_t>(static_cast<uint64_t>(years) + 1970));
  };
  switch (transform.kind()) {
    case Transform::Kind::kYear: return year_text(*ordinal);
    case Transform::Kind::kMonth: {
      const int64_t years = FloorDiv(*ordinal, 12);
      return fmt::format("{}-{:02}", year_text(years), *ordinal - years * 12 + 1);
    }
    case Transform::Kind::kDay: return DatumToText(TypeKind::kDate, value);
    case Transform::Kind::kHour: {
      const int64_t days = FloorDiv(*ordinal, 24);
      return fmt::format("{}-{:02}", DatumToText(TypeKind::kDate, Datum(days)), *ordinal - days * 24);
    }
    default: return DatumToText(type, value);
  }
}

std::string PartitionText(const BoundSpec& spec, const PartitionTuple& tuple) {
  std::string text;
  const size_t count = std::min(spec.spec.fields.size(), tuple.values.size());
  for (size_t i = 0; i < count; ++i) {
    const PartitionField& field = spec.spec.fields[i];
    text += fmt::format("{}{}={}", i == 0 ? "" : "/", field.name,
                        PartitionValueText(field.transform, spec.result_types[i], tuple.values[i]));
  }
  return text;
}

}  // namespace delenda
