// The page index of a column chunk: the input is u32 rows · u32 bytes of the data pages · u16 length of the offset
// index · offset index · column index (little-endian numbers). The data pages begin at byte 4, as in a file of one
// chunk.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "delenda/base/bytes.h"
#include "delenda/formats/parquet/page_index.h"

namespace delenda::parquet {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

Result<void> ParseInput(ByteView bytes) {
  ByteReader reader(bytes);
  const uint32_t rows = DELENDA_TRY(reader.ReadLittle<uint32_t>("rows"));
  const uint32_t length = DELENDA_TRY(reader.ReadLittle<uint32_t>("bytes"));
  const uint16_t offset_bytes = DELENDA_TRY(reader.ReadLittle<uint16_t>("length"));
  const ByteView offsets = DELENDA_TRY(reader.Read(offset_bytes, "an offset index"));
  const ByteView columns = DELENDA_TRY(reader.Read(reader.remaining(), "a column index"));
  const IndexedChunk chunk{.rows = rows, .data_pages = {4, length}, .null_count = std::nullopt, .has_bounds = true};
  const auto pages = DELENDA_TRY(ParsePageIndex(columns, offsets, chunk));
  // Whatever the bytes were, the pages hold each row once, and all bytes.
  int64_t row = 0;
  uint64_t byte = 4;
  for (const IndexedPage& page : pages) {
    Require(page.first_row == row && page.rows > 0 && page.bytes.offset == byte && page.bytes.length > 0);
    Require(!page.statistics.null_count ||
            (*page.statistics.null_count >= 0 && *page.statistics.null_count <= page.rows));
    row += page.rows;
    byte += page.bytes.length;
  }
  Require(row == rows && byte == uint64_t{4} + length);
  return {};
}

}  // namespace

void ParsePageIndexInput(ByteView bytes) { (void)ParseInput(bytes); }

}  // namespace delenda::parquet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  delenda::parquet::ParsePageIndexInput(std::as_bytes(std::span(data, size)));
  return 0;
}
