#include "delenda/write/row_conform.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <optional>
#include <string>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/arrow_type.h"
#include "delenda/write/required_check.h"
#include "delenda/write/value_conform.h"

namespace delenda::write {
namespace {

constexpr size_t kQuotedBytes = 60;

}  // namespace

struct RowConformer::State {
  Schema table;
  ConformOptions options;
  std::shared_ptr<arrow::Schema> result;
  std::vector<int> matches;  // by column of the table
  int64_t rows = 0;

  Result<std::shared_ptr<arrow::Array>> Column(const arrow::RecordBatch& batch, size_t i) const {
    const Field& field = table.fields()[i];
    const auto& type = result->field(static_cast<int>(i))->type();
    if (matches[i] < 0) return MissingField(field, type, batch.num_rows());
    return ConformValues(batch.column(matches[i]), field, type, options);
  }

  // The error of the first row that does not fit, with its number.
  Error ErrorOf(const arrow::RecordBatch& batch, size_t i, Error error) const {
    int64_t row = 0;
    int64_t count = batch.num_rows();
    while (count > 1) {
      const int64_t half = count / 2;
      auto earlier = Column(*batch.Slice(row, half), i);
      if (!earlier) {
        error = std::move(earlier).error();
        count = half;
      } else {
        row += half;
        count -= half;
      }
    }
    auto single = Column(*batch.Slice(row, 1), i);
    if (!single) error = std::move(single).error();
    std::string value;
    if (auto scalar = batch.column(matches[i])->GetScalar(row); scalar.ok()) value = (*scalar)->ToString();
    if (value.size() > kQuotedBytes) value = value.substr(0, kQuotedBytes) + "...";
    Error placed(error.kind(), fmt::format("column '{}', row {}, value {}: {}", table.fields()[i].name, rows + row + 1,
                                           value, error.message()));
    for (const auto& [key, text] : error.context()) placed.Add(key, text);
    return placed;
  }
};

RowConformer::RowConformer(std::unique_ptr<State> state) : state_(std::move(state)) {}
RowConformer::~RowConformer() = default;
RowConformer::RowConformer(RowConformer&&) noexcept = default;
RowConformer& RowConformer::operator=(RowConformer&&) noexcept = default;

Result<RowConformer> RowConformer::Make(const arrow::Schema& source, const Schema& table,
                                        const ConformOptions& options) {
  auto state = std::make_unique<State>();
  state->table = table;
  state->options = options;
  arrow::FieldVector fields;
  for (const Field& field : table.fields()) fields.push_back(DELENDA_TRY(read::ToArrowField(field)));
  state->result = arrow::schema(std::move(fields));
  state->matches = DELENDA_TRY(MatchFields(source.fields(), table.fields(), options));
  for (size_t i = 0; i < table.fields().size(); ++i) {
    if (state->matches[i] < 0) continue;
    DELENDA_TRY(CheckConformable(*source.field(state->matches[i])->type(), table.fields()[i], options));
  }
  return RowConformer(std::move(state));
}

Result<std::shared_ptr<arrow::RecordBatch>> RowConformer::Conform(const arrow::RecordBatch& batch) {
  State& s = *state_;
  arrow::ArrayVector columns;
  for (size_t i = 0; i < s.table.fields().size(); ++i) {
    auto column = s.Column(batch, i);
    if (!column) {
      if (column.error().kind() != ErrorKind::kInvalidArgument) return std::unexpected(std::move(column).error());
      return std::unexpected(s.ErrorOf(batch, i, std::move(column).error()));
    }
    columns.push_back(*std::move(column));
  }
  auto result = arrow::RecordBatch::Make(s.result, batch.num_rows(), std::move(columns));
  DELENDA_TRY(CheckRequired(s.table, *result, s.rows + 1));
  s.rows += batch.num_rows();
  return result;
}

}  // namespace delenda::write
