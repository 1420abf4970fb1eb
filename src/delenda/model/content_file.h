// Data files and delete files as every table format describes them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/model/datum.h"
#include "delenda/model/partition.h"

namespace delenda {

enum class FileContent : uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class FileFormat : uint8_t { kParquet, kAvro, kOrc, kPuffin, kOther };

std::string_view FileContentName(FileContent content);  // "data", "position deletes", "equality deletes"
std::string_view FileFormatName(FileFormat format);
// Case-insensitive: Java writes upper case, the spec lower case.
FileFormat FileFormatFromName(std::string_view name);

// Field ids of the columns file_path and pos of position delete files (spec, "Reserved Field IDs").
inline constexpr int32_t kDeletePathFieldId = 2147483546;
inline constexpr int32_t kDeletePositionFieldId = 2147483545;
// Of the row lineage columns _row_id and _last_updated_sequence_number of data files.
inline constexpr int32_t kRowIdFieldId = 2147483540;
inline constexpr int32_t kLastUpdatedSequenceFieldId = 2147483539;

// Per-column metrics of a file, by field id, as the manifest holds them (bounds in binary single-value form).
struct FileMetrics {
  std::map<int32_t, int64_t> column_sizes, value_counts, null_counts, nan_counts;
  std::map<int32_t, std::string> lower_bounds, upper_bounds;
};

// One file of a table: data file or delete file. Paths are opaque strings and compare exactly.
struct ContentFile {
  FileContent content = FileContent::kData;
  FileFormat format = FileFormat::kParquet;
  std::string path;
  int32_t spec_id = 0;
  std::shared_ptr<const PartitionTuple> partition;  // never null; files of one partition may share it
  int64_t record_count = 0;
  int64_t file_size = 0;
  int64_t data_sequence_number = 0;
  int64_t file_sequence_number = 0;
  std::optional<int64_t> first_row_id;
  std::optional<int32_t> sort_order_id;
  std::vector<int64_t> split_offsets;
  std::vector<int32_t> equality_ids;                // equality deletes
  std::optional<std::string> referenced_data_file;  // DVs; file-scoped position deletes
  std::optional<int64_t> content_offset;            // DVs: where the blob starts in the Puffin file
  std::optional<int64_t> content_size;              // DVs: bytes of the blob, its framing included
  std::shared_ptr<const FileMetrics> metrics;       // only when asked for

  // A deletion vector is a position delete in a Puffin file; content alone or format alone is not enough.
  bool IsDeletionVector() const { return content == FileContent::kPositionDeletes && format == FileFormat::kPuffin; }
};

}  // namespace delenda
