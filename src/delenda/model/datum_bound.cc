// Single values in binary (Iceberg spec, Appendix D), as manifests hold column bounds and partition summaries.
#include <bit>
#include <limits>

#include "delenda/model/calendar.h"
#include "delenda/model/datum.h"
#include "delenda/model/exact_number.h"
#include "delenda/model/type.h"

namespace delenda {

namespace {

constexpr std::endian kLittle = std::endian::little;

std::unexpected<Error> WrongBoundLength(const Type& type, ByteView bytes, std::string_view expected) {
  return Corrupt("bound of type {}: expected {} bytes, found {}", type.ToString(), expected, bytes.size());
}

int64_t LoadInt32(ByteView bytes) { return static_cast<int32_t>(LoadUnsigned<kLittle, uint32_t>(bytes.data())); }
int64_t LoadInt64(ByteView bytes) { return static_cast<int64_t>(LoadUnsigned<kLittle, uint64_t>(bytes.data())); }

Result<Datum> WidenDate(const Type& type, int64_t days, int64_t units_per_day) {
  const Int128 widened = static_cast<Int128>(days) * units_per_day;
  if (widened < std::numeric_limits<int64_t>::min() || widened > std::numeric_limits<int64_t>::max()) {
    return Corrupt("bound of type {}: day {} is outside the range of the type that the column was promoted to",
                   type.ToString(), days);
  }
  return Datum(static_cast<int64_t>(widened));
}

}  // namespace

Result<Datum> DatumFromBound(const Type& type, ByteView bytes) {
  const size_t size = bytes.size();
  switch (type.kind()) {
    case TypeKind::kBoolean:
      if (size != 1) return WrongBoundLength(type, bytes, "1");
      return Datum(bytes[0] != std::byte{0});
    case TypeKind::kInt:
    case TypeKind::kDate:
      if (size != 4) return WrongBoundLength(type, bytes, "4");
      return Datum(LoadInt32(bytes));
    case TypeKind::kLong:
      if (size == 4) return Datum(LoadInt32(bytes));  // written as int
      if (size != 8) return WrongBoundLength(type, bytes, "8 (or 4)");
      return Datum(LoadInt64(bytes));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNs:
      if (size == 4) {  // written as date
        return WidenDate(type, LoadInt32(bytes), type.kind() == TypeKind::kTimestamp ? kMicrosPerDay : kNanosPerDay);
      }
      if (size != 8) return WrongBoundLength(type, bytes, "8 (or 4)");
      return Datum(LoadInt64(bytes));
    case TypeKind::kTime:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampTzNs:
      if (size != 8) return WrongBoundLength(type, bytes, "8");
      return Datum(LoadInt64(bytes));
    case TypeKind::kFloat:
      if (size != 4) return WrongBoundLength(type, bytes, "4");
      return Datum(std::bit_cast<float>(LoadUnsigned<kLittle, uint32_t>(bytes.data())));
    case TypeKind::kDouble:
      if (size == 4) {  // written as float
        return Datum(static_cast<double>(std::bit_cast<float>(LoadUnsigned<kLittle, uint32_t>(bytes.data()))));
      }
      if (size != 8) return WrongBoundLength(type, bytes, "8 (or 4)");
      return Datum(std::bit_cast<double>(LoadUnsigned<kLittle, uint64_t>(bytes.data())));
    case TypeKind::kDecimal: {
      if (size == 0 || size > 16) return WrongBoundLength(type, bytes, "1 to 16");
      UInt128 value = (bytes[0] & std::byte{0x80}) != std::byte{0} ? ~UInt128{0} : UInt128{0};
      for (const std::byte byte : bytes) value = (value << 8) | std::to_integer<unsigned>(byte);
      return Datum(static_cast<Int128>(value));
    }
    case TypeKind::kString:
    case TypeKind::kBinary: return Datum(std::string(AsText(bytes)));
    case TypeKind::kUuid:
      if (size != 16) return WrongBoundLength(type, bytes, "16");
      return Datum(std::string(AsText(bytes)));
    case TypeKind::kFixed:
      // A bound of a long fixed value may be cut short, as that of binary.
      if (size > static_cast<size_t>(type.length()))
        return WrongBoundLength(type, bytes, fmt::format("{}", type.length()));
      return Datum(std::string(AsText(bytes)));
    default: return NotSupported("bounds of type {} are not read", type.ToString());
  }
}

Result<Bytes> DatumToBound(const Type& type, const Datum& datum) {
  const auto mismatch = [&] {
    return InvalidArgument("the value is not of type {}: it has no bound form", type.ToString());
  };
  ByteWriter writer;
  switch (type.kind()) {
    case TypeKind::kBoolean: {
      const auto* value = std::get_if<bool>(&datum);
      if (value == nullptr) return mismatch();
      writer.WriteLittle(static_cast<uint8_t>(*value ? 1 : 0));
      break;
    }
    case TypeKind::kInt:
    case TypeKind::kDate: {
      const auto* value = std::get_if<int64_t>(&datum);
      if (value == nullptr || *value < std::numeric_limits<int32_t>::min() ||
          *value > std::numeric_limits<int32_t>::max()) {
        return mismatch();
      }
      writer.WriteLittle(static_cast<uint32_t>(*value));
      break;
    }
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: {
      const auto* value = std::get_if<int64_t>(&datum);
      if (value == nullptr) return mismatch();
      writer.WriteLittle(static_cast<uint64_t>(*value));
      break;
    }
    case TypeKind::kFloat: {
      const auto* value = std::get_if<float>(&datum);
      if (value == nullptr) return mismatch();
      writer.WriteLittle(std::bit_cast<uint32_t>(*value));
      break;
    }
    case TypeKind::kDouble: {
      const auto* value = std::get_if<double>(&datum);
      if (value == nullptr) return mismatch();
      writer.WriteLittle(std::bit_cast<uint64_t>(*value));
      break;
    }
    case TypeKind::kDecimal: {
      const auto* value = std::get_if<Int128>(&datum);
      if (value == nullptr) return mismatch();
      int length = 1;  // the fewest bytes that still show the sign
      while (length < 16 && (*value >> (length * 8 - 1)) != 0 && (*value >> (length * 8 - 1)) != -1) ++length;
      for (int i = length - 1; i >= 0; --i) writer.WriteLittle(static_cast<uint8_t>(*value >> (i * 8)));
      break;
    }
    case TypeKind::kString:
    case TypeKind::kBinary:
    case TypeKind::kUuid:
    case TypeKind::kFixed: {
      const auto* value = std::get_if<std::string>(&datum);
      if (value == nullptr) return mismatch();
      if ((type.kind() == TypeKind::kUuid || type.kind() == TypeKind::kFixed) &&
          value->size() != static_cast<size_t>(type.length()))
        return mismatch();
      writer.Write(AsBytes(*value));
      break;
    }
    default: return NotSupported("bounds of type {} are not written", type.ToString());
  }
  return std::move(writer).Finish();
}

}  // namespace delenda
