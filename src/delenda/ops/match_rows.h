// Where the rows are that an operation is about.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"

namespace delenda::ops {

// A data file with matching live rows.
struct MatchedFile {
  ContentFile file;
  PositionSet before;   // deleted already, by its vector or position delete files
  PositionSet matched;  // live rows that match; a row that an equality delete covers is not live
};

struct MatchedRows {
  ExprRef filter;  // bound
  std::vector<MatchedFile> files;
  uint64_t rows = 0;
  uint64_t files_by_metadata = 0;  // whose partition values say that every row matches: not opened
};

// The live rows of the branch that `where` matches, as positions. Reads the columns of the filter only, and of files
// that match wholly nothing but their vectors.
//
// EXAMPLE  "day = '2024-02-29'", table partitioned by day  →  all rows of that day's files, without opening them.
Result<MatchedRows> MatchRows(const commit::TableSession& session, const std::string& branch, const std::string& where);

}  // namespace delenda::ops
