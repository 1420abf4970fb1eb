// Writing the deletion vectors of a new snapshot, and where a table's files go.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/commit/rebase.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/write/staged_files.h"

namespace delenda::commit {

// Where files of a table go: properties write.data.path and write.metadata.path, else below the table's location.
std::string DataFolder(const iceberg::TableMetadata& metadata);
std::string MetadataFolder(const iceberg::TableMetadata& metadata);

// Writes the vectors into one Puffin file and returns their entries, the smallest vector first, each with the spec and
// partition of its data file.
// Every path is entered into `staged` before it is written.
Result<std::vector<ContentFile>> WriteVectors(const std::vector<NewVector>& vectors,
                                              const iceberg::TableMetadata& metadata, io::FileIO& io,
                                              write::StagedFiles& staged);

}  // namespace delenda::commit
