// A manifest as blocks of entries that several threads can decode.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/avro/reader.h"
#include "delenda/iceberg/manifest_list.h"
#include "delenda/io/file_io.h"
#include "delenda/model/partition.h"

namespace delenda::iceberg {

// The file of one manifest, in memory: its header read and its Avro blocks found, none of them inflated. Immutable, so
// shared by the threads that decode it (ManifestReader), and kept alive by them.
class ManifestBlocks {
 public:
  // `specs` (by spec id) must outlive the result. Corrupt: the manifest's spec is not one of the table's.
  static Result<std::shared_ptr<const ManifestBlocks>> Open(io::FileIO& io, const ManifestFile& manifest,
                                                            const std::map<int32_t, BoundSpec>& specs,
                                                            avro::SchemaCache& schemas);

  const ManifestFile& manifest() const { return manifest_; }
  const BoundSpec& spec() const { return *spec_; }
  const avro::Reader& avro() const { return avro_; }
  const std::vector<avro::FileBlock>& blocks() const { return found_.blocks; }

  // Consecutive blocks [begin, end): what one thread should take at once.
  struct Part {
    size_t begin = 0;
    size_t end = 0;
  };
  // All blocks in their order, cut where a part has `bytes` in the file. Never empty parts.
  std::vector<Part> Parts(size_t bytes = 32 << 10) const;

  // What can be said only when all blocks have been decoded without an error: Corrupt if the file is broken behind
  // them, or if it held another number of entries than the manifest list says.
  Result<void> CheckEnd() const;

 private:
  explicit ManifestBlocks(avro::Reader reader) : avro_(std::move(reader)) {}

  ManifestFile manifest_;
  avro::Reader avro_;
  avro::BlockList found_;
  const BoundSpec* spec_ = nullptr;
};

}  // namespace delenda::iceberg
