// The metrics of a data file that its manifest entry holds, in the form and with the bounds that the reference
// implementation writes.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_writer.h"
#include "delenda/model/content_file.h"
#include "delenda/model/type.h"
#include "delenda/write/write_properties.h"

namespace delenda::write {

// What lies at or above every text (binary) that begins with the first `length` code points (bytes) of `value`: the
// value itself if it is no longer; else the prefix with its last code point (byte) that can be raised by one raised,
// and cut behind it. Nothing when none can. `value` of a string is raised past the surrogates, which UTF-8 cannot hold.
std::optional<std::string> TruncatedUpperBound(const Type& type, std::string_view value, int32_t length);

// One per file: every batch that the file gets is shown to it, then the footer completes the picture. Counts, and
// bounds of numbers, come from the footer; NaN counts and bounds of texts, which Parquet does not have or drops when
// they are long, from the batches.
//
// Lower bounds of floats are never +0.0 and upper ones never -0.0, so that either zero is found by readers that tell
// them apart; NaN is no bound. Columns below lists and maps have their size only.
class MetricsCollector {
 public:
  // `schema`: of the batches, metadata columns included. Columns without a mode get MetricsMode::kNone.
  MetricsCollector(const Schema& schema, const std::map<int32_t, MetricsMode>& modes);

  Result<void> Add(const arrow::RecordBatch& batch);
  Result<FileMetrics> Finish(const parquet::WrittenFile& file) const;

 private:
  struct Column {
    std::vector<int> path;  // child indexes from the top level down
    int32_t field_id = 0;
    Type type;
    MetricsMode mode;
    int64_t nans = 0;
    std::optional<std::string> least = std::nullopt, greatest = std::nullopt;  // of string and binary columns
  };
  void AddFields(const std::vector<Field>& fields, const std::vector<int>& path,
                 const std::map<int32_t, MetricsMode>& modes);
  static Result<void> AddBounds(const Column& column, const parquet::WrittenLeaf& leaf, FileMetrics& metrics);

  std::vector<Column> columns_;
};

}  // namespace delenda::write
