#include "delenda/read/equality_tables.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace delenda::read {

EqualityTables::EqualityTables(const plan::ScanPlan& plan, std::shared_ptr<io::FileIO> io, uint64_t memory_budget,
                               CancelToken cancel)
    : plan_(plan), io_(std::move(io)), memory_budget_(memory_budget), cancel_(std::move(cancel)) {}

bool EqualityTables::IsGlobal(const ContentFile& deletes) const {
  const auto spec = plan_.specs.find(deletes.spec_id);
  return spec != plan_.specs.end() && spec->second.spec.IsUnpartitioned();
}

std::map<uint32_t, size_t> EqualityTables::Group(const std::set<uint32_t>& deletes) {
  // A plan put together by hand may leave the tuple of an unpartitioned file out.
  const PartitionTuple none;
  const auto partition_of = [&](const ContentFile& file) -> const PartitionTuple& {
    return file.partition ? *file.partition : none;
  };
  std::vector<std::vector<uint32_t>> groups;
  // By the hash of their partition: a stream leaves very many delete files, spread over partitions.
  std::unordered_multimap<size_t, size_t> by_hash;
  for (const uint32_t index : deletes) {
    const ContentFile& file = plan_.deletes[index];
    const bool global = IsGlobal(file);
    const size_t hash = global ? 0 : HashPartitionTuple(partition_of(file));
    const auto same_scope = [&](const auto& entry) {
      const ContentFile& other = plan_.deletes[groups[entry.second].front()];
      if (file.equality_ids != other.equality_ids || global != IsGlobal(other)) return false;
      return global || (file.spec_id == other.spec_id && partition_of(file) == partition_of(other));
    };
    const auto [begin, end] = by_hash.equal_range(hash);
    const auto found = std::find_if(begin, end, same_scope);
    if (found == end) {
      by_hash.emplace(hash, groups.size());
      groups.push_back({index});
    } else {
      groups[found->second].push_back(index);
    }
  }
  std::map<uint32_t, size_t> table_of;
  for (std::vector<uint32_t>& files : groups) {
    const auto [at, is_new] = known_.emplace(files, tables_.size());
    for (const uint32_t index : files) table_of[index] = at->second;
    if (is_new) tables_.emplace_back().files = std::move(files);
  }
  return table_of;
}

Result<std::shared_ptr<const EqualityKeys>> EqualityTables::Get(size_t table) {
  std::shared_ptr<OnceResult<EqualityKeys>> keys;
  {
    std::lock_guard lock(mutex_);
    keys = tables_[table].keys;
  }
  if (!keys) return InternalError("the keys of equality deletes were asked for after they were let go");
  return keys->Get([&] { return EqualityKeys::Load(*io_, plan_, tables_[table].files, memory_budget_, cancel_); });
}

void EqualityTables::Done(size_t table) {
  std::lock_guard lock(mutex_);
  if (tables_[table].pending > 0 && --tables_[table].pending == 0) tables_[table].keys.reset();
}

}  // namespace delenda::read
