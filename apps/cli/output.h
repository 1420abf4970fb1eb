// Standard output and standard error.
#pragma once

#include <delenda/hooks.h>
#include <delenda/result.h>
#include <delenda/text_table.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace delenda::cli {

// Writes to a file descriptor until all is written.
class Output {
 public:
  // A write that a signal interrupts is given up if `cancel` was set.
  explicit Output(int descriptor, CancelToken cancel = {}) : descriptor_(descriptor), cancel_(std::move(cancel)) {}

  bool IsTerminal() const;
  // Columns of the terminal; 0 when it is none.
  size_t Width() const;
  Result<void> Write(std::string_view text);
  // Makes what was written to a regular file durable. Others have nothing to make durable.
  Result<void> Sync() const;
  // The reader of a pipe has gone: nobody wants to hear more, not even an error.
  bool closed() const { return closed_; }
  TextSink Sink() {
    return [this](std::string_view text) { return Write(text); };
  }

 private:
  int descriptor_;
  CancelToken cancel_;
  bool closed_ = false;
};

}  // namespace delenda::cli
