// From equality deletes to deletion vectors: the keys are looked for once, by us, and not by every reader.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/intent.h"
#include "delenda/commit/table_session.h"
#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"
#include "delenda/ops/key_positions.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {

// The data sequence number of delete files that are not committed yet: they apply to all data files that are.
inline constexpr int64_t kUncommitted = std::numeric_limits<int64_t>::max();
// The spec of such delete files that apply to all partitions of all specs, though the table may have no unpartitioned
// spec, without which they can't be committed.
inline constexpr int32_t kEverySpec = -1;

// What a conversion found, one to one with an intent (commit/intent.h): what was read, the vectors to be, what they
// take the place of, and what must not have been added meanwhile.
struct ConversionResult {
  std::optional<int64_t> base_snapshot_id;  // none: the branch has no snapshot, so there is nothing to convert
  // Data files that get a vector: all positions that it will hold. A commit writes them into one Puffin file.
  std::vector<commit::FileDelete> vectors;
  std::vector<ContentFile> rewritten_vectors;  // that data files of `vectors` have now: merged and replaced
  std::vector<ContentFile> converted_deletes;  // of the input, the committed ones: to be removed
  ExprRef conflict_filter = Expr::False();     // OR over the groups of (partition AND keys)
  uint64_t rows = 0;                           // that become deleted by vectors
};

// Turns equality deletes into positions. Files of the same key columns, spec and partition form a group, in which a key
// counts with its highest data sequence number; a row matches if its data file has a smaller one. Deletes of
// unpartitioned specs (all-void ones too) are looked for in all partitions of all specs. Keeps nothing between calls.
//
// EXAMPLE  e.parquet deletes keys id {7, 9} with sequence number 5; a.parquet (sequence number 3) has id 7 at position
//          0 and, deleted by its vector, id 9 at 4; b.parquet (sequence number 5) has id 7  →  vectors {a: {0, 4}},
//          rewritten {a's vector}, converted {e}
class EqualityDeleteConverter {
 public:
  // Both must outlive the converter. The session is not refreshed: what it has read is the base. `key_memory`: bytes
  // that keys may take; with more of them the table is looked through in several passes.
  EqualityDeleteConverter(const commit::TableSession& session, std::string branch, const KeyPositionResolver& resolver,
                          bool allows_position_deletes = false,
                          uint64_t key_memory = read::ReadOptions().equality_memory)
      : session_(session),
        branch_(std::move(branch)),
        resolver_(resolver),
        allows_position_deletes_(allows_position_deletes),
        key_memory_(key_memory) {}

  // InvalidArgument: a file that holds no equality deletes. NotSupported: the table's format version is below 3; a file
  // that is not Parquet; keys beyond the memory budget. ValidationFailed as ScanKeyPositionResolver. Others as reading.
  Result<ConversionResult> Convert(const std::vector<ContentFile>& equality_delete_files) const;

 private:
  const commit::TableSession& session_;
  std::string branch_;
  const KeyPositionResolver& resolver_;
  bool allows_position_deletes_;  // KeyQuery::allows_position_deletes
  uint64_t key_memory_;
};

}  // namespace delenda::ops
