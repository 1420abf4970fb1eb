#include "delenda/read/equality_keys.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/read/column_adapter.h"
#include "delenda/read/mapped_schema.h"
#include "delenda/read/nested_column.h"

namespace delenda::read {
namespace {

constexpr int64_t kKeyBatchRows = 64 * 1024;
constexpr int64_t kEmptySlot = std::numeric_limits<int64_t>::min();

bool IsIntegerLike(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return true;
    default: return false;
  }
}

uint64_t MixBits(uint64_t value) {
  value ^= value >> 32;
  value *= 0xD6E8FEB86659FD93U;
  value ^= value >> 32;
  return value;
}

// Values of an integer-like array without a switch per row.
struct IntegerValues {
  const int32_t* narrow = nullptr;
  const int64_t* wide = nullptr;
  int64_t operator[](int64_t row) const { return narrow != nullptr ? narrow[row] : wide[row]; }
};

Result<IntegerValues> IntegersOf(const arrow::Array& array) {
  IntegerValues values;
  switch (array.type_id()) {
    case arrow::Type::INT32:
    case arrow::Type::DATE32: values.narrow = array.data()->GetValues<int32_t>(1); return values;
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP: values.wide = array.data()->GetValues<int64_t>(1); return values;
    default: return InternalError("a key column was read as {}", array.type()->ToString());
  }
}

template <typename T>
void AppendFloat(std::string& out, T value) {
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();  // all NaNs are one key
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

// One value, self-delimiting: keys of several columns cannot run into each other.
Result<void> AppendValue(std::string& out, const arrow::Array& array, int64_t row) {
  const auto text = [&](std::string_view value) {
    const auto size = static_cast<uint32_t>(value.size());
    out.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(value);
  };
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      out.push_back(static_cast<const arrow::BooleanArray&>(array).Value(row) ? '\1' : '\0');
      return {};
    case arrow::Type::FLOAT: AppendFloat(out, static_cast<const arrow::FloatArray&>(array).Value(row)); return {};
    case arrow::Type::DOUBLE: AppendFloat(out, static_cast<const arrow::DoubleArray&>(array).Value(row)); return {};
    case arrow::Type::STRING:
    case arrow::Type::BINARY: text(static_cast<const arrow::BinaryArray&>(array).GetView(row)); return {};
    case arrow::Type::DECIMAL128:
    case arrow::Type::FIXED_SIZE_BINARY:
      text(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
      return {};
    default: {
      const int64_t value = DELENDA_TRY(IntegersOf(array))
      [row];
      out.append(reinterpret_cast<const char*>(&value), sizeof(value));
      return {};
    }
  }
}

}  // namespace

struct EqualityKeys::KeyArrays {
  std::vector<NestedColumn> columns;

  Result<void> Encode(int64_t row, std::string& out) const {
    out.clear();
    for (const NestedColumn& column : columns) {
      const bool valid = column.valid.Kept(row);
      out.push_back(valid ? '\1' : '\0');
      if (valid) DELENDA_TRY(AppendValue(out, *column.array, row));
    }
    return {};
  }
};

Result<EqualityKeys> EqualityKeys::Load(io::FileIO& io, const plan::ScanPlan& plan, const std::vector<uint32_t>& files,
                                        uint64_t memory_budget, const CancelToken& cancel) {
  EqualityKeys keys;
  keys.memory_budget_ = memory_budget;
  for (const int32_t id : plan.deletes[files.front()].equality_ids) {
    const auto key = plan.key_fields.find(id);
    if (key == plan.key_fields.end()) return InternalError("the plan has no key field {}", id);
    keys.keys_.push_back(key->second);
    keys.fields_.push_back(CutDown(key->second.column, {key->second.path}));
    keys.columns_.emplace_back().integer = IsIntegerLike(key->second.type.kind());
  }
  keys.single_integer_ = keys.keys_.size() == 1 && keys.columns_[0].integer;
  for (const uint32_t index : files) {
    const ContentFile& file = plan.deletes[index];
    const auto load = [&]() -> Result<void> {
      const auto size = static_cast<uint64_t>(file.file_size);
      const auto opened = DELENDA_TRY(
          parquet::ParquetFile::Open(DELENDA_TRY(io.Open(file.path, size)), size, AssignIdsBy(plan.name_mapping)));
      if (opened->num_rows() != file.record_count)
        return Corrupt("expected {} rows by the manifest, found {}", file.record_count, opened->num_rows());
      for (const plan::KeyField& key : keys.keys_) {
        if (!FindLeaf(*opened, key.path))
          return Corrupt("the equality delete file lacks its key column {} (field id {})", key.column.name,
                         key.path.back());
      }
      const auto adapter = DELENDA_TRY(ColumnAdapter::Make(keys.fields_, *opened, {}));
      for (size_t group = 0; group < opened->row_groups().size(); ++group) {
        if (cancel.cancelled()) return Cancelled("stopped at the caller's request");
        if (opened->row_groups()[group].num_rows == 0) continue;
        const auto reader = DELENDA_TRY(opened->Read(group, adapter.leaves(), kKeyBatchRows));
        while (const auto batch = DELENDA_TRY(reader->Next())) {
          DELENDA_TRY(keys.Add(DELENDA_TRY(adapter.Adapt(batch.get(), batch->num_rows())), batch->num_rows(),
                               file.data_sequence_number));
        }
      }
      return {};
    };
    DELENDA_TRY(WithContext(load(), "file", file.path));
  }
  keys.FinishColumns();
  return keys;
}

Result<EqualityKeys::KeyArrays> EqualityKeys::Arrays(const std::vector<std::shared_ptr<arrow::Array>>& columns) const {
  if (columns.size() != keys_.size()) return InternalError("key columns are missing");
  KeyArrays arrays;
  for (size_t i = 0; i < keys_.size(); ++i)
    arrays.columns.push_back(DELENDA_TRY(FollowPath(fields_[i], keys_[i].path, columns[i])));
  return arrays;
}

Result<void> EqualityKeys::Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows,
                               int64_t sequence) {
  const KeyArrays arrays = DELENDA_TRY(Arrays(columns));
  for (size_t i = 0; i < columns_.size(); ++i) {
    const NestedColumn& column = arrays.columns[i];
    columns_[i].has_null = columns_[i].has_null || column.valid.Count() != rows;
    if (!columns_[i].integer) continue;
    const IntegerValues values = DELENDA_TRY(IntegersOf(*column.array));
    for (int64_t row = 0; row < rows; ++row) {
      if (column.valid.Kept(row)) columns_[i].values.push_back(values[row]);
    }
  }
  if (single_integer_) {
    const NestedColumn& column = arrays.columns[0];
    const IntegerValues values = DELENDA_TRY(IntegersOf(*column.array));
    for (int64_t row = 0; row < rows; ++row) {
      if (column.valid.Kept(row))
        AddInteger(values[row], sequence);
      else
        null_sequence_ = std::max(null_sequence_.value_or(sequence), sequence);
    }
  } else {
    std::string key;
    for (int64_t row = 0; row < rows; ++row) {
      DELENDA_TRY(arrays.Encode(row, key));
      AddBytes(key, sequence);
    }
  }
  return CheckBudget();
}

Result<void> EqualityKeys::CheckBudget() const {
  uint64_t bytes = int_slots_.capacity() * sizeof(int_slots_[0]) + byte_slots_.capacity() * sizeof(uint32_t) +
                   entries_.capacity() * sizeof(Entry) + key_bytes_.capacity();
  for (const ColumnKeys& column : columns_) bytes += column.values.capacity() * sizeof(int64_t);
  if (bytes <= memory_budget_ && entries_.size() < std::numeric_limits<uint32_t>::max() / 2) return {};
  return NotSupported(
      "the keys of the equality deletes need more than the memory budget of {} bytes: turn them into deletion vectors, "
      "or read with a larger budget",
      memory_budget_);
}

void EqualityKeys::AddInteger(int64_t key, int64_t sequence) {
  if ((int_slots_used_ + 1) * 2 > int_slots_.size()) GrowIntegers();
  const size_t mask = int_slots_.size() - 1;
  for (size_t at = MixBits(static_cast<uint64_t>(key)) & mask;; at = (at + 1) & mask) {
    auto& [slot_key, slot_sequence] = int_slots_[at];
    if (slot_sequence == kEmptySlot) {
      slot_key = key;
      slot_sequence = sequence;
      ++int_slots_used_;
      return;
    }
    if (slot_key == key) {
      slot_sequence = std::max(slot_sequence, sequence);
      return;
    }
  }
}

void EqualityKeys::GrowIntegers() {
  std::vector<std::pair<int64_t, int64_t>> old(std::max<size_t>(16, int_slots_.size() * 2), {0, kEmptySlot});
  old.swap(int_slots_);
  int_slots_used_ = 0;
  for (const auto& [key, sequence] : old) {
    if (sequence != kEmptySlot) AddInteger(key, sequence);
  }
}

void EqualityKeys::AddBytes(std::string_view key, int64_t sequence) {
  if ((entries_.size() + 1) * 2 > byte_slots_.size()) GrowBytes();
  const uint64_t hash = std::hash<std::string_view>()(key);
  const size_t mask = byte_slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    if (byte_slots_[at] == 0) {
      byte_slots_[at] = static_cast<uint32_t>(entries_.size() + 1);
      entries_.push_back(
          {.hash = hash, .offset = key_bytes_.size(), .size = static_cast<uint32_t>(key.size()), .sequence = sequence});
      key_bytes_.append(key);
      return;
    }
    Entry& entry = entries_[byte_slots_[at] - 1];
    if (entry.hash == hash && std::string_view(key_bytes_).substr(entry.offset, entry.size) == key) {
      entry.sequence = std::max(entry.sequence, sequence);
      return;
    }
  }
}

void EqualityKeys::GrowBytes() {
  byte_slots_.assign(std::max<size_t>(16, byte_slots_.size() * 2), 0);
  const size_t mask = byte_slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (byte_slots_[at] != 0) at = (at + 1) & mask;
    byte_slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

void EqualityKeys::FinishColumns() {
  for (ColumnKeys& column : columns_) {
    std::ranges::sort(column.values);
    const auto repeated = std::ranges::unique(column.values);
    column.values.erase(repeated.begin(), repeated.end());
    column.values.shrink_to_fit();
  }
}

bool EqualityKeys::CouldDelete(const StatsSource& stats) const {
  if (size() == 0) return false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const ColumnKeys& column = columns_[i];
    if (!column.integer) continue;
    BoundColumn bound;
    bound.field_id = keys_[i].path.back();
    bound.type = keys_[i].type;
    bound.name = keys_[i].column.name;
    bound.path = keys_[i].path;
    const auto known = stats(bound);
    if (!known || !known->lower || !known->upper) continue;
    if (column.has_null && known->null_count != 0) continue;
    if (!std::holds_alternative<int64_t>(*known->lower) || !std::holds_alternative<int64_t>(*known->upper)) continue;
    const auto first = std::ranges::lower_bound(column.values, std::get<int64_t>(*known->lower));
    // No key of this column lies between the bounds, so no row has a whole key.
    if (first == column.values.end() || *first > std::get<int64_t>(*known->upper)) return false;
  }
  return true;
}

Result<void> EqualityKeys::RemoveDeleted(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                         int64_t data_sequence_number, Selection& live) const {
  if (size() == 0) return {};
  const KeyArrays arrays = DELENDA_TRY(Arrays(columns));
  if (single_integer_) {
    const NestedColumn& column = arrays.columns[0];
    const IntegerValues values = DELENDA_TRY(IntegersOf(*column.array));
    const bool null_deleted = null_sequence_ && *null_sequence_ > data_sequence_number;
    const size_t mask = int_slots_.empty() ? 0 : int_slots_.size() - 1;
    live &= Selection::Where(live.rows(), [&](int64_t row) {
      if (!column.valid.Kept(row)) return !null_deleted;
      if (int_slots_.empty()) return true;
      const int64_t key = values[row];
      for (size_t at = MixBits(static_cast<uint64_t>(key)) & mask;; at = (at + 1) & mask) {
        const auto& [slot_key, sequence] = int_slots_[at];
        if (sequence == kEmptySlot) return true;
        if (slot_key == key) return sequence <= data_sequence_number;
      }
    });
    return {};
  }
  const size_t mask = byte_slots_.size() - 1;
  std::string key;
  Result<void> failure;
  const Selection kept = Selection::Where(live.rows(), [&](int64_t row) {
    if (!live.Kept(row) || !failure) return false;
    failure = arrays.Encode(row, key);
    const uint64_t hash = std::hash<std::string_view>()(key);
    for (size_t at = hash & mask; byte_slots_[at] != 0; at = (at + 1) & mask) {
      const Entry& entry = entries_[byte_slots_[at] - 1];
      if (entry.hash == hash && std::string_view(key_bytes_).substr(entry.offset, entry.size) == key)
        return entry.sequence <= data_sequence_number;
    }
    return true;
  });
  DELENDA_TRY(std::move(failure));
  live &= kept;
  return {};
}

}  // namespace delenda::read
