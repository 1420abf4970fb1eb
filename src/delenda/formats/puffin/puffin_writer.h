// Puffin container (Iceberg's Puffin specification): writing a file of blobs.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::puffin {

// The field id of _pos, the metadata column of row positions, which a deletion vector is computed for (Iceberg spec,
// "Reserved Field IDs").
inline constexpr int32_t kRowPositionFieldId = 2147483645;

// Where a blob was put: content_offset and content_size_in_bytes of its manifest entry.
struct WrittenBlob {
  uint64_t offset = 0;
  uint64_t length = 0;
};

// A file in memory. Blobs and the footer are stored uncompressed: the specification forbids compression of deletion
// vectors, and readers that fetch one by its manifest entry never look at the footer.
//
//   puffin::PuffinWriter writer;
//   writer.SetProperty("created-by", "delenda 0.1");
//   auto at = DELENDA_TRY(writer.AddDeletionVector(blob, data_file_path, cardinality));
//   Bytes file = DELENDA_TRY(std::move(writer).Finish());
class PuffinWriter {
 public:
  // Written in the order given.
  using PropertyList = std::vector<std::pair<std::string, std::string>>;

  PuffinWriter();
  // A property of the file.
  void SetProperty(std::string key, std::string value);

  // `blob`: as EncodeIcebergBlob (formats/dv) makes it. `referenced_data_file`: the data file's path exactly as its
  // manifest entry has it, since readers compare it as a string. InvalidArgument: no path, the path is no UTF-8 or
  // already has a vector in this file (two vectors for one data file must never be live, and within one file nothing
  // tells which is the newer one).
  Result<WrittenBlob> AddDeletionVector(ByteView blob, std::string_view referenced_data_file, uint64_t cardinality);

  struct BlobInfo {
    std::string type;
    std::vector<int32_t> fields;
    int64_t snapshot_id = -1;
    int64_t sequence_number = -1;
    PropertyList properties = {};
  };
  // Any other kind of blob, already in its final bytes. InvalidArgument: a text is no UTF-8, or the type is that of a
  // deletion vector.
  Result<WrittenBlob> AddBlob(ByteView blob, const BlobInfo& info);

  size_t blobs() const { return entries_.size(); }
  uint64_t size() const { return file_.size(); }  // without the footer

  // InvalidArgument: a file property is no UTF-8, or the footer exceeds its 4-byte length.
  Result<Bytes> Finish() &&;

 private:
  struct Entry {
    BlobInfo info;
    WrittenBlob place;
  };
  WrittenBlob Append(ByteView blob, BlobInfo info);

  PropertyList file_properties_;
  std::vector<Entry> entries_;
  std::set<std::string, std::less<>> vectors_of_;  // data files that have a vector here
  Bytes file_;
};

}  // namespace delenda::puffin
