// Position delete files (Iceberg spec, "Position Delete Files"): Parquet files of (file_path, pos).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"

namespace delenda::read {

// What one position delete file says of the data files that a plan needs it for.
struct FilePositions {
  struct Rows {
    std::vector<uint64_t> positions;  // in the file's order, duplicates included
    bool by_canonical_path =
        false;  // the delete file spells the data file's path in another way (design: io/location.h)
  };
  std::map<std::string, Rows, std::less<>> by_path;  // by the data file's path as in the plan; absent: no row
};

// Reads the whole file once, the path and position columns only, and keeps the rows of `data_files`; rows of other data
// files are normal. Paths compare exactly; only a data file without any such row is looked for under its canonical
// spelling, since dropping its deletes would return deleted rows.
// Corrupt: a NULL path, a NULL or negative position, a file with another number of rows than its manifest says, or
// without the two columns.
Result<FilePositions> ReadPositionDeletes(io::FileIO& io, const ContentFile& file,
                                          const std::set<std::string, std::less<>>& data_files,
                                          const CancelToken& cancel);

}  // namespace delenda::read
