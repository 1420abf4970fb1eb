// The deletes of a plan, loaded once each, however many tasks and threads need them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "delenda/base/once.h"
#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/formats/puffin/puffin_footer.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/io/ranges.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/position_delete_file.h"

namespace delenda::read {

// Deletion vectors are read by the range that their manifest entry states, without the Puffin footer. Each Puffin file
// is opened once for all its vectors that the plan needs; vectors that lie close together are read in one request.
// Bytes and decoded position delete files are let go when the last data file that needs them has taken its part.
//
// Thread-safe. Load must be called once for every data file that was announced to Make.
class DeleteLoader {
 public:
  // A data file and its deletes (indexes into the plan's list); a file that is cut into several tasks counts once.
  struct Need {
    const ContentFile* file = nullptr;
    std::optional<uint32_t> dv;
    std::vector<uint32_t> position_deletes;
  };

  // Checks every entry that is needed before anything is read: Corrupt for a vector without offset, size or referenced
  // file, or beyond its container; NotSupported for deletes of any other kind than deletion vectors in Puffin files and
  // position deletes in Parquet files. `plan` must outlive the loader.
  static Result<std::unique_ptr<DeleteLoader>> Make(const plan::ScanPlan& plan, const std::vector<Need>& needs,
                                                    std::shared_ptr<io::FileIO> io, bool verify_footers, Hooks hooks);

  // The positions that are deleted in a data file; empty if it has no deletes.
  // Corrupt: whatever is wrong with the bytes; a vector with a position at or above the file's record count. (Position
  // delete files may hold such positions: they delete nothing.)
  Result<PositionSet> Load(const Need& need);

 private:
  // Vectors of one container that are read by one request.
  struct Group {
    io::ByteRange range;
    size_t pending = 0;  // vectors that were not taken yet
    std::shared_ptr<OnceResult<Bytes>> bytes;
  };
  struct Container {
    std::string path;
    uint64_t size = 0;
    std::vector<uint32_t> vectors;  // indexes into the plan's deletes
    std::vector<Group> groups;
    OnceResult<std::shared_ptr<io::InputFile>> file;
    OnceResult<puffin::Footer> footer;
  };
  struct Vector {
    Container* container = nullptr;
    size_t group = 0;
  };
  struct PositionFile {
    std::set<std::string, std::less<>> data_files;
    size_t pending = 0;
    std::shared_ptr<OnceResult<FilePositions>> rows;
  };

  DeleteLoader(const plan::ScanPlan& plan, std::shared_ptr<io::FileIO> io, bool verify_footers, Hooks hooks);
  Result<void> AddVector(uint32_t index, const ContentFile& data_file);
  Result<PositionSet> LoadVector(uint32_t index, const ContentFile& data_file);
  Result<void> CheckFooter(Container& container, const ContentFile& vector);
  Result<void> LoadPositions(uint32_t index, const ContentFile& data_file, std::vector<uint64_t>& positions);

  const plan::ScanPlan& plan_;
  std::shared_ptr<io::FileIO> io_;
  bool verify_footers_;
  Hooks hooks_;
  std::map<std::string, Container, std::less<>> containers_;
  std::map<uint32_t, Vector> vectors_;
  std::map<uint32_t, PositionFile> position_files_;
  std::mutex mutex_;  // of `pending` and the shared pointers beside it
};

}  // namespace delenda::read
