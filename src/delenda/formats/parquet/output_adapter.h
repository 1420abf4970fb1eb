// What Arrow writes, handed on to a function of delenda's.
#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "delenda/base/result.h"

namespace delenda::parquet {

// Takes the next bytes of a file. An error stops the work and is returned by it.
using ByteSink = std::function<Result<void>(std::string_view)>;

// An OutputStream over a sink. Small writes are collected. Errors of the sink travel through Arrow unchanged
// (ToStatus); after one, and after Abandon, everything is dropped: writers of Arrow complete their file when they are
// destroyed, and what was left half done must not pass for whole.
class OutputAdapter final : public arrow::io::OutputStream {
 public:
  explicit OutputAdapter(ByteSink sink);

  arrow::Status Write(const void* data, int64_t size) override;
  arrow::Status Flush() override;
  arrow::Status Close() override;
  arrow::Result<int64_t> Tell() const override { return position_; }
  bool closed() const override { return closed_; }

  int64_t position() const { return position_; }
  void Abandon();

 private:
  arrow::Status Hand(std::string_view bytes);

  ByteSink sink_;
  std::string buffer_;
  int64_t position_ = 0;
  bool closed_ = false;
  bool abandoned_ = false;
};

}  // namespace delenda::parquet
