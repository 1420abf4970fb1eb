// Live rows of a table that have one of the keys that a source brings.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/model/content_file.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {

// CommitConflict: the table has other columns by now than when the rows were read.
Result<void> CheckColumnsStayed(const KeyedSource& source, const commit::TableSession& session);

// Keys, in parts that fit into memory.
struct KeyParts {
  size_t count = 1;
  std::function<Result<std::shared_ptr<const read::KeyTable>>(size_t part)> load;

  // Those of the source, which must outlive them.
  static KeyParts Of(KeyedSource& source);
};

// Which columns of the table are read; metadata columns follow them.
enum class KeyScanColumns : uint8_t { kKey, kAll };

// Rows as a scan gives them, each with the number of its key.
//
// EXAMPLE  keys id {7: number 0, 3: number 1}; a.parquet ids 0 to 9, b.parquet 10 to 19; kKey, metadata {"_pos"}  → one
//          batch: id {3, 7}, _pos {3, 7}, numbers {1, 0}; b.parquet is not opened.
class KeyScan {
 public:
  struct Batch {
    std::shared_ptr<arrow::RecordBatch> rows;  // null at the end
    std::vector<int64_t> numbers;              // of their keys in `keys`
  };

  // In every partition and under every spec; files and row groups that hold none of the keys are not read. `metadata`:
  // names of metadata columns.
  static Result<KeyScan> Start(const commit::TableSession& session, const std::string& branch,
                               std::shared_ptr<const KeyedRows> keys, const std::vector<std::string>& key,
                               KeyScanColumns columns, std::vector<std::string> metadata);

  // Metadata columns begin here.
  int columns() const { return static_cast<int>(schema_.fields().size()); }

  const std::shared_ptr<const plan::ScanPlan>& plan() const { return plan_; }
  Result<Batch> Next();

 private:
  KeyScan() = default;

  std::shared_ptr<const KeyedRows> keys_;
  std::shared_ptr<const plan::ScanPlan> plan_;
  Schema schema_;  // of the table's columns that are read
  std::unique_ptr<read::ScanStream> stream_;
};

// For Intent::touches_added: do data files that others added since hold a row with one of the keys? Exact, but
// that rows which are deleted again count. Bounds come first, then the key columns of what is left are read. Answers
// are kept: a file that was looked at never changes.
//
// EXAMPLE  an upsert of id 7 read snapshot 12 and found no such row. Snapshot 13 added c.parquet with ids {1, 7}: true,
//          and the upsert is evaluated again, since it has to replace that row now. Ids {1, 9}: false.
class AddedKeyCheck {
 public:
  // `session` must outlive it. `plan`: of the operation's scan, for schema, specs and names of columns.
  AddedKeyCheck(const commit::TableSession& session, KeyParts keys, std::shared_ptr<const plan::ScanPlan> plan);

  Result<bool> Touches(const std::vector<ContentFile>& added);

 private:
  Result<bool> HoldsKeys(const std::vector<const ContentFile*>& files,
                         std::shared_ptr<const read::KeyTable> keys) const;

  const commit::TableSession& session_;
  KeyParts keys_;
  std::shared_ptr<const plan::ScanPlan> plan_;
  std::set<std::string> known_;  // paths of files that hold none
};

}  // namespace delenda::ops
