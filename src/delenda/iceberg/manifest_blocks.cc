#include "delenda/iceberg/manifest_blocks.h"

#include <charconv>
#include <utility>

namespace delenda::iceberg {
namespace {

Result<int32_t> SpecIdFromHeader(const avro::Reader& reader) {
  const std::string* text = reader.FindMetadata("partition-spec-id");
  if (text == nullptr) return 0;  // version 1 before specs had ids
  int32_t id = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), id);
  if (error != std::errc() || end != text->data() + text->size())
    return Corrupt("manifest header: partition-spec-id is '{}'", *text);
  return id;
}

}  // namespace

Result<std::shared_ptr<const ManifestBlocks>> ManifestBlocks::Open(io::FileIO& io, const ManifestFile& manifest,
                                                                   const std::map<int32_t, BoundSpec>& specs,
                                                                   avro::SchemaCache& schemas) {
  const auto open = [&]() -> Result<std::shared_ptr<const ManifestBlocks>> {
    auto bytes = DELENDA_TRY(io::ReadWholeFile(io, manifest.path, manifest.length));
    auto reader = DELENDA_TRY(avro::Reader::Open(std::move(bytes), {.schemas = &schemas}));
    const int32_t spec_id = manifest.spec_id ? *manifest.spec_id : DELENDA_TRY(SpecIdFromHeader(reader));
    const auto spec = specs.find(spec_id);
    if (spec == specs.end()) return Corrupt("manifest has partition spec {}, which the table does not have", spec_id);
    std::shared_ptr<ManifestBlocks> result(new ManifestBlocks(std::move(reader)));
    result->manifest_ = manifest;
    result->spec_ = &spec->second;
    result->found_ = result->avro_.FindBlocks();
    return std::shared_ptr<const ManifestBlocks>(std::move(result));
  };
  return WithContext(open(), "manifest", manifest.path);
}

std::vector<ManifestBlocks::Part> ManifestBlocks::Parts(size_t bytes) const {
  std::vector<Part> parts;
  size_t taken = bytes;  // by the last part
  for (size_t i = 0; i < blocks().size(); ++i) {
    if (taken >= bytes) {
      parts.push_back({.begin = i, .end = i});
      taken = 0;
    }
    parts.back().end = i + 1;
    taken += blocks()[i].data.size();
  }
  return parts;
}

Result<void> ManifestBlocks::CheckEnd() const {
  const auto check = [&]() -> Result<void> {
    if (found_.broken) return std::unexpected(*found_.broken);
    if (!manifest_.added_files || !manifest_.existing_files || !manifest_.deleted_files) return {};
    // Each block was decoded to as many entries as its header says, and those were bounded by its bytes.
    int64_t found = 0, expected = 0;
    for (const avro::FileBlock& block : blocks()) found += static_cast<int64_t>(block.rows);
    // A manifest that was cut between two Avro blocks is a valid Avro file: only the manifest list knows how many
    // entries it had. Without the lost ones, rows would be missing, or rows that were deleted be returned.
    if (__builtin_add_overflow(*manifest_.added_files, *manifest_.existing_files, &expected) ||
        __builtin_add_overflow(expected, *manifest_.deleted_files, &expected) || expected != found) {
      return Corrupt("manifest holds {} entries, the manifest list says {} added, {} existing, {} deleted", found,
                     *manifest_.added_files, *manifest_.existing_files, *manifest_.deleted_files);
    }
    return {};
  };
  return WithContext(check(), "manifest", manifest_.path);
}

}  // namespace delenda::iceberg
