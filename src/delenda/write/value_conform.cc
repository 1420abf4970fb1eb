#include "delenda/write/value_conform.h"

#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/buffer.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/model/exact_number.h"
#include "delenda/read/constant_array.h"
#include "delenda/write/text_columns.h"

namespace delenda::write {
namespace {

using ArrayRef = std::shared_ptr<arrow::Array>;
using TypeRef = std::shared_ptr<arrow::DataType>;
using parquet::ToResult;
constexpr auto kOursToConform = parquet::StatusSource::kCompute;

bool IsAnyText(arrow::Type::type id) {
  return id == arrow::Type::STRING || id == arrow::Type::LARGE_STRING || id == arrow::Type::STRING_VIEW;
}
bool IsAnyBinary(arrow::Type::type id) {
  return id == arrow::Type::BINARY || id == arrow::Type::LARGE_BINARY || id == arrow::Type::BINARY_VIEW ||
         id == arrow::Type::FIXED_SIZE_BINARY;
}
bool IsAnyList(arrow::Type::type id) {
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST || id == arrow::Type::FIXED_SIZE_LIST;
}

std::string FoldedName(std::string_view name) {
  std::string folded(name);
  for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return folded;
}

// Arrow's word on a value: what it says names the value.
std::unexpected<Error> ValueError(const arrow::Status& status) {
  if (status.IsInvalid()) return InvalidArgument("{}", status.message());
  return std::unexpected(parquet::ToError(status, kOursToConform));
}

Result<ArrayRef> SafeCast(const ArrayRef& array, const TypeRef& type) {
  arrow::Result<ArrayRef> cast = arrow::compute::Cast(*array, type, arrow::compute::CastOptions::Safe());
  if (!cast.ok()) return ValueError(cast.status());
  return *std::move(cast);
}

// Dictionaries, extensions and the like set aside: the plain values.
const arrow::DataType& PlainType(const arrow::DataType& type) {
  if (type.id() == arrow::Type::DICTIONARY) {
    return PlainType(*static_cast<const arrow::DictionaryType&>(type).value_type());
  }
  if (type.id() == arrow::Type::EXTENSION) {
    return PlainType(*static_cast<const arrow::ExtensionType&>(type).storage_type());
  }
  return type;
}

Result<ArrayRef> PlainValues(ArrayRef array) {
  while (true) {
    if (array->type_id() == arrow::Type::EXTENSION) {
      array = static_cast<const arrow::ExtensionArray&>(*array).storage();
    } else if (array->type_id() == arrow::Type::DICTIONARY) {
      array = DELENDA_TRY(SafeCast(array, static_cast<const arrow::DictionaryType&>(*array->type()).value_type()));
    } else {
      return array;
    }
  }
}

bool CanCastPrimitive(const arrow::DataType& source, const Type& target, const ConformOptions& options) {
  const arrow::Type::type id = source.id();
  if (id == arrow::Type::NA) return true;
  if (IsAnyText(id) && (options.parse_text || target.kind() == TypeKind::kUuid)) return true;
  switch (target.kind()) {
    case TypeKind::kBoolean: return id == arrow::Type::BOOL;
    case TypeKind::kInt:
    case TypeKind::kLong: return arrow::is_integer(id);
    case TypeKind::kFloat: return id == arrow::Type::HALF_FLOAT || id == arrow::Type::FLOAT || arrow::is_integer(id);
    case TypeKind::kDouble: return arrow::is_floating(id) || arrow::is_integer(id);
    case TypeKind::kDecimal: return arrow::is_decimal(id) || arrow::is_integer(id);
    case TypeKind::kDate: return arrow::is_date(id);
    case TypeKind::kTime: return arrow::is_time(id);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
      return id == arrow::Type::DATE32 ||
             (id == arrow::Type::TIMESTAMP && static_cast<const arrow::TimestampType&>(source).timezone().empty());
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampTzNs:
      return id == arrow::Type::TIMESTAMP && !static_cast<const arrow::TimestampType&>(source).timezone().empty();
    case TypeKind::kString: return IsAnyText(id);
    case TypeKind::kBinary: return IsAnyBinary(id);
    case TypeKind::kUuid:
    case TypeKind::kFixed:
      return id == arrow::Type::FIXED_SIZE_BINARY &&
             static_cast<const arrow::FixedSizeBinaryType&>(source).byte_width() == target.length();
    default: return false;
  }
}

Result<ArrayRef> IntegersToDecimals(const ArrayRef& array, const Type& target, const TypeRef& arrow_type) {
  // Arrow wants a precision for all values of the integer type; here each value is looked at.
  const ArrayRef wide = array->type_id() == arrow::Type::UINT64 ? array : DELENDA_TRY(SafeCast(array, arrow::int64()));
  Int128 factor = 1;
  for (int i = 0; i < target.scale(); ++i) factor *= 10;
  const Int128 highest = HighestUnscaled(target.precision()) / factor;
  arrow::Decimal128Builder builder(arrow_type);
  DELENDA_TRY(ToResult(builder.Reserve(wide->length()), kOursToConform));
  for (int64_t i = 0; i < wide->length(); ++i) {
    if (wide->IsNull(i)) {
      builder.UnsafeAppendNull();
      continue;
    }
    const Int128 value = wide->type_id() == arrow::Type::UINT64
                             ? static_cast<Int128>(static_cast<const arrow::UInt64Array&>(*wide).Value(i))
                             : static_cast<Int128>(static_cast<const arrow::Int64Array&>(*wide).Value(i));
    if (value > highest || value < -highest) {
      return InvalidArgument("{} is too large for {}", Int128ToText(value), target.ToString());
    }
    const Int128 unscaled = value * factor;
    builder.UnsafeAppend(arrow::Decimal128(static_cast<int64_t>(unscaled >> 64), static_cast<uint64_t>(unscaled)));
  }
  return ToResult(builder.Finish(), kOursToConform);
}

ArrayRef WithType(const arrow::Array& array, const TypeRef& type) {
  auto data = array.data()->Copy();
  data->type = type;
  return arrow::MakeArray(data);
}

Result<ArrayRef> ConformPrimitive(const ArrayRef& array, const Type& target, const TypeRef& arrow_type,
                                  const ConformOptions& options) {
  const arrow::Type::type id = array->type_id();
  if (id == arrow::Type::NA) return ToResult(arrow::MakeArrayOfNull(arrow_type, array->length()), kOursToConform);
  if (IsAnyText(id) && target.kind() != TypeKind::kString) {
    if (!options.parse_text && target.kind() != TypeKind::kUuid)
      return InternalError("a text that is not to be parsed");
    const ArrayRef texts = DELENDA_TRY(SafeCast(array, arrow::utf8()));
    return ParseTexts(static_cast<const arrow::StringArray&>(*texts), target, arrow_type);
  }
  if (target.kind() == TypeKind::kDecimal && arrow::is_integer(id))
    return IntegersToDecimals(array, target, arrow_type);
  if (target.is_zoned()) {
    // Instants, whatever zone they are shown in.
    const auto unit = static_cast<const arrow::TimestampType&>(*array->type()).unit();
    return SafeCast(WithType(*array, arrow::timestamp(unit, "UTC")), arrow_type);
  }
  return SafeCast(array, arrow_type);
}

// An array that begins at the start of its buffers.
Result<ArrayRef> WithoutOffset(const ArrayRef& array) {
  if (array->offset() == 0) return array;
  return ToResult(arrow::Concatenate({array}), kOursToConform);
}

// A list or map with the children that it needs alone: those outside of a slice must not be taken for values that do
// not fit, nor a row that fits for one that does not.
Result<ArrayRef> WithOwnChildren(const ArrayRef& array) {
  if (array->length() == 0) return ToResult(arrow::MakeEmptyArray(array->type()), kOursToConform);
  const auto& list = static_cast<const arrow::ListArray&>(*array);
  const bool is_whole =
      array->offset() == 0 && list.value_offset(0) == 0 && list.value_offset(list.length()) == list.values()->length();
  if (is_whole) return array;
  return ToResult(arrow::Concatenate({array}), kOursToConform);
}

Result<ArrayRef> ConformList(const ArrayRef& array, const Field& target, const TypeRef& arrow_type,
                             const ConformOptions& options) {
  ArrayRef plain = array;
  if (array->type_id() != arrow::Type::LIST) {
    plain = DELENDA_TRY(SafeCast(array, arrow::list(array->type()->field(0))));
  }
  plain = DELENDA_TRY(WithOwnChildren(plain));
  const auto& list = static_cast<const arrow::ListArray&>(*plain);
  const ArrayRef values =
      DELENDA_TRY(ConformValues(list.values(), target.type.fields()[0], arrow_type->field(0)->type(), options));
  auto data = list.data()->Copy();
  data->type = arrow_type;
  data->child_data = {values->data()};
  return arrow::MakeArray(data);
}

Result<ArrayRef> ConformMap(const ArrayRef& array, const Field& target, const TypeRef& arrow_type,
                            const ConformOptions& options) {
  const ArrayRef plain = DELENDA_TRY(WithOwnChildren(array));
  const auto& map = static_cast<const arrow::MapArray&>(*plain);
  const auto& to = static_cast<const arrow::MapType&>(*arrow_type);
  const ArrayRef keys = DELENDA_TRY(ConformValues(map.keys(), target.type.fields()[0], to.key_type(), options));
  const ArrayRef items = DELENDA_TRY(ConformValues(map.items(), target.type.fields()[1], to.item_type(), options));
  const auto entries = arrow::ArrayData::Make(to.value_type(), keys->length(), {nullptr}, {keys->data(), items->data()},
                                              /*null_count=*/0);
  auto data = map.data()->Copy();
  data->type = arrow_type;
  data->child_data = {entries};
  return arrow::MakeArray(data);
}

Result<ArrayRef> ConformStruct(const ArrayRef& array, const Field& target, const TypeRef& arrow_type,
                               const ConformOptions& options) {
  const auto& values = static_cast<const arrow::StructArray&>(*array);
  const auto& fields = target.type.fields();
  const auto matches = DELENDA_TRY(MatchFields(array->type()->fields(), fields, options));
  arrow::ArrayVector children;
  for (size_t i = 0; i < fields.size(); ++i) {
    const TypeRef& child_type = arrow_type->field(static_cast<int>(i))->type();
    if (matches[i] < 0) {
      children.push_back(DELENDA_TRY(MissingField(fields[i], child_type, array->length())));
      continue;
    }
    // Slots below a NULL struct may hold anything, which must not be taken for a value that does not fit.
    ArrayRef child = DELENDA_TRY(ToResult(values.GetFlattenedField(matches[i]), kOursToConform));
    children.push_back(DELENDA_TRY(
        WithContext(ConformValues(std::move(child), fields[i], child_type, options), "field", fields[i].name)));
  }
  std::shared_ptr<arrow::Buffer> valid;
  if (values.null_count() != 0) {
    const ArrayRef plain = DELENDA_TRY(WithoutOffset(array));
    valid = plain->null_bitmap();
  }
  return std::make_shared<arrow::StructArray>(arrow_type, array->length(), std::move(children), std::move(valid));
}

}  // namespace

Result<std::vector<int>> MatchFields(const arrow::FieldVector& source, const std::vector<Field>& target,
                                     const ConformOptions& options) {
  std::vector<int> matches(target.size(), -1);
  for (size_t i = 0; i < source.size(); ++i) {
    const std::string& name = source[i]->name();
    const auto exact = std::ranges::find(target, name, &Field::name);
    std::optional<size_t> found;
    if (exact != target.end()) {
      found = static_cast<size_t>(exact - target.begin());
    } else {
      const std::string folded = FoldedName(name);
      for (size_t t = 0; t < target.size(); ++t) {
        if (FoldedName(target[t].name) != folded) continue;
        if (found) return InvalidArgument("column '{}' may be '{}' or '{}'", name, target[*found].name, target[t].name);
        found = t;
      }
    }
    if (!found) {
      if (options.ignore_unknown_columns) continue;
      std::vector<std::string_view> names;
      for (const Field& field : target) names.push_back(field.name);
      return InvalidArgument("the table has no column '{}': it has {}", name, fmt::join(names, ", "));
    }
    if (matches[*found] >= 0) {
      return InvalidArgument("two columns for '{}': '{}' and '{}'", target[*found].name,
                             source[static_cast<size_t>(matches[*found])]->name(), name);
    }
    matches[*found] = static_cast<int>(i);
  }
  for (size_t t = 0; t < target.size(); ++t) {
    if (matches[t] < 0 && target[t].required && !target[t].write_default) {
      return InvalidArgument("column '{}' is required and has no default: the rows lack it", target[t].name);
    }
  }
  return matches;
}

Result<ArrayRef> MissingField(const Field& field, const TypeRef& arrow_type, int64_t rows) {
  if (field.type.is_nested() || !field.write_default) {
    return ToResult(arrow::MakeArrayOfNull(arrow_type, rows), kOursToConform);
  }
  return read::ConstantArray(field.type, arrow_type, *field.write_default, rows);
}

Result<void> CheckConformable(const arrow::DataType& source_type, const Field& target, const ConformOptions& options) {
  const arrow::DataType& source = PlainType(source_type);
  const auto refuse = [&] {
    const bool zone = source.id() == arrow::Type::TIMESTAMP &&
                      (target.type.kind() >= TypeKind::kTimestamp && target.type.kind() <= TypeKind::kTimestampTzNs);
    return InvalidArgument("column '{}' is {}, which cannot become {} without loss{}", target.name, source.ToString(),
                           target.type.ToString(), zone ? ": one has a time zone, the other none" : "");
  };
  if (!target.type.is_nested()) {
    if (!CanCastPrimitive(source, target.type, options)) return refuse();
    return {};
  }
  if (source.id() == arrow::Type::NA) return {};
  const auto& fields = target.type.fields();
  switch (target.type.kind()) {
    case TypeKind::kStruct: {
      if (source.id() != arrow::Type::STRUCT) return refuse();
      const auto matches =
          DELENDA_TRY(WithContext(MatchFields(source.fields(), fields, options), "column", target.name));
      for (size_t i = 0; i < fields.size(); ++i) {
        if (matches[i] < 0) continue;
        DELENDA_TRY(WithContext(CheckConformable(*source.field(matches[i])->type(), fields[i], options), "column",
                                target.name));
      }
      return {};
    }
    case TypeKind::kList:
      if (!IsAnyList(source.id())) return refuse();
      return WithContext(CheckConformable(*source.field(0)->type(), fields[0], options), "column", target.name);
    default: {
      if (source.id() != arrow::Type::MAP) return refuse();
      const auto& map = static_cast<const arrow::MapType&>(source);
      DELENDA_TRY(WithContext(CheckConformable(*map.key_type(), fields[0], options), "column", target.name));
      return WithContext(CheckConformable(*map.item_type(), fields[1], options), "column", target.name);
    }
  }
}

Result<ArrayRef> ConformValues(ArrayRef array, const Field& target, const TypeRef& arrow_type,
                               const ConformOptions& options) {
  if (array->type()->Equals(*arrow_type)) {
    // Equal but for requiredness and field ids, perhaps.
    return target.type.is_nested() ? WithType(*array, arrow_type) : array;
  }
  array = DELENDA_TRY(PlainValues(std::move(array)));
  if (array->type()->Equals(*arrow_type) && !target.type.is_nested()) return array;
  if (array->type_id() == arrow::Type::NA) {
    return ToResult(arrow::MakeArrayOfNull(arrow_type, array->length()), kOursToConform);
  }
  switch (target.type.kind()) {
    case TypeKind::kStruct: return ConformStruct(array, target, arrow_type, options);
    case TypeKind::kList: return ConformList(array, target, arrow_type, options);
    case TypeKind::kMap: return ConformMap(array, target, arrow_type, options);
    default: return ConformPrimitive(array, target.type, arrow_type, options);
  }
}

}  // namespace delenda::write
