// The bloom filter of a column chunk (Parquet format, "Parquet Bloom Filter"): values that the chunk surely lacks.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

namespace parquet {
class BlockSplitBloomFilter;
}

namespace delenda::parquet {

class BloomFilter {
 public:
  explicit BloomFilter(std::shared_ptr<const ::parquet::BlockSplitBloomFilter> filter) : filter_(std::move(filter)) {}

  // `plain`: a value in PLAIN encoding: a little-endian number of the column's physical type, or bare bytes.
  bool MayHold(std::string_view plain) const;

 private:
  std::shared_ptr<const ::parquet::BlockSplitBloomFilter> filter_;
};

}  // namespace delenda::parquet
