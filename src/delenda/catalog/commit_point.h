// Where it is decided which metadata file of a table is the current one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/io/file_io.h"

namespace delenda::catalog {

// Swaps a table's metadata file for the next one, or not at all. Thread-safe.
//
// EXAMPLE  two writers have read v7. Both call Publish("…/v7.metadata.json", …): one gets "…/v8.metadata.json", the
// other CommitConflict, and has to start again from v8.
class CommitPoint {
 public:
  virtual ~CommitPoint() = default;

  // The table's current metadata file. NotFound: there is no table (any more).
  virtual Result<std::string> Current() = 0;

  // Writes `text`, metadata that follows the file `base`, and makes it the current one if `base` still is. Returns the
  // path of the new file. `gzip`: compressed, as the table's properties ask for.
  //
  // CommitConflict: another writer was first; nothing is left behind. CommitStateUnknown: the answer was lost, or
  // others went on while the file was written, so that only reading the table tells who won; the file is kept, since
  // the table may refer to it. ValidationFailed: the table cannot be changed here. Other errors: nothing was changed.
  virtual Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) = 0;
};

// The bytes of a metadata file with this text.
Result<Bytes> MetadataBytes(std::string_view text, bool gzip);

// A table that is a folder, without catalog: version N is the file vN.metadata.json below metadata/, and whoever makes
// the file of a version first has committed (spec, "File System Tables"). Only for storage where making a file that
// exists fails, as local files do.
std::unique_ptr<CommitPoint> MakeFolderCommitPoint(std::shared_ptr<io::FileIO> io, std::string table_location);

// Writes the first metadata file of a table in a folder and returns its path. AlreadyExists if there is one.
Result<std::string> CreateInFolder(io::FileIO& io, std::string_view table_location, std::string_view text, bool gzip);

}  // namespace delenda::catalog
