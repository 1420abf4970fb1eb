#include "delenda/api/storage.h"

namespace delenda::api {

Storage MakeStorage(const OpenOptions& options) {
  Storage storage;
  for (const auto& mapping : options.mappings) storage.mappings.push_back({.from = mapping.from, .to = mapping.to});
  storage.counter = std::make_shared<io::CountingFileIO>(io::MakeLocalFileIO());
  storage.io = storage.counter;
  if (!storage.mappings.empty()) storage.io = io::MakeMappingFileIO(storage.counter, storage.mappings);
  return storage;
}

IoStats ToIoStats(const io::CountingFileIO& counter) {
  const io::IoCounts counts = counter.Snapshot();
  return {.requests = counts.requests(),
          .opens = counts.opens,
          .reads = counts.reads,
          .stats = counts.stats,
          .lists = counts.lists,
          .bytes_read = counts.bytes_read};
}

}  // namespace delenda::api
