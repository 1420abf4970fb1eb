#include "delenda/api/column_text.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/decimal.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstring>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "delenda/api/value_text.h"
#include "delenda/formats/json/writer.h"

namespace delenda::api {
namespace {

template <typename ArrayType>
class TypedColumn : public ColumnText {
 public:
  explicit TypedColumn(const arrow::Array& array) : ColumnText(array), values_(static_cast<const ArrayType&>(array)) {}

 protected:
  const ArrayType& values_;
};

class NullColumn final : public ColumnText {
 public:
  explicit NullColumn(const arrow::Array& array) : ColumnText(array) {}

 protected:
  void AppendValue(std::string& out, int64_t) const override { out += "null"; }
};

class BooleanColumn final : public TypedColumn<arrow::BooleanArray> {
 public:
  using TypedColumn::TypedColumn;

 protected:
  void AppendValue(std::string& out, int64_t row) const override { out += values_.Value(row) ? "true" : "false"; }
};

template <typename ArrayType>
class NumberColumn final : public TypedColumn<ArrayType> {
 public:
  using TypedColumn<ArrayType>::TypedColumn;

  std::weak_ordering Compare(int64_t a, int64_t b) const override {
    if (this->IsNull(a) || this->IsNull(b)) return this->IsNull(b) <=> this->IsNull(a);
    const auto x = this->values_.Value(a), y = this->values_.Value(b);
    return x < y ? std::weak_ordering::less : x > y ? std::weak_ordering::greater : std::weak_ordering::equivalent;
  }

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    const auto value = this->values_.Value(row);
    if constexpr (std::same_as<std::decay_t<decltype(value)>, float>) {
      AppendFloat(out, value);
    } else if constexpr (std::floating_point<std::decay_t<decltype(value)>>) {
      json::AppendDouble(out, value);
    } else {
      fmt::format_to(std::back_inserter(out), "{}", value);
    }
  }
  void AppendPlain(std::string& out, int64_t row) const override {
    const size_t begin = out.size();
    AppendValue(out, row);
    // NaN and infinities have quotes in JSON only.
    if (out[begin] == '"') out = out.substr(0, begin) + out.substr(begin + 1, out.size() - begin - 2);
  }
};

// Text that JSON has in quotes and that needs no escapes.
template <typename ArrayType>
class QuotedColumn : public TypedColumn<ArrayType> {
 public:
  using TypedColumn<ArrayType>::TypedColumn;

 protected:
  bool IsQuoted() const override { return true; }
};

template <typename ArrayType>
class DecimalColumn final : public QuotedColumn<ArrayType> {
 public:
  explicit DecimalColumn(const arrow::Array& array)
      : QuotedColumn<ArrayType>(array), scale_(static_cast<const arrow::DecimalType&>(*array.type()).scale()) {}

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    using Value = typename arrow::TypeTraits<typename ArrayType::TypeClass>::CType;
    // Not Decimal::ToString, which turns to exponents for large scales.
    std::string digits = Value(this->values_.GetValue(row)).ToIntegerString();
    const bool negative = digits.starts_with('-');
    if (negative) digits.erase(0, 1);
    if (scale_ < 0) digits.append(digits == "0" ? 0 : static_cast<size_t>(-scale_), '0');
    if (scale_ > 0) {
      const auto places = static_cast<size_t>(scale_);
      if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
      digits.insert(digits.size() - places, 1, '.');
    }
    if (negative) out += '-';
    out += digits;
  }

 private:
  int32_t scale_;
};

template <typename ArrayType>
class DateColumn final : public QuotedColumn<ArrayType> {
 public:
  using QuotedColumn<ArrayType>::QuotedColumn;

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    constexpr int64_t kMillisPerDay = 86'400'000;
    const int64_t value = this->values_.Value(row);
    if constexpr (std::same_as<ArrayType, arrow::Date64Array>) {
      AppendDate(out, value / kMillisPerDay - (value % kMillisPerDay < 0 ? 1 : 0));
    } else {
      AppendDate(out, value);
    }
  }
};

int64_t UnitsPerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND: return 1;
    case arrow::TimeUnit::MILLI: return 1'000;
    case arrow::TimeUnit::MICRO: return 1'000'000;
    case arrow::TimeUnit::NANO: break;
  }
  return 1'000'000'000;
}

template <typename ArrayType>
class TimeColumn final : public QuotedColumn<ArrayType> {
 public:
  explicit TimeColumn(const arrow::Array& array)
      : QuotedColumn<ArrayType>(array),
        units_(UnitsPerSecond(static_cast<const typename ArrayType::TypeClass&>(*array.type()).unit())) {}

 protected:
  void AppendValue(std::string& out, int64_t row) const override { AppendTime(out, this->values_.Value(row), units_); }

 private:
  int64_t units_;
};

class TimestampColumn final : public QuotedColumn<arrow::TimestampArray> {
 public:
  explicit TimestampColumn(const arrow::Array& array) : QuotedColumn(array) {
    const auto& type = static_cast<const arrow::TimestampType&>(*array.type());
    units_ = UnitsPerSecond(type.unit());
    has_zone_ = !type.timezone().empty();
  }

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    AppendTimestamp(out, values_.Value(row), units_, has_zone_);
  }

 private:
  int64_t units_ = 1;
  bool has_zone_ = false;
};

template <typename ArrayType>
class StringColumn final : public TypedColumn<ArrayType> {
 public:
  using TypedColumn<ArrayType>::TypedColumn;

  std::weak_ordering Compare(int64_t a, int64_t b) const override {
    if (this->IsNull(a) || this->IsNull(b)) return this->IsNull(b) <=> this->IsNull(a);
    return this->values_.GetView(a).compare(this->values_.GetView(b)) <=> 0;
  }

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    json::AppendQuoted(out, this->values_.GetView(row));
  }
  void AppendPlain(std::string& out, int64_t row) const override { out += this->values_.GetView(row); }
};

template <typename ArrayType>
class BinaryColumn final : public QuotedColumn<ArrayType> {
 public:
  using QuotedColumn<ArrayType>::QuotedColumn;

 protected:
  void AppendValue(std::string& out, int64_t row) const override { AppendHex(out, this->values_.GetView(row)); }
};

class UuidColumn final : public QuotedColumn<arrow::FixedSizeBinaryArray> {
 public:
  using QuotedColumn::QuotedColumn;

 protected:
  void AppendValue(std::string& out, int64_t row) const override { AppendUuid(out, values_.GetView(row)); }
};

class StructColumn final : public ColumnText {
 public:
  StructColumn(const arrow::Array& array, std::vector<std::string> keys,
               std::vector<std::shared_ptr<arrow::Array>> arrays, std::vector<std::unique_ptr<ColumnText>> children)
      : ColumnText(array), keys_(std::move(keys)), arrays_(std::move(arrays)), children_(std::move(children)) {}

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    out += '{';
    for (size_t i = 0; i < children_.size(); ++i) {
      if (i > 0) out += ", ";
      out += keys_[i];
      children_[i]->AppendJson(out, row);
    }
    out += '}';
  }

 private:
  std::vector<std::string> keys_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_;
  std::vector<std::unique_ptr<ColumnText>> children_;
};

template <typename ArrayType>
class ListColumn final : public TypedColumn<ArrayType> {
 public:
  ListColumn(const arrow::Array& array, std::shared_ptr<arrow::Array> items, std::unique_ptr<ColumnText> item)
      : TypedColumn<ArrayType>(array), items_(std::move(items)), item_(std::move(item)) {}

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    const int64_t begin = this->values_.value_offset(row), count = this->values_.value_length(row);
    out += '[';
    for (int64_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      item_->AppendJson(out, begin + i);
    }
    out += ']';
  }

 private:
  std::shared_ptr<arrow::Array> items_;
  std::unique_ptr<ColumnText> item_;
};

class MapColumn final : public TypedColumn<arrow::MapArray> {
 public:
  MapColumn(const arrow::Array& array, std::unique_ptr<ColumnText> key, std::unique_ptr<ColumnText> value)
      : TypedColumn(array), key_(std::move(key)), value_(std::move(value)) {}

 protected:
  void AppendValue(std::string& out, int64_t row) const override {
    std::vector<int64_t> order(static_cast<size_t>(values_.value_length(row)));
    std::iota(order.begin(), order.end(), int64_t{values_.value_offset(row)});
    std::ranges::sort(order, [this](int64_t a, int64_t b) {
      const auto by_key = key_->Compare(a, b);
      return by_key != 0 ? by_key < 0 : a < b;  // equal keys, which are no map, stay as they are
    });
    out += '[';
    bool first = true;
    for (const int64_t entry : order) {
      out += first ? "[" : ", [";
      first = false;
      key_->AppendJson(out, entry);
      out += ", ";
      value_->AppendJson(out, entry);
      out += ']';
    }
    out += ']';
  }

 private:
  std::unique_ptr<ColumnText> key_;
  std::unique_ptr<ColumnText> value_;
};

constexpr std::string_view kUuidExtension = "arrow.uuid";

bool IsUuid(const arrow::Field& field) {
  if (field.type()->id() != arrow::Type::FIXED_SIZE_BINARY || !field.HasMetadata()) return false;
  if (static_cast<const arrow::FixedSizeBinaryType&>(*field.type()).byte_width() != 16) return false;
  const auto name = field.metadata()->Get("ARROW:extension:name");
  return name.ok() && *name == kUuidExtension;
}

Result<std::unique_ptr<ColumnText>> MakeStruct(const arrow::DataType& type, const arrow::Array& array) {
  const auto& values = static_cast<const arrow::StructArray&>(array);
  std::vector<std::string> keys;
  std::vector<std::shared_ptr<arrow::Array>> arrays;
  std::vector<std::unique_ptr<ColumnText>> children;
  for (int i = 0; i < values.num_fields(); ++i) {
    const arrow::Field& field = *type.field(i);
    json::AppendQuoted(keys.emplace_back(), field.name());
    keys.back() += ": ";
    // field(), unlike the child data, honours the offset of a sliced struct.
    arrays.push_back(values.field(i));
    children.push_back(DELENDA_TRY(ColumnText::Make(field, *arrays.back())));
  }
  return std::make_unique<StructColumn>(array, std::move(keys), std::move(arrays), std::move(children));
}

template <typename ArrayType>
Result<std::unique_ptr<ColumnText>> MakeList(const arrow::DataType& type, const arrow::Array& array) {
  auto items = static_cast<const ArrayType&>(array).values();
  auto item = DELENDA_TRY(ColumnText::Make(*type.field(0), *items));
  return std::make_unique<ListColumn<ArrayType>>(array, std::move(items), std::move(item));
}

Result<std::unique_ptr<ColumnText>> MakeMap(const arrow::DataType& type, const arrow::Array& array) {
  const auto& values = static_cast<const arrow::MapArray&>(array);
  const auto& map = static_cast<const arrow::MapType&>(type);
  auto key = DELENDA_TRY(ColumnText::Make(*map.key_field(), *values.keys()));
  auto value = DELENDA_TRY(ColumnText::Make(*map.item_field(), *values.items()));
  return std::make_unique<MapColumn>(array, std::move(key), std::move(value));
}

}  // namespace

Result<std::unique_ptr<ColumnText>> ColumnText::Make(const arrow::Field& field, const arrow::Array& array) {
  // Children are told apart by the field's type, whose fields know more than those of the array's.
  if (field.type()->id() != array.type_id())
    return InternalError("column '{}' is not of its schema's type", field.name());
  switch (array.type_id()) {
    case arrow::Type::NA: return std::make_unique<NullColumn>(array);
    case arrow::Type::BOOL: return std::make_unique<BooleanColumn>(array);
    case arrow::Type::INT8: return std::make_unique<NumberColumn<arrow::Int8Array>>(array);
    case arrow::Type::INT16: return std::make_unique<NumberColumn<arrow::Int16Array>>(array);
    case arrow::Type::INT32: return std::make_unique<NumberColumn<arrow::Int32Array>>(array);
    case arrow::Type::INT64: return std::make_unique<NumberColumn<arrow::Int64Array>>(array);
    case arrow::Type::UINT8: return std::make_unique<NumberColumn<arrow::UInt8Array>>(array);
    case arrow::Type::UINT16: return std::make_unique<NumberColumn<arrow::UInt16Array>>(array);
    case arrow::Type::UINT32: return std::make_unique<NumberColumn<arrow::UInt32Array>>(array);
    case arrow::Type::UINT64: return std::make_unique<NumberColumn<arrow::UInt64Array>>(array);
    case arrow::Type::FLOAT: return std::make_unique<NumberColumn<arrow::FloatArray>>(array);
    case arrow::Type::DOUBLE: return std::make_unique<NumberColumn<arrow::DoubleArray>>(array);
    case arrow::Type::DECIMAL128: return std::make_unique<DecimalColumn<arrow::Decimal128Array>>(array);
    case arrow::Type::DECIMAL256: return std::make_unique<DecimalColumn<arrow::Decimal256Array>>(array);
    case arrow::Type::DATE32: return std::make_unique<DateColumn<arrow::Date32Array>>(array);
    case arrow::Type::DATE64: return std::make_unique<DateColumn<arrow::Date64Array>>(array);
    case arrow::Type::TIME32: return std::make_unique<TimeColumn<arrow::Time32Array>>(array);
    case arrow::Type::TIME64: return std::make_unique<TimeColumn<arrow::Time64Array>>(array);
    case arrow::Type::TIMESTAMP: return std::make_unique<TimestampColumn>(array);
    case arrow::Type::STRING: return std::make_unique<StringColumn<arrow::StringArray>>(array);
    case arrow::Type::LARGE_STRING: return std::make_unique<StringColumn<arrow::LargeStringArray>>(array);
    case arrow::Type::STRING_VIEW: return std::make_unique<StringColumn<arrow::StringViewArray>>(array);
    case arrow::Type::BINARY: return std::make_unique<BinaryColumn<arrow::BinaryArray>>(array);
    case arrow::Type::LARGE_BINARY: return std::make_unique<BinaryColumn<arrow::LargeBinaryArray>>(array);
    case arrow::Type::BINARY_VIEW: return std::make_unique<BinaryColumn<arrow::BinaryViewArray>>(array);
    case arrow::Type::FIXED_SIZE_BINARY:
      if (IsUuid(field)) return std::make_unique<UuidColumn>(array);
      return std::make_unique<BinaryColumn<arrow::FixedSizeBinaryArray>>(array);
    case arrow::Type::STRUCT: return MakeStruct(*field.type(), array);
    case arrow::Type::LIST: return MakeList<arrow::ListArray>(*field.type(), array);
    case arrow::Type::LARGE_LIST: return MakeList<arrow::LargeListArray>(*field.type(), array);
    case arrow::Type::MAP: return MakeMap(*field.type(), array);
    case arrow::Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionArray&>(array);
      const auto& type = static_cast<const arrow::ExtensionType&>(*array.type());
      if (type.extension_name() == kUuidExtension) return std::make_unique<UuidColumn>(*extension.storage());
      return Make(*field.WithType(type.storage_type()), *extension.storage());
    }
    default:
      return NotSupported("column '{}': values of type {} have no text form", field.name(), array.type()->ToString());
  }
}

std::weak_ordering ColumnText::Compare(int64_t a, int64_t b) const {
  if (IsNull(a) || IsNull(b)) return IsNull(b) <=> IsNull(a);
  std::string x, y;
  AppendValue(x, a);
  AppendValue(y, b);
  return x.compare(y) <=> 0;
}

bool ColumnText::IsNull(int64_t row) const { return array_.IsNull(row); }

void ColumnText::AppendJson(std::string& out, int64_t row) const {
  if (IsNull(row)) {
    out += "null";
  } else if (IsQuoted()) {
    out += '"';
    AppendValue(out, row);
    out += '"';
  } else {
    AppendValue(out, row);
  }
}

void ColumnText::AppendCell(std::string& out, int64_t row) const {
  if (IsNull(row))
    out += "NULL";
  else
    AppendPlain(out, row);
}

bool IsNumber(const arrow::DataType& type) { return arrow::is_numeric(type.id()) || arrow::is_decimal(type.id()); }

}  // namespace delenda::api
