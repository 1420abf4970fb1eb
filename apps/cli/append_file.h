// A file that grows while others may read it.
#pragma once

#include <delenda/hooks.h>
#include <delenda/result.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/checkpoint.h"
#include "cli/output.h"

namespace delenda::cli {

class AppendFile {
 public:
  // `stored`: where an earlier run came to. What the file holds behind it was not noted any more, and is cut off; a
  // file that has become shorter (its rows were taken away) is appended to. AlreadyExists for a file with content that
  // no checkpoint tells of, unless `overwrite` empties it, and for what is no regular file.
  static Result<AppendFile> Open(std::string path, const std::optional<OutputPosition>& stored, bool overwrite,
                                 const CancelToken& cancel);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();

  Result<void> Write(std::string_view bytes);
  // Makes all that was written durable, and says where that is.
  Result<OutputPosition> Store();
  // Takes back what was written since the last Store.
  Result<void> CutBack();
  // Nothing was ever stored in it.
  bool empty() const { return position_.bytes == 0; }

 private:
  AppendFile(std::string path, int descriptor, OutputPosition position, const CancelToken& cancel);
  Error Failure(std::string_view what, int error) const;

  std::string path_;
  int descriptor_;
  OutputPosition position_;  // that is stored
  Output output_;
};

}  // namespace delenda::cli
