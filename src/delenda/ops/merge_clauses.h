// The clauses of a merge, bound to the columns that they see.
#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/type.h"
#include "delenda/ops/assignments.h"
#include "delenda/ops/merge_rows.h"
#include "delenda/ops/row_condition.h"
#include "delenda/read/selection.h"

namespace delenda::ops {

// What conditions and values see: the table's columns, but for one named "source", and a struct "source" with the
// columns of the files' rows.
//
// EXAMPLE  table (id, n), files (id, n, gone); matched_delete "source.gone = 'y'", matched_update n = "n + source.n":
//          rows (1, 10) and (1, 5, NULL): updated, new values (1, 15); (2, 20) and (2, 7, 'y'): deleted.
class MergeClauses {
 public:
  // The columns that the clauses call source.NAME, without that.
  static std::vector<std::string> SourceColumns(const MergeOptions& options);

  // `source`: of the files' rows; its first columns are those of the table. InvalidArgument: no clause, a column of
  // `key` that is to be set. Others as filters and values.
  static Result<MergeClauses> Make(const MergeOptions& options, const std::vector<std::string>& key,
                                   const Schema& table, const Schema& source);

  bool looks_at_matched() const { return matched_delete_ || updates_; }
  bool inserts() const { return not_matched_insert_.has_value(); }

  // `table`: whole rows of the table; `source`: the files' row for each.
  struct Decided {
    read::Selection deleted, updated;  // no row is both
  };
  Result<Decided> Decide(const arrow::RecordBatch& table, const arrow::RecordBatch& source) const;
  // The new values of all rows, in the table's columns. Rows that are not to be updated may hold values that can't be
  // computed: leave them out before.
  Result<std::shared_ptr<arrow::RecordBatch>> Update(const arrow::RecordBatch& table,
                                                     const arrow::RecordBatch& source) const;
  // Which rows of the files are inserted, if the table lacks their keys.
  Result<read::Selection> Inserted(const arrow::RecordBatch& source) const;

 private:
  MergeClauses() = default;
  std::shared_ptr<arrow::RecordBatch> Seen(const arrow::RecordBatch& table, const arrow::RecordBatch& source) const;
  std::shared_ptr<arrow::RecordBatch> SeenAlone(const arrow::RecordBatch& source) const;

  size_t table_columns_ = 0;
  std::vector<int> seen_columns_;              // of the table
  std::shared_ptr<arrow::Schema> seen_;        // of conditions and values
  std::shared_ptr<arrow::Schema> seen_alone_;  // of rows without a match
  std::optional<RowCondition> matched_delete_, matched_update_when_, not_matched_insert_;
  bool updates_ = false;
  bool updates_all_ = false;
  std::vector<Assignment> assignments_;
};

}  // namespace delenda::ops
