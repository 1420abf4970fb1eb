// Where the rows with given keys lie: data files and positions. The step from keys, which writers of streams know, to
// deletion vectors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/model/content_file.h"
#include "delenda/ops/changed_files.h"
#include "delenda/plan/partition_filter.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/key_table.h"

namespace delenda::ops {

// Keys to be found, and where rows may have them.
struct KeyQuery {
  std::shared_ptr<const read::KeyTable> keys;
  // By the key's number: only rows of data files with a smaller data sequence number count. Null: all do.
  std::shared_ptr<const std::vector<int64_t>> sequence_numbers;
  std::string branch = "main";
  // The state in which rows are looked for: the branch's head in the version that the session has read.
  int64_t base_snapshot_id = 0;
  // The delete's spec and partition: rows lie in no other. Nothing: in any.
  std::optional<plan::OnePartition> partition;
  // Position delete files of a data file count like its vector, as when they have become one by the time of the commit.
  bool allows_position_deletes = false;
};

// Rows of one data file that have one of the keys.
struct KeyPositions {
  ContentFile data_file;              // with its spec and partition
  std::optional<ContentFile> vector;  // that it has
  PositionSet before;                 // the positions that are deleted in it
  PositionSet found;                  // never empty; none of `before`
};

// What a resolver has found in data files of `plan`, without what is deleted in them already. `plan`: of the queries'
// state, with all of these files.
Result<std::vector<KeyPositions>> NewlyFound(ChangedFiles& found, const plan::ScanPlan& plan,
                                             const commit::TableSession& session);
// ValidationFailed: the data file has position delete files, which the query does not allow.
Result<void> CheckPositionDeletes(const plan::FileTask& task, const KeyQuery& query);

// Finds the rows of keys. Implementations may know more of a table than a scan does: an index of its keys, what a
// stream wrote where. Every live row that matches one of the queries must be found, each data file stand in the answer
// once; a position that is deleted already must not. All queries of a call are of one state.
class KeyPositionResolver {
 public:
  virtual ~KeyPositionResolver() = default;
  virtual Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& session,
                                                    std::span<const KeyQuery> queries) const = 0;
};

// By a scan of the key columns alone, which keeps nothing between calls. In stages, each of which looks at what the one
// before has left: manifests, by their partition summaries; data files, by their partitions and bounds; row groups, by
// their statistics and bloom filters; rows, by their keys and the data file's vector. Several queries (of a stream: one
// for each partition) are planned at once.
//
// EXAMPLE  keys id {7, 4000}; a.parquet ids [1, 100] with vector {6}, b.parquet [101, 200], c.parquet [3990, 4010]
//          →  a and c are read: {a, vector {6}, found {…}} if id 7 is not the row at position 6, {c, found {10}}
//
// Errors: those of planning and reading; ValidationFailed: a data file that may hold a key has position delete files,
// which are not allowed: they must become a vector first.
class ScanKeyPositionResolver final : public KeyPositionResolver {
 public:
  Result<std::vector<KeyPositions>> Resolve(const commit::TableSession& session,
                                            std::span<const KeyQuery> queries) const override;
};

}  // namespace delenda::ops
