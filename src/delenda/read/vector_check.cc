#include "delenda/read/vector_check.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_footer.h"
#include "delenda/io/ranges.h"

namespace delenda::read {
namespace {

io::ByteRange BlobRange(const ContentFile& vector) {
  return {.offset = static_cast<uint64_t>(*vector.content_offset),
          .length = static_cast<uint64_t>(*vector.content_size)};
}

Result<puffin::Footer> ReadFooter(io::InputFile& file, uint64_t size) {
  constexpr uint64_t kFirstRead = uint64_t{16} << 10;
  uint64_t length = std::min(size, kFirstRead);
  Bytes tail = DELENDA_TRY(io::ReadRange(file, {size - length, length}));
  const puffin::Tail parsed = DELENDA_TRY(puffin::ParseTail(tail, size));
  if (parsed.footer_bytes > length) {
    length = parsed.footer_bytes;
    tail = DELENDA_TRY(io::ReadRange(file, {size - length, length}));
  }
  return puffin::ParseFooter(tail, size);
}

class VectorCheck {
 public:
  VectorCheck(io::FileIO& io, const std::string& path, std::span<const VectorToCheck> vectors,
              const CancelToken& cancel)
      : io_(io), path_(path), vectors_(vectors), cancel_(cancel) {}

  Result<Findings> Run() && {
    auto info = io_.Stat(path_);
    if (!info) {
      DELENDA_TRY(AddAsFinding(std::move(info).error(), checks::kDvBytes, path_, findings_));
      return std::move(findings_);
    }
    size_ = info->size;
    const int64_t stated = vectors_.front().vector->file_size;
    if (stated < 0 || static_cast<uint64_t>(stated) != size_)
      Add(checks::kFileSize, fmt::format("has {} bytes, the manifest says {}", size_, stated));
    file_ = DELENDA_TRY(io_.Open(path_, size_));
    DELENDA_TRY(CheckFooter());
    DELENDA_TRY(CheckBlobs());
    return std::move(findings_);
  }

 private:
  void Add(const Check& check, std::string what) {
    findings_.push_back({.check = &check, .place = path_, .what = std::move(what)});
  }
  static std::string Name(const ContentFile& vector) {
    return fmt::format("the deletion vector at {} of {}", *vector.content_offset, *vector.referenced_data_file);
  }

  Result<void> CheckFooter() {
    auto footer = ReadFooter(*file_, size_);
    if (!footer) {
      // A flag that the specification reserves is not supported: readers by range do not see it.
      if (footer.error().kind() == ErrorKind::kNotSupported) {
        Add(checks::kPuffinFooter, footer.error().message());
        return {};
      }
      return AddAsFinding(std::move(footer).error(), checks::kPuffinFooter, path_, findings_);
    }
    for (const auto& [vector, unused] : vectors_) CompareWithFooter(*footer, *vector);
    return {};
  }

  void CompareWithFooter(const puffin::Footer& footer, const ContentFile& vector) {
    const auto add = [&](std::string_view what) {
      Add(checks::kPuffinFooter, fmt::format("{}: {}", Name(vector), what));
    };
    const auto range = BlobRange(vector);
    const auto blob = std::ranges::find(footer.blobs, range.offset, &puffin::BlobMetadata::offset);
    if (blob == footer.blobs.end()) return add("the footer lists no blob at this offset");
    if (blob->length != range.length)
      add(fmt::format("the footer says {} bytes, the manifest {}", blob->length, range.length));
    if (blob->type != puffin::kDeletionVectorV1) add(fmt::format("the footer says that it is a {}", blob->type));
    if (blob->compression_codec)
      add(fmt::format("the footer says that it is compressed ({})", *blob->compression_codec));
    const auto referenced = blob->properties.find(puffin::kReferencedDataFile);
    if (referenced == blob->properties.end()) {
      add("the footer names no data file for it");
    } else if (referenced->second != *vector.referenced_data_file) {
      add(fmt::format("the footer says that it is for {}", referenced->second));
    }
    const auto cardinality = blob->properties.find(puffin::kCardinality);
    const std::string text = cardinality == blob->properties.end() ? std::string("none") : cardinality->second;
    if (text != fmt::format("{}", vector.record_count))
      add(fmt::format("the footer's cardinality is {}, the manifest's {}", text, vector.record_count));
  }

  Result<void> CheckBlobs() {
    std::vector<const VectorToCheck*> within;
    std::vector<io::ByteRange> ranges;
    for (const auto& check : vectors_) {
      const auto range = BlobRange(*check.vector);
      if (range.offset > size_ || range.length > size_ - range.offset) {
        Add(checks::kDvBytes, fmt::format("{} lies outside the file: {} bytes, the file has {}", Name(*check.vector),
                                          range.length, size_));
        continue;
      }
      within.push_back(&check);
      ranges.push_back(range);
    }
    for (const auto& group : DELENDA_TRY(io::GroupRanges(ranges))) {
      if (cancel_.cancelled()) return Cancelled("stopped at the caller's request");
      const Bytes bytes = DELENDA_TRY(io::ReadRange(*file_, group.range));
      for (const size_t member : group.members) {
        const ByteView blob = ByteView(bytes).subspan(static_cast<size_t>(ranges[member].offset - group.range.offset),
                                                      static_cast<size_t>(ranges[member].length));
        DELENDA_TRY(CheckBlob(blob, *within[member]));
      }
    }
    return {};
  }

  Result<void> CheckBlob(ByteView blob, const VectorToCheck& check) {
    const auto positions = dv::DecodeIcebergBlob(blob, std::nullopt);
    if (!positions) {
      if (positions.error().kind() != ErrorKind::kCorrupt) return std::unexpected(positions.error());
      Add(checks::kDvBytes, fmt::format("{}: {}", Name(*check.vector), positions.error().message()));
      return {};
    }
    if (check.vector->record_count < 0 ||
        positions->cardinality() != static_cast<uint64_t>(check.vector->record_count)) {
      Add(checks::kDvCardinality, fmt::format("{} holds {} positions, the manifest says {}", Name(*check.vector),
                                              positions->cardinality(), check.vector->record_count));
    }
    if (check.data_file == nullptr || check.data_file->record_count < 0) return {};
    const auto rows = static_cast<uint64_t>(check.data_file->record_count);
    if (positions->Max() >= rows && !positions->empty()) {
      Add(checks::kDvPosition,
          fmt::format("{} holds position {}, the data file has {} rows", Name(*check.vector), *positions->Max(), rows));
    }
    return {};
  }

  io::FileIO& io_;
  const std::string& path_;
  std::span<const VectorToCheck> vectors_;
  const CancelToken& cancel_;
  uint64_t size_ = 0;
  std::unique_ptr<io::InputFile> file_;
  Findings findings_;
};

}  // namespace

Result<Findings> CheckVectors(io::FileIO& io, const std::string& path, std::span<const VectorToCheck> vectors,
                              const CancelToken& cancel) {
  if (vectors.empty()) return Findings();
  return VectorCheck(io, path, vectors, cancel).Run();
}

Result<PositionSet> ReadVector(io::FileIO& io, const ContentFile& vector) {
  const auto read = [&]() -> Result<PositionSet> {
    if (!vector.content_offset || !vector.content_size || *vector.content_offset < 0 || *vector.content_size < 0)
      return Corrupt("a deletion vector lacks its offset or size");
    const auto file = DELENDA_TRY(io.Open(vector.path));
    const Bytes blob = DELENDA_TRY(io::ReadRange(*file, BlobRange(vector)));
    return dv::DecodeIcebergBlob(blob, std::nullopt);
  };
  return WithContext(read(), "file", vector.path);
}

}  // namespace delenda::read
