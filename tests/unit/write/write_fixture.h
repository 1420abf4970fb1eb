// Batches and targets for tests of writing.
#pragma once

#include <arrow/api.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/file_io.h"
#include "delenda/write/partitioned_writer.h"

namespace delenda::testing {

using Batch = std::shared_ptr<arrow::RecordBatch>;

// A column from JSON text: numbers, strings, null, arrays; structs as objects, maps as arrays of pairs.
inline std::shared_ptr<arrow::Array> ColumnOf(const std::shared_ptr<arrow::DataType>& type, const std::string& json) {
  auto array = arrow::json::ArrayFromJSONString(type, json);
  EXPECT_TRUE(array.ok()) << array.status().ToString() << ": " << json;
  return *array;
}

inline Batch BatchOf(const std::shared_ptr<arrow::Schema>& schema, const std::vector<std::string>& columns) {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns.size(); ++i) {
    arrays.push_back(ColumnOf(schema->field(static_cast<int>(i))->type(), columns[i]));
  }
  return arrow::RecordBatch::Make(schema, arrays.empty() ? 0 : arrays[0]->length(), arrays);
}

inline Schema SchemaOf(std::vector<Field> fields) {
  auto schema = Schema::Make(0, std::move(fields));
  EXPECT_TRUE(schema) << schema.error().ToString();
  return *schema;
}

inline write::WriteTarget TargetOf(const Schema& schema, const std::vector<PartitionField>& fields = {},
                                   const std::map<std::string, std::string>& properties = {}) {
  write::WriteTarget target{.io = io::MakeMemoryFileIO(),
                            .table_location = "/t",
                            .schema = schema,
                            .spec = BoundSpec::Make({.spec_id = 0, .fields = fields}, schema),
                            .staged = nullptr};
  auto parsed = write::WriteProperties::Parse(properties, schema);
  EXPECT_TRUE(parsed) << parsed.error().ToString();
  target.properties = *parsed;
  target.staged = std::make_shared<write::StagedFiles>(target.io);
  return target;
}

inline PartitionField PartitionBy(int32_t source, const std::string& transform, const std::string& name = "p") {
  return {.source_id = source, .field_id = 1000 + source, .name = name, .transform = *Transform::Parse(transform)};
}

// The files that come of the batches; the writer is gone then.
inline Result<std::vector<ContentFile>> WriteAll(const write::WriteTarget& target, const std::vector<Batch>& batches,
                                                 write::PartitionedWriterOptions options = {}) {
  auto writer = DELENDA_TRY(write::PartitionedWriter::Make(target, options));
  for (const Batch& batch : batches) DELENDA_TRY(writer.Write(*batch));
  return writer.Finish();
}

inline std::shared_ptr<const parquet::ParquetFile> OpenWritten(io::FileIO& io, const ContentFile& file) {
  auto opened = io.Open(file.path);
  EXPECT_TRUE(opened) << opened.error().ToString();
  auto parsed = parquet::ParquetFile::Open(*std::move(opened), static_cast<uint64_t>(file.file_size));
  EXPECT_TRUE(parsed) << parsed.error().ToString();
  return *parsed;
}

// All rows of a file as one table.
inline std::shared_ptr<arrow::Table> RowsOfFile(io::FileIO& io, const ContentFile& file) {
  const auto parquet = OpenWritten(io, file);
  std::vector<int> leaves;
  for (size_t i = 0; i < parquet->leaves().size(); ++i) leaves.push_back(static_cast<int>(i));
  std::vector<Batch> batches;
  for (size_t group = 0; group < parquet->row_groups().size(); ++group) {
    auto reader = parquet->Read(group, leaves, 1 << 20);
    EXPECT_TRUE(reader) << reader.error().ToString();
    while (true) {
      auto batch = (*reader)->Next();
      EXPECT_TRUE(batch) << batch.error().ToString();
      if (!*batch) break;
      batches.push_back(*batch);
    }
  }
  return *arrow::Table::FromRecordBatches(parquet->schema(), batches);
}

// Column `index` of a file as text, "[1, null, 3]".
inline std::string ColumnText(io::FileIO& io, const ContentFile& file, int index) {
  const auto table = RowsOfFile(io, file);
  std::string text = "[";
  const auto& column = *table->column(index);
  for (int64_t i = 0; i < column.length(); ++i) {
    const auto scalar = *column.GetScalar(i);
    text += (i == 0 ? "" : ", ") + (scalar->is_valid ? scalar->ToString() : "null");
  }
  return text + "]";
}

}  // namespace delenda::testing
