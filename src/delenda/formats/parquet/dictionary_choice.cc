#include "delenda/formats/parquet/dictionary_choice.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace delenda::parquet {
namespace {

// Among so many values drawn from N, one in 2 N / kSampleRows is seen twice: with less than a fiftieth, N is above
// 400,000, more than a dictionary of 2 MiB (the tables' default) holds of 8 bytes each.
constexpr int64_t kSampleRows = 16 * 1024;
constexpr int64_t kSeenTwice = 50;

// The bytes of each valid value, hashed. Empty: not a column of plain values.
std::vector<size_t> HashValues(const arrow::Array& array, int64_t rows) {
  std::vector<size_t> hashes;
  const auto add = [&](std::string_view value) { hashes.push_back(std::hash<std::string_view>()(value)); };
  if (array.type_id() == arrow::Type::EXTENSION)
    return HashValues(*static_cast<const arrow::ExtensionArray&>(array).storage(), rows);
  if (arrow::is_binary_like(array.type_id())) {
    const auto& texts = static_cast<const arrow::BinaryArray&>(array);
    for (int64_t row = 0; row < rows; ++row) {
      if (texts.IsValid(row)) add(texts.GetView(row));
    }
    return hashes;
  }
  if (!arrow::is_fixed_width(array.type_id()) || array.type_id() == arrow::Type::BOOL ||
      array.type_id() == arrow::Type::DICTIONARY)
    return hashes;
  const auto width = static_cast<size_t>(static_cast<const arrow::FixedWidthType&>(*array.type()).bit_width() / 8);
  const auto* values = array.data()->GetValues<char>(1, 0);
  for (int64_t row = 0; row < rows; ++row) {
    if (array.IsValid(row)) add({values + static_cast<size_t>(array.offset() + row) * width, width});
  }
  return hashes;
}

}  // namespace

std::vector<int> ColumnsWithoutDictionary(const arrow::RecordBatch& batch) {
  std::vector<int> columns;
  if (batch.num_rows() < kSampleRows) return columns;
  for (int i = 0; i < batch.num_columns(); ++i) {
    std::vector<size_t> hashes = HashValues(*batch.column(i), kSampleRows);
    // With many NULLs there are too few values to tell.
    if (static_cast<int64_t>(hashes.size()) < kSampleRows / 2) continue;
    std::ranges::sort(hashes);
    const auto repeated = std::ranges::unique(hashes);
    if (static_cast<int64_t>(repeated.size()) * kSeenTwice < static_cast<int64_t>(hashes.size())) columns.push_back(i);
  }
  return columns;
}

}  // namespace delenda::parquet
