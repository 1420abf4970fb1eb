// Rows told apart by the values of some of their columns.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "delenda/base/result.h"

namespace delenda::read {

// The values of one array as they lie in memory, so that one value costs no virtual call and no reference count. Valid
// as long as the array.
struct KeyValues {
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kFixed,
    kFloat,
    kDouble,
    kBinary,
    kLargeBinary,
    kList,
    kLargeList,
    kStruct
  };
  Kind kind = Kind::kNull;
  uint32_t width = 0;                 // kFixed: bytes of a value
  int64_t offset = 0;                 // of value 0
  const uint8_t* validity = nullptr;  // null: every value is valid
  const uint8_t* values = nullptr;    // kBool: bits
  const void* offsets = nullptr;      // kBinary, kList: int32; kLargeBinary, kLargeList: int64
  std::vector<KeyValues> children;    // kStruct: the fields; kList, kLargeList: the elements
};

// The rows of a batch, to be compared by the values of some columns: exactly, also inside structs, lists and maps. NULL
// equals NULL, NaN equals NaN, -0.0 and 0.0 differ (as keys of equality deletes do). Entries of maps compare in order.
class RowKeys {
 public:
  // NotSupported: a type whose rows cannot be compared (dictionaries, views, unions, extensions).
  static Result<void> CheckComparable(const arrow::DataType& type);

  // `columns`: indexes; all comparable.
  RowKeys(std::shared_ptr<arrow::RecordBatch> batch, const std::vector<int>& columns);

  const std::shared_ptr<arrow::RecordBatch>& batch() const { return batch_; }
  // Equal rows have equal hashes. `hashes`: one for each row.
  void Hash(std::span<uint64_t> hashes) const;
  // Both with the same columns.
  static bool Equal(const RowKeys& left, int64_t left_row, const RowKeys& right, int64_t right_row);

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<KeyValues> columns_;
};

// One of `parts` for a row of this hash; another choice at each depth, so that a part can be cut again.
size_t PartOfHash(uint64_t hash, int depth, size_t parts);

// For error messages: "(id = 7, name = NULL)".
std::string KeyText(const arrow::RecordBatch& batch, const std::vector<int>& columns, int64_t row);

}  // namespace delenda::read
