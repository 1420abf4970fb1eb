#include "delenda/read/data_file_check.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/read/column_adapter.h"
#include "delenda/read/mapped_schema.h"
#include "delenda/read/row_group_stats.h"

namespace delenda::read {
namespace {

class DataFileCheck {
 public:
  DataFileCheck(io::FileIO& io, const ContentFile& file, const Schema& schema,
                const std::map<int32_t, BoundSpec>& specs, const std::optional<NameMapping>& names)
      : io_(io), file_(file), schema_(schema), specs_(specs), names_(names) {}

  Result<Findings> Run() && {
    if (file_.format == FileFormat::kOther) return std::move(findings_);  // reported with its manifest entry
    auto info = io_.Stat(file_.path);
    if (!info) {
      DELENDA_TRY(AddAsFinding(std::move(info).error(), checks::kFileFooter, file_.path, findings_));
      return std::move(findings_);
    }
    if (file_.file_size < 0 || info->size != static_cast<uint64_t>(file_.file_size))
      Add(checks::kFileSize, fmt::format("has {} bytes, the manifest says {}", info->size, file_.file_size));
    if (file_.format != FileFormat::kParquet) {
      Add(checks::kFileUnchecked,
          fmt::format("is a file of format {}: its footer was not looked at", FileFormatName(file_.format)));
      return std::move(findings_);
    }
    std::shared_ptr<io::InputFile> input = DELENDA_TRY(io_.Open(file_.path, info->size));
    auto opened = parquet::ParquetFile::Open(std::move(input), info->size, AssignIdsBy(names_));
    if (!opened) {
      if (opened.error().kind() == ErrorKind::kNotSupported) {
        Add(checks::kFileUnchecked, opened.error().message());
      } else {
        DELENDA_TRY(AddAsFinding(std::move(opened).error(), checks::kFileFooter, file_.path, findings_));
      }
      return std::move(findings_);
    }
    const parquet::ParquetFile& parquet = **opened;
    if (parquet.num_rows() != file_.record_count)
      Add(checks::kFileRowCount,
          fmt::format("has {} rows, the manifest says {}", parquet.num_rows(), file_.record_count));
    if (file_.content == FileContent::kData && CheckColumns(parquet) && file_.metrics) {
      std::vector<int32_t> path;
      CheckMetrics(parquet, schema_.fields(), path, "");
    }
    return std::move(findings_);
  }

 private:
  void Add(const Check& check, std::string what) {
    findings_.push_back({.check = &check, .place = file_.path, .what = std::move(what)});
  }

  // Every column of the table can be read from the file: present, mapped to a field id, of a type that fits, or filled
  // in. False: there are no field ids, and nothing more can be said.
  bool CheckColumns(const parquet::ParquetFile& parquet) {
    ConstantColumns constants;
    if (const auto spec = specs_.find(file_.spec_id); spec != specs_.end() && file_.partition) {
      const auto& fields = spec->second.spec.fields;
      for (size_t i = 0; i < std::min(fields.size(), file_.partition->values.size()); ++i) {
        if (fields[i].transform.kind() == Transform::Kind::kIdentity)
          constants[fields[i].source_id] = file_.partition->values[i];
      }
    }
    const bool has_ids = std::ranges::any_of(parquet.schema()->fields(),
                                             [](const auto& field) { return parquet::FieldIdOf(*field).has_value(); });
    if (!has_ids && !parquet.schema()->fields().empty()) {
      Add(checks::kFileSchema, "its columns have no field ids");
      return false;
    }
    for (const auto& field : schema_.fields()) {
      const auto adapter = ColumnAdapter::Make({field}, parquet, constants);
      // Types that are not supported yet say nothing about the file.
      if (!adapter && adapter.error().kind() == ErrorKind::kCorrupt)
        Add(checks::kFileSchema, adapter.error().message());
    }
    return true;
  }

  void CheckMetrics(const parquet::ParquetFile& parquet, const std::vector<Field>& fields, std::vector<int32_t>& path,
                    const std::string& prefix) {
    for (const Field& field : fields) {
      path.push_back(field.id);
      const std::string name = prefix + field.name;
      if (field.type.kind() == TypeKind::kStruct) {
        CheckMetrics(parquet, field.type.fields(), path, name + ".");
      } else if (!field.type.is_nested() && field.type.kind() != TypeKind::kUnknown) {
        CheckColumn(parquet, {.field_id = field.id, .type = field.type, .name = name, .path = path});
      }
      path.pop_back();
    }
  }

  void CheckColumn(const parquet::ParquetFile& parquet, const BoundColumn& column) {
    const auto leaf = FindLeaf(parquet, column.path);
    if (!leaf || parquet.leaves()[static_cast<size_t>(leaf->leaf)].repeated) return;
    const FileMetrics& metrics = *file_.metrics;
    if (const auto values = metrics.value_counts.find(column.field_id);
        values != metrics.value_counts.end() && values->second != parquet.num_rows()) {
      Add(checks::kMetricsCounts, fmt::format("column {}: the manifest counts {} values, the file has {} rows",
                                              column.name, values->second, parquet.num_rows()));
    }
    std::optional<int64_t> nulls = 0;
    std::optional<Datum> lower, upper;
    const ConstantColumns no_constants;
    for (size_t group = 0; group < parquet.row_groups().size(); ++group) {
      const auto stats = RowGroupStats(parquet, group, no_constants)(column);
      const auto exact = parquet.Statistics(group, leaf->leaf);
      if (!stats || !exact) return;
      nulls = nulls && stats->null_count ? std::optional(*nulls + *stats->null_count) : std::nullopt;
      if (stats->lower && exact->min_is_exact && (!lower || CompareDatum(*stats->lower, *lower) < 0))
        lower = stats->lower;
      if (stats->upper && exact->max_is_exact && (!upper || CompareDatum(*stats->upper, *upper) > 0))
        upper = stats->upper;
    }
    if (const auto stated = metrics.null_counts.find(column.field_id);
        nulls && stated != metrics.null_counts.end() && stated->second != *nulls) {
      Add(checks::kMetricsCounts, fmt::format("column {}: the manifest counts {} NULL values, the file {}", column.name,
                                              stated->second, *nulls));
    }
    CheckBound(column, metrics.lower_bounds, lower, true);
    CheckBound(column, metrics.upper_bounds, upper, false);
  }

  void CheckBound(const BoundColumn& column, const std::map<int32_t, std::string>& bounds,
                  const std::optional<Datum>& extreme, bool is_lower) {
    const auto stated = bounds.find(column.field_id);
    if (stated == bounds.end()) return;
    const auto bound = DatumFromBound(column.type, AsBytes(stated->second));
    const std::string_view name = is_lower ? "lower" : "upper";
    if (!bound) {
      Add(checks::kMetricsBounds,
          fmt::format("column {}: the {} bound of the manifest is no {}", column.name, name, column.type.ToString()));
      return;
    }
    // NaN bounds of old writers say nothing.
    if (!extreme || IsNan(*bound)) return;
    const auto order = CompareDatum(*extreme, *bound);
    if (is_lower ? order >= 0 : order <= 0) return;
    Add(checks::kMetricsBounds,
        fmt::format("column {}: the {} bound of the manifest is {}, the file holds {}", column.name, name,
                    DatumToText(column.type, *bound), DatumToText(column.type, *extreme)));
  }

  io::FileIO& io_;
  const ContentFile& file_;
  const Schema& schema_;
  const std::map<int32_t, BoundSpec>& specs_;
  const std::optional<NameMapping>& names_;
  Findings findings_;
};

}  // namespace

Result<Findings> CheckDataFile(io::FileIO& io, const ContentFile& file, const Schema& schema,
                               const std::map<int32_t, BoundSpec>& specs, const std::optional<NameMapping>& names) {
  return DataFileCheck(io, file, schema, specs, names).Run();
}

}  // namespace delenda::read
