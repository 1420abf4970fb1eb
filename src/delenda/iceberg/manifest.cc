#include "delenda/iceberg/manifest.h"

#include <algorithm>
#include <utility>

namespace delenda::iceberg {
namespace {

using avro::Column;
using avro::Storage;
using avro::Wanted;

// spec, "Manifests": field ids of manifest_entry and data_file.
constexpr int32_t kDataFile = 2;

__extension__ typedef unsigned __int128 UInt128;

Wanted MapOf(int32_t id, const char* name, int32_t key, int32_t value, const std::vector<int32_t>& only_keys) {
  return {.id = id, .name = name, .fields = {{key, "key", {}}, {value, "value", {}}}, .only_keys = only_keys};
}

avro::Projection ManifestProjection(const ManifestReader::Options& options) {
  std::vector<Wanted> file = {{134, "content", {}},
                              {100, "file_path", {}},
                              {101, "file_format", {}},
                              {102, "partition", {}},
                              {103, "record_count", {}},
                              {104, "file_size_in_bytes", {}},
                              {131, "key_metadata", {}},
                              {135, "equality_ids", {}},
                              {140, "sort_order_id", {}},
                              {142, "first_row_id", {}},
                              {143, "referenced_data_file", {}},
                              {144, "content_offset", {}},
                              {145, "content_size_in_bytes", {}}};
  if (options.split_offsets) file.push_back({132, "split_offsets", {}});
  if (options.bounds || options.metrics) {
    const auto only = options.metrics ? std::vector<int32_t>() : options.bounds_of;
    file.push_back(MapOf(109, "value_counts", 119, 120, only));
    file.push_back(MapOf(110, "null_value_counts", 121, 122, only));
    file.push_back(MapOf(137, "nan_value_counts", 138, 139, only));
    file.push_back(MapOf(125, "lower_bounds", 126, 127, only));
    file.push_back(MapOf(128, "upper_bounds", 129, 130, only));
  }
  if (options.metrics) file.push_back(MapOf(108, "column_sizes", 117, 118, {}));
  return {.fields = {{0, "status", {}},
                     {1, "snapshot_id", {}},
                     {3, "sequence_number", {}},
                     {4, "file_sequence_number", {}},
                     {kDataFile, "data_file", std::move(file)}}};
}

// Decimals lie in Avro as big-endian two's complement.
Result<Datum> DecimalFromText(std::string_view text) {
  if (text.empty() || text.size() > 16)
    return Corrupt("decimal partition value has {} bytes: expected 1 to 16", text.size());
  Int128 value = (static_cast<unsigned char>(text[0]) & 0x80) != 0 ? -1 : 0;
  for (const char c : text)
    value = static_cast<Int128>((static_cast<UInt128>(value) << 8) | static_cast<unsigned char>(c));
  return Datum(value);
}

std::optional<int64_t> NullableInt(const Column& column, size_t row) {
  if (column.IsNull(row)) return std::nullopt;
  return column.Int(row);
}

}  // namespace

std::optional<size_t> ManifestReader::CountMap::Find(size_t row, int32_t field_id) const {
  if (list == nullptr) return std::nullopt;
  for (uint32_t i = list->Begin(row), end = list->End(row); i < end; ++i) {
    if (key->Int(i) == field_id) return i;
  }
  return std::nullopt;
}

ManifestReader::ManifestReader(std::shared_ptr<const ManifestBlocks> blocks, avro::Columns columns, Options options)
    : blocks_(std::move(blocks)),
      columns_(std::move(columns)),
      inflater_(blocks_->avro().MakeInflater()),
      options_(std::move(options)),
      next_row_id_(blocks_->manifest().first_row_id) {}

Result<ManifestReader> ManifestReader::Open(io::FileIO& io, const ManifestFile& manifest,
                                            const std::map<int32_t, BoundSpec>& specs, avro::SchemaCache& schemas,
                                            Options options) {
  return Make(DELENDA_TRY(ManifestBlocks::Open(io, manifest, specs, schemas)), std::move(options));
}

Result<ManifestReader> ManifestReader::Make(std::shared_ptr<const ManifestBlocks> blocks, Options options) {
  const auto make = [&]() -> Result<ManifestReader> {
    auto columns = DELENDA_TRY(blocks->avro().Prepare(ManifestProjection(options)));
    ManifestReader reader(blocks, std::move(columns), std::move(options));
    DELENDA_TRY(reader.BindColumns());
    return reader;
  };
  return WithContext(make(), "manifest", blocks->manifest().path);
}

Result<void> ManifestReader::Switch(std::shared_ptr<const ManifestBlocks> blocks) {
  if (blocks == blocks_) return {};
  if (!blocks->avro().IsLike(blocks_->avro()) || &blocks->spec() != &spec()) {
    *this = DELENDA_TRY(Make(std::move(blocks), std::move(options_)));
    return {};
  }
  blocks_ = std::move(blocks);
  next_block_ = 0;
  next_row_id_ = blocks_->manifest().first_row_id;
  return {};
}

Result<ManifestReader::CountMap> ManifestReader::BindMap(int32_t list_id, int32_t key_id, int32_t value_id,
                                                         Storage value) {
  CountMap map;
  map.list = DELENDA_TRY(columns_.Optional({kDataFile, list_id}, Storage::kList));
  map.key = DELENDA_TRY(columns_.Optional({kDataFile, list_id, key_id}, Storage::kInt));
  map.value = DELENDA_TRY(columns_.Optional({kDataFile, list_id, value_id}, value));
  // Else a pair would have no cell to be read from.
  if (!map.list->absent() && (map.key->absent() || map.value->absent()))
    return Corrupt("manifest schema: map {} lacks its keys (id {}) or values (id {})", map.list->name(), key_id,
                   value_id);
  return map;
}

Result<void> ManifestReader::BindColumns() {
  status_ = DELENDA_TRY(columns_.Required({0}, Storage::kInt));
  snapshot_id_ = DELENDA_TRY(columns_.Optional({1}, Storage::kInt));
  sequence_ = DELENDA_TRY(columns_.Optional({3}, Storage::kInt));
  file_sequence_ = DELENDA_TRY(columns_.Optional({4}, Storage::kInt));
  content_ = DELENDA_TRY(columns_.Optional({kDataFile, 134}, Storage::kInt));
  path_ = DELENDA_TRY(columns_.Required({kDataFile, 100}, Storage::kText));
  format_ = DELENDA_TRY(columns_.Required({kDataFile, 101}, Storage::kText));
  record_count_ = DELENDA_TRY(columns_.Required({kDataFile, 103}, Storage::kInt));
  file_size_ = DELENDA_TRY(columns_.Required({kDataFile, 104}, Storage::kInt));
  key_metadata_ = DELENDA_TRY(columns_.Optional({kDataFile, 131}, Storage::kText));
  if (options_.split_offsets) split_offsets_ = DELENDA_TRY(columns_.Optional({kDataFile, 132}, Storage::kList));
  equality_ids_ = DELENDA_TRY(columns_.Optional({kDataFile, 135}, Storage::kList));
  for (const Column* list : {split_offsets_, equality_ids_}) {
    if (list == nullptr || list->absent()) continue;
    if (list->children().size() != 1 || list->children()[0]->storage() != Storage::kInt)
      return Corrupt("manifest schema: {} is not an array of integers", list->name());
  }
  sort_order_ = DELENDA_TRY(columns_.Optional({kDataFile, 140}, Storage::kInt));
  first_row_id_ = DELENDA_TRY(columns_.Optional({kDataFile, 142}, Storage::kInt));
  referenced_ = DELENDA_TRY(columns_.Optional({kDataFile, 143}, Storage::kText));
  content_offset_ = DELENDA_TRY(columns_.Optional({kDataFile, 144}, Storage::kInt));
  content_size_ = DELENDA_TRY(columns_.Optional({kDataFile, 145}, Storage::kInt));
  if (options_.bounds || options_.metrics) {
    value_counts_ = DELENDA_TRY(BindMap(109, 119, 120, Storage::kInt));
    null_counts_ = DELENDA_TRY(BindMap(110, 121, 122, Storage::kInt));
    nan_counts_ = DELENDA_TRY(BindMap(137, 138, 139, Storage::kInt));
    lower_bounds_ = DELENDA_TRY(BindMap(125, 126, 127, Storage::kText));
    upper_bounds_ = DELENDA_TRY(BindMap(128, 129, 130, Storage::kText));
  }
  if (options_.metrics) column_sizes_ = DELENDA_TRY(BindMap(108, 117, 118, Storage::kInt));

  const Column* partition = DELENDA_TRY(columns_.Optional({kDataFile, 102}, Storage::kRecord));
  const bool has_ids =
      std::ranges::any_of(partition->children(), [](const Column* child) { return child->id() != avro::kNoId; });
  const auto& fields = spec().spec.fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    // By field id. Old version 1 manifests have none: there the order of the spec holds.
    const Column* column = has_ids                            ? partition->Child(fields[i].field_id)
                           : i < partition->children().size() ? partition->children()[i]
                                                              : nullptr;
    // A missing value must not read as NULL: the tuple decides which deletes apply. (void fields may be left out.)
    if (column == nullptr && fields[i].transform.kind() != Transform::Kind::kVoid) {
      return Corrupt("manifest lacks partition field {} ('{}') of spec {}", fields[i].field_id, fields[i].name,
                     spec().spec.spec_id);
    }
    partition_columns_.push_back(column);
  }
  return {};
}

Result<bool> ManifestReader::NextBlock() {
  if (next_block_ < blocks_->blocks().size()) {
    DELENDA_TRY(ReadBlock(next_block_, next_row_id_));
    ++next_block_;
    return true;
  }
  DELENDA_TRY(blocks_->CheckEnd());
  return false;
}

Result<void> ManifestReader::ReadBlock(size_t index, std::optional<int64_t>& next_row_id) {
  const auto read = [&]() -> Result<void> {
    DELENDA_TRY(blocks_->avro().DecodeBlock(blocks_->blocks()[index], columns_, inflater_));
    return CheckAndInherit(next_row_id);
  };
  return WithContext(read(), "manifest", blocks_->manifest().path);
}

Result<void> ManifestReader::CheckAndInherit(std::optional<int64_t>& next_row_id) {
  const ManifestFile& manifest = blocks_->manifest();
  const size_t count = rows();
  data_sequence_.assign(count, 0);
  file_sequence_numbers_.assign(count, 0);
  first_row_ids_.assign(count, std::nullopt);
  inherits_row_id_.assign(count, 0);
  partitions_.assign(count, 0);
  for (size_t row = 0; row < count; ++row) {
    if (status_->IsNull(row) || status_->Int(row) < 0 || status_->Int(row) > 2) {
      return Corrupt("manifest entry {} has status {}: expected 0, 1 or 2", row,
                     status_->IsNull(row) ? -1 : status_->Int(row));
    }
    if (path_->IsNull(row) || record_count_->IsNull(row) || file_size_->IsNull(row)) {
      return Corrupt("manifest entry {} lacks its path, record count or size", row);
    }
    if (record_count_->Int(row) < 0 || file_size_->Int(row) < 0) {
      return Corrupt("{}: record count {}, size {}: neither may be negative", Path(row), record_count_->Int(row),
                     file_size_->Int(row));
    }
    const int64_t content = content_->IsNull(row) ? 0 : content_->Int(row);
    const bool deletes = manifest.content == ManifestContent::kDeletes;
    // Delete files in a data manifest would be read as rows; data files in a delete manifest would be lost.
    if (content < 0 || content > 2 || (content != 0) != deletes) {
      return Corrupt("{}: content {} in a manifest of {} files", Path(row), content, deletes ? "delete" : "data");
    }
    if (!key_metadata_->IsNull(row)) return NotSupported("{} is encrypted", Path(row));

    // spec, "Sequence Number Inheritance": a null number of an added file is the manifest's; tables born as version 1
    // have 0.
    const bool inherits = Status(row) == EntryStatus::kAdded || manifest.sequence_number == 0;
    if (!sequence_->IsNull(row)) {
      data_sequence_[row] = sequence_->Int(row);
    } else if (inherits) {
      data_sequence_[row] = manifest.sequence_number;
    } else {
      // A guessed number would decide wrongly which deletes apply to the file.
      return Corrupt("{}: an entry that is not ADDED has no data sequence number", Path(row));
    }
    file_sequence_numbers_[row] = !file_sequence_->IsNull(row) ? file_sequence_->Int(row)
                                  : inherits                   ? manifest.sequence_number
                                                               : data_sequence_[row];

    // spec, "First Row ID Inheritance": without one of the manifest no file has one; DELETED entries take none, but
    // keep the one that they had.
    if (next_row_id) {
      if (!first_row_id_->IsNull(row)) {
        first_row_ids_[row] = first_row_id_->Int(row);
      } else if (Status(row) != EntryStatus::kDeleted) {
        first_row_ids_[row] = next_row_id;
        inherits_row_id_[row] = 1;
        if (__builtin_add_overflow(*next_row_id, record_count_->Int(row), &*next_row_id))
          return Corrupt("{}: row ids overflow", Path(row));
      }
    }
    partitions_[row] = row > 0 && HasPartitionOfRowBefore(row)
                           ? partitions_[row - 1]
                           : DELENDA_TRY(WithContext(ReadPartition(row), "file", Path(row)));
  }
  return {};
}

Result<Datum> ManifestReader::PartitionValue(const Column& column, size_t row, const Type& type) const {
  if (column.IsNull(row)) return Datum();
  switch (column.storage()) {
    case Storage::kInt:
      if (column.type()->kind == avro::Kind::kBoolean) return Datum(column.Int(row) != 0);
      return Datum(column.Int(row));
    case Storage::kReal:
      // A float column that was promoted to double since: the tuple has the type of the current column.
      if (column.type()->kind == avro::Kind::kFloat && type.kind() != TypeKind::kDouble)
        return Datum(static_cast<float>(column.Real(row)));
      return Datum(column.Real(row));
    case Storage::kText:
      if (column.type()->logical == "decimal") return DecimalFromText(column.Text(row));
      return Datum(std::string(column.Text(row)));
    default:
      return Corrupt("partition field '{}' has Avro type {}", column.name(), avro::StorageName(column.storage()));
  }
}

// Neighbours mostly share a partition: equal cells make equal tuples.
bool ManifestReader::HasPartitionOfRowBefore(size_t row) const {
  return std::ranges::all_of(partition_columns_, [row](const Column* column) {
    if (column == nullptr || column->IsNull(row)) return column == nullptr || column->IsNull(row - 1);
    if (column->IsNull(row - 1)) return false;
    switch (column->storage()) {
      case Storage::kInt: return column->Int(row) == column->Int(row - 1);
      case Storage::kText: return column->Text(row) == column->Text(row - 1);
      default: return false;
    }
  });
}

// The place of the tuple in known_partitions_.
Result<uint32_t> ManifestReader::ReadPartition(size_t row) {
  PartitionTuple tuple;
  tuple.values.reserve(partition_columns_.size());
  for (size_t i = 0; i < partition_columns_.size(); ++i) {
    const Column* column = partition_columns_[i];
    tuple.values.push_back(column == nullptr ? Datum()
                                             : DELENDA_TRY(PartitionValue(*column, row, spec().result_types[i])));
  }
  const size_t hash = HashPartitionTuple(tuple);
  for (auto [it, end] = partitions_by_hash_.equal_range(hash); it != end; ++it) {
    if (*known_partitions_[it->second] == tuple) return it->second;
  }
  const auto at = static_cast<uint32_t>(known_partitions_.size());
  known_partitions_.push_back(std::make_shared<const PartitionTuple>(std::move(tuple)));
  partitions_by_hash_.emplace(hash, at);
  return at;
}

int64_t ManifestReader::SnapshotId(size_t row) const {
  return snapshot_id_->IsNull(row) ? blocks_->manifest().added_snapshot_id : snapshot_id_->Int(row);
}

std::optional<ColumnStats> ManifestReader::Stats(size_t row, const BoundColumn& column) const {
  const auto count = [&](const CountMap& map) -> std::optional<int64_t> {
    const auto at = map.Find(row, column.field_id);
    return at ? NullableInt(*map.value, *at) : std::nullopt;
  };
  const auto bound = [&](const CountMap& map) -> std::optional<Datum> {
    const auto at = map.Find(row, column.field_id);
    if (!at || map.value->IsNull(*at)) return std::nullopt;
    return PruningBound(column.type, AsBytes(map.value->Text(*at)));
  };
  return ColumnStats{.value_count = count(value_counts_),
                     .null_count = count(null_counts_),
                     .nan_count = count(nan_counts_),
                     .lower = bound(lower_bounds_),
                     .upper = bound(upper_bounds_)};
}

std::optional<std::string> ManifestReader::FileScope(size_t row) const {
  const auto lower = lower_bounds_.Find(row, kDeletePathFieldId);
  const auto upper = upper_bounds_.Find(row, kDeletePathFieldId);
  if (!lower || !upper) return std::nullopt;
  const std::string_view path = lower_bounds_.value->Text(*lower);
  return path == upper_bounds_.value->Text(*upper) ? std::optional(std::string(path)) : std::nullopt;
}

std::shared_ptr<const FileMetrics> ManifestReader::Metrics(size_t row) const {
  auto metrics = std::make_shared<FileMetrics>();
  const auto counts = [&](const CountMap& map, std::map<int32_t, int64_t>& into) {
    for (uint32_t i = map.list->Begin(row); i < map.list->End(row); ++i)
      into[static_cast<int32_t>(map.key->Int(i))] = map.value->Int(i);
  };
  const auto bounds = [&](const CountMap& map, std::map<int32_t, std::string>& into) {
    for (uint32_t i = map.list->Begin(row); i < map.list->End(row); ++i)
      into[static_cast<int32_t>(map.key->Int(i))] = map.value->Text(i);
  };
  counts(column_sizes_, metrics->column_sizes);
  counts(value_counts_, metrics->value_counts);
  counts(null_counts_, metrics->null_counts);
  counts(nan_counts_, metrics->nan_counts);
  bounds(lower_bounds_, metrics->lower_bounds);
  bounds(upper_bounds_, metrics->upper_bounds);
  return metrics;
}

void ManifestReader::FillFile(size_t row, ContentFile& file) const {
  file.content = content_->IsNull(row) ? FileContent::kData : static_cast<FileContent>(content_->Int(row));
  file.format = FileFormatFromName(format_->Text(row));
  file.path = path_->Text(row);
  file.spec_id = spec().spec.spec_id;
  file.partition = Partition(row);
  file.record_count = record_count_->Int(row);
  file.file_size = file_size_->Int(row);
  file.data_sequence_number = data_sequence_[row];
  file.file_sequence_number = file_sequence_numbers_[row];
  file.first_row_id = first_row_ids_[row];
  if (!sort_order_->IsNull(row)) file.sort_order_id = static_cast<int32_t>(sort_order_->Int(row));
  const auto ints = [&](const Column& list, auto& into) {
    if (list.absent() || list.IsNull(row)) return;
    const Column& element = *list.children()[0];
    for (uint32_t i = list.Begin(row); i < list.End(row); ++i) {
      into.push_back(static_cast<typename std::remove_reference_t<decltype(into)>::value_type>(element.Int(i)));
    }
  };
  if (options_.split_offsets) ints(*split_offsets_, file.split_offsets);
  ints(*equality_ids_, file.equality_ids);
  if (!referenced_->IsNull(row)) file.referenced_data_file = std::string(referenced_->Text(row));
  file.content_offset = NullableInt(*content_offset_, row);
  file.content_size = NullableInt(*content_size_, row);
  if (options_.metrics) file.metrics = Metrics(row);
}

}  // namespace delenda::iceberg
