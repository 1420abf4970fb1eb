#include "delenda/read/position_delete_file.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <deque>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "delenda/formats/parquet/parquet_file.h"
#include "delenda/io/location.h"
#include "delenda/model/name_mapping.h"
#include "delenda/read/column_adapter.h"
#include "delenda/read/mapped_schema.h"

namespace delenda::read {
namespace {

constexpr int64_t kBatchRows = 64 * 1024;

Field DeleteField(int32_t id, std::string name, TypeKind kind) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = kind;
  field.required = true;
  return field;
}

// A position delete file has the same two columns in every table (spec, "Position Delete Files"), so that one without
// field ids can be read by its names.
NameMapping PositionDeleteNames() {
  return {{{.id = kDeletePathFieldId, .names = {"file_path"}, .fields = {}},
           {.id = kDeletePositionFieldId, .names = {"pos"}, .fields = {}}}};
}

// Rows are put into one bucket per distinct path. A path that nobody needs has none.
class Collector {
 public:
  explicit Collector(const std::set<std::string, std::less<>>& data_files) {
    for (const std::string& path : data_files) {
      Wanted& wanted = wanted_.emplace_back();
      wanted.path = path;
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      buckets_.emplace(wanted_[i].path, &wanted_[i].exact);
      // Two data files of one canonical spelling cannot both be meant: neither is matched so.
      const auto [at, added] = canonical_.emplace(io::CanonicalLocation(wanted_[i].path), &wanted_[i].canonical);
      if (!added) at->second = nullptr;
    }
  }

  Result<void> Add(const arrow::BinaryArray& paths, const arrow::Int64Array& positions, uint64_t first_row) {
    for (int64_t i = 0; i < paths.length(); ++i) {
      const int64_t position = positions.Value(i);
      if (position < 0) {
        return Corrupt("row {} of the position delete file holds the negative position {}",
                       first_row + static_cast<uint64_t>(i), position);
      }
      const std::string_view path = paths.GetView(i);
      if (first_ || path != last_path_) Switch(path);
      if (bucket_ != nullptr) bucket_->push_back(static_cast<uint64_t>(position));
    }
    return {};
  }

  FilePositions Finish() && {
    FilePositions result;
    for (Wanted& wanted : wanted_) {
      const bool canonical = wanted.exact.empty();
      std::vector<uint64_t>& positions = canonical ? wanted.canonical : wanted.exact;
      if (!positions.empty()) result.by_path[wanted.path] = {std::move(positions), canonical};
    }
    return result;
  }

 private:
  struct Wanted {
    std::string path;
    std::vector<uint64_t> exact, canonical;
  };

  void Switch(std::string_view path) {
    first_ = false;
    last_path_ = path;
    auto at = buckets_.find(last_path_);
    if (at == buckets_.end()) {
      const auto canonical = canonical_.find(io::CanonicalLocation(path));
      at = buckets_.emplace(last_path_, canonical == canonical_.end() ? nullptr : canonical->second).first;
    }
    bucket_ = at->second;
  }

  std::deque<Wanted> wanted_;
  std::unordered_map<std::string, std::vector<uint64_t>*> buckets_;
  std::unordered_map<std::string, std::vector<uint64_t>*> canonical_;
  bool first_ = true;
  std::string last_path_;
  std::vector<uint64_t>* bucket_ = nullptr;
};

Result<FilePositions> Read(io::FileIO& io, const ContentFile& file,
                           const std::set<std::string, std::less<>>& data_files, const CancelToken& cancel) {
  if (file.file_size < 0) return Corrupt("the manifest says the file is {} bytes long", file.file_size);
  const auto size = static_cast<uint64_t>(file.file_size);
  std::shared_ptr<io::InputFile> input = DELENDA_TRY(io.Open(file.path, size));
  const std::optional<NameMapping> names = PositionDeleteNames();
  const auto opened = DELENDA_TRY(parquet::ParquetFile::Open(std::move(input), size, AssignIdsBy(names)));
  if (opened->num_rows() != file.record_count) {
    return Corrupt("expected {} rows by the manifest, found {}", file.record_count, opened->num_rows());
  }
  const auto adapter = DELENDA_TRY(ColumnAdapter::Make({DeleteField(kDeletePathFieldId, "file_path", TypeKind::kString),
                                                        DeleteField(kDeletePositionFieldId, "pos", TypeKind::kLong)},
                                                       *opened, {}));
  Collector collector(data_files);
  for (size_t group = 0; group < opened->row_groups().size(); ++group) {
    if (cancel.cancelled()) return Cancelled("stopped at the caller's request");
    if (opened->row_groups()[group].num_rows == 0) continue;
    const auto reader = DELENDA_TRY(opened->Read(group, adapter.leaves(), kBatchRows));
    uint64_t row = opened->row_groups()[group].first_position;
    while (const auto batch = DELENDA_TRY(reader->Next())) {
      const auto columns = DELENDA_TRY(adapter.Adapt(batch.get(), batch->num_rows()));
      DELENDA_TRY(collector.Add(static_cast<const arrow::BinaryArray&>(*columns[0]),
                                static_cast<const arrow::Int64Array&>(*columns[1]), row));
      row += static_cast<uint64_t>(batch->num_rows());
    }
  }
  return std::move(collector).Finish();
}

}  // namespace

Result<FilePositions> ReadPositionDeletes(io::FileIO& io, const ContentFile& file,
                                          const std::set<std::string, std::less<>>& data_files,
                                          const CancelToken& cancel) {
  return WithContext(Read(io, file, data_files, cancel), "file", file.path);
}

}  // namespace delenda::read
