// Plans by hand over files in memory.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/io/counting_file_io.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/scan_stream.h"
#include "unit/formats_parquet/parquet_writer.h"
#include "unit/read/read_fixture.h"

namespace delenda::testing {

inline Field MakeField(int32_t id, std::string name, Type type, bool required = false) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type = std::move(type);
  field.required = required;
  return field;
}

class PlanBuilder {
 public:
  explicit PlanBuilder(std::vector<Field> fields)
      : counting_(std::make_shared<io::CountingFileIO>(memory_, io::CountingFileIO::Detail::kPerPath)) {
    plan_->schema = Schema::Make(0, std::move(fields)).value();
    plan_->filter = Expr::True();
    for (const Field& field : plan_->schema.fields())
      plan_->columns.push_back({plan::OutputColumn::Kind::kField, field});
  }

  // One task for a file that was put together as `bytes`.
  plan::FileTask& AddFile(const std::string& path, const Bytes& bytes, int64_t record_count) {
    PutFile(*memory_, path, bytes);
    plan::FileTask task;
    task.file.path = path;
    task.file.file_size = static_cast<int64_t>(bytes.size());
    task.file.record_count = record_count;
    task.residual = Expr::True();
    task.length = bytes.size();
    plan_->tasks.push_back(std::move(task));
    return plan_->tasks.back();
  }

  // Vectors in one container that has no footer worth the name: whoever reads it fails.
  void AddVectors(const std::string& path,
                  const std::vector<std::pair<size_t, std::vector<uint64_t>>>& positions_of_tasks, size_t gap = 0) {
    Bytes bytes(4);
    for (const auto& [index, positions] : positions_of_tasks) {
      const PositionSet set = PositionSet::FromPositions(positions).value();
      const Bytes blob = dv::EncodeIcebergBlob(set).value();
      ContentFile& vector = plan_->deletes.emplace_back();
      vector.content = FileContent::kPositionDeletes;
      vector.format = FileFormat::kPuffin;
      vector.path = path;
      vector.record_count = static_cast<int64_t>(set.cardinality());
      vector.referenced_data_file = plan_->tasks[index].file.path;
      vector.content_offset = static_cast<int64_t>(bytes.size());
      vector.content_size = static_cast<int64_t>(blob.size());
      bytes.insert(bytes.end(), blob.begin(), blob.end());
      bytes.resize(bytes.size() + gap);
      plan_->tasks[index].dv = static_cast<uint32_t>(plan_->deletes.size() - 1);
    }
    bytes.resize(bytes.size() + 100);
    for (ContentFile& file : plan_->deletes) {
      if (file.path == path) file.file_size = static_cast<int64_t>(bytes.size());
    }
    PutFile(*memory_, path, bytes);
  }

  using DeleteRow = std::pair<std::optional<std::string>, std::optional<int64_t>>;
  void AddPositionDeletes(const std::string& path, const std::vector<DeleteRow>& rows,
                          const std::vector<size_t>& tasks) {
    std::vector<std::optional<std::string>> paths;
    std::vector<std::optional<int64_t>> positions;
    for (const auto& [file, position] : rows) {
      paths.push_back(file);
      positions.push_back(position);
    }
    const auto table = arrow::Table::Make(
        arrow::schema({IdField(2147483546, "file_path", arrow::utf8()), IdField(2147483545, "pos", arrow::int64())}),
        {Texts(paths), Longs(positions)});
    const Bytes bytes = ToParquet(table, {.rows_per_group = 3});
    PutFile(*memory_, path, bytes);
    ContentFile& file = plan_->deletes.emplace_back();
    file.content = FileContent::kPositionDeletes;
    file.path = path;
    file.record_count = static_cast<int64_t>(rows.size());
    file.file_size = static_cast<int64_t>(bytes.size());
    for (const size_t task : tasks)
      plan_->tasks[task].position_deletes.push_back(static_cast<uint32_t>(plan_->deletes.size() - 1));
  }

  void AddPositionColumn() {
    plan_->columns.push_back(
        {plan::OutputColumn::Kind::kPosition, MakeField(2147483645, "_pos", TypeKind::kLong, true)});
  }
  void Where(const std::string& text) {
    plan_->filter = BindText(text, plan_->schema).value();
    for (auto& task : plan_->tasks) task.residual = plan_->filter;
  }

  plan::ScanPlan& plan() { return *plan_; }
  const std::shared_ptr<plan::ScanPlan>& shared_plan() const { return plan_; }
  const std::shared_ptr<io::CountingFileIO>& io() const { return counting_; }
  const std::shared_ptr<io::FileIO>& memory() const { return memory_; }

  Result<Batches> Read(read::ReadOptions options = {.ordered = true}) {
    return ReadAll(plan_, counting_, std::move(options));
  }

 private:
  std::shared_ptr<plan::ScanPlan> plan_ = std::make_shared<plan::ScanPlan>();
  std::shared_ptr<io::FileIO> memory_ = io::MakeMemoryFileIO();
  std::shared_ptr<io::CountingFileIO> counting_;
};

// A file of one column `id` (field id 1): the numbers from `begin` up, `rows` of them.
inline Bytes IdFile(int64_t begin, int64_t rows, int64_t rows_per_group) {
  const auto table =
      arrow::Table::Make(arrow::schema({IdField(1, "id", arrow::int64(), false)}), {LongRange(begin, begin + rows)});
  return ToParquet(table, {.rows_per_group = rows_per_group, .dictionary = false});
}

inline std::vector<int64_t> Ids(const Batches& batches) {
  std::vector<int64_t> ids;
  for (const auto& batch : batches) {
    const auto& column = static_cast<const arrow::Int64Array&>(*batch->column(0));
    for (int64_t i = 0; i < column.length(); ++i) ids.push_back(column.Value(i));
  }
  return ids;
}

}  // namespace delenda::testing
