// A table's columns as a person writes them.
#pragma once

#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda {

// "id long NOT NULL, region string, amount decimal(9, 2) DEFAULT 0, tags list<string NOT NULL>,
//  place struct<lat double, lon double>, seen map<string, timestamptz>"
//
// Types are those of the Iceberg specification; bigint, integer, bool and array are taken for long, int, boolean and
// list. Names with other signs than letters, digits, '_' and '$' are quoted: "odd name" or `odd name`. Members of a
// struct may have a ':' between name and type. DEFAULT takes a number, a text in quotes (also for dates and the like),
// TRUE or FALSE; it is the column's initial and its write default.
//
// Field ids count up from 1 in the order of the text.
// InvalidArgument says at which byte what was expected, and which column's default is no value of its type.
Result<Schema> ParseColumns(std::string_view text);

}  // namespace delenda
