// Access to storage as the caller's options ask for it.
#pragma once

#include <memory>
#include <vector>

#include "delenda/io/counting_file_io.h"
#include "delenda/io/file_io.h"
#include "delenda/io/mapping_file_io.h"
#include "delenda/scan.h"
#include "delenda/table.h"

namespace delenda::api {

struct Storage {
  std::vector<io::LocationMapping> mappings;
  // Counts below the mapping: what reaches storage.
  std::shared_ptr<io::CountingFileIO> counter;
  std::shared_ptr<io::FileIO> io;
};

Storage MakeStorage(const OpenOptions& options);
IoStats ToIoStats(const io::CountingFileIO& counter);

}  // namespace delenda::api
