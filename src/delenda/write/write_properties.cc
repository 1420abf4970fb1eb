#include "delenda/write/write_properties.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace delenda::write {
namespace {

using Properties = std::map<std::string, std::string>;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

const std::string* FindProperty(const Properties& properties, const std::string& name) {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : &found->second;
}

template <typename T>
std::optional<T> NumberIn(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Leaves `value` as it is when the property is not set.
Result<void> ReadPositive(const Properties& properties, const std::string& name, int64_t& value) {
  const std::string* text = FindProperty(properties, name);
  if (text == nullptr) return {};
  const auto number = NumberIn<int64_t>(*text);
  if (!number || *number <= 0)
    return InvalidArgument("table property {}: '{}' is no positive whole number", name, *text);
  value = *number;
  return {};
}

Result<bool> ReadFlag(const Properties& properties, const std::string& name) {
  const std::string* text = FindProperty(properties, name);
  if (text == nullptr) return false;
  const std::string lower = LowerCase(*text);
  if (lower != "true" && lower != "false") {
    return InvalidArgument("table property {}: '{}' is neither true nor false", name, *text);
  }
  return lower == "true";
}

// Field ids of leaves, those of a level before those below it: the order in which columns get metrics by default.
void CollectLeaves(const std::vector<Field>& fields, std::vector<int32_t>& ids) {
  for (const Field& field : fields) {
    if (!field.type.is_nested()) ids.push_back(field.id);
  }
  for (const Field& field : fields) CollectLeaves(field.type.fields(), ids);
}

Result<void> ReadMetricsModes(const Properties& properties, const Schema& schema, WriteProperties& result) {
  std::vector<int32_t> leaves;
  CollectLeaves(schema.fields(), leaves);
  MetricsMode mode;
  size_t with_default = leaves.size();
  const std::string default_name = "write.metadata.metrics.default";
  if (const std::string* text = FindProperty(properties, default_name)) {
    mode = DELENDA_TRY(WithContext(MetricsMode::Parse(*text), "table property", default_name));
  } else {
    int64_t most = 100;
    DELENDA_TRY(ReadPositive(properties, "write.metadata.metrics.max-inferred-column-defaults", most));
    with_default = std::min(with_default, static_cast<size_t>(most));
  }
  for (size_t i = 0; i < with_default; ++i) result.metrics[leaves[i]] = mode;
  const std::string prefix = "write.metadata.metrics.column.";
  for (auto it = properties.lower_bound(prefix); it != properties.end() && it->first.starts_with(prefix); ++it) {
    const Schema::Path path = schema.FindByName(std::string_view(it->first).substr(prefix.size()));
    if (path.empty()) continue;  // a column that was dropped
    result.metrics[path.back()->id] =
        DELENDA_TRY(WithContext(MetricsMode::Parse(it->second), "table property", it->first));
  }
  return {};
}

// How many distinct values a filter of at most so many bytes serves with the given rate of false positives. Parquet's
// filters set 8 bits in a block for each value.
int64_t DistinctFor(int64_t bytes, double false_positives) {
  const double bits_per_value = -8.0 / std::log(1.0 - std::pow(false_positives, 1.0 / 8.0));
  return std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(bytes) * 8.0 / bits_per_value));
}

Result<void> ReadBlooms(const Properties& properties, const Schema& schema, parquet::WriterOptions& options) {
  const std::string prefix = "write.parquet.bloom-filter-enabled.column.";
  int64_t most_bytes = int64_t{1} << 20;
  DELENDA_TRY(ReadPositive(properties, "write.parquet.bloom-filter-max-bytes", most_bytes));
  for (auto it = properties.lower_bound(prefix); it != properties.end() && it->first.starts_with(prefix); ++it) {
    if (!DELENDA_TRY(ReadFlag(properties, it->first))) continue;
    const std::string column = it->first.substr(prefix.size());
    const Schema::Path path = schema.FindByName(column);
    if (path.empty()) continue;
    const Type& type = path.back()->type;
    if (type.is_nested() || type.kind() == TypeKind::kBoolean || type.kind() == TypeKind::kUnknown) {
      return NotSupported("table property {}: columns of type {} have no bloom filter", it->first, type.ToString());
    }
    parquet::WriterOptions::Bloom bloom{.field_id = path.back()->id};
    const std::string rate_name = "write.parquet.bloom-filter-fpp.column." + column;
    if (const std::string* text = FindProperty(properties, rate_name)) {
      const auto rate = NumberIn<double>(*text);
      if (!rate || !(*rate > 0.0 && *rate < 1.0)) {
        return InvalidArgument("table property {}: '{}' is no number between 0 and 1", rate_name, *text);
      }
      bloom.false_positives = *rate;
    }
    int64_t distinct = options.row_group_rows;
    DELENDA_TRY(ReadPositive(properties, "write.parquet.bloom-filter-ndv.column." + column, distinct));
    bloom.distinct = std::min(distinct, DistinctFor(most_bytes, bloom.false_positives));
    options.blooms.push_back(bloom);
  }
  return {};
}

Result<void> ReadParquet(const Properties& properties, const Schema& schema, parquet::WriterOptions& options) {
  if (const std::string* codec = FindProperty(properties, "write.parquet.compression-codec")) {
    options.codec = DELENDA_TRY(WithContext(parquet::CodecFromName(*codec), "table property",
                                            std::string_view("write.parquet.compression-codec")));
  }
  if (const std::string* text = FindProperty(properties, "write.parquet.compression-level")) {
    const auto level = NumberIn<int>(*text);
    if (!level || std::abs(*level) > 100) {
      return InvalidArgument("table property write.parquet.compression-level: '{}' is no compression level", *text);
    }
    options.codec_level = *level;
  }
  if (const std::string* text = FindProperty(properties, "write.parquet.page-version")) {
    const std::string version = LowerCase(*text);
    if (version != "v1" && version != "v2") {
      return InvalidArgument("table property write.parquet.page-version: '{}' is neither v1 nor v2", *text);
    }
    options.version_2_pages = version == "v2";
  }
  DELENDA_TRY(ReadPositive(properties, "write.parquet.row-group-size-bytes", options.row_group_bytes));
  DELENDA_TRY(ReadPositive(properties, "write.parquet.row-group-limit", options.row_group_rows));
  DELENDA_TRY(ReadPositive(properties, "write.parquet.page-size-bytes", options.page_bytes));
  DELENDA_TRY(ReadPositive(properties, "write.parquet.page-row-limit", options.page_rows));
  DELENDA_TRY(ReadPositive(properties, "write.parquet.dict-size-bytes", options.dictionary_bytes));
  return ReadBlooms(properties, schema, options);
}

}  // namespace

Result<MetricsMode> MetricsMode::Parse(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "none") return MetricsMode{.kind = Kind::kNone};
  if (lower == "counts") return MetricsMode{.kind = Kind::kCounts};
  if (lower == "full") return MetricsMode{.kind = Kind::kFull};
  constexpr std::string_view kStart = "truncate(";
  if (lower.starts_with(kStart) && lower.ends_with(')')) {
    const auto length =
        NumberIn<int32_t>(std::string_view(lower).substr(kStart.size(), lower.size() - kStart.size() - 1));
    if (length && *length > 0) return MetricsMode{.kind = Kind::kTruncate, .length = *length};
  }
  return InvalidArgument("'{}' is no metrics mode: expected none, counts, truncate(N) or full", text);
}

Result<WriteProperties> WriteProperties::Parse(const std::map<std::string, std::string>& properties,
                                               const Schema& schema) {
  WriteProperties result;
  if (const std::string* format = FindProperty(properties, "write.format.default");
      format != nullptr && LowerCase(*format) != "parquet") {
    return NotSupported("table property write.format.default is '{}': only Parquet files are written", *format);
  }
  if (const std::string* provider = FindProperty(properties, "write.location-provider.impl")) {
    return NotSupported(
        "table property write.location-provider.impl is '{}': its rule for the places of data files is "
        "not known here",
        *provider);
  }
  // In the order in which the reference implementation looks: the later names are its own older ones.
  for (const char* name : {"write.data.path", "write.folder-storage.path"}) {
    const std::string* path = FindProperty(properties, name);
    if (path == nullptr || path->empty() || !result.data_path.empty()) continue;
    result.data_path = *path;
    while (result.data_path.size() > 1 && result.data_path.ends_with('/')) result.data_path.pop_back();
  }
  DELENDA_TRY(ReadPositive(properties, "write.target-file-size-bytes", result.target_file_bytes));
  DELENDA_TRY(ReadParquet(properties, schema, result.parquet));
  DELENDA_TRY(ReadMetricsModes(properties, schema, result));
  return result;
}

}  // namespace delenda::write
