#include "delenda/read/equality_keys.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/read/column_adapter.h"
#include "delenda/read/mapped_schema.h"

namespace delenda::read {
namespace {

constexpr int64_t kKeyBatchRows = 64 * 1024;

}  // namespace

Result<EqualityKeys> EqualityKeys::Load(io::FileIO& io, const plan::ScanPlan& plan, const std::vector<uint32_t>& files,
                                        uint64_t memory_budget, const CancelToken& cancel) {
  std::vector<plan::KeyField> key_fields;
  for (const int32_t id : plan.deletes[files.front()].equality_ids) {
    const auto key = plan.key_fields.find(id);
    if (key == plan.key_fields.end()) return InternalError("the plan has no key field {}", id);
    key_fields.push_back(key->second);
  }
  EqualityKeys keys(DELENDA_TRY(KeyTable::Make(std::move(key_fields), std::numeric_limits<uint64_t>::max())));
  for (const uint32_t index : files) {
    const ContentFile& file = plan.deletes[index];
    const auto load = [&]() -> Result<void> {
      const auto size = static_cast<uint64_t>(file.file_size);
      const auto opened = DELENDA_TRY(
          parquet::ParquetFile::Open(DELENDA_TRY(io.Open(file.path, size)), size, AssignIdsBy(plan.name_mapping)));
      if (opened->num_rows() != file.record_count)
        return Corrupt("expected {} rows by the manifest, found {}", file.record_count, opened->num_rows());
      for (const plan::KeyField& key : keys.keys_.keys()) {
        if (!FindLeaf(*opened, key.path))
          return Corrupt("the equality delete file lacks its key column {} (field id {})", key.column.name,
                         key.path.back());
      }
      const auto adapter = DELENDA_TRY(ColumnAdapter::Make(keys.fields(), *opened, {}));
      for (size_t group = 0; group < opened->row_groups().size(); ++group) {
        if (cancel.cancelled()) return Cancelled("stopped at the caller's request");
        if (opened->row_groups()[group].num_rows == 0) continue;
        const auto reader = DELENDA_TRY(opened->Read(group, adapter.leaves(), kKeyBatchRows));
        while (const auto batch = DELENDA_TRY(reader->Next())) {
          DELENDA_TRY(keys.Add(DELENDA_TRY(adapter.Adapt(batch.get(), batch->num_rows())), batch->num_rows(),
                               file.data_sequence_number, memory_budget));
        }
      }
      return {};
    };
    DELENDA_TRY(WithContext(load(), "file", file.path));
  }
  keys.sorted_ = keys.keys_.sorted();
  return keys;
}

Result<void> EqualityKeys::Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows,
                               int64_t sequence, uint64_t memory_budget) {
  const auto numbers = DELENDA_TRY(keys_.Add(columns, rows));
  for (const int64_t number : numbers) {
    const auto at = static_cast<size_t>(number);
    if (at == sequences_.size()) sequences_.push_back(sequence);
    sequences_[at] = std::max(sequences_[at], sequence);
  }
  const uint64_t bytes = keys_.memory() + keys_.sorted_memory() + sequences_.capacity() * sizeof(int64_t);
  if (bytes <= memory_budget) return {};
  return NotSupported(
      "the keys of the equality deletes need more than the memory budget of {} bytes: turn them into deletion vectors "
      "(delenda convert), or read with a larger budget",
      memory_budget);
}

Result<void> EqualityKeys::RemoveDeleted(const std::vector<std::shared_ptr<arrow::Array>>& columns,
                                         int64_t data_sequence_number, Selection& live) const {
  if (size() == 0) return {};
  return keys_.KeepWhere(columns, live, [&](int64_t, int64_t number) {
    return number == KeyTable::kNone || sequences_[static_cast<size_t>(number)] <= data_sequence_number;
  });
}

}  // namespace delenda::read
