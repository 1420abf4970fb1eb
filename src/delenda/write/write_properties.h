// The table properties that say how data files are written (Iceberg docs, "Write properties"), parsed in one place.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/base/result.h"
#include "delenda/formats/parquet/parquet_writer.h"
#include "delenda/model/type.h"

namespace delenda::write {

// What the manifest holds of a column.
struct MetricsMode {
  enum class Kind : uint8_t { kNone, kCounts, kTruncate, kFull };
  Kind kind = Kind::kTruncate;
  int32_t length = 16;  // truncate: code points of a string, bytes of a binary

  // "none", "counts", "truncate(N)", "full", in any case of letters. InvalidArgument for anything else.
  static Result<MetricsMode> Parse(std::string_view text);
  bool operator==(const MetricsMode&) const = default;
};

struct WriteProperties {
  parquet::WriterOptions parquet = {};  // bloom filters by field id; without executor
  int64_t target_file_bytes = int64_t{512} << 20;
  // Absolute (write.data.path); empty: `{table location}/data`.
  std::string data_path = {};
  // Of every leaf that may have metrics, by field id; those that are missing have MetricsMode::kNone.
  std::map<int32_t, MetricsMode> metrics = {};

  // Of the table that `schema` belongs to. InvalidArgument names the property and what it may be; NotSupported: a file
  // format other than Parquet, a bloom filter that cannot be had, a location provider of the table's own. Properties of
  // columns that are not there and unknown properties are of no concern.
  //
  //   write.format.default, write.target-file-size-bytes, write.data.path
  //   write.parquet.{compression-codec, compression-level, row-group-size-bytes, row-group-limit, page-size-bytes,
  //     page-row-limit, page-version, dict-size-bytes, bloom-filter-enabled.column.C, bloom-filter-fpp.column.C,
  //     bloom-filter-ndv.column.C, bloom-filter-max-bytes}
  //   write.metadata.metrics.{default, column.C, max-inferred-column-defaults}
  static Result<WriteProperties> Parse(const std::map<std::string, std::string>& properties, const Schema& schema);
};

}  // namespace delenda::write
