#include "delenda/read/delete_loader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/io/location.h"

namespace delenda::read {
namespace {

// Names of everything that a mistake could lie in: the container, the vector in it and the data file.
Error InVector(Error error, const ContentFile& vector, const ContentFile& data_file) {
  error.Add("file", vector.path);
  if (vector.content_offset) error.Add("blob offset", fmt::format("{}", *vector.content_offset));
  error.Add("data file", data_file.path);
  return error;
}

Result<std::string_view> Property(const puffin::BlobMetadata& blob, std::string_view name) {
  const auto at = blob.properties.find(name);
  if (at == blob.properties.end()) return Corrupt("the Puffin footer states no {} for the blob", name);
  return std::string_view(at->second);
}

}  // namespace

DeleteLoader::DeleteLoader(const plan::ScanPlan& plan, std::shared_ptr<io::FileIO> io, bool verify_footers, Hooks hooks)
    : plan_(plan), io_(std::move(io)), verify_footers_(verify_footers), hooks_(std::move(hooks)) {}

Result<std::unique_ptr<DeleteLoader>> DeleteLoader::Make(const plan::ScanPlan& plan, const std::vector<Need>& needs,
                                                         std::shared_ptr<io::FileIO> io, bool verify_footers,
                                                         Hooks hooks) {
  std::unique_ptr<DeleteLoader> loader(new DeleteLoader(plan, std::move(io), verify_footers, std::move(hooks)));
  for (const Need& need : needs) {
    if (need.dv) DELENDA_TRY(loader->AddVector(*need.dv, *need.file));
    for (const uint32_t index : need.position_deletes) {
      if (index >= plan.deletes.size()) return InternalError("the plan has no delete {}", index);
      const ContentFile& file = plan.deletes[index];
      // A vector given to the Parquet reader, or the other way round, would end in a misleading error at best.
      if (file.content != FileContent::kPositionDeletes || file.format != FileFormat::kParquet) {
        return WithContext(
            Result<std::unique_ptr<DeleteLoader>>(NotSupported(
                "{} in {} files cannot be read", FileContentName(file.content), FileFormatName(file.format))),
            "file", file.path);
      }
      PositionFile& entry = loader->position_files_[index];
      entry.data_files.insert(need.file->path);
      ++entry.pending;
      if (!entry.rows) entry.rows = std::make_shared<OnceResult<FilePositions>>();
    }
  }
  for (auto& [path, container] : loader->containers_) {
    std::vector<io::ByteRange> ranges;
    for (const uint32_t index : container.vectors) {
      const ContentFile& vector = plan.deletes[index];
      ranges.push_back({static_cast<uint64_t>(*vector.content_offset), static_cast<uint64_t>(*vector.content_size)});
    }
    for (io::RangeGroup& group : DELENDA_TRY(io::GroupRanges(ranges))) {
      for (const size_t member : group.members) {
        loader->vectors_[container.vectors[member]] = {&container, container.groups.size()};
      }
      container.groups.push_back({group.range, group.members.size(), std::make_shared<OnceResult<Bytes>>()});
    }
  }
  return loader;
}

Result<void> DeleteLoader::AddVector(uint32_t index, const ContentFile& data_file) {
  if (index >= plan_.deletes.size()) return InternalError("the plan has no delete {}", index);
  const ContentFile& vector = plan_.deletes[index];
  const auto check = [&]() -> Result<void> {
    if (!vector.IsDeletionVector()) {
      return NotSupported("{} in a {} file is no deletion vector", FileContentName(vector.content),
                          FileFormatName(vector.format));
    }
    if (!vector.referenced_data_file || !vector.content_offset || !vector.content_size) {
      return Corrupt(
          "the manifest entry of the deletion vector lacks referenced_data_file, content_offset or "
          "content_size_in_bytes");
    }
    // A vector applied to another file than its own would delete arbitrary rows.
    if (*vector.referenced_data_file != data_file.path &&
        io::CanonicalLocation(*vector.referenced_data_file) != io::CanonicalLocation(data_file.path)) {
      return Corrupt("the deletion vector is for {}", *vector.referenced_data_file);
    }
    const int64_t offset = *vector.content_offset;
    const int64_t size = *vector.content_size;
    if (offset < 0 || size < 0 || vector.file_size < 0 || offset > vector.file_size ||
        size > vector.file_size - offset) {
      return Corrupt("the deletion vector is said to lie at offset {}, {} bytes long; the file has {}", offset, size,
                     vector.file_size);
    }
    if (vector.record_count < 0)
      return Corrupt("the deletion vector is said to hold {} positions", vector.record_count);
    return {};
  };
  Result<void> checked = check();
  if (!checked) return std::unexpected(InVector(std::move(checked).error(), vector, data_file));
  Container& container = containers_[vector.path];
  container.path = vector.path;
  container.size = static_cast<uint64_t>(vector.file_size);
  container.vectors.push_back(index);
  return {};
}

Result<PositionSet> DeleteLoader::Load(const Need& need) {
  if (need.dv) {
    Result<PositionSet> positions = LoadVector(*need.dv, *need.file);
    if (!positions) return std::unexpected(InVector(std::move(positions).error(), plan_.deletes[*need.dv], *need.file));
    return positions;
  }
  std::vector<uint64_t> positions;
  for (const uint32_t index : need.position_deletes) DELENDA_TRY(LoadPositions(index, *need.file, positions));
  return PositionSet::FromPositions(positions);
}

Result<PositionSet> DeleteLoader::LoadVector(uint32_t index, const ContentFile& data_file) {
  const ContentFile& vector = plan_.deletes[index];
  const Vector& where = vectors_.at(index);
  Container& container = *where.container;
  if (verify_footers_) DELENDA_TRY(CheckFooter(container, vector));
  std::shared_ptr<OnceResult<Bytes>> cell;
  {
    std::lock_guard lock(mutex_);
    cell = container.groups[where.group].bytes;
  }
  if (!cell) return InternalError("a deletion vector was taken twice");
  const io::ByteRange range = container.groups[where.group].range;
  const std::shared_ptr<const Bytes> bytes = DELENDA_TRY(cell->Get([&]() -> Result<Bytes> {
    const auto file = DELENDA_TRY(container.file.Get([&] { return io_->Open(container.path, container.size); }));
    return io::ReadRange(**file, range);
  }));
  const ByteView blob =
      ByteView(*bytes).subspan(static_cast<size_t>(static_cast<uint64_t>(*vector.content_offset) - range.offset),
                               static_cast<size_t>(*vector.content_size));
  PositionSet positions = DELENDA_TRY(dv::DecodeIcebergBlob(blob, static_cast<uint64_t>(vector.record_count)));
  DELENDA_TRY(dv::CheckWithinFile(positions, static_cast<uint64_t>(std::max<int64_t>(data_file.record_count, 0))));
  std::lock_guard lock(mutex_);
  Group& group = container.groups[where.group];
  if (group.pending > 0 && --group.pending == 0) group.bytes.reset();
  return positions;
}

Result<void> DeleteLoader::CheckFooter(Container& container, const ContentFile& vector) {
  const std::shared_ptr<const puffin::Footer> footer =
      DELENDA_TRY(container.footer.Get([&]() -> Result<puffin::Footer> {
        const auto file = DELENDA_TRY(container.file.Get([&] { return io_->Open(container.path, container.size); }));
        constexpr uint64_t kSpeculativeRead = uint64_t{16} << 10;
        uint64_t length = std::min(container.size, kSpeculativeRead);
        Bytes tail = DELENDA_TRY(io::ReadRange(**file, {container.size - length, length}));
        const puffin::Tail parsed = DELENDA_TRY(puffin::ParseTail(tail, container.size));
        if (parsed.footer_bytes > length) {
          length = parsed.footer_bytes;
          tail = DELENDA_TRY(io::ReadRange(**file, {container.size - length, length}));
        }
        return puffin::ParseFooter(tail, container.size);
      }));
  const auto offset = static_cast<uint64_t>(*vector.content_offset);
  const auto blob = std::ranges::find(footer->blobs, offset, &puffin::BlobMetadata::offset);
  if (blob == footer->blobs.end())
    return Corrupt("the Puffin footer lists no blob at the offset that the manifest states");
  if (blob->length != static_cast<uint64_t>(*vector.content_size)) {
    return Corrupt("the manifest states {} bytes for the blob, the Puffin footer {}", *vector.content_size,
                   blob->length);
  }
  if (blob->type != puffin::kDeletionVectorV1)
    return Corrupt("expected a blob of type {}, found {}", puffin::kDeletionVectorV1, blob->type);
  if (blob->compression_codec) return Corrupt("the deletion vector is compressed with {}", *blob->compression_codec);
  const std::string_view referenced = DELENDA_TRY(Property(*blob, puffin::kReferencedDataFile));
  if (referenced != *vector.referenced_data_file) {
    return Corrupt("the manifest says that the vector is for {}, the Puffin footer for {}",
                   *vector.referenced_data_file, referenced);
  }
  const std::string_view cardinality = DELENDA_TRY(Property(*blob, puffin::kCardinality));
  int64_t count = 0;
  const auto [end, error] = std::from_chars(cardinality.data(), cardinality.data() + cardinality.size(), count);
  if (error != std::errc() || end != cardinality.data() + cardinality.size() || count != vector.record_count) {
    return Corrupt("the manifest states a cardinality of {}, the Puffin footer {}", vector.record_count, cardinality);
  }
  return {};
}

Result<void> DeleteLoader::LoadPositions(uint32_t index, const ContentFile& data_file,
                                         std::vector<uint64_t>& positions) {
  const ContentFile& file = plan_.deletes[index];
  PositionFile& entry = position_files_.at(index);
  std::shared_ptr<OnceResult<FilePositions>> cell;
  {
    std::lock_guard lock(mutex_);
    cell = entry.rows;
  }
  if (!cell) return InternalError("a position delete file was taken twice");
  const std::shared_ptr<const FilePositions> rows =
      DELENDA_TRY(cell->Get([&] { return ReadPositionDeletes(*io_, file, entry.data_files, hooks_.cancel); }));
  if (const auto at = rows->by_path.find(data_file.path); at != rows->by_path.end()) {
    if (at->second.by_canonical_path && hooks_.log) {
      hooks_.log(
          LogLevel::kWarning,
          Redact(fmt::format("position deletes for {} are listed under another spelling of its path in {}: applied",
                             data_file.path, file.path)));
    }
    // Positions past the end delete nothing (as Spark has it): a delete file may outlive a data file of another length.
    const auto record_count = static_cast<uint64_t>(std::max<int64_t>(data_file.record_count, 0));
    std::ranges::copy_if(at->second.positions, std::back_inserter(positions),
                         [&](uint64_t p) { return p < record_count; });
  }
  std::lock_guard lock(mutex_);
  if (entry.pending > 0 && --entry.pending == 0) entry.rows.reset();
  return {};
}

}  // namespace delenda::read
