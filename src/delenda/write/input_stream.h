// Where bytes of rows come from, one after the other.
#pragma once

#include <arrow/io/interfaces.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/io/file_io.h"

namespace delenda::write {

// A file of `io` from its start on, or standard input for "-".
Result<std::shared_ptr<arrow::io::InputStream>> OpenBytes(io::FileIO& io, std::string_view path);

// The lines of a stream, without their ends ("\n" or "\r\n").
class LineReader {
 public:
  explicit LineReader(std::shared_ptr<arrow::io::InputStream> stream) : stream_(std::move(stream)) {}

  // False at the end. The line is valid until the next call. Corrupt for one that is longer than 1 GiB.
  Result<bool> Next(std::string_view& line);
  int64_t number() const { return number_; }  // of the last line, from 1

 private:
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::string buffer_;
  size_t at_ = 0;
  bool ended_ = false;
  int64_t number_ = 0;
};

}  // namespace delenda::write
