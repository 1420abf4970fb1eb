// A table's partitioning as a person writes it.
#pragma once

#include <string_view>

#include "delenda/base/result.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda {

// "bucket(16, id), day(ts), region": a column alone is identity; year, month, day, hour, void take a column, bucket and
// truncate a number before it. Spark's years, months, days and hours are taken, too. Columns within structs are named
// a.b; names with other signs than letters, digits, '_' and '$' are quoted as in column texts.
//
// The spec has id 0 and field ids from 1000; fields are named as the reference implementation does: region, id_bucket,
// name_trunc, ts_year, ts_month, ts_day, ts_hour, c_null.
//
// EXAMPLE  "bucket(16, id), day(ts)"  →  1000: id_bucket: bucket[16](id), 1001: ts_day: day(ts)
//
// NotFound: an unknown column. InvalidArgument: a text of another form; a transform that does not take the column's
// type; columns within lists and maps; two fields of one column with the same transform, or with two that differ in
// their unit of time only; a field named like another column.
Result<PartitionSpec> ParsePartitioning(std::string_view text, const Schema& schema);

}  // namespace delenda
