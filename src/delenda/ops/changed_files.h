// Rows of a scan that are to be deleted, gathered by data file.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/row_change.h"
#include "delenda/plan/scan_task.h"

namespace delenda::ops {

// Deletes of rows are possible: NotSupported below format version 3, before anything is read.
Result<void> CheckDeletes(const commit::TableSession& session, const std::string& branch);

// Collects the columns _file and _pos of a scan's batches, and files of which every row goes.
class ChangedFiles {
 public:
  // `plan` must outlive it.
  explicit ChangedFiles(const plan::ScanPlan& plan) : plan_(plan) {}

  void Add(const arrow::StringArray& files, const arrow::Int64Array& positions);
  void AddWhole(const ContentFile& file) { whole_.insert(file.path); }

  // What is to be deleted in each data file, with what is deleted there already: vectors of these files are read, and
  // no others. Counts dropped and changed files in `change`.
  Result<std::vector<commit::FileDelete>> Deletes(const commit::TableSession& session, RowChange& change) const;

 private:
  const plan::ScanPlan& plan_;
  std::map<std::string, std::vector<uint64_t>, std::less<>> positions_;
  std::set<std::string, std::less<>> whole_;
};

}  // namespace delenda::ops
