// Keys of rows, hashed: which of the keys a row has, if any.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/model/type.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/nested_column.h"
#include "delenda/read/selection.h"

namespace delenda::read {

// Distinct keys, numbered 0, 1, ... in the order in which they were added. A key has a value for each of some fields.
//
// Keys match as equality deletes do (Iceberg spec, "Equality Delete Files"): NULL equals NULL (a field of a NULL struct
// is NULL), NaN equals NaN; -0.0 and 0.0 differ, as in Java.
//
// Thread-safe when nothing is added any more.
//
// EXAMPLE  fields (region, id); Add [(eu, 1), (eu, 2), (eu, 1), (NULL, 1)] → [0, 1, 0, 2];
//          Find [(NULL, 1), (us, 1)] → [2, -1]
class KeyTable {
 public:
  static constexpr int64_t kNone = -1;
  static constexpr uint64_t kDefaultMemory = uint64_t{2} << 30;

  // `fields`: at least one, all of primitive types. `memory_budget`: bytes that the table may take.
  static Result<KeyTable> Make(std::vector<plan::KeyField> fields, uint64_t memory_budget = kDefaultMemory);
  // Key columns by their names (Schema::FindByName), nested in structs or not. NotFound: no such column.
  // InvalidArgument: none is named, or one twice; a column inside a list or map, or of a type by which rows cannot be
  // told apart: float and double (spec, "Identifier Field IDs"), nested types.
  static Result<KeyTable> ForColumns(const Schema& schema, const std::vector<std::string>& names,
                                     uint64_t memory_budget = kDefaultMemory);

  const std::vector<plan::KeyField>& keys() const { return keys_; }
  // The top-level columns that Add and Find want, in their order; structs cut down to the key.
  const std::vector<Field>& fields() const { return fields_; }
  // The arrays for fields() out of a batch whose columns are those of `schema`, as ToArrowType makes them.
  Result<std::vector<std::shared_ptr<arrow::Array>>> ColumnsOf(const Schema& schema,
                                                               const arrow::RecordBatch& batch) const;

  int64_t size() const { return size_; }
  // Bytes of the table, and, about, of what sorted() gives.
  uint64_t memory() const;
  uint64_t sorted_memory() const;

  // The number of each row's key; keys that are not there yet are added. `columns`: arrays for fields(), `rows` long
  // each. The first row with a new key is the one whose number is the size that the table had just before it.
  // NotSupported: more keys than the memory budget holds.
  Result<std::vector<int64_t>> Add(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows);

  // The number of each row's key, kNone where it is not in the table. Rows that `wanted` (null: all) leaves out are not
  // looked up: kNone.
  Result<std::vector<int64_t>> Find(const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t rows,
                                    const Selection* wanted = nullptr) const;
  // Keeps those of `rows` for which keep(row, number of its key or kNone) is true; called for these rows, in order.
  template <typename Keep>
  Result<void> KeepWhere(const std::vector<std::shared_ptr<arrow::Array>>& columns, Selection& rows,
                         const Keep& keep) const;

  // The keys as planning wants them; made anew by each call.
  std::shared_ptr<const SortedKeys> sorted() const;
  // The values of each key, by its number; for messages and filters.
  std::vector<std::vector<Datum>> Values() const;

 private:
  struct Slot {
    int64_t key = 0;
    int64_t number = kNone;  // kNone: free
  };
  struct Entry {
    uint64_t hash = 0;
    uint64_t offset = 0;  // of the encoded key in key_bytes_
    uint32_t size = 0;
  };
  // Values of an integer-like array without a switch per row.
  struct IntegerColumn {
    const int32_t* narrow = nullptr;
    const int64_t* wide = nullptr;
    int64_t operator[](int64_t row) const { return narrow != nullptr ? narrow[row] : wide[row]; }
  };
  struct KeyArrays {
    std::vector<NestedColumn> columns;
    IntegerColumn integers;  // of the one column, if it is integer-like
  };

  static uint64_t MixBits(uint64_t value) {
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93U;
    value ^= value >> 32;
    return value;
  }
  static Result<IntegerColumn> IntegersOf(const arrow::Array& array);
  static Result<void> Append(std::string& out, const arrow::Array& array, int64_t row);
  static Result<void> Encode(const KeyArrays& arrays, int64_t row, std::string& out);
  Result<KeyArrays> Arrays(const std::vector<std::shared_ptr<arrow::Array>>& columns) const;
  Result<void> CheckBudget() const;
  int64_t FindInteger(int64_t key) const {
    const uint64_t hash = MixBits(static_cast<uint64_t>(key));
    if ((marks_[hash >> marks_shift_ >> 6] >> (hash >> marks_shift_ & 63) & 1) == 0) return kNone;
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.number == kNone || slot.key == key) return slot.number;
    }
  }
  int64_t FindBytes(std::string_view key) const;
  void Mark(uint64_t hash) { marks_[hash >> marks_shift_ >> 6] |= uint64_t{1} << (hash >> marks_shift_ & 63); }
  int64_t AddInteger(int64_t key);
  int64_t AddBytes(std::string_view key);
  void GrowSlots();
  void GrowBytes();
  Result<std::vector<int64_t>> Numbers(const KeyArrays& arrays, int64_t rows);
  // The values of an encoded key.
  std::vector<Datum> Decode(std::string_view key) const;

  std::vector<plan::KeyField> keys_;
  std::vector<Field> fields_;
  uint64_t memory_budget_ = 0;
  int64_t size_ = 0;
  bool single_integer_ = false;  // one integer-like key column: keys are hashed as they are

  std::vector<Slot> slots_;  // open addressing; never full
  // Eight bits for each slot; set: a key has this beginning of its hash. Most rows have none of the keys, and a bit of
  // a small table says so: half of the slots are in use, so that looking there is a guess for the processor each time.
  std::vector<uint64_t> marks_;
  int marks_shift_ = 0;
  int64_t null_number_ = kNone;

  std::vector<uint32_t> byte_slots_;  // entry number + 1; 0: free
  std::vector<Entry> entries_;        // by the key's number
  std::string key_bytes_;
};

template <typename Keep>
Result<void> KeyTable::KeepWhere(const std::vector<std::shared_ptr<arrow::Array>>& columns, Selection& rows,
                                 const Keep& keep) const {
  const KeyArrays arrays = DELENDA_TRY(Arrays(columns));
  if (single_integer_) {
    const Selection& valid = arrays.columns[0].valid;
    rows &= Selection::Where(rows.rows(), [&](int64_t row) {
      return rows.Kept(row) && keep(row, valid.Kept(row) ? FindInteger(arrays.integers[row]) : null_number_);
    });
    return {};
  }
  std::string key;
  Result<void> failure;
  rows &= Selection::Where(rows.rows(), [&](int64_t row) {
    if (!rows.Kept(row) || !failure) return false;
    failure = Encode(arrays, row, key);
    return keep(row, FindBytes(key));
  });
  return failure;
}

}  // namespace delenda::read
