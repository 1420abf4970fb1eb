// A single value of a primitive type, as partition tuples, bounds, defaults and expressions hold it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda {

class Type;
__extension__ typedef __int128 Int128;

// The value without its type, which stands beside it (in a schema, a spec, a bound column):
//   null             std::monostate
//   boolean          bool
//   int, long, date (days), time (µs), timestamp[tz] (µs), timestamp[tz]_ns (ns)    int64_t
//   float            float
//   double           double
//   decimal          Int128 (unscaled)
//   string (UTF-8), binary, fixed, uuid (16 bytes, big-endian)    std::string
using Datum = std::variant<std::monostate, bool, int64_t, float, double, Int128, std::string>;

inline bool IsNull(const Datum& datum) { return std::holds_alternative<std::monostate>(datum); }
bool IsNan(const Datum& datum);

// Order of two non-null values of one type, the order that --where, bounds and pruning use: numbers by value with -0.0
// equal to 0.0 and NaN equal to NaN and above every number (as Spark and DuckDB have it); strings and binary by
// unsigned bytes; false < true. Values of different alternatives compare by their index (a fault of the caller, but
// never undefined).
std::weak_ordering CompareDatum(const Datum& a, const Datum& b);

// Equality of partition values: NULL equals NULL, NaN equals NaN (made canonical), -0.0 differs from 0.0.
bool SamePartitionValue(const Datum& a, const Datum& b);
// A hash that agrees with SamePartitionValue.
size_t HashPartitionValue(const Datum& datum);

// A bound in the binary single-value serialisation (spec, Appendix D). A value written before a promotion is widened: 4
// bytes for a long, 4 for a double, a date for a timestamp. Corrupt for a wrong length.
Result<Datum> DatumFromBound(const Type& type, ByteView bytes);
Result<Bytes> DatumToBound(const Type& type, const Datum& datum);

// A literal in text, as --where and CSV give it, as a value of `type`: "2024-02-29", "12.50", "NaN", "true", hex for
// binary
// ("0x0aff" or "0aff"), UUID text. InvalidArgument when the text is no value of the type (never rounded or cut
// silently).
Result<Datum> DatumFromText(const Type& type, std::string_view text);
// The text form that DatumFromText reads: dates as 2024-02-29, timestamps as 2024-02-29T01:02:03.000004[Z], decimals
// with full scale, binary as lower-case hex, "null" for null.
std::string DatumToText(const Type& type, const Datum& datum);

}  // namespace delenda
