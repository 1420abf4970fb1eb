// What one deletion vector deletes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace delenda {

// Row positions [begin, end) of a data file.
struct PositionRange {
  uint64_t begin = 0;
  uint64_t end = 0;

  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

// A decoded deletion vector: magic, CRC, structure and cardinality were checked, and that it fits its data file.
struct DvInfo {
  std::string data_file = {};
  uint64_t data_file_rows = 0;  // deleted ones included
  std::string container = {};   // the Puffin file
  uint64_t offset = 0;          // of the blob in it
  uint64_t size = 0;            // bytes of the blob, its framing included
  uint64_t cardinality = 0;
  std::vector<PositionRange> runs = {};  // maximal, ascending: their lengths add up to the cardinality

  // Every deleted position, ascending.
  std::vector<uint64_t> Positions() const;
};

}  // namespace delenda
