// Parquet files for tests, made by Arrow's writer in a storage of ours.
#pragma once

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/io/file_io.h"

namespace delenda::testing {

// A field that carries a field id in the way that the writer stores it.
inline std::shared_ptr<arrow::Field> IdField(int id, const std::string& name, std::shared_ptr<arrow::DataType> type,
                                             bool nullable = true) {
  return arrow::field(name, std::move(type), nullable,
                      arrow::KeyValueMetadata::Make({"PARQUET:field_id"}, {std::to_string(id)}));
}

struct ParquetOptions {
  int64_t rows_per_group = 1 << 20;
  bool store_arrow_schema = false;
  bool int96 = false;
  bool dictionary = true;
  std::string bloom_of = {};  // a column that gets bloom filters
  int64_t page_rows = 0;      // rows of a page, at most; 0: as Arrow has it
  bool page_index = true;     // as Arrow has it
  std::string created_by = {};
};

inline Bytes ToParquet(const std::shared_ptr<arrow::Table>& table, const ParquetOptions& options = {}) {
  auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  ::parquet::WriterProperties::Builder properties;
  properties.max_row_group_length(options.rows_per_group);
  if (options.page_rows != 0) properties.max_rows_per_page(options.page_rows);
  if (!options.created_by.empty()) properties.created_by(options.created_by);
  if (!options.page_index) properties.disable_write_page_index();
  if (!options.dictionary) properties.disable_dictionary();
  if (!options.bloom_of.empty()) properties.enable_bloom_filter(options.bloom_of, {.ndv = 1000, .fpp = 0.001});
  ::parquet::ArrowWriterProperties::Builder arrow_properties;
  if (options.store_arrow_schema) arrow_properties.store_schema();
  if (options.int96) arrow_properties.enable_deprecated_int96_timestamps();
  const auto status = ::parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), sink, options.rows_per_group,
                                                   properties.build(), arrow_properties.build());
  EXPECT_TRUE(status.ok()) << status.ToString();
  const auto buffer = sink->Finish().ValueOrDie();
  const auto view = std::as_bytes(std::span(buffer->data(), static_cast<size_t>(buffer->size())));
  return Bytes(view.begin(), view.end());
}

inline void PutFile(io::FileIO& io, const std::string& path, ByteView bytes) {
  auto file = io.Create(path);
  ASSERT_TRUE(file) << file.error().ToString();
  ASSERT_TRUE((*file)->Write(bytes));
  ASSERT_TRUE((*file)->Close());
}

template <typename Builder, typename T>
std::shared_ptr<arrow::Array> MakeArray(const std::vector<std::optional<T>>& values,
                                        const std::shared_ptr<arrow::DataType>& type = nullptr) {
  std::unique_ptr<arrow::ArrayBuilder> builder;
  if (type) {
    EXPECT_TRUE(arrow::MakeBuilder(arrow::default_memory_pool(), type, &builder).ok());
  } else if constexpr (std::is_default_constructible_v<Builder>) {
    builder = std::make_unique<Builder>();
  }
  for (const auto& value : values) {
    EXPECT_TRUE((value ? static_cast<Builder&>(*builder).Append(*value) : builder->AppendNull()).ok());
  }
  return builder->Finish().ValueOrDie();
}

inline std::shared_ptr<arrow::Array> Longs(const std::vector<std::optional<int64_t>>& values) {
  return MakeArray<arrow::Int64Builder, int64_t>(values);
}
inline std::shared_ptr<arrow::Array> LongRange(int64_t begin, int64_t end) {
  std::vector<std::optional<int64_t>> values;
  for (int64_t i = begin; i < end; ++i) values.push_back(i);
  return Longs(values);
}
inline std::shared_ptr<arrow::Array> Texts(const std::vector<std::optional<std::string>>& values) {
  return MakeArray<arrow::StringBuilder, std::string>(values);
}

}  // namespace delenda::testing
