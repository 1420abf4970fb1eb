#include <arrow/array.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/util/byte_size.h>

#include <algorithm>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/formats/parquet/compaction.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/change_stream.h"
#include "delenda/read/constant_array.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {
namespace {

constexpr auto kCompute = parquet::StatusSource::kCompute;
using ArrayRef = std::shared_ptr<arrow::Array>;

parquet::RowMask MaskOf(const std::optional<Selection>& kept) {
  return kept ? parquet::RowMask(kept->bytes(), 0) : parquet::RowMask();
}

Result<ArrayRef> Positions(uint64_t first, int64_t rows, const std::optional<Selection>& kept, int64_t count) {
  arrow::Int64Builder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(count), kCompute));
  for (int64_t row = 0; row < rows; ++row) {
    if (!kept || kept->Kept(row)) builder.UnsafeAppend(static_cast<int64_t>(first) + row);
  }
  return parquet::ToResult(builder.Finish(), kCompute);
}

// Row lineage: what the file stores wins.
Result<ArrayRef> StoredOrDerived(const ArrayRef& stored, const ArrayRef& derived) {
  if (stored->null_count() == 0) return stored;
  const auto& values = static_cast<const arrow::Int64Array&>(*stored);
  const auto& others = static_cast<const arrow::Int64Array&>(*derived);
  arrow::Int64Builder builder;
  DELENDA_TRY(parquet::ToResult(builder.Reserve(values.length()), kCompute));
  for (int64_t row = 0; row < values.length(); ++row)
    builder.UnsafeAppend(values.IsValid(row) ? values.Value(row) : others.Value(row));
  return parquet::ToResult(builder.Finish(), kCompute);
}

Result<ArrayRef> PartitionColumn(const plan::ScanPlan& plan, const ContentFile& file, const Type& type, int64_t rows) {
  const auto spec = plan.specs.find(file.spec_id);
  arrow::ArrayVector children;
  for (const Field& field : type.fields()) {
    Datum value;
    for (size_t i = 0; spec != plan.specs.end() && i < file.partition->values.size(); ++i) {
      if (spec->second.spec.fields[i].field_id == field.id) value = file.partition->values[i];
    }
    children.push_back(DELENDA_TRY(ConstantArray(field.type, DELENDA_TRY(ToArrowType(field.type)), value, rows)));
  }
  const auto struct_type = DELENDA_TRY(ToArrowType(type));
  return std::make_shared<arrow::StructArray>(struct_type, rows, std::move(children));
}

}  // namespace

RowGroupScan::RowGroupScan(ScanContext& context, std::shared_ptr<const OpenTask> task, size_t row_group, int64_t first,
                           int64_t end)
    : context_(context),
      task_(std::move(task)),
      row_group_(row_group),
      check_keys_(task_->ChecksKeys(row_group)),
      column_plan_(check_keys_ ? task_->with_keys : task_->plain),
      info_(task_->data->file->row_groups()[row_group]),
      first_row_(first),
      end_row_(std::min(end, info_.num_rows)),
      next_row_(first) {}
RowGroupScan::~RowGroupScan() {
  // Not read to the end: nobody gets half of its rows.
  for (const Rider& rider : riders_) context_.taken_along().Release(rider.bytes);
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::Next() {
  Result<std::shared_ptr<arrow::RecordBatch>> batch = parquet::Guarded([&] { return NextOrError(); });
  if (!batch) {
    batch.error().Add("row group", row_group_).Add("file", context_.plan().tasks[task_->index].file.path);
  }
  return batch;
}

Selection WantedPositions::Mask(uint64_t first, int64_t rows) const {
  Selection mask(rows);
  const PositionSet& set = only ? *only : deleted;
  set.FillMask(first, static_cast<uint64_t>(rows), mask.mutable_bytes(),
               only ? MaskBits::kMembers : MaskBits::kNonMembers);
  return mask;
}

// Positions are ordinals in the file: the row group's first position plus the row within the group, whatever other row
// groups were skipped and whatever rows the filter drops.
std::optional<Selection> RowGroupScan::LiveRows(int64_t begin, int64_t rows) const {
  const WantedPositions& positions = *task_->data->positions;
  const uint64_t first = info_.first_position + static_cast<uint64_t>(begin);
  // Where keys are checked, a row may be wanted for its key alone: Decide knows.
  if (positions.only && !check_keys_) {
    Selection live = positions.Mask(first, rows);
    for (const Rider& rider : riders_) live |= rider.passenger.positions->Mask(first, rows);
    return live;
  }
  if (positions.deleted.empty()) return std::nullopt;
  Selection live(rows);
  if (positions.deleted.FillMask(first, static_cast<uint64_t>(rows), live.mutable_bytes(), MaskBits::kNonMembers) == 0)
    return std::nullopt;
  for (const Rider& rider : riders_) live |= rider.passenger.positions->Mask(first, rows);
  return live;
}

Result<void> RowGroupScan::Decide(std::span<const ArrayRef> columns, int64_t begin, int64_t rows,
                                  std::optional<Selection>& matching, std::optional<Selection>& live) const {
  size_t next = 0;
  const auto take = [&](size_t count) {
    const auto part = columns.subspan(next, count);
    next += count;
    return std::vector<ArrayRef>(part.begin(), part.end());
  };
  if (task_->filter) {
    matching = DELENDA_TRY(task_->filter->Evaluate(take(task_->filter->fields().size()), rows));
  }
  const int64_t data_sequence_number = context_.plan().tasks[task_->index].file.data_sequence_number;
  if (const KeyTable* keys = context_.keys()) {
    if (!matching) matching = Selection(rows, true);
    const auto* sequences = context_.options().key_sequence_numbers.get();
    DELENDA_TRY(keys->KeepWhere(take(keys->fields().size()), *matching, [&](int64_t, int64_t number) {
      return number != KeyTable::kNone &&
             (sequences == nullptr || (*sequences)[static_cast<size_t>(number)] > data_sequence_number);
    }));
  }
  if (!check_keys_) return {};
  if (!live) live = Selection(rows, true);
  for (const auto& keys : task_->equality) {
    DELENDA_TRY(keys->RemoveDeleted(take(keys->fields().size()), data_sequence_number, *live));
  }
  if (const std::optional<PositionSet>& only = task_->data->positions->only) {
    Selection wanted(rows, true);
    for (const auto& keys : task_->only_equality) {
      DELENDA_TRY(keys->RemoveDeleted(take(keys->fields().size()), data_sequence_number, wanted));
    }
    wanted.Invert();
    Selection by_position(rows);
    only->FillMask(info_.first_position + static_cast<uint64_t>(begin), static_cast<uint64_t>(rows),
                   by_position.mutable_bytes(), MaskBits::kMembers);
    wanted |= by_position;
    *live &= wanted;
  }
  return {};
}

bool RowGroupScan::HasCandidates() const {
  const auto rows = task_->page_rows.find(row_group_);
  return rows == task_->page_rows.end() || std::ranges::any_of(rows->second.runs, [&](const parquet::RowRun& run) {
           return run.first < end_row_ && run.end > first_row_;
         });
}

parquet::RowGroupPart RowGroupScan::Part(const parquet::RowGroupReader* earlier) const {
  parquet::RowGroupPart part{.first = first_row_, .end = end_row_, .earlier = earlier, .context = decoder_};
  if (const auto rows = task_->page_rows.find(row_group_); rows != task_->page_rows.end()) {
    part.runs = rows->second.runs;
    part.pages = rows->second.pages;
  }
  return part;
}

Result<bool> RowGroupScan::FirstPass() {
  const int64_t batch_rows = context_.options().batch_rows;
  const int64_t all_rows = end_row_ - first_row_;
  Selection matching(all_rows);  // none, where pages rule rows out
  // `begin`: from first_row_ on.
  const auto evaluate = [&](const arrow::RecordBatch* batch, int64_t begin, int64_t rows) -> Result<void> {
    DELENDA_TRY(context_.CheckCancelled());
    const auto columns = DELENDA_TRY(column_plan_.deciding.Adapt(batch, rows));
    std::optional<Selection> part, live;
    DELENDA_TRY(Decide(columns, first_row_ + begin, rows, part, live));
    if (!part) part = Selection(rows, true);
    if (live) *part &= *live;
    matching.Assign(begin, *part);
    return {};
  };
  if (column_plan_.deciding.leaves().empty()) {
    for (int64_t begin = 0; begin < all_rows; begin += batch_rows)
      DELENDA_TRY(evaluate(nullptr, begin, std::min(batch_rows, all_rows - begin)));
  } else {
    filter_reader_ =
        DELENDA_TRY(task_->data->file->Read(row_group_, column_plan_.deciding.leaves(), batch_rows, Part(nullptr)));
    while (const auto batch = DELENDA_TRY(filter_reader_->Next()))
      DELENDA_TRY(evaluate(batch.get(), filter_reader_->first_row() - first_row_, batch->num_rows()));
  }
  if (const std::optional<Selection> live = LiveRows(first_row_, all_rows)) matching &= *live;
  const int64_t count = matching.Count();
  if (count != all_rows) selected_ = std::move(matching);
  return count != 0;
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::NextOrError() {
  const bool reads = !column_plan_.columns.leaves().empty();
  if (!started_) {
    started_ = true;
    if (context_.change(task_->index) != nullptr && !check_keys_) Board();
    if (ready_ || !HasCandidates()) next_row_ = end_row_;
    if (next_row_ < end_row_) decoder_ = context_.BorrowDecoder();
    if (next_row_ < end_row_ && column_plan_.two_passes && !DELENDA_TRY(FirstPass())) next_row_ = end_row_;
    if (reads && next_row_ < end_row_) {
      reader_ = DELENDA_TRY(task_->data->file->Read(row_group_, column_plan_.columns.leaves(),
                                                    context_.options().batch_rows, Part(filter_reader_.get())));
      filter_reader_.reset();
    }
  }
  if (ready_) return next_ready_ < ready_->size() ? (*ready_)[next_ready_++] : nullptr;
  while (next_row_ < end_row_) {
    DELENDA_TRY(context_.CheckCancelled());
    int64_t rows = std::min(context_.options().batch_rows, end_row_ - next_row_);
    int64_t begin = next_row_;
    if (reads) {
      rows = DELENDA_TRY(reader_->Begin());
      if (rows == 0) {
        // Pages rule out what is left.
        if (!task_->page_rows.contains(row_group_)) return InternalError("a row group ended early");
        break;
      }
      begin = reader_->first_row();
    }
    next_row_ = begin + rows;

    std::optional<Selection> matching, live;
    if (column_plan_.two_passes) {
      if (selected_) matching = selected_->Slice(begin - first_row_, rows);
    } else {
      live = LiveRows(begin, rows);
    }
    // Rows that are known not to be kept are not decoded; those that these columns decide about must be.
    const bool decides = !column_plan_.two_passes && (task_->filter || context_.keys() != nullptr || check_keys_);
    std::optional<Selection> decoded;
    // Where later tasks ride along, all rows are read: theirs are not among this task's.
    if (riders_.empty() && !context_.marks_deleted() && (!decides || (live && live->Count() == 0)))
      decoded = column_plan_.two_passes ? matching : live;
    const int64_t decoded_rows = decoded ? decoded->Count() : rows;
    std::shared_ptr<arrow::RecordBatch> batch;
    if (reads && decoded_rows != 0) batch = DELENDA_TRY(reader_->Take(MaskOf(decoded), decoded_rows));
    // The last batch: see that nothing follows it, which would mean that the columns and the row count disagree.
    if (reads && next_row_ == end_row_ && DELENDA_TRY(reader_->Begin()) != 0)
      return Corrupt("more rows than the row group has");
    if (decoded_rows == 0) continue;
    std::vector<ArrayRef> columns = DELENDA_TRY(column_plan_.columns.Adapt(batch.get(), decoded_rows));
    if (decides) {
      const size_t outputs = context_.output_fields().size();
      DELENDA_TRY(Decide(std::span(columns).subspan(outputs), begin, rows, matching, live));
      columns.resize(outputs);
    }
    std::optional<Selection> kept = matching;
    if (live && !context_.marks_deleted()) {
      if (kept)
        *kept &= *live;
      else
        kept = live;
    }
    const BatchRows read{.begin = begin, .rows = rows, .decoded = decoded_rows};
    if (!riders_.empty()) {
      DELENDA_TRY(Serve(read, kept, columns));
      Selection own = task_->data->positions->Mask(info_.first_position + static_cast<uint64_t>(begin), rows);
      if (kept) own &= *kept;
      kept = std::move(own);
    }
    if (auto result = DELENDA_TRY(Assemble(task_->index, read, kept, live, columns))) return result;
  }
  for (Rider& rider : riders_)
    context_.taken_along().Put(rider.passenger.task, row_group_, std::move(rider.rows), rider.bytes);
  riders_.clear();
  return nullptr;
}

// Finds out what an earlier task has read for this one, else whom this one reads for.
void RowGroupScan::Board() {
  ready_ = context_.taken_along().Claim(task_->index, row_group_);
  if (ready_) return;
  for (ScanContext::Passenger& passenger : context_.PassengersOf(*task_, info_))
    riders_.push_back({std::move(passenger), {}, ScanContext::kPassengerBytes});
}

// Keeps the rows that later tasks want of a batch. Those furthest off make room when there is none.
Result<void> RowGroupScan::Serve(const BatchRows& read, const std::optional<Selection>& kept,
                                 const std::vector<ArrayRef>& fields) {
  const uint64_t first = info_.first_position + static_cast<uint64_t>(read.begin);
  for (size_t i = 0; i < riders_.size(); ++i) {
    Selection wanted = riders_[i].passenger.positions->Mask(first, read.rows);
    if (kept) wanted &= *kept;
    const auto batch = DELENDA_TRY(Assemble(riders_[i].passenger.task, read, wanted, std::nullopt, fields));
    if (!batch) continue;
    const auto bytes = static_cast<uint64_t>(arrow::util::TotalBufferSize(*batch));
    while (!context_.taken_along().Reserve(bytes)) {
      context_.taken_along().Release(riders_.back().bytes);
      riders_.pop_back();
      if (i >= riders_.size()) return {};
    }
    riders_[i].rows.push_back(batch);
    riders_[i].bytes += bytes;
  }
  return {};
}

Result<std::shared_ptr<arrow::RecordBatch>> RowGroupScan::Assemble(size_t task, const BatchRows& batch,
                                                                   const std::optional<Selection>& kept,
                                                                   const std::optional<Selection>& live,
                                                                   const std::vector<ArrayRef>& fields) const {
  using enum plan::OutputColumn::Kind;
  const int64_t rows = batch.rows;
  const int64_t count = kept ? kept->Count() : rows;
  if (count == 0) return nullptr;
  const ContentFile& file = context_.plan().tasks[task].file;
  const TaskChange* change = context_.change(task);  // there if a column asks for it (CheckColumns)
  const uint64_t first = info_.first_position + static_cast<uint64_t>(batch.begin);
  std::vector<ArrayRef> columns;
  size_t next_field = 0;
  const auto next_array = [&]() -> Result<ArrayRef> {
    const ArrayRef& array = fields[next_field++];
    return count == batch.decoded ? array : DELENDA_TRY(parquet::Compact(array, MaskOf(kept), count));
  };
  for (const plan::OutputColumn& column : context_.plan().columns) {
    const auto constant = [&](const Datum& value) -> Result<ArrayRef> {
      return ConstantArray(column.field.type, DELENDA_TRY(ToArrowType(column.field.type)), value, count);
    };
    switch (column.kind) {
      case kField: columns.push_back(DELENDA_TRY(next_array())); break;
      case kFilePath: columns.push_back(DELENDA_TRY(constant(Datum(file.path)))); break;
      case kPosition: columns.push_back(DELENDA_TRY(Positions(first, rows, kept, count))); break;
      case kRowId: {
        const ArrayRef stored = DELENDA_TRY(next_array());
        if (!file.first_row_id) {
          columns.push_back(stored);
          break;
        }
        const ArrayRef derived =
            DELENDA_TRY(Positions(static_cast<uint64_t>(*file.first_row_id) + first, rows, kept, count));
        columns.push_back(DELENDA_TRY(StoredOrDerived(stored, derived)));
        break;
      }
      case kLastUpdated: {
        const ArrayRef stored = DELENDA_TRY(next_array());
        columns.push_back(
            DELENDA_TRY(StoredOrDerived(stored, DELENDA_TRY(constant(Datum(file.data_sequence_number))))));
        break;
      }
      case kChangeType:
        columns.push_back(DELENDA_TRY(constant(Datum(std::string(change->inserted ? kTypeInsert : kTypeDelete)))));
        break;
      case kChangeOrdinal: columns.push_back(DELENDA_TRY(constant(Datum(int64_t{change->ordinal})))); break;
      case kCommitSnapshotId: columns.push_back(DELENDA_TRY(constant(Datum(change->snapshot_id)))); break;
      case kCommitTimestamp: columns.push_back(DELENDA_TRY(constant(Datum(change->timestamp_us)))); break;
      case kSpecId: columns.push_back(DELENDA_TRY(constant(Datum(int64_t{file.spec_id})))); break;
      case kPartition:
        columns.push_back(DELENDA_TRY(PartitionColumn(context_.plan(), file, column.field.type, count)));
        break;
      case kDeleted: {
        arrow::BooleanBuilder builder;
        DELENDA_TRY(parquet::ToResult(builder.Reserve(count), kCompute));
        for (int64_t row = 0; row < rows; ++row) {
          if (!kept || kept->Kept(row)) builder.UnsafeAppend(live && !live->Kept(row));
        }
        columns.push_back(DELENDA_TRY(parquet::ToResult(builder.Finish(), kCompute)));
        break;
      }
    }
  }
  return arrow::RecordBatch::Make(context_.schema(), count, std::move(columns));
}

}  // namespace delenda::read
