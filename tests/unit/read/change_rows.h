// Rows of a changelog for tests: made, paired, and read back.
#pragma once

#include <arrow/api.h>
#include <arrow/compare.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "delenda/read/change_pairing.h"

namespace delenda::testing {

// The columns of the table.
struct TableRow {
  std::optional<int64_t> id = {};
  std::optional<std::string> name = {};
  std::optional<double> score = {};
  std::optional<std::vector<std::optional<int32_t>>> tags = {};
  std::optional<std::pair<std::optional<int32_t>, std::optional<std::string>>> info = {};
};

// Equal for equal rows: NaN is NaN, -0.0 is not 0.0.
inline std::string TextOf(const TableRow& row) {
  const auto text = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string("NULL"); };
  std::string result = fmt::format("{}|{}|", text(row.id), row.name ? "'" + *row.name + "'" : "NULL");
  result += !row.score ? "NULL" : std::isnan(*row.score) ? "nan" : fmt::format("{}", *row.score);
  result += "|";
  if (!row.tags) result += "NULL";
  if (row.tags) {
    result += "[";
    for (const auto& tag : *row.tags) result += text(tag) + ",";
    result += "]";
  }
  result += "|";
  result += row.info ? fmt::format("({},{})", text(row.info->first),
                                   row.info->second ? "'" + *row.info->second + "'" : "NULL")
                     : "NULL";
  return result;
}

struct ChangeRow {
  std::string type;
  int32_t ordinal = 0;
  TableRow row = {};
  std::optional<int64_t> row_id = std::nullopt;
  std::optional<int64_t> last_updated = std::nullopt;
  int64_t pos = 0;  // its place in the source
};

inline constexpr size_t kTableColumns = 5;

inline int64_t SnapshotOf(int32_t ordinal) { return 9000 + ordinal; }

inline std::shared_ptr<arrow::Schema> ChangeSchema() {
  using arrow::field;
  return arrow::schema({field("id", arrow::int64()), field("name", arrow::utf8()), field("score", arrow::float64()),
                        field("tags", arrow::list(arrow::int32())),
                        field("info", arrow::struct_({field("a", arrow::int32()), field("b", arrow::utf8())})),
                        field("_change_type", arrow::utf8()), field("_change_ordinal", arrow::int32()),
                        field("_commit_snapshot_id", arrow::int64()), field("_file", arrow::utf8()),
                        field("_pos", arrow::int64()), field("_row_id", arrow::int64()),
                        field("_last_updated_sequence_number", arrow::int64())});
}

inline std::shared_ptr<arrow::RecordBatch> BatchOf(const std::vector<ChangeRow>& rows) {
  auto builder = arrow::RecordBatchBuilder::Make(ChangeSchema(), arrow::default_memory_pool()).ValueOrDie();
  const auto append = [](auto* field, const auto& value) {
    const auto status = value ? field->Append(*value) : field->AppendNull();
    EXPECT_TRUE(status.ok());
  };
  for (const ChangeRow& change : rows) {
    const TableRow& row = change.row;
    append(builder->GetFieldAs<arrow::Int64Builder>(0), row.id);
    append(builder->GetFieldAs<arrow::StringBuilder>(1), row.name);
    append(builder->GetFieldAs<arrow::DoubleBuilder>(2), row.score);
    auto* tags = builder->GetFieldAs<arrow::ListBuilder>(3);
    EXPECT_TRUE((row.tags ? tags->Append() : tags->AppendNull()).ok());
    if (row.tags) {
      for (const auto& tag : *row.tags) append(static_cast<arrow::Int32Builder*>(tags->value_builder()), tag);
    }
    auto* info = builder->GetFieldAs<arrow::StructBuilder>(4);
    EXPECT_TRUE((row.info ? info->Append() : info->AppendNull()).ok());
    if (row.info) {
      append(static_cast<arrow::Int32Builder*>(info->field_builder(0)), row.info->first);
      append(static_cast<arrow::StringBuilder*>(info->field_builder(1)), row.info->second);
    }
    append(builder->GetFieldAs<arrow::StringBuilder>(5), std::optional(change.type));
    append(builder->GetFieldAs<arrow::Int32Builder>(6), std::optional(change.ordinal));
    append(builder->GetFieldAs<arrow::Int64Builder>(7), std::optional(SnapshotOf(change.ordinal)));
    append(builder->GetFieldAs<arrow::StringBuilder>(8), std::optional(std::string("data/file.parquet")));
    append(builder->GetFieldAs<arrow::Int64Builder>(9), std::optional(change.pos));
    append(builder->GetFieldAs<arrow::Int64Builder>(10), change.row_id);
    append(builder->GetFieldAs<arrow::Int64Builder>(11), change.last_updated);
  }
  return builder->Flush().ValueOrDie();
}

class BatchList final : public read::BatchSource {
 public:
  explicit BatchList(std::vector<std::shared_ptr<arrow::RecordBatch>> batches) : batches_(std::move(batches)) {}
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    return next_ < batches_.size() ? batches_[next_++] : nullptr;
  }

 private:
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
  size_t next_ = 0;
};

// Cut into batches of up to `batch_rows` rows at random.
inline std::unique_ptr<read::BatchSource> SourceOf(const std::vector<ChangeRow>& rows, int64_t batch_rows = 100,
                                                   uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  const auto whole = BatchOf(rows);
  for (int64_t begin = 0; begin < whole->num_rows();) {
    const int64_t count = std::min<int64_t>(1 + static_cast<int64_t>(random() % static_cast<uint64_t>(batch_rows)),
                                            whole->num_rows() - begin);
    batches.push_back(whole->Slice(begin, count));
    begin += count;
  }
  return std::make_unique<BatchList>(std::move(batches));
}

// The changes, found again by their `_pos`; every value but the type must be that of the source's row.
inline Result<std::vector<ChangeRow>> Paired(const std::vector<ChangeRow>& rows, read::PairingOptions options,
                                             int64_t batch_rows = 100, uint64_t seed = 1,
                                             read::PairingMetrics* metrics = nullptr) {
  options.user_columns = kTableColumns;
  const auto source = BatchOf(rows);
  auto stream = DELENDA_TRY(read::PairChanges(SourceOf(rows, batch_rows, seed), ChangeSchema(), options));
  std::vector<ChangeRow> result;
  while (const auto batch = DELENDA_TRY(stream->Next())) {
    EXPECT_TRUE(batch->ValidateFull().ok());
    EXPECT_TRUE(batch->schema()->Equals(*stream->schema()));
    EXPECT_GT(batch->num_rows(), 0);
    EXPECT_LE(batch->num_rows(), options.batch_rows);
    const auto& positions = static_cast<const arrow::Int64Array&>(*batch->GetColumnByName("_pos"));
    const auto& types = static_cast<const arrow::StringArray&>(*batch->GetColumnByName("_change_type"));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      const int64_t pos = positions.Value(row);
      for (int column = 0; column < source->num_columns(); ++column) {
        if (source->column_name(column) == "_change_type") continue;
        EXPECT_TRUE(arrow::ArrayRangeEquals(*source->column(column), *batch->column(column), pos, pos + 1, row,
                                            arrow::EqualOptions::Defaults().nans_equal(true).signed_zeros_equal(false)))
            << source->column_name(column) << " of row " << pos;
      }
      result.push_back(rows[static_cast<size_t>(pos)]);
      result.back().type = types.GetString(row);
    }
  }
  EXPECT_EQ(DELENDA_TRY(stream->Next()), nullptr);
  if (metrics != nullptr) *metrics = stream->metrics();
  return result;
}

// "UPDATE_AFTER 0 #5": type, ordinal, place in the source.
inline std::vector<std::string> TextsOf(const std::vector<ChangeRow>& rows) {
  std::vector<std::string> texts;
  for (const ChangeRow& row : rows) texts.push_back(fmt::format("{} {} #{}", row.type, row.ordinal, row.pos));
  return texts;
}

inline std::vector<ChangeRow> Numbered(std::vector<ChangeRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) rows[i].pos = static_cast<int64_t>(i);
  return rows;
}

}  // namespace delenda::testing
