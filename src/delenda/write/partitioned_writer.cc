#include "delenda/write/partitioned_writer.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/write/partition_groups.h"
#include "delenda/write/required_check.h"

namespace delenda::write {
namespace {

// The rows of each group, in their order.
struct GroupRows {
  std::vector<int64_t> rows;   // of group 0, then of group 1, …
  std::vector<size_t> starts;  // groups + 1
};

GroupRows SortByGroup(const PartitionGroups& groups) {
  GroupRows sorted;
  sorted.starts.assign(groups.tuples.size() + 1, 0);
  for (const uint32_t group : groups.group_of_row) ++sorted.starts[group + 1];
  for (size_t i = 1; i < sorted.starts.size(); ++i) sorted.starts[i] += sorted.starts[i - 1];
  sorted.rows.resize(groups.group_of_row.size());
  std::vector<size_t> next(sorted.starts.begin(), sorted.starts.end() - 1);
  for (size_t row = 0; row < groups.group_of_row.size(); ++row) {
    sorted.rows[next[groups.group_of_row[row]]++] = static_cast<int64_t>(row);
  }
  return sorted;
}

Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& batch, std::span<const int64_t> rows) {
  if (rows.back() - rows.front() + 1 == static_cast<int64_t>(rows.size())) {
    return batch.Slice(rows.front(), static_cast<int64_t>(rows.size()));
  }
  const auto indices = std::make_shared<arrow::Int64Array>(static_cast<int64_t>(rows.size()),
                                                           arrow::Buffer::Wrap(rows.data(), rows.size()));
  arrow::ArrayVector columns;
  for (const auto& column : batch.columns()) {
    columns.push_back(DELENDA_TRY(
        parquet::ToResult(arrow::compute::Take(*column, *indices, arrow::compute::TakeOptions::NoBoundsCheck()),
                          parquet::StatusSource::kCompute)));
  }
  return arrow::RecordBatch::Make(batch.schema(), static_cast<int64_t>(rows.size()), std::move(columns));
}

struct PartitionHash {
  size_t operator()(const PartitionTuple& tuple) const { return HashPartitionTuple(tuple); }
};

}  // namespace

struct PartitionedWriter::State {
  WriteTarget target;
  PartitionedWriterOptions options;
  Schema row_schema;
  DataFileNames names;
  struct Partition {
    DataFileWriter writer;
    uint64_t last_written = 0;  // by count of writes
  };
  std::vector<Partition> partitions;  // in the order of their first rows
  std::unordered_map<PartitionTuple, size_t, PartitionHash> by_tuple;
  size_t open_files = 0;
  uint64_t writes = 0;
  int64_t rows = 0;

  State(WriteTarget t, PartitionedWriterOptions o)
      : target(std::move(t)), options(o), names(target.table_location, target.properties) {}

  Result<Partition*> PartitionOf(const PartitionTuple& tuple);
  Result<void> WriteRows(Partition& partition, const arrow::RecordBatch& batch);
  Result<void> CloseOldest();
  Result<void> KeepWithinMemory();
};

PartitionedWriter::PartitionedWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
PartitionedWriter::~PartitionedWriter() = default;
PartitionedWriter::PartitionedWriter(PartitionedWriter&&) noexcept = default;
PartitionedWriter& PartitionedWriter::operator=(PartitionedWriter&&) noexcept = default;

Result<PartitionedWriter> PartitionedWriter::Make(WriteTarget target, PartitionedWriterOptions options) {
  if (options.max_open_files == 0) return InvalidArgument("a writer needs at least one open file");
  auto state = std::make_unique<State>(std::move(target), options);
  state->row_schema = DELENDA_TRY(state->target.RowSchema());
  return PartitionedWriter(std::move(state));
}

const WriteTarget& PartitionedWriter::target() const { return state_->target; }
int64_t PartitionedWriter::rows() const { return state_->rows; }

Result<PartitionedWriter::State::Partition*> PartitionedWriter::State::PartitionOf(const PartitionTuple& tuple) {
  const auto [found, added] = by_tuple.try_emplace(tuple, partitions.size());
  if (added) {
    partitions.push_back(
        { DELENDA_TRY(DataFileWriter::Make(target, names, std::make_shared<const PartitionTuple>(tuple))) });
  }
  return &partitions[found->second];
}

Result<void> PartitionedWriter::State::CloseOldest() {
  Partition* oldest = nullptr;
  for (Partition& partition : partitions) {
    if (!partition.writer.has_open_file()) continue;
    if (oldest == nullptr || partition.last_written < oldest->last_written) oldest = &partition;
  }
  if (oldest == nullptr) return InternalError("no open file to close");
  DELENDA_TRY(oldest->writer.CloseFile());
  --open_files;
  return {};
}

// Files of wide rows hold much each: the open row groups of many would fill the machine.
Result<void> PartitionedWriter::State::KeepWithinMemory() {
  uint64_t total = 0;
  for (const Partition& partition : partitions) total += partition.writer.buffered_bytes();
  if (total <= options.max_buffered_bytes) return {};
  const auto largest = std::ranges::max_element(
      partitions, {}, [](const Partition& partition) { return partition.writer.buffered_bytes(); });
  return largest->writer.EndRowGroup();
}

Result<void> PartitionedWriter::State::WriteRows(Partition& partition, const arrow::RecordBatch& batch) {
  const bool was_open = partition.writer.has_open_file();
  if (!was_open && open_files >= options.max_open_files) DELENDA_TRY(CloseOldest());
  partition.last_written = ++writes;
  DELENDA_TRY(partition.writer.Write(batch));
  // Rolled over, it may be closed now.
  if (was_open) --open_files;
  if (partition.writer.has_open_file()) ++open_files;
  return {};
}

Result<void> PartitionedWriter::Write(const arrow::RecordBatch& batch) {
  State& s = *state_;
  if (batch.num_rows() == 0) return {};
  if (static_cast<size_t>(batch.num_columns()) != s.row_schema.fields().size()) {
    return InternalError("a batch of {} columns for a table of {}", batch.num_columns(), s.row_schema.fields().size());
  }
  // Before rows are taken apart, so that the error names the row as the caller counts.
  DELENDA_TRY(CheckRequired(s.row_schema, batch, s.rows + 1));
  const PartitionGroups groups = DELENDA_TRY(GroupByPartition(s.target.spec, s.row_schema, batch));
  if (groups.tuples.size() == 1) {
    DELENDA_TRY(s.WriteRows(*DELENDA_TRY(s.PartitionOf(groups.tuples[0])), batch));
  } else {
    const GroupRows sorted = SortByGroup(groups);
    for (size_t group = 0; group < groups.tuples.size(); ++group) {
      const std::span<const int64_t> rows(sorted.rows.data() + sorted.starts[group],
                                          sorted.starts[group + 1] - sorted.starts[group]);
      const auto taken = DELENDA_TRY(TakeRows(batch, rows));
      DELENDA_TRY(s.WriteRows(*DELENDA_TRY(s.PartitionOf(groups.tuples[group])), *taken));
    }
  }
  s.rows += batch.num_rows();
  return s.KeepWithinMemory();
}

Result<std::vector<ContentFile>> PartitionedWriter::Finish() {
  std::vector<ContentFile> files;
  for (State::Partition& partition : state_->partitions) {
    std::vector<ContentFile> of_partition = DELENDA_TRY(partition.writer.Finish());
    std::ranges::move(of_partition, std::back_inserter(files));
  }
  state_->open_files = 0;
  return files;
}

}  // namespace delenda::write
