// What one writer of keyed rows has written and nobody has committed yet: new rows, and the keys of the rows that go.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/model/content_file.h"
#include "delenda/model/type.h"
#include "delenda/ops/keyed_source.h"
#include "delenda/read/selection.h"
#include "delenda/write/staged_files.h"

namespace delenda::ops {

// What happens when a commit has been tried as often as is allowed.
enum class DeltaFallback : uint8_t {
  kAbort,                  // it fails, and may be tried again later
  kCommitEqualityDeletes,  // the equality deletes are committed as they are: readers apply them until `convert`
};

// The work of one writer: values alone, but for the files' owner.
struct DeltaResult {
  // A file of keys, in the form of an equality delete file.
  struct KeyFile {
    ContentFile file;            // of kEverySpec; content 2, equality ids of the key
    uint64_t memory_needed = 0;  // bytes, for a table of its keys
  };

  std::string id;      // unique; the snapshot that holds it says so in its summary
  uint64_t order = 0;  // of several writers in one commit: the events of a higher one happened later
  std::string table;   // its location
  Schema schema;       // of the table, when the rows were written
  std::vector<std::string> key;
  std::vector<ContentFile> data_files;  // at most one row for each key
  // Every key of which there was an event, once: what has it in the table goes.
  std::vector<KeyFile> keys;
  DeltaFallback fallback = DeltaFallback::kAbort;
  // With kCommitEqualityDeletes: the same keys, as the partitions of each of these specs want them. Empty if the table
  // has an unpartitioned spec, under which `keys` themselves can be committed.
  std::map<int32_t, std::vector<ContentFile>> deletes_of_spec;
  uint64_t rows = 0;  // in data_files

  std::shared_ptr<write::StagedFiles> staged;  // all files, until they are committed
};

struct DeltaFilesOptions {
  uint64_t order = 0;
  DeltaFallback fallback = DeltaFallback::kAbort;
};

// InvalidArgument: with this key no equality deletes can be committed to the table. They can if it has an unpartitioned
// spec, whose deletes hold everywhere, or if the key determines the partition under every spec: a delete under one
// partition does not reach rows with its keys in others.
Result<void> CheckTakesEqualityDeletes(const commit::TableSession& session, const std::vector<std::string>& key);

// Writes a source's rows, each but those that `only_deletes` finds in a batch of its schema, as data files of the
// table's default spec, and the keys of all as equality delete files. The table's metadata is not changed. Rows get new
// row ids: which rows they replace is not known until the commit, and may change with each attempt.
//
// EXAMPLE  key id; rows {2, x}, {9, y}, {3, d}, the last of which only deletes  →  data_files {{2, x}, {9, y}}, keys
//          {2, 9, 3}
//
// InvalidArgument: a NULL in a required column, naming the key; as CheckTakesEqualityDeletes. CommitConflict: the table
// has other columns than when the source was read. Errors of storage. Nothing stays behind then.
Result<DeltaResult> WriteDeltaFiles(
    const commit::TableSession& session, KeyedSource& source,
    const std::function<Result<read::Selection>(const arrow::RecordBatch&)>& only_deletes,
    const DeltaFilesOptions& options);

}  // namespace delenda::ops
