// The columns that JSON lines have.
#pragma once

#include <string_view>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"
#include "delenda/model/type.h"

namespace delenda::write {

// Reads every line, and gives each member the one type that holds all its values: whole numbers long, other numbers (or
// both) double, boolean, string, objects struct, arrays list. All are optional; columns come in the order in which they
// are first seen. Dates and the like are texts in JSON: they become string.
//
// EXAMPLE  {"id": 1, "tags": ["a"]}
//          {"id": 2, "price": 1.5}      →  id long, tags list<string>, price double
//
// InvalidArgument, with the line: no JSON object; values of one member that no type holds together; whole numbers
// beyond 64 bits; more than 10,000 columns. InvalidArgument for a member that is null (or an empty array or object) in
// every row, since nothing tells its type, and for a file without rows.
Result<Schema> InferJsonSchema(io::FileIO& io, std::string_view path);

}  // namespace delenda::write
