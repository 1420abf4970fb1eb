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
#include "delenda/formats/positions/position_set.h"
#include "delenda/ops/row_change.h"
#include "delenda/plan/scan_task.h"

namespace delenda::ops {

// Deletes of rows are possible. NotSupported below format version 3, before anything is read; those of
// TableSession::CheckBranch.
Result<void> CheckDeletes(const commit::TableSession& session, const std::string& branch);

// Collects the columns _file and _pos of a scan's batches, and files of which every row goes.
class ChangedFiles {
 public:
  // `plan` must outlive it.
  explicit ChangedFiles(const plan::ScanPlan& plan) : plan_(plan) {}

  // Columns `first` and `first` + 1 of the batch. InvalidArgument: a position that no vector can hold.
  Result<void> Add(const arrow::RecordBatch& rows, int first);
  // More rows of one data file.
  void Add(const std::string& file, const PositionSet& positions);
  void AddWhole(const ContentFile& file) { whole_.insert(file.path); }

  // What is to be deleted in each data file, with what is deleted there already: vectors of these files are read, and
  // no others.
  Result<std::vector<commit::FileDelete>> Deletes(const commit::TableSession& session);
  // The rows that were added, if they are to stay.
  Result<std::vector<commit::ReadRows>> Read();

 private:
  struct Rows {
    PositionSet packed;
    std::vector<uint64_t> loose;
  };
  Result<void> Pack();

  const plan::ScanPlan& plan_;
  std::map<std::string, Rows, std::less<>> rows_;
  std::set<std::string, std::less<>> whole_;
  size_t loose_ = 0;  // of all files
};

// What several scans of one snapshot found, by data file.
class JoinedDeletes {
 public:
  void Add(std::vector<commit::FileDelete> deletes);
  // In the order of paths.
  std::vector<commit::FileDelete> Take();

 private:
  std::map<std::string, commit::FileDelete> by_path_;
};

// Rows that are deleted, and were not before.
uint64_t DeletedRows(const std::vector<commit::FileDelete>& deletes);
// Counts the files that are dropped and changed.
void CountChanged(const std::vector<commit::FileDelete>& deletes, RowChange& change);

}  // namespace delenda::ops
