// Any bytes as an Avro file: read with a projection like that of manifests, as a whole, and only counted. What is read
// must be in bounds, so every value is touched.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "delenda/formats/avro/reader.h"

namespace {

using namespace delenda;
using namespace delenda::avro;

uint64_t Touch(const Column& column, size_t begin, size_t end) {
  uint64_t sum = 0;
  for (size_t row = begin; row < end; ++row) {
    if (column.IsNull(row)) continue;
    switch (column.storage()) {
      case Storage::kInt: sum += static_cast<uint64_t>(column.Int(row)); break;
      case Storage::kReal: sum += column.Real(row) > 0 ? 1 : 0; break;
      case Storage::kText:
        for (const char byte : column.Text(row)) sum += static_cast<unsigned char>(byte);
        break;
      case Storage::kList:
        // Lists lie in the children one behind the other.
        if (column.Begin(row) > column.End(row)) std::abort();
        for (const Column* child : column.children()) sum += Touch(*child, column.Begin(row), column.End(row));
        break;
      case Storage::kRecord:
        for (const Column* child : column.children()) sum += Touch(*child, row, row + 1);
        break;
      case Storage::kNull:
      case Storage::kAbsent: break;
    }
  }
  return sum;
}

Projection ManifestFields() {
  Projection projection;
  projection.fields = {{0, "status", {}},
                       {3, "sequence_number", {}},
                       {2,
                        "data_file",
                        {{100, "file_path", {}},
                         {102, "partition", {}},
                         {103, "record_count", {}},
                         {108, "column_sizes", {{117, "key", {}}, {118, "value", {}}}},
                         {125, "lower_bounds", {{126, "key", {}}, {127, "value", {}}}},
                         {132, "split_offsets", {}},
                         {144, "content_offset", {}}}},
                       {500, "manifest_path", {}},
                       {507, "partitions", {{509, "contains_null", {}}, {510, "lower_bound", {}}}}};
  return projection;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView file(reinterpret_cast<const std::byte*>(data), size);
  ReadOptions options;
  options.max_block_bytes = 1 << 20;
  options.max_cells = 1 << 18;
  auto opened = Reader::Open(file, nullptr, options);
  if (!opened) return 0;
  for (const Projection& projection : {ManifestFields(), Projection::Everything(), Projection{}}) {
    auto reader = Reader::Open(file, nullptr, options);
    auto columns = reader->Prepare(projection);
    if (!columns) continue;
    for (;;) {
      auto more = reader->NextBlock(*columns);
      if (!more || !*more) break;
      uint64_t sum = 0;
      for (const Column* column : columns->fields()) sum += Touch(*column, 0, columns->rows());
      if (sum == UINT64_MAX) std::abort();
    }
    (void)opened->ReadAll(projection);
  }
  return 0;
}
