// Finding the current metadata file of a table that is a folder (Iceberg spec, "File System Tables", and what catalogs
// leave behind).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"

namespace delenda::iceberg {

struct LoadedTable {
  std::string metadata_path;
  TableMetadata metadata;
};

// Load a table given its folder or its metadata file (*.metadata.json, *.gz.metadata.json, *.metadata.json.gz).
//
// In a folder, metadata/version-hint.text names a version (a number N: vN.metadata.json or its gzip form) or a file. A
// stale hint is followed forward: N + 1, N + 2 ... as long as they exist, since a writer renames first and updates the
// hint later. Without a hint, or when the version that it names is gone, the folder is listed and the highest version
// taken (never one below the hint: an older state must not pass for the current one), of vN.metadata.json or
// NNNNN-<uuid>.metadata.json names; two files of one version number are ambiguous (ValidationFailed: a lost commit's
// file beside the winner's; only a catalog knows which counts). NotFound if there is no metadata.
Result<LoadedTable> LoadTable(io::FileIO& io, std::string_view location);

// The file alone that LoadTable would read.
Result<std::string> FindMetadataFile(io::FileIO& io, std::string_view location);

// The names that version N of the metadata may have in a folder without catalog, plain and compressed: a writer that
// adds one must see none of them there.
std::vector<std::string> VersionFileNames(int64_t version);

inline constexpr std::string_view kVersionHintName = "version-hint.text";

// The version number in a metadata file's name: "v12.metadata.json" → 12, "00012-<uuid>.gz.metadata.json" → 12; else
// nullopt.
std::optional<int64_t> MetadataVersion(std::string_view file_name);

}  // namespace delenda::iceberg
