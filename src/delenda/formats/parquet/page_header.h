// The header in front of every page of a column chunk (Parquet format, parquet.thrift, PageHeader).
#pragma once

#include <cstddef>
#include <cstdint>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::parquet {

struct PageHeader {
  enum class Kind : uint8_t { kData, kDataV2, kDictionary, kOther };

  Kind kind = Kind::kOther;
  size_t header_bytes = 0;     // of the header itself
  uint32_t stored_bytes = 0;   // of the page behind it, compressed or not
  uint32_t decoded_bytes = 0;  // of the page, decompressed
  // Of data and dictionary pages:
  int64_t values = 0;          // NULLs included; of a column that is not repeated: rows
  int32_t encoding = -1;       // parquet.thrift, Encoding
  int32_t level_encoding = 3;  // of definition levels
  // Of data pages of version 2, whose levels lie uncompressed before the values:
  uint32_t repetition_bytes = 0;
  uint32_t definition_bytes = 0;
  bool compressed = true;
};

// The header at the beginning of `bytes`, which may go on behind it. Corrupt if it is none or does not end there.
Result<PageHeader> ParsePageHeader(ByteView bytes);

}  // namespace delenda::parquet
