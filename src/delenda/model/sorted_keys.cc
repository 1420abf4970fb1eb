#include "delenda/model/sorted_keys.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "delenda/model/transform_values.h"

namespace delenda {
namespace {

// The partition values that rows with one of `values` may lie in. Nothing: the field rules none out.
std::optional<SortedValues> TransformedValues(const SortedKeys::Column& key, const Transform& transform,
                                              const Type& source) {
  using Kind = Transform::Kind;
  const Kind kind = transform.kind();
  // void is NULL for every row and an unknown transform may give anything.
  if (kind == Kind::kVoid || kind == Kind::kUnknown || !TransformTakes(kind, source)) return std::nullopt;
  if (!LiteralsKeepMeaning(key.column.type, source)) return std::nullopt;
  if (kind == Kind::kIdentity) return key.values;
  if (kind == Kind::kTruncate && TruncateOverflows(source, transform.parameter())) return std::nullopt;
  std::vector<Datum> transformed;
  transformed.reserve(key.values.size() + 1);
  if (key.values.has_null()) transformed.emplace_back();
  for (size_t i = 0; i < key.values.size(); ++i) {
    auto value = transform.Apply(source, key.values.At(i));
    if (!value) return std::nullopt;
    // What an old writer may have stored, beside the right value.
    const auto* ordinal = std::get_if<int64_t>(&*value);
    if (ordinal != nullptr && *ordinal < 0 && MayBeOneTooHigh(kind, source)) transformed.emplace_back(*ordinal + 1);
    if (kind == Kind::kTruncate && ordinal != nullptr) {
      // What a file holds that was written when the column was an int.
      if (const auto other = TruncatedWhenInt(source, std::get<int64_t>(key.values.At(i)), transform.parameter()))
        transformed.emplace_back(*other);
    }
    transformed.push_back(*std::move(value));
  }
  return SortedValues::Of(std::move(transformed));
}

}  // namespace

bool KeyPartitions::CouldBeIn(const PartitionTuple& tuple) const {
  return !no_keys_ && std::ranges::all_of(pins_, [&](const Pin& pin) {
    return pin.at >= tuple.values.size() || pin.values.Contains(tuple.values[pin.at]);
  });
}

bool KeyPartitions::CouldBeIn(const StatsSource& stats) const {
  return !no_keys_ && std::ranges::all_of(pins_, [&](const Pin& pin) {
    const auto known = stats(pin.field);
    return !known || pin.values.CouldLieIn(*known);
  });
}

bool SortedKeys::empty() const {
  return std::ranges::all_of(columns_, [](const Column& column) { return column.values.empty(); });
}

uint64_t SortedKeys::memory() const {
  uint64_t bytes = 0;
  for (const Column& column : columns_) bytes += column.values.memory();
  return bytes;
}

bool SortedKeys::CouldHold(const StatsSource& stats) const {
  return !empty() && std::ranges::all_of(columns_, [&](const Column& key) {
    const auto known = stats(key.column);
    return !known || key.values.CouldLieIn(*known);
  });
}

KeyPartitions SortedKeys::InPartitionsOf(const BoundSpec& spec) const {
  KeyPartitions partitions;
  partitions.no_keys_ = empty();
  for (size_t i = 0; i < spec.spec.fields.size(); ++i) {
    const PartitionField& field = spec.spec.fields[i];
    const auto key = std::ranges::find(columns_, field.source_id, [](const Column& c) { return c.column.field_id; });
    if (key == columns_.end()) continue;
    auto values = TransformedValues(*key, field.transform, spec.source_types[i]);
    if (!values) continue;
    partitions.pins_.push_back({.at = i,
                                .field = {.field_id = field.field_id,
                                          .type = spec.result_types[i],
                                          .name = field.name,
                                          .path = {field.field_id}},
                                .values = *std::move(values)});
  }
  return partitions;
}

}  // namespace delenda
