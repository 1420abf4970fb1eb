// From one version of a table's metadata to the next, whatever is changed in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "delenda/base/result.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"

namespace delenda::commit {

// A copy of the version that was read, to be changed and published: updated now, and with the file of that version in
// its metadata log, which keeps write.metadata.previous-versions-max entries (100). Everything else is kept:
// statistics, refs, members that are not known here.
Result<iceberg::TableMetadata> NextMetadata(const iceberg::LoadedTable& base);

// Writes `next` and makes it the table's current version, if `base` still is. Returns its path. Files that have left
// the metadata log are deleted if write.metadata.delete-after-commit.enabled says so.
// Errors: TableMetadataToJson, CommitPoint::Publish.
Result<std::string> PublishMetadata(const iceberg::LoadedTable& base, const iceberg::TableMetadata& next,
                                    catalog::CommitPoint& point, io::FileIO& io);

// The metadata file is to be compressed (property write.metadata.compression-codec = gzip).
bool WritesGzip(const iceberg::TableMetadata& metadata);

// A number that a table's property gives, or `otherwise`. InvalidArgument names the property if it is none.
Result<int64_t> NumberProperty(const std::map<std::string, std::string>& properties, const std::string& name,
                               int64_t otherwise);

}  // namespace delenda::commit
