#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "delenda/read/arrow_type.h"
#include "delenda/read/mapped_schema.h"
#include "delenda/read/page_rows.h"
#include "delenda/read/row_group_blooms.h"
#include "delenda/read/row_group_stats.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {
namespace {

ConstantColumns PartitionConstants(const plan::ScanPlan& plan, const ContentFile& file) {
  ConstantColumns constants;
  const auto spec = plan.specs.find(file.spec_id);
  if (spec == plan.specs.end() || !file.partition) return constants;
  const std::vector<PartitionField>& fields = spec->second.spec.fields;
  for (size_t i = 0; i < fields.size() && i < file.partition->values.size(); ++i) {
    if (fields[i].transform.kind() == Transform::Kind::kIdentity)
      constants[fields[i].source_id] = file.partition->values[i];
  }
  return constants;
}

bool IsTrue(const ExprRef& expr) { return !expr || expr->op == Op::kTrue; }

}  // namespace

ScanContext::ScanContext(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                         ReadOptions options, std::vector<TaskChange> changes)
    : plan_(std::move(plan)),
      io_(std::move(io)),
      options_(std::move(options)),
      changes_(std::move(changes)),
      equality_(*plan_, io_, options_.equality_memory, options_.hooks.cancel),
      taken_along_(options_.lookahead_memory) {}

Result<std::unique_ptr<ScanContext>> ScanContext::Make(std::shared_ptr<const plan::ScanPlan> plan,
                                                       std::shared_ptr<io::FileIO> io, ReadOptions options,
                                                       std::vector<TaskChange> changes) {
  if (options.batch_rows <= 0) return InvalidArgument("batches of {} rows", options.batch_rows);
  std::unique_ptr<ScanContext> context(
      new ScanContext(std::move(plan), std::move(io), std::move(options), std::move(changes)));
  const plan::ScanPlan& p = *context->plan_;
  context->schema_ = DELENDA_TRY(ToArrowSchema(p.columns));
  for (const plan::OutputColumn& column : p.columns) {
    using enum plan::OutputColumn::Kind;
    if (column.kind == kField || column.kind == kRowId || column.kind == kLastUpdated)
      context->output_fields_.push_back(column.field);
    context->marks_deleted_ = context->marks_deleted_ || column.kind == kDeleted;
  }
  DELENDA_TRY(context->CheckColumns());
  if (context->options_.keys) context->sorted_keys_ = context->options_.keys->sorted();
  for (const plan::FileTask& task : p.tasks) DELENDA_TRY(WithContext(context->CheckTask(task), "file", task.file.path));
  DELENDA_TRY(context->AddFiles());
  context->LinkTasksOfFiles();
  std::vector<DeleteLoader::Need> needs;
  for (const DataFileCell& cell : context->files_) {
    needs.push_back(cell.need);
    if (cell.only) needs.push_back(*cell.only);
  }
  context->deletes_ = DELENDA_TRY(
      DeleteLoader::Make(p, needs, context->io_, context->options_.verify_footers, context->options_.hooks));
  return context;
}

Result<void> ScanContext::CheckColumns() const {
  using enum plan::OutputColumn::Kind;
  if (!changes_.empty() && changes_.size() != plan_->tasks.size())
    return InternalError("{} changes for {} tasks", changes_.size(), plan_->tasks.size());
  if (options_.key_sequence_numbers && options_.keys &&
      options_.key_sequence_numbers->size() != static_cast<size_t>(options_.keys->size()))
    return InternalError("{} sequence numbers for {} keys", options_.key_sequence_numbers->size(),
                         options_.keys->size());
  if (options_.keys && !changes_.empty()) return NotSupported("changes are not read by keys");
  for (const plan::OutputColumn& column : plan_->columns) {
    const bool of_changes = column.kind == kChangeType || column.kind == kChangeOrdinal ||
                            column.kind == kCommitSnapshotId || column.kind == kCommitTimestamp;
    if (of_changes && changes_.size() != plan_->tasks.size())
      return NotSupported("column {} is one of changes, not of a scan", column.field.name);
    // It would bring back the rows that the task's deletes rule out.
    if (column.kind == kDeleted && !changes_.empty())
      return NotSupported("changes have no column {}", column.field.name);
  }
  return {};
}

Result<void> ScanContext::CheckTask(const plan::FileTask& task) const {
  if (task.file.content != FileContent::kData)
    return InternalError("{} planned as data", FileContentName(task.file.content));
  if (task.file.format != FileFormat::kParquet) {
    return NotSupported("data files in {} cannot be read", FileFormatName(task.file.format));
  }
  DELENDA_TRY(CheckEqualityDeletes(task.equality_deletes));
  if (task.dv && !task.position_deletes.empty())
    return InternalError("a data file with both a deletion vector and position deletes");
  if (task.file.file_size < 0 || task.file.record_count < 0) {
    return Corrupt("the manifest says that the file is {} bytes long and holds {} rows", task.file.file_size,
                   task.file.record_count);
  }
  if (!IsTrue(task.residual)) DELENDA_TRY(FilterEvaluator::Make(task.residual, plan_->schema));
  return {};
}

Result<void> ScanContext::CheckEqualityDeletes(const std::vector<uint32_t>& deletes) const {
  for (const uint32_t index : deletes) {
    if (index >= plan_->deletes.size()) return InternalError("the plan has no delete {}", index);
    const ContentFile& file = plan_->deletes[index];
    if (file.content != FileContent::kEqualityDeletes || file.format != FileFormat::kParquet ||
        file.equality_ids.empty()) {
      return NotSupported("{} in {} files cannot be applied as equality deletes: {}", FileContentName(file.content),
                          FileFormatName(file.format), file.path);
    }
  }
  return {};
}

// Finds the data files behind the tasks, and the tables of keys that each of them needs.
Result<void> ScanContext::AddFiles() {
  const size_t count = plan_->tasks.size();
  using State = std::pair<uint64_t, bool>;
  std::map<State, std::set<uint32_t>> live_together;
  const auto state_of = [&](size_t i) { return State(changes_.empty() ? 0 : changes_[i].state, false); };
  for (size_t i = 0; i < count; ++i) {
    const plan::FileTask& task = plan_->tasks[i];
    if (!task.equality_deletes.empty())
      live_together[state_of(i)].insert(task.equality_deletes.begin(), task.equality_deletes.end());
    if (changes_.empty() || !changes_[i].only) continue;
    const plan::DeleteState& only = *changes_[i].only;
    DELENDA_TRY(WithContext(CheckEqualityDeletes(only.equality_deletes), "file", task.file.path));
    if (only.dv && !only.position_deletes.empty())
      return InternalError("a data file with both a deletion vector and position deletes: {}", task.file.path);
    if (!only.equality_deletes.empty())
      live_together[{changes_[i].only_state, true}].insert(only.equality_deletes.begin(), only.equality_deletes.end());
  }
  std::map<State, std::map<uint32_t, size_t>> tables;
  for (const auto& [state, deletes] : live_together) tables[state] = equality_.Group(deletes);
  const auto tables_of = [&](const State& state, const std::vector<uint32_t>& deletes) {
    std::set<size_t> distinct;
    for (const uint32_t index : deletes) distinct.insert(tables.at(state).at(index));
    for (const size_t table : distinct) equality_.Expect(table);
    return std::vector<size_t>(distinct.begin(), distinct.end());
  };

  std::map<std::tuple<std::string, std::optional<uint32_t>, std::vector<uint32_t>, std::vector<uint32_t>>, size_t>
      known;
  for (size_t i = 0; i < count; ++i) {
    const plan::FileTask& task = plan_->tasks[i];
    size_t at = files_.size();
    if (changes_.empty()) {
      at = known.emplace(std::tuple(task.file.path, task.dv, task.position_deletes, task.equality_deletes), at)
               .first->second;
    }
    if (at == files_.size()) {
      DataFileCell& cell = files_.emplace_back();
      cell.need = {&task.file, task.dv, task.position_deletes};
      cell.key_tables = tables_of(state_of(i), task.equality_deletes);
      if (!changes_.empty() && changes_[i].only) {
        const plan::DeleteState& only = *changes_[i].only;
        cell.only = {&task.file, only.dv, only.position_deletes};
        cell.only_key_tables = tables_of({changes_[i].only_state, true}, only.equality_deletes);
      }
    }
    ++files_[at].pending;
    file_of_task_.push_back(at);
  }
  return {};
}

Result<WantedPositions> ScanContext::LoadPositions(const DataFileCell& cell) {
  WantedPositions positions;
  positions.deleted = DELENDA_TRY(deletes_->Load(cell.need));
  if (cell.only) {
    const PositionSet only = DELENDA_TRY(deletes_->Load(*cell.only));
    positions.only = only.Difference(positions.deleted);
    // They may wait long, read along with an earlier task: only keys still ask what else is deleted.
    if (cell.key_tables.empty() && cell.only_key_tables.empty()) positions.deleted = PositionSet();
  }
  return positions;
}

// Null: the task that they are for is done.
Result<std::shared_ptr<const WantedPositions>> ScanContext::PositionsOf(const DataFileCell& cell) {
  std::shared_ptr<OnceResult<WantedPositions>> positions;
  {
    std::lock_guard lock(mutex_);
    positions = cell.positions;
  }
  if (!positions) return nullptr;
  return positions->Get([&] { return LoadPositions(cell); });
}

Result<OpenDataFile> ScanContext::OpenData(const DataFileCell& cell) {
  OpenDataFile data;
  const DeleteLoader::Need& need = cell.need;
  data.positions = DELENDA_TRY(PositionsOf(cell));
  if (!data.positions) return InternalError("a task was opened after it was finished");
  const PositionSet& deleted = data.positions->deleted;
  const ContentFile& file = *need.file;
  // All positions are below the record count: as many of them as rows are all rows.
  if (!marks_deleted_ && !deleted.empty() && deleted.cardinality() >= static_cast<uint64_t>(file.record_count))
    return data;
  if (cell.only && data.positions->only->empty() && cell.only_key_tables.empty()) return data;
  data.file = DELENDA_TRY(OpenFile(file));
  const bool has_deletes = need.dv || !need.position_deletes.empty() || cell.only;
  if (has_deletes && data.file->num_rows() != file.record_count) {
    // Not the file that the deletes were written for: its positions would hit other rows.
    return Corrupt("expected {} rows by the manifest, found {}: its deletes cannot be applied", file.record_count,
                   data.file->num_rows());
  }
  return data;
}

Result<std::shared_ptr<const OpenTask>> ScanContext::Open(size_t index) {
  const plan::FileTask& task = plan_->tasks[index];
  auto opened = std::make_shared<OpenTask>();
  opened->index = index;
  DataFileCell& cell = files_[file_of_task_[index]];
  if (!task.residual || task.residual->op != Op::kFalse) {
    std::shared_ptr<OnceResult<OpenDataFile>> data;
    {
      std::lock_guard lock(mutex_);
      data = cell.opened;
    }
    if (!data) return InternalError("a task was opened after it was finished");
    opened->data = DELENDA_TRY(WithContext(data->Get([&] { return OpenData(cell); }), "file", task.file.path));
    if (opened->data->file) {
      opened->constants = PartitionConstants(*plan_, task.file);
      DELENDA_TRY(LoadKeys(cell, *opened));
      DELENDA_TRY(MapColumns(task, *opened));
      DELENDA_TRY(WithContext(ChooseRowGroups(task, *opened), "file", task.file.path));
    }
  }
  ++tasks_opened_;
  return opened;
}

Result<void> ScanContext::LoadKeys(const DataFileCell& cell, OpenTask& opened) {
  for (const size_t table : cell.key_tables) opened.equality.push_back(DELENDA_TRY(equality_.Get(table)));
  for (const size_t table : cell.only_key_tables) opened.only_equality.push_back(DELENDA_TRY(equality_.Get(table)));
  return {};
}

Result<ColumnPlan> ScanContext::PlanColumns(const std::vector<Field>& deciding, const OpenTask& opened) const {
  const parquet::ParquetFile& file = *opened.data->file;
  ColumnPlan plan;
  plan.columns = DELENDA_TRY(ColumnAdapter::Make(output_fields_, file, opened.constants));
  if (deciding.empty()) return plan;
  plan.deciding = DELENDA_TRY(ColumnAdapter::Make(deciding, file, opened.constants));
  plan.two_passes = !marks_deleted_ && !std::ranges::includes(plan.deciding.leaves(), plan.columns.leaves());
  if (!plan.two_passes) {
    std::vector<Field> both = output_fields_;
    both.insert(both.end(), deciding.begin(), deciding.end());
    plan.columns = DELENDA_TRY(ColumnAdapter::Make(both, file, opened.constants));
  }
  return plan;
}

Result<void> ScanContext::MapColumns(const plan::FileTask& task, OpenTask& opened) const {
  std::vector<Field> deciding;
  if (!IsTrue(task.residual)) {
    opened.filter = DELENDA_TRY(FilterEvaluator::Make(task.residual, plan_->schema));
    deciding = opened.filter->fields();
  }
  if (options_.keys) deciding.insert(deciding.end(), options_.keys->fields().begin(), options_.keys->fields().end());
  opened.plain = DELENDA_TRY(PlanColumns(deciding, opened));
  if (opened.equality.empty() && opened.only_equality.empty()) return {};
  for (const auto* tables : {&opened.equality, &opened.only_equality}) {
    for (const auto& keys : *tables) deciding.insert(deciding.end(), keys->fields().begin(), keys->fields().end());
  }
  opened.with_keys = DELENDA_TRY(PlanColumns(deciding, opened));
  opened.check_keys.assign(opened.data->file->row_groups().size(), false);
  return {};
}

bool ScanContext::WantsRowsOf(const parquet::RowGroup& group, const OpenTask& opened) const {
  const uint64_t end = group.first_position + static_cast<uint64_t>(group.num_rows);
  const WantedPositions& positions = *opened.data->positions;
  if (positions.only) return positions.only->CountInRange(group.first_position, end) > 0;
  return marks_deleted_ || positions.deleted.empty() || !positions.deleted.ContainsRange(group.first_position, end);
}

Result<void> ScanContext::ChooseRowGroups(const plan::FileTask& task, OpenTask& opened) {
  const parquet::ParquetFile& file = *opened.data->file;
  for (size_t i = 0; i < file.row_groups().size(); ++i) {
    const parquet::RowGroup& group = file.row_groups()[i];
    if (!group.BelongsTo(task.start, task.length)) continue;
    ++row_groups_;
    if (group.num_rows == 0) continue;
    const StatsSource stats = RowGroupStats(file, i, opened.constants);
    const auto could_delete = [&](const auto& keys) { return keys->CouldDelete(stats); };
    const bool only_by_keys = std::ranges::any_of(opened.only_equality, could_delete);
    if (!WantsRowsOf(group, opened) && !only_by_keys) {
      ++(opened.data->positions->only ? row_groups_unchanged_ : row_groups_all_deleted_);
    } else if ((!IsTrue(task.residual) && !CouldMatch(*task.residual, stats)) ||
               (sorted_keys_ && (!sorted_keys_->CouldHold(stats) ||
                                 !DELENDA_TRY(BloomFiltersCouldHold(file, i, *sorted_keys_, stats))))) {
      ++row_groups_pruned_;
    } else {
      opened.row_groups.push_back(i);
      if (only_by_keys || std::ranges::any_of(opened.equality, could_delete)) opened.check_keys[i] = true;
    }
  }
  return AskPages(task, opened);
}

// Rows that neither filter nor keys can match are in no output, whatever deletes, changes and other tasks say of them.
Result<void> ScanContext::AskPages(const plan::FileTask& task, OpenTask& opened) {
  const PageQuestion question{.filter = IsTrue(task.residual) ? nullptr : task.residual.get(),
                              .keys = sorted_keys_.get(),
                              .smallest_chunk = options_.page_index_bytes};
  const parquet::ParquetFile& file = *opened.data->file;
  auto left = DELENDA_TRY(RowsThatPagesLeave(file, opened.row_groups, opened.constants, question));
  std::vector<size_t> row_groups;
  for (size_t i = 0; i < left.size(); ++i) {
    const size_t row_group = opened.row_groups[i];
    if (left[i] && left[i]->runs.empty()) {
      ++row_groups_pruned_;
      continue;
    }
    row_groups.push_back(row_group);
    if (!left[i]) continue;
    int64_t rows = file.row_groups()[row_group].num_rows;
    for (const parquet::RowRun& run : left[i]->runs) rows -= run.end - run.first;
    rows_pruned_ += static_cast<uint64_t>(rows);
    opened.page_rows.emplace(row_group, *std::move(left[i]));
  }
  opened.row_groups = std::move(row_groups);
  return {};
}

void ScanContext::Finish(const OpenTask& task) {
  std::lock_guard lock(mutex_);
  DataFileCell& cell = files_[file_of_task_[task.index]];
  if (cell.pending == 0 || --cell.pending > 0) return;
  cell.opened.reset();
  cell.positions.reset();
  for (const auto* tables : {&cell.key_tables, &cell.only_key_tables}) {
    for (const size_t table : *tables) equality_.Done(table);
  }
}

std::shared_ptr<parquet::DecodeContext> ScanContext::BorrowDecoder() {
  std::unique_ptr<parquet::DecodeContext> decoder;
  {
    std::lock_guard lock(decoders_mutex_);
    if (!decoders_.empty()) {
      decoder = std::move(decoders_.back());
      decoders_.pop_back();
    }
  }
  if (!decoder) decoder = std::make_unique<parquet::DecodeContext>();
  return {decoder.release(), [this](parquet::DecodeContext* returned) {
            std::unique_ptr<parquet::DecodeContext> owned(returned);
            std::lock_guard lock(decoders_mutex_);
            decoders_.push_back(std::move(owned));
          }};
}

void ScanContext::RowGroupDone() {
  const uint64_t done = ++row_groups_done_;
  if (!options_.hooks.progress) return;
  const bool all_known = tasks_opened_ == plan_->tasks.size();
  const uint64_t total = row_groups_ - row_groups_pruned_ - row_groups_all_deleted_ - row_groups_unchanged_;
  options_.hooks.progress(Progress{"scan", done, all_known ? std::max(total, done) : 0});
}

Result<void> ScanContext::CheckCancelled() const {
  if (options_.hooks.cancel.cancelled()) return Cancelled("stopped at the caller's request");
  return {};
}

ReadMetrics ScanContext::metrics() const {
  return {rows_,       files_opened_, row_groups_, row_groups_pruned_, row_groups_all_deleted_, row_groups_unchanged_,
          rows_pruned_};
}

}  // namespace delenda::read
