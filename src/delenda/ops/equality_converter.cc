#include "delenda/ops/equality_converter.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "delenda/model/key_filters.h"
#include "delenda/ops/changed_files.h"
#include "delenda/plan/delete_index.h"
#include "delenda/read/equality_tables.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

// What all groups find in one data file.
class FoundFiles {
 public:
  void Add(KeyPositions found) {
    const auto [at, is_new] = files_.try_emplace(found.data_file.path);
    if (is_new)
      at->second = std::move(found);
    else
      at->second.found = at->second.found.Union(found.found);
  }

  void MoveTo(ConversionResult& result) {
    for (auto& [path, file] : files_) {
      result.rows += file.found.cardinality();
      if (file.vector) result.rewritten_vectors.push_back(*std::move(file.vector));
      PositionSet all = file.before.Union(file.found);
      result.vectors.push_back(
          {.file = std::move(file.data_file), .before = std::move(file.before), .deleted = std::move(all)});
    }
  }

 private:
  std::map<std::string, KeyPositions> files_;
};

// The files, by their places, in parts whose keys should fit into memory. Of a key that is in several parts each finds
// the rows that its own files delete.
std::vector<std::set<uint32_t>> PartsOf(const std::vector<ContentFile>& files, uint64_t memory) {
  // Of a key: its slot, its value for pruning, its place; of its bytes: as they lie in the file, decompressed.
  constexpr uint64_t kBytesOfKey = 64;
  constexpr uint64_t kCompression = 4;
  std::vector<std::set<uint32_t>> parts;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < files.size(); ++i) {
    const uint64_t of_file = std::max(static_cast<uint64_t>(files[i].record_count) * kBytesOfKey,
                                      static_cast<uint64_t>(files[i].file_size) * kCompression);
    if (parts.empty() || bytes + of_file > memory) {
      parts.emplace_back();
      bytes = 0;
    }
    bytes += of_file;
    parts.back().insert(i);
  }
  return parts;
}

}  // namespace

Result<ConversionResult> EqualityDeleteConverter::Convert(const std::vector<ContentFile>& files) const {
  ConversionResult result;
  for (const ContentFile& file : files) {
    if (file.content != FileContent::kEqualityDeletes)
      return InvalidArgument("{} holds {}, not equality deletes", file.path, FileContentName(file.content));
    DELENDA_TRY(plan::CheckSupported(file));
  }
  result.base_snapshot_id = session_.head(branch_);
  if (!result.base_snapshot_id) return result;
  DELENDA_TRY(CheckDeletes(session_, branch_));
  if (files.empty()) return result;

  plan::ScanPlan deletes = DELENDA_TRY(session_.PlanOfDeletes(files));
  deletes.specs.emplace(kEverySpec, BoundSpec());
  read::EqualityTables tables(deletes, session_.io(), key_memory_, session_.hooks().cancel);
  std::map<size_t, uint32_t> groups;  // by table of keys: one of its files, all of which have its layout and scope
  for (const std::set<uint32_t>& part : PartsOf(files, key_memory_ / 2)) {
    for (const auto& [file, table] : tables.Group(part)) {
      if (groups.emplace(table, file).second) tables.Expect(table);
    }
  }
  const size_t budget = KeyComparisonBudget(session_.data_files(branch_));
  FoundFiles found;
  std::vector<ExprRef> conflicts;
  std::vector<KeyQuery> queries;
  uint64_t bytes = 0;  // of their keys
  const auto resolve = [&]() -> Result<void> {
    for (auto& in_file : DELENDA_TRY(resolver_.Resolve(session_, queries))) found.Add(std::move(in_file));
    queries.clear();
    bytes = 0;
    return {};
  };
  for (const auto& [table, file] : groups) {
    const auto group = DELENDA_TRY(tables.Get(table));
    tables.Done(table);
    const ContentFile& one = deletes.deletes[file];
    KeyQuery query{.keys = {group, &group->keys()},
                   .sequence_numbers = {group, &group->sequence_numbers()},
                   .branch = branch_,
                   .base_snapshot_id = *result.base_snapshot_id,
                   .partition = {},
                   .allows_position_deletes = allows_position_deletes_};
    ExprRef partition = Expr::True();
    const auto spec = deletes.specs.find(one.spec_id);
    if (spec == deletes.specs.end())
      return Corrupt("{} has partition spec {}, which the table does not have", one.path, one.spec_id);
    if (!spec->second.spec.IsUnpartitioned()) {
      query.partition = plan::OnePartition{.spec_id = one.spec_id, .tuple = one.partition};
      partition = PartitionPin(spec->second, *one.partition, deletes.schema);
    }
    conflicts.push_back(Expr::And(
        {partition, KeyFilter(group->sorted(), group->size(), budget, [&] { return group->keys().Values(); })}));
    queries.push_back(std::move(query));
    bytes += group->keys().memory();
    if (bytes > key_memory_ / 2) DELENDA_TRY(resolve());
  }
  DELENDA_TRY(resolve());
  result.conflict_filter = Expr::Or(std::move(conflicts));
  found.MoveTo(result);
  for (const ContentFile& file : files) {
    if (file.data_sequence_number != kUncommitted) result.converted_deletes.push_back(file);
  }
  return result;
}

}  // namespace delenda::ops
