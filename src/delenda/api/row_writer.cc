#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/api/column_text.h"
#include "delenda/api/debezium.h"
#include "delenda/api/row_stream_impl.h"
#include "delenda/formats/json/writer.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/rows.h"
#include "delenda/write/row_file.h"

namespace delenda {
namespace {

constexpr size_t kPieceBytes = size_t{64} << 10;

using Columns = std::vector<std::unique_ptr<api::ColumnText>>;

Result<Columns> MakeColumns(const arrow::Schema& schema, const arrow::RecordBatch& batch) {
  Columns columns;
  for (int i = 0; i < batch.num_columns(); ++i) {
    columns.push_back(DELENDA_TRY(api::ColumnText::Make(*schema.field(i), *batch.column(i))));
  }
  return columns;
}

Result<uint64_t> WriteJsonLines(RowStream::Impl& rows, const TextSink& sink) {
  const arrow::Schema& schema = *rows.schema();
  std::vector<std::string> keys;
  for (const auto& field : schema.fields()) {
    std::string& key = keys.emplace_back(keys.empty() ? "{" : ", ");
    json::AppendQuoted(key, field->name());
    key += ": ";
  }
  std::string text;
  uint64_t count = 0;
  while (const auto batch = DELENDA_TRY(rows.Next())) {
    const Columns columns = DELENDA_TRY(MakeColumns(schema, *batch));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) {
        text += keys[i];
        columns[i]->AppendJson(text, row);
      }
      text += columns.empty() ? "{}\n" : "}\n";
      if (text.size() >= kPieceBytes) {
        DELENDA_TRY(sink(text));
        text.clear();
      }
    }
    count += static_cast<uint64_t>(batch->num_rows());
  }
  if (!text.empty()) DELENDA_TRY(sink(text));
  return count;
}

Result<uint64_t> WriteTable(RowStream::Impl& rows, size_t width, const TextSink& sink) {
  const arrow::Schema& schema = *rows.schema();
  std::vector<TextColumn> headers;
  for (const auto& field : schema.fields()) {
    headers.push_back({.name = field->name(), .right = api::IsNumber(*field->type())});
  }
  std::string text;
  const auto collect = [&](std::string_view piece) -> Result<void> {
    text += piece;
    if (text.size() < kPieceBytes) return {};
    DELENDA_TRY(sink(text));
    text.clear();
    return {};
  };
  TextTable table(std::move(headers), {.width = width}, collect);
  while (const auto batch = DELENDA_TRY(rows.Next())) {
    const Columns columns = DELENDA_TRY(MakeColumns(schema, *batch));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      std::vector<std::string> cells(columns.size());
      for (size_t i = 0; i < columns.size(); ++i) columns[i]->AppendCell(cells[i], row);
      DELENDA_TRY(table.AddRow(std::move(cells)));
    }
  }
  DELENDA_TRY(table.Finish());
  text += fmt::format("({} {})\n", table.rows(), table.rows() == 1 ? "row" : "rows");
  DELENDA_TRY(sink(text));
  return table.rows();
}

void AppendCsvCell(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

Result<uint64_t> WriteCsv(RowStream::Impl& rows, bool header, const TextSink& sink) {
  const arrow::Schema& schema = *rows.schema();
  std::string text;
  for (const auto& field : schema.fields()) {
    if (!header) break;
    if (!text.empty()) text += ',';
    AppendCsvCell(text, field->name());
  }
  if (header) text += "\r\n";
  std::string cell;
  uint64_t count = 0;
  while (const auto batch = DELENDA_TRY(rows.Next())) {
    const Columns columns = DELENDA_TRY(MakeColumns(schema, *batch));
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      for (size_t i = 0; i < columns.size(); ++i) {
        if (i > 0) text += ',';
        if (columns[i]->IsNull(row)) continue;
        cell.clear();
        columns[i]->AppendCell(cell, row);
        AppendCsvCell(text, cell);
      }
      text += "\r\n";
      if (text.size() >= kPieceBytes) {
        DELENDA_TRY(sink(text));
        text.clear();
      }
    }
    count += static_cast<uint64_t>(batch->num_rows());
  }
  DELENDA_TRY(sink(text));
  return count;
}

Result<uint64_t> WriteFile(RowStream::Impl& rows, write::RowFileFormat format, const TextSink& sink) {
  const auto writer = DELENDA_TRY(write::RowFileWriter::Make(format, rows.schema(), sink));
  uint64_t count = 0;
  while (const auto batch = DELENDA_TRY(rows.Next())) {
    DELENDA_TRY(writer->Write(*batch));
    count += static_cast<uint64_t>(batch->num_rows());
  }
  DELENDA_TRY(writer->Finish());
  return count;
}

}  // namespace

Result<uint64_t> WriteRows(RowStream& rows, const WriteRowsOptions& options, const TextSink& sink) {
  return parquet::Guarded([&]() -> Result<uint64_t> {
    switch (options.format) {
      case RowFormat::kTable: return WriteTable(rows.impl(), options.width, sink);
      case RowFormat::kCsv: return WriteCsv(rows.impl(), options.header, sink);
      case RowFormat::kArrowStream: return WriteFile(rows.impl(), write::RowFileFormat::kArrowStream, sink);
      case RowFormat::kArrowFile: return WriteFile(rows.impl(), write::RowFileFormat::kArrowFile, sink);
      case RowFormat::kParquet: return WriteFile(rows.impl(), write::RowFileFormat::kParquet, sink);
      case RowFormat::kDebezium: return api::WriteDebezium(rows.impl(), sink);
      case RowFormat::kJsonLines: break;
    }
    return WriteJsonLines(rows.impl(), sink);
  });
}

}  // namespace delenda
