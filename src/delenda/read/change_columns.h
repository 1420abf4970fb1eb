// The columns that rows of changes have beside those of the table, and the order of changes.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "delenda/base/result.h"

namespace delenda::read {

// Indexes of columns.
struct ChangeColumns {
  int type = -1;
  int ordinal = -1;
  int snapshot_id = -1;
  int row_id = -1;        // -1: the source has none
  int last_updated = -1;  // -1: none
  int number = -1;        // ours, behind all of the source's: ChangeNumber
};

// The order in which changes are handed out, as one number: by ordinal, then deletes, updates, inserts, then as they
// came. Both images of an update have the same.
enum class ChangeRank : uint8_t { kDelete, kUpdate, kInsert };

constexpr int kRankShift = 40;
constexpr int kOrdinalShift = 42;

constexpr int64_t ChangeNumber(int64_t ordinal, ChangeRank rank, int64_t index) {
  return ordinal << kOrdinalShift | int64_t{static_cast<uint8_t>(rank)} << kRankShift | index;
}
constexpr ChangeRank RankOfNumber(int64_t number) { return static_cast<ChangeRank>(number >> kRankShift & 3); }

int64_t NumberAt(const arrow::RecordBatch& batch, int column, int64_t row);

// Finds the columns of ChangePairing's source among those after the table's. InvalidArgument: one is missing, or of
// another type.
Result<ChangeColumns> FindChangeColumns(const arrow::Schema& schema, size_t user_columns);

// The source's schema with the column `number`.
std::shared_ptr<arrow::Schema> WithNumber(const arrow::Schema& schema);

// `images`: delete, insert, delete, insert …. Each two get the number of an update at the place of the insert.
Result<std::shared_ptr<arrow::RecordBatch>> NumberUpdates(const arrow::RecordBatch& images, int number);

}  // namespace delenda::read
