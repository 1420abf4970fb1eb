#include "delenda/api/delta_columns.h"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/type.h>

#include <optional>
#include <string_view>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"

namespace delenda::api {
namespace {

constexpr auto kCompute = parquet::StatusSource::kCompute;

constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"INSERT", "insert"},
                                                                    {"DELETE", "delete"},
                                                                    {"UPDATE_BEFORE", "update_preimage"},
                                                                    {"UPDATE_AFTER", "update_postimage"}};

Result<std::shared_ptr<arrow::Array>> Types(const arrow::StringArray& types) {
  arrow::StringBuilder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(types.length()), kCompute));
  for (int64_t row = 0; row < types.length(); ++row) {
    std::string_view name;
    for (const auto& [ours, theirs] : kTypes) {
      if (types.GetView(row) == ours) name = theirs;
    }
    if (name.empty()) return InternalError("an unknown type of change: {}", types.GetView(row));
    DELENDA_TRY(parquet::ToResult(builder.Append(name), kCompute));
  }
  return parquet::ToResult(builder.Finish(), kCompute);
}

Result<std::shared_ptr<arrow::Array>> Versions(const arrow::Int64Array& snapshots,
                                               const std::map<int64_t, int64_t>& sequence_numbers) {
  arrow::Int64Builder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(snapshots.length()), kCompute));
  std::optional<std::pair<int64_t, int64_t>> last;  // rows of a snapshot follow each other
  for (int64_t row = 0; row < snapshots.length(); ++row) {
    const int64_t id = snapshots.Value(row);
    if (!last || last->first != id) {
      const auto found = sequence_numbers.find(id);
      // Format version 1 numbers no commits: several would share the version 0.
      if (found == sequence_numbers.end() || found->second <= 0) {
        return InvalidArgument(
            "snapshot {} has no sequence number, which the Delta dialect gives as version: use the Iceberg dialect",
            id);
      }
      last = {id, found->second};
    }
    builder.UnsafeAppend(last->second);
  }
  return parquet::ToResult(builder.Finish(), kCompute);
}

}  // namespace

Result<DeltaColumns> DeltaColumns::Make(std::shared_ptr<const std::map<int64_t, int64_t>> sequence_numbers,
                                        size_t table_columns) {
  if (!sequence_numbers) return NotSupported("the Delta dialect needs the table: a shard does not number its commits");
  DeltaColumns columns;
  columns.sequence_numbers_ = std::move(sequence_numbers);
  columns.table_columns_ = table_columns;
  return columns;
}

std::shared_ptr<arrow::Schema> DeltaColumns::ToSchema(const arrow::Schema& schema) const {
  arrow::FieldVector fields = schema.fields();
  const auto at = fields.begin() + static_cast<std::ptrdiff_t>(table_columns_);
  // type, ordinal, snapshot, timestamp → type, version, timestamp. The ids of Iceberg's columns mean Iceberg's values.
  at[0] = arrow::field("_change_type", arrow::utf8(), false);
  at[2] = arrow::field("_commit_version", arrow::int64(), false);
  fields.erase(at + 1);
  return arrow::schema(std::move(fields), schema.metadata());
}

Result<arrow::ArrayVector> DeltaColumns::ToColumns(arrow::ArrayVector columns) const {
  const auto at = columns.begin() + static_cast<std::ptrdiff_t>(table_columns_);
  at[0] = DELENDA_TRY(Types(static_cast<const arrow::StringArray&>(*at[0])));
  at[2] = DELENDA_TRY(Versions(static_cast<const arrow::Int64Array&>(*at[2]), *sequence_numbers_));
  columns.erase(at + 1);
  return columns;
}

}  // namespace delenda::api
