// The table schema for rows of a file: what `create` makes of Parquet and Arrow files.
#pragma once

#include <arrow/type_fwd.h>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::write {

// Types become the narrowest table type that holds every value: int8 to int32 and uint8, uint16 int; uint32, int64
// long; half and float float; decimals with their precision; dates date; times and timestamps in s, ms, µs their µs
// types, in ns timestamp_ns (format version 3), a zone the tz types; strings, binaries, lists and dictionaries in all
// their forms; fixed_size_binary fixed, arrow.uuid uuid; null unknown. Nullability is kept.
//
// Field ids are new, from 1: those of a level before those below it, as the reference implementation gives them. Ids in
// the file are not kept: they belong to another table.
//
// NotSupported names the column: uint64 (no integer type holds it), intervals, durations, unions. InvalidArgument: two
// columns of one name.
Result<Schema> SchemaFromArrow(const arrow::Schema& source);

// A schema with new field ids in the same order, and its identifier fields with it: for a schema that was written for
// another table. InvalidArgument: an identifier field that is not there.
Result<Schema> WithFreshIds(const Schema& schema);

}  // namespace delenda::write
