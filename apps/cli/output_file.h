// A file that appears whole or not at all.
#pragma once

#include <delenda/hooks.h>
#include <delenda/result.h>
#include <delenda/text_table.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace delenda::cli {

// Written under a temporary name beside `path`, which it gets when all is written. Destroyed before, it leaves nothing.
class OutputFile {
 public:
  // AlreadyExists if there is such a file and `overwrite` is not set; what is no regular file (a device, a pipe) is
  // never replaced.
  static Result<OutputFile> Create(std::string path, bool overwrite, const CancelToken& cancel);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  Result<void> Write(std::string_view bytes);
  // Makes what was written durable and closes the file, still under its temporary name; called by Finish if need be.
  Result<void> Close();
  // Gives the file its name.
  Result<void> Finish();

 private:
  OutputFile(std::string path, std::string temporary, bool overwrite, int descriptor, const CancelToken& cancel);
  Error Failure(std::string_view what, int error) const;

  std::string path_;
  std::string temporary_;  // empty: finished or moved from
  bool overwrite_;
  int descriptor_;
  Output output_;
};

}  // namespace delenda::cli
