// A Parquet file of any bytes: opened, and each row group read with some of its rows kept.
#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/file_io.h"

namespace delenda::parquet {
namespace {

class InputBytes final : public io::InputFile {
 public:
  explicit InputBytes(ByteView bytes) : bytes_(bytes) {}
  const std::string& path() const override { return path_; }
  Result<uint64_t> Size() override { return bytes_.size(); }
  bool SeeksAreCheap() const override { return true; }
  Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) return Corrupt("file ends early");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
    return {};
  }

 private:
  std::string path_ = "input";
  ByteView bytes_;
};

Result<void> ReadAll(ByteView bytes) {
  const auto file = DELENDA_TRY(ParquetFile::Open(std::make_shared<InputBytes>(bytes), bytes.size()));
  std::vector<int> leaves;
  for (size_t i = 0; i < file->leaves().size(); ++i) leaves.push_back(static_cast<int>(i));
  for (size_t group = 0; group < file->row_groups().size() && !leaves.empty(); ++group) {
    const auto reader = DELENDA_TRY(file->Read(group, leaves, 100));
    for (uint64_t turn = 0; turn < 1000; ++turn) {
      const int64_t rows = DELENDA_TRY(reader->Begin());
      if (rows == 0) break;
      if (turn % 5 == 4) continue;
      std::vector<uint8_t> kept(static_cast<size_t>((rows + 7) / 8));
      for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<uint8_t>(turn % 5 == 0 ? 0xff : 0x5b * (i + turn));
      const RowMask mask(kept.data(), 0);
      const int64_t count = mask.Count(rows);
      const auto batch = DELENDA_TRY(reader->Take(mask, count));
      for (const auto& column : batch->columns()) {
        // Whatever the bytes were, an array must not point outside of its buffers.
        if (column->length() != count || !column->Validate().ok()) std::abort();
      }
    }
  }
  return {};
}

}  // namespace

void ReadInput(ByteView bytes) { (void)ReadAll(bytes); }

}  // namespace delenda::parquet

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  delenda::parquet::ReadInput(std::as_bytes(std::span(data, size)));
  return 0;
}
