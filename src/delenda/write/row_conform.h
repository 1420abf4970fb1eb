// Batches from outside made batches of a table: columns matched by name, values cast only where nothing can be lost.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"

namespace delenda::write {

struct ConformOptions {
  bool ignore_unknown_columns = false;
  // Texts become values of any type (CSV); else only of string columns.
  bool parse_text = false;
};

// Built once for a source; then batches go through it in order.
//
// Columns match by name: exact, else the only one that is equal but for ASCII case. Nested fields likewise. Casts:
// integers to wider ones or to ones that hold the value, float → double, decimals and integers to decimals that hold
// the value exactly, date → date, timestamps to finer units (coarser ones if no digit is lost), string ↔ dictionary and
// large or view forms of the same, with `parse_text` string → anything (DatumFromText). A timestamp without zone is
// never taken for one with zone, nor the other way round.
class RowConformer {
 public:
  // InvalidArgument: an unknown column, a column that no safe cast leads to, a required column without default that the
  // source lacks, two source columns for one.
  static Result<RowConformer> Make(const arrow::Schema& source, const Schema& table, const ConformOptions& options);
  ~RowConformer();
  RowConformer(RowConformer&&) noexcept;
  RowConformer& operator=(RowConformer&&) noexcept;

  // A batch of ToArrowType of the table's columns. Columns that the source lacks hold their write default or NULL.
  // InvalidArgument names column, row (counted from 1 over all batches) and value: a value out of range or not exact, a
  // NULL in a required column, a text that is no value of the type.
  Result<std::shared_ptr<arrow::RecordBatch>> Conform(const arrow::RecordBatch& batch);

 private:
  struct State;
  explicit RowConformer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace delenda::write
