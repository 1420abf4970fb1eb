// Which deletes apply to a data file (Iceberg spec, "Scan Planning").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/content_file.h"
#include "delenda/model/partition.h"
#include "delenda/plan/path_slots.h"

namespace delenda::plan {

// Can a file of this content and format be read? The one support matrix: NotSupported names file, content and format.
//                     Parquet   Puffin    Avro, ORC, other
//   data              yes       refused   refused
//   position deletes  yes       yes (DV)  refused
//   equality deletes  yes       refused   refused
Result<void> CheckSupported(const ContentFile& file);

// A live delete, and the one data file that a position delete file covers when its bounds say so.
using DeleteEntry = std::pair<ContentFile, std::optional<std::string>>;

// A hash of the file that a path names: equal for all spellings of it that DeleteIndex::Match::aliases speaks of.
uint64_t HashLocation(std::string_view path);

// A data file as the index looks at it.
struct DataFileKey {
  std::string_view path;
  int32_t spec_id = 0;
  const PartitionTuple* partition = nullptr;
  int64_t data_sequence_number = 0;
};

// Corrupt: a DV lacks its referenced data file, offset or size, or lies outside its Puffin file.
Result<void> CheckDeletionVector(const ContentFile& dv);

// The ids of an equality delete file in one order, so that equal layouts look equal. Corrupt: none, or one twice.
Result<void> SortKeys(ContentFile& file);

// Sequence number, spec and partition allow a DV or position delete file to apply to the file (paths are not looked
// at).
bool DeletesApply(const ContentFile& deletes, const DataFileKey& file);

// Equality deletes written under these apply to every partition.
std::set<int32_t> UnpartitionedSpecs(const std::map<int32_t, BoundSpec>& specs);

// The live deletes of a snapshot. Built once, then read by many threads.
//
// A DV applies to its referenced data file only: equal path, spec and partition, data sequence number not below the
// file's. A position delete file applies to the one file that it names (file-scoped) or to all files of its partition,
// on the same conditions, and only if the data file has no DV. An equality delete file applies to all files of its
// partition, or of the table if its own spec is unpartitioned, whose sequence number is below its own: never to rows of
// the same commit.
class DeleteIndex {
 public:
  // Made in one call, or of deletes that come one by one: Append each, then Finish.
  // Corrupt: a DV lacks its referenced data file, offset or size, or is the second one for a data file (two would make
  // the result depend on which is found).
  // `unpartitioned_specs`: equality deletes written under these apply to every partition.
  static Result<DeleteIndex> Make(std::vector<DeleteEntry> deletes, const std::set<int32_t>& unpartitioned_specs = {});
  DeleteIndex() = default;
  void Reserve(size_t count);
  void Append(DeleteEntry entry);
  Result<void> Finish(const std::set<int32_t>& unpartitioned_specs);

  bool empty() const { return deletes_.empty(); }
  const std::vector<ContentFile>& deletes() const { return deletes_; }
  std::vector<ContentFile> TakeDeletes() && { return std::move(deletes_); }

  // Deletes found for one data file. `dv` and `positions` apply. `named` are those beside `dv` that name exactly this
  // path, applying or not. `aliases` name another spelling of it (design rule: s3/s3a/s3n one scheme; file:/x,
  // file:///x and /x one path): they apply only if nothing in the snapshot has exactly the path that they name.
  struct Match {
    std::optional<uint32_t> dv;
    std::vector<uint32_t> positions;
    std::vector<uint32_t> equality;
    std::vector<uint32_t> named;
    std::vector<uint32_t> aliases;
  };
  Match Find(const DataFileKey& file) const;

  // Sequence number, spec and partition allow the delete to apply to the file (paths are not looked at).
  bool Applies(uint32_t delete_index, const DataFileKey& file) const;

 private:
  Result<void> AddNamed(uint32_t index, std::string_view path);
  Result<void> AddEqualityDeletes(uint32_t index, const std::set<int32_t>& unpartitioned_specs);

  std::vector<ContentFile> deletes_;
  // The data file that a delete names, by the delete's index; empty for those that name none. Points into `deletes_` or
  // `scopes_`.
  std::vector<std::string_view> named_;
  std::vector<std::pair<uint32_t, std::string>> scopes_;  // by the delete's index, ascending
  // The deletes that name one file, in whatever spelling, form a chain: `by_path_` has its first, `next_` leads on in
  // ascending order to the one that the first one's `tail_` says.
  PathSlots by_path_;
  std::vector<uint32_t> next_, tail_;
  std::unordered_map<PartitionKey, std::vector<uint32_t>, PartitionKeyHash> by_partition_,
      equality_by_partition_;  // keys point into deletes_' shared tuples
  std::vector<uint32_t> global_equality_;
};

}  // namespace delenda::plan
