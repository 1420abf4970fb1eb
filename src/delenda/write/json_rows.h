// JSON objects as rows of a table, exactly: numbers keep every digit that their column has.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/json/json.h"
#include "delenda/model/type.h"
#include "delenda/write/input_stream.h"

namespace delenda::write {

// One object a row; members by name as RowConformer matches columns. Absent members: the write default, or NULL.
//
// boolean true, false · numbers as JSON numbers or texts ("NaN", "Infinity" for floats) · decimals likewise · date,
// time, timestamps, uuid texts · binary and fixed hexadecimal texts · struct object · list array · map object, or array
// of [key, value]
class JsonRows {
 public:
  // NotSupported: a column of a type that batches have no form for.
  static Result<JsonRows> Make(const Schema& table, bool ignore_unknown_columns);
  ~JsonRows();
  JsonRows(JsonRows&&) noexcept;
  JsonRows& operator=(JsonRows&&) noexcept;

  const std::shared_ptr<arrow::Schema>& schema() const;
  int64_t rows() const;
  // InvalidArgument names the place within the object; what was appended so far is then of no use.
  Result<void> Append(json::Value row);
  // The rows appended since the last call, of the table's schema.
  Result<std::shared_ptr<arrow::RecordBatch>> Finish();

 private:
  struct State;
  explicit JsonRows(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The names of the first object's members; none if there is no object.
Result<std::vector<std::string>> FirstMembers(LineReader& lines);

}  // namespace delenda::write
