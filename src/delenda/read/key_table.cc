#include "delenda/read/key_table.h"

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

#include "delenda/read/arrow_type.h"

namespace delenda::read {
namespace {

// Types by which a writer may tell rows apart.
bool IsKeyType(const Type& type) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
    case TypeKind::kDecimal:
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary: return true;
    default: return type.is_integral();
  }
}

template <typename T>
void AppendPlain(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

template <typename T>
void AppendFloat(std::string& out, T value) {
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();  // all NaNs are one key
  AppendPlain(out, value);
}

// From the front of an encoded key, which this file has made: it is long enough.
template <typename T>
T TakePlain(std::string_view& key) {
  T value;
  std::memcpy(&value, key.data(), sizeof(T));
  key.remove_prefix(sizeof(T));
  return value;
}

Datum TakeValue(TypeKind kind, std::string_view& key) {
  switch (kind) {
    case TypeKind::kBoolean: return Datum(TakePlain<char>(key) != '\0');
    case TypeKind::kFloat: return Datum(TakePlain<float>(key));
    case TypeKind::kDouble: return Datum(TakePlain<double>(key));
    case TypeKind::kDecimal: return Datum(TakePlain<Int128>(key));
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kFixed:
    case TypeKind::kUuid: {
      const auto size = TakePlain<uint32_t>(key);
      std::string text(key.substr(0, size));
      key.remove_prefix(size);
      return Datum(std::move(text));
    }
    default: return Datum(TakePlain<int64_t>(key));
  }
}

// A struct's values with the field on the path as its only one. Offsets stay: of a slice too, they are those of every
// level.
Result<std::shared_ptr<arrow::ArrayData>> CutDownTo(const Field& field, const std::vector<int32_t>& path, size_t depth,
                                                    std::shared_ptr<arrow::ArrayData> data) {
  if (depth == path.size()) return data;
  const auto& children = field.type.fields();
  const auto child = std::ranges::find(children, path[depth], &Field::id);
  if (child == children.end() || data->type->id() != arrow::Type::STRUCT)
    return InternalError("field {} of column {} is not in the batch", path[depth], field.name);
  const auto at = static_cast<size_t>(child - children.begin());
  auto kept = DELENDA_TRY(CutDownTo(*child, path, depth + 1, data->child_data[at]));
  auto cut = std::make_shared<arrow::ArrayData>(*data);
  cut->type = arrow::struct_({data->type->field(static_cast<int>(at))->WithType(kept->type)});
  cut->child_data = {std::move(kept)};
  return cut;
}

}  // namespace

Result<KeyTable> KeyTable::Make(std::vector<plan::KeyField> fields, uint64_t memory_budget) {
  if (fields.empty()) return InvalidArgument("a key needs at least one column");
  KeyTable table;
  table.memory_budget_ = memory_budget;
  for (const plan::KeyField& key : fields) {
    if (key.type.is_nested()) return InternalError("key column {} is a {}", key.column.name, key.type.ToString());
    table.fields_.push_back(CutDown(key.column, {key.path}));
  }
  table.single_integer_ = fields.size() == 1 && fields[0].type.is_integral();
  table.keys_ = std::move(fields);
  if (table.single_integer_)
    table.GrowSlots();
  else
    table.GrowBytes();
  return table;
}

Result<KeyTable> KeyTable::ForColumns(const Schema& schema, const std::vector<std::string>& names,
                                      uint64_t memory_budget) {
  std::vector<plan::KeyField> fields;
  for (const std::string& name : names) {
    const Schema::Path path = schema.FindByName(name);
    if (path.empty()) return NotFound("no key column '{}': columns are {}", name, schema.ColumnNames());
    if (!HasOneValueARow(path)) {
      return InvalidArgument("column '{}' lies in a list or map: a row has several of its values, so it is no key",
                             name);
    }
    plan::KeyField key{.column = *path.front(), .path = {}, .type = path.back()->type};
    for (const Field* field : path) key.path.push_back(field->id);
    // Equal keys must be equal rows to every engine: -0.0 and 0.0 are not.
    if (!IsKeyType(key.type))
      return InvalidArgument("column '{}' is a {}: keys are not matched by it", name, key.type.ToString());
    if (std::ranges::any_of(fields, [&](const plan::KeyField& other) { return other.path == key.path; }))
      return InvalidArgument("key column '{}' is named twice", name);
    fields.push_back(std::move(key));
  }
  return Make(std::move(fields), memory_budget);
}

Result<std::vector<std::shared_ptr<arrow::Array>>> KeyTable::ColumnsOf(const Schema& schema,
                                                                       const arrow::RecordBatch& batch) const {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const auto& all = schema.fields();
    const auto top = std::ranges::find(all, fields_[i].id, &Field::id);
    const auto at = static_cast<int>(top - all.begin());
    if (top == all.end() || at >= batch.num_columns())
      return InternalError("key column {} is not in the batch", fields_[i].name);
    columns.push_back(arrow::MakeArray(DELENDA_TRY(CutDownTo(*top, keys_[i].path, 1, batch.column_data(at)))));
  }
  return columns;
}

uint64_t KeyTable::memory() const {
  return slots_.capacity() * sizeof(Slot) + marks_.capacity() * sizeof(uint64_t) +
         byte_slots_.capacity() * sizeof(uint32_t) + entries_.capacity() * sizeof(Entry) + key_bytes_.capacity();
}

uint64_t KeyTable::sorted_memory() const {
  const auto keys = static_cast<uint64_t>(size_);
  return single_integer_ ? keys * sizeof(int64_t) : keys * keys_.size() * sizeof(Datum) + key_bytes_.size();
}

Result<void> KeyTable::CheckBudget() const {
  if (memory() <= memory_budget_ && entries_.size() < std::numeric_limits<uint32_t>::max() / 2) return {};
  return NotSupported("{} keys need more than the memory budget of {} bytes", size_, memory_budget_);
}

Result<KeyTable::IntegerColumn> KeyTable::IntegersOf(const arrow::Array& array) {
  IntegerColumn values;
  switch (array.type_id()) {
    case arrow::Type::INT32:
    case arrow::Type::DATE32: values.narrow = array.data()->GetValues<int32_t>(1); return values;
    case arrow::Type::INT64:
    case arrow::Type::TIME64:
    case arrow::Type::TIMESTAMP: values.wide = array.data()->GetValues<int64_t>(1); return values;
    default: return InternalError("a key column was read as {}", array.type()->ToString());
  }
}

// One value, self-delimiting: keys of several columns cannot run into each other.
Result<void> KeyTable::Append(std::string& out, const arrow::Array& array, int64_t row) {
  const auto text = [&](std::string_view value) {
    AppendPlain(out, static_cast<uint32_t>(value.size()));
    out.append(value);
  };
  switch (array.type_id()) {
    case arrow::Type::BOOL:
      out.push_back(static_cast<const arrow::BooleanArray&>(array).Value(row) ? '\1' : '\0');
      return {};
    case arrow::Type::FLOAT: AppendFloat(out, static_cast<const arrow::FloatArray&>(array).Value(row)); return {};
    case arrow::Type::DOUBLE: AppendFloat(out, static_cast<const arrow::DoubleArray&>(array).Value(row)); return {};
    case arrow::Type::STRING:
    case arrow::Type::BINARY: text(static_cast<const arrow::BinaryArray&>(array).GetView(row)); return {};
    case arrow::Type::DECIMAL128:  // 16 bytes, little-endian
      out.append(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
      return {};
    case arrow::Type::FIXED_SIZE_BINARY:
      text(static_cast<const arrow::FixedSizeBinaryArray&>(array).GetView(row));
      return {};
    default: {
      const IntegerColumn integers = DELENDA_TRY(IntegersOf(array));
      AppendPlain(out, integers[row]);
      return {};
    }
  }
}

Result<void> KeyTable::Encode(const KeyArrays& arrays, int64_t row, std::string& out) {
  out.clear();
  for (const NestedColumn& column : arrays.columns) {
    const bool valid = column.valid.Kept(row);
    out.push_back(valid ? '\1' : '\0');
    if (valid) DELENDA_TRY(Append(out, *column.array, row));
  }
  return {};
}

std::vector<Datum> KeyTable::Decode(std::string_view key) const {
  std::vector<Datum> values;
  for (const plan::KeyField& field : keys_) {
    const bool valid = TakePlain<char>(key) != '\0';
    values.push_back(valid ? TakeValue(field.type.kind(), key) : Datum());
  }
  return values;
}

Result<KeyTable::KeyArrays> KeyTable::Arrays(const std::vector<std::shared_ptr<arrow::Array>>& columns) const {
  if (columns.size() != keys_.size()) return InternalError("key columns are missing");
  KeyArrays arrays;
  for (size_t i = 0; i < keys_.size(); ++i)
    arrays.columns.push_back(DELENDA_TRY(FollowPath(fields_[i], keys_[i].path, columns[i])));
  if (single_integer_) arrays.integers = DELENDA_TRY(IntegersOf(*arrays.columns[0].array));
  return arrays;
}

Result<std::vector<int64_t>> KeyTable::Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows) {
  const KeyArrays arrays = DELENDA_TRY(Arrays(columns));
  std::vector<int64_t> numbers(static_cast<size_t>(rows));
  if (single_integer_) {
    const Selection& valid = arrays.columns[0].valid;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t& number = numbers[static_cast<size_t>(row)];
      if (valid.Kept(row)) {
        number = AddInteger(arrays.integers[row]);
      } else {
        if (null_number_ == kNone) null_number_ = size_++;
        number = null_number_;
      }
    }
  } else {
    std::string key;
    for (int64_t row = 0; row < rows; ++row) {
      DELENDA_TRY(Encode(arrays, row, key));
      numbers[static_cast<size_t>(row)] = AddBytes(key);
    }
  }
  DELENDA_TRY(CheckBudget());
  return numbers;
}

Result<std::vector<int64_t>> KeyTable::Find(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows,
                                            const Selection* wanted) const {
  std::vector<int64_t> numbers(static_cast<size_t>(rows), kNone);
  Selection asked = wanted != nullptr ? *wanted : Selection(rows, true);
  DELENDA_TRY(KeepWhere(columns, asked, [&](int64_t row, int64_t number) {
    numbers[static_cast<size_t>(row)] = number;
    return true;
  }));
  return numbers;
}

int64_t KeyTable::AddInteger(int64_t key) {
  if (static_cast<size_t>(size_ + 1) * 2 > slots_.size()) GrowSlots();
  const uint64_t hash = MixBits(static_cast<uint64_t>(key));
  Mark(hash);
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.number == kNone) slot = {.key = key, .number = size_++};
    if (slot.key == key) return slot.number;
  }
}

void KeyTable::GrowSlots() {
  std::vector<Slot> old(std::max<size_t>(16, slots_.size() * 2));
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  marks_.assign(slots_.size() / 8, 0);
  marks_shift_ = 64 - std::countr_zero(slots_.size() * 8);
  for (const Slot& slot : old) {
    if (slot.number == kNone) continue;
    const uint64_t hash = MixBits(static_cast<uint64_t>(slot.key));
    Mark(hash);
    size_t at = hash & mask;
    while (slots_[at].number != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

int64_t KeyTable::FindBytes(std::string_view key) const {
  const uint64_t hash = std::hash<std::string_view>()(key);
  const size_t mask = byte_slots_.size() - 1;
  for (size_t at = hash & mask; byte_slots_[at] != 0; at = (at + 1) & mask) {
    const Entry& entry = entries_[byte_slots_[at] - 1];
    if (entry.hash == hash && std::string_view(key_bytes_).substr(entry.offset, entry.size) == key)
      return byte_slots_[at] - 1;
  }
  return kNone;
}

int64_t KeyTable::AddBytes(std::string_view key) {
  const int64_t known = FindBytes(key);
  if (known != kNone) return known;
  if ((entries_.size() + 1) * 2 > byte_slots_.size()) GrowBytes();
  const uint64_t hash = std::hash<std::string_view>()(key);
  const size_t mask = byte_slots_.size() - 1;
  size_t at = hash & mask;
  while (byte_slots_[at] != 0) at = (at + 1) & mask;
  entries_.push_back({.hash = hash, .offset = key_bytes_.size(), .size = static_cast<uint32_t>(key.size())});
  key_bytes_.append(key);
  byte_slots_[at] = static_cast<uint32_t>(entries_.size());
  return size_++;
}

void KeyTable::GrowBytes() {
  byte_slots_.assign(std::max<size_t>(16, byte_slots_.size() * 2), 0);
  const size_t mask = byte_slots_.size() - 1;
  for (size_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (byte_slots_[at] != 0) at = (at + 1) & mask;
    byte_slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

std::shared_ptr<const SortedKeys> KeyTable::sorted() const {
  std::vector<std::vector<Datum>> of_columns(keys_.size());
  std::vector<int64_t> integers;
  if (single_integer_) {
    for (const Slot& slot : slots_) {
      if (slot.number != kNone) integers.push_back(slot.key);
    }
  }
  for (const Entry& entry : entries_) {
    std::vector<Datum> values = Decode(std::string_view(key_bytes_).substr(entry.offset, entry.size));
    for (size_t i = 0; i < values.size(); ++i) of_columns[i].push_back(std::move(values[i]));
  }
  std::vector<SortedKeys::Column> columns;
  for (size_t i = 0; i < keys_.size(); ++i) {
    SortedKeys::Column& column = columns.emplace_back();
    column.column = {
        .field_id = keys_[i].path.back(), .type = keys_[i].type, .name = keys_[i].column.name, .path = keys_[i].path};
    column.values = single_integer_ ? SortedValues::OfIntegers(std::move(integers), null_number_ != kNone)
                                    : SortedValues::Of(std::move(of_columns[i]));
  }
  return std::make_shared<const SortedKeys>(std::move(columns));
}

std::vector<std::vector<Datum>> KeyTable::Values() const {
  std::vector<std::vector<Datum>> values(static_cast<size_t>(size_));
  for (const Slot& slot : slots_) {
    if (slot.number != kNone) values[static_cast<size_t>(slot.number)] = {Datum(slot.key)};
  }
  if (null_number_ != kNone) values[static_cast<size_t>(null_number_)] = {Datum()};
  for (size_t i = 0; i < entries_.size(); ++i)
    values[i] = Decode(std::string_view(key_bytes_).substr(entries_[i].offset, entries_[i].size));
  return values;
}

}  // namespace delenda::read
