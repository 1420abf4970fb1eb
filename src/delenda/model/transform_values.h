// What a partition transform does to values, and which source values a partition value stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/model/datum.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda {

// The transform is defined for the type (spec, "Partition Transforms").
bool TransformTakes(Transform::Kind kind, const Type& source);

// A filter's literals mean the same for the column that a spec was bound to: equal types, or a widening that keeps
// values (int to long, decimal precision).
bool LiteralsKeepMeaning(const Type& leaf, const Type& source);

// What a transform that takes the type makes of a value of an integer, date, time or timestamp column, and of the bytes
// of a string, binary, fixed or UUID column (bucket only): Transform::Apply without its checks, for whole columns.
int64_t TransformedInteger(const Transform& transform, const Type& source, int64_t value);
int64_t BucketOfBytes(const Transform& transform, std::string_view value);

// The first `width` code points of a UTF-8 text, or bytes of anything else.
std::string_view TruncatedPrefix(const Type& source, std::string_view value, int32_t width);
// How many code points (of a string) or bytes (of a binary) a value has.
size_t TruncationLength(const Type& source, std::string_view value);

// Rounded down to a multiple of `width`, not wrapped.
Int128 TruncatedExact(Int128 value, int32_t width);
// As Java stores it: in the 32 or 64 bits of an int or long, so that what lies below the least multiple wraps to the
// top.
int64_t TruncatedStored(const Type& source, int64_t value, int32_t width);
// Java adds the width to the remainder in 32 bits before it takes the remainder again, which overflows for such widths
// on an int column: what files hold is then anyone's guess.
bool TruncateOverflows(const Type& source, int32_t width);
// The stored value of the wrapped partition of truncate on an int or long column, if there is one.
std::optional<int64_t> WrappedPartition(const Type& source, int32_t width);

// The same of files that were written when a long column was an int: their lowest partition wrapped within 32 bits.
std::optional<int64_t> WrappedIntPartition(const Type& source, int32_t width);
// What such a file stores for a value, where that is not what TruncatedStored gives.
std::optional<int64_t> TruncatedWhenInt(const Type& source, int64_t value, int32_t width);

// All source values of a partition with value `stored` lie within [lowest, highest] (int64_t or Int128 datums). Only
// for truncate on numbers and for year, month, day and hour. Empty when nothing useful is known.
struct SourceRange {
  Datum lowest;
  Datum highest;
};
std::optional<SourceRange> SourceRangeOf(const Transform& transform, const Type& source, const Datum& stored);

// Is the transform a calendar one whose values before 1970 old writers stored one too high? (Java, 0.10.0 and before:
// they rounded towards zero; files of that time still exist. day of a date column is the date itself and was never
// wrong.)
bool MayBeOneTooHigh(Transform::Kind kind, const Type& source);

}  // namespace delenda
