#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "delenda/read/arrow_type.h"
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
                         ReadOptions options)
    : plan_(std::move(plan)), io_(std::move(io)), options_(std::move(options)) {}

Result<std::unique_ptr<ScanContext>> ScanContext::Make(std::shared_ptr<const plan::ScanPlan> plan,
                                                       std::shared_ptr<io::FileIO> io, ReadOptions options) {
  if (options.batch_rows <= 0) return InvalidArgument("batches of {} rows", options.batch_rows);
  std::unique_ptr<ScanContext> context(new ScanContext(std::move(plan), std::move(io), std::move(options)));
  const plan::ScanPlan& p = *context->plan_;
  context->schema_ = DELENDA_TRY(ToArrowSchema(p.columns));
  for (const plan::OutputColumn& column : p.columns) {
    using enum plan::OutputColumn::Kind;
    if (column.kind == kField || column.kind == kRowId || column.kind == kLastUpdated)
      context->output_fields_.push_back(column.field);
    context->marks_deleted_ = context->marks_deleted_ || column.kind == kDeleted;
  }
  const std::map<uint32_t, size_t> table_of = context->GroupEqualityDeletes();
  std::map<std::tuple<std::string, std::optional<uint32_t>, std::vector<uint32_t>, std::vector<uint32_t>>, size_t>
      known;
  for (const plan::FileTask& task : p.tasks) {
    DELENDA_TRY(WithContext(context->CheckTask(task), "file", task.file.path));
    const auto [at, added] = known.emplace(
        std::tuple(task.file.path, task.dv, task.position_deletes, task.equality_deletes), context->files_.size());
    if (added) {
      DataFileCell& cell = context->files_.emplace_back();
      cell.need = {&task.file, task.dv, task.position_deletes};
      std::set<size_t> tables;
      for (const uint32_t index : task.equality_deletes) tables.insert(table_of.at(index));
      for (const size_t table : tables) ++context->key_tables_[table].pending;
      cell.key_tables.assign(tables.begin(), tables.end());
    }
    ++context->files_[at->second].pending;
    context->file_of_task_.push_back(at->second);
  }
  std::vector<DeleteLoader::Need> needs;
  for (const DataFileCell& cell : context->files_) needs.push_back(cell.need);
  context->deletes_ = DELENDA_TRY(
      DeleteLoader::Make(p, needs, context->io_, context->options_.verify_footers, context->options_.hooks));
  return context;
}

Result<void> ScanContext::CheckTask(const plan::FileTask& task) const {
  if (task.file.content != FileContent::kData)
    return InternalError("{} planned as data", FileContentName(task.file.content));
  if (task.file.format != FileFormat::kParquet) {
    return NotSupported("data files in {} cannot be read", FileFormatName(task.file.format));
  }
  for (const uint32_t index : task.equality_deletes) {
    if (index >= plan_->deletes.size()) return InternalError("the plan has no delete {}", index);
    const ContentFile& file = plan_->deletes[index];
    if (file.content != FileContent::kEqualityDeletes || file.format != FileFormat::kParquet ||
        file.equality_ids.empty()) {
      return NotSupported("{} in {} files cannot be applied as equality deletes: {}", FileContentName(file.content),
                          FileFormatName(file.format), file.path);
    }
  }
  if (task.dv && !task.position_deletes.empty())
    return InternalError("a data file with both a deletion vector and position deletes");
  if (task.file.file_size < 0 || task.file.record_count < 0) {
    return Corrupt("the manifest says that the file is {} bytes long and holds {} rows", task.file.file_size,
                   task.file.record_count);
  }
  if (!IsTrue(task.residual)) DELENDA_TRY(FilterEvaluator::Make(task.residual, plan_->schema));
  return {};
}

Result<OpenDataFile> ScanContext::OpenData(const DeleteLoader::Need& need) {
  OpenDataFile data;
  data.deleted = DELENDA_TRY(deletes_->Load(need));
  const ContentFile& file = *need.file;
  const auto record_count = static_cast<uint64_t>(file.record_count);
  // All positions are below the record count: as many of them as rows are all rows.
  if (!marks_deleted_ && !data.deleted.empty() && data.deleted.cardinality() >= record_count) return data;
  const auto size = static_cast<uint64_t>(file.file_size);
  std::shared_ptr<io::InputFile> input = DELENDA_TRY(io_->Open(file.path, size));
  data.file = DELENDA_TRY(parquet::ParquetFile::Open(std::move(input), size));
  const bool has_deletes = need.dv || !need.position_deletes.empty();
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
    opened->data = DELENDA_TRY(WithContext(data->Get([&] { return OpenData(cell.need); }), "file", task.file.path));
    if (opened->data->file) {
      opened->constants = PartitionConstants(*plan_, task.file);
      DELENDA_TRY(LoadKeys(cell, *opened));
      DELENDA_TRY(MapColumns(task, *opened));
      ChooseRowGroups(task, *opened);
    }
  }
  ++tasks_opened_;
  return opened;
}

// Deletes of one layout that hold for the same rows share a table: a key counts with its highest sequence number.
std::map<uint32_t, size_t> ScanContext::GroupEqualityDeletes() {
  const auto is_global = [&](const ContentFile& deletes) {
    const auto spec = plan_->specs.find(deletes.spec_id);
    return spec != plan_->specs.end() && spec->second.spec.IsUnpartitioned();
  };
  // A plan put together by hand may leave the tuple of an unpartitioned file out.
  const PartitionTuple none;
  const auto partition_of = [&](const ContentFile& deletes) -> const PartitionTuple& {
    return deletes.partition ? *deletes.partition : none;
  };
  std::map<uint32_t, size_t> table_of;
  // By the hash of their partition: a stream leaves very many delete files, spread over partitions.
  std::unordered_multimap<size_t, size_t> tables;
  for (uint32_t index = 0; index < plan_->deletes.size(); ++index) {
    const ContentFile& file = plan_->deletes[index];
    if (file.content != FileContent::kEqualityDeletes) continue;
    const bool global = is_global(file);
    const size_t hash = global ? 0 : HashPartitionTuple(partition_of(file));
    const auto [begin, end] = tables.equal_range(hash);
    const auto same_scope = [&](const auto& entry) {
      const ContentFile& other = plan_->deletes[key_tables_[entry.second].files.front()];
      if (file.equality_ids != other.equality_ids || global != is_global(other)) return false;
      return global || (file.spec_id == other.spec_id && partition_of(file) == partition_of(other));
    };
    const auto found = std::find_if(begin, end, same_scope);
    if (found == end) {
      tables.emplace(hash, key_tables_.size());
      table_of[index] = key_tables_.size();
      key_tables_.emplace_back();
    } else {
      table_of[index] = found->second;
    }
    key_tables_[table_of[index]].files.push_back(index);
  }
  return table_of;
}

Result<void> ScanContext::LoadKeys(const DataFileCell& cell, OpenTask& opened) {
  for (const size_t table : cell.key_tables) {
    std::shared_ptr<OnceResult<EqualityKeys>> keys;
    {
      std::lock_guard lock(mutex_);
      keys = key_tables_[table].keys;
    }
    if (!keys) return InternalError("a task was opened after it was finished");
    opened.equality.push_back(DELENDA_TRY(keys->Get([&] {
      return EqualityKeys::Load(*io_, *plan_, key_tables_[table].files, options_.equality_memory,
                                options_.hooks.cancel);
    })));
  }
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
  opened.plain = DELENDA_TRY(PlanColumns(deciding, opened));
  if (opened.equality.empty()) return {};
  for (const auto& keys : opened.equality)
    deciding.insert(deciding.end(), keys->fields().begin(), keys->fields().end());
  opened.with_keys = DELENDA_TRY(PlanColumns(deciding, opened));
  opened.check_keys.assign(opened.data->file->row_groups().size(), false);
  return {};
}

void ScanContext::ChooseRowGroups(const plan::FileTask& task, OpenTask& opened) {
  const parquet::ParquetFile& file = *opened.data->file;
  for (size_t i = 0; i < file.row_groups().size(); ++i) {
    const parquet::RowGroup& group = file.row_groups()[i];
    if (!group.BelongsTo(task.start, task.length)) continue;
    ++row_groups_;
    const uint64_t end = group.first_position + static_cast<uint64_t>(group.num_rows);
    if (group.num_rows == 0) continue;
    if (!marks_deleted_ && !opened.data->deleted.empty() &&
        opened.data->deleted.ContainsRange(group.first_position, end)) {
      ++row_groups_all_deleted_;
    } else if (!IsTrue(task.residual) && !CouldMatch(*task.residual, RowGroupStats(file, i, opened.constants))) {
      ++row_groups_pruned_;
    } else {
      opened.row_groups.push_back(i);
      for (const auto& keys : opened.equality) {
        if (keys->CouldDelete(RowGroupStats(file, i, opened.constants))) opened.check_keys[i] = true;
      }
    }
  }
}

void ScanContext::Finish(const OpenTask& task) {
  std::lock_guard lock(mutex_);
  DataFileCell& cell = files_[file_of_task_[task.index]];
  if (cell.pending == 0 || --cell.pending > 0) return;
  cell.opened.reset();
  for (const size_t table : cell.key_tables) {
    if (--key_tables_[table].pending == 0) key_tables_[table].keys.reset();
  }
}

void ScanContext::RowGroupDone() {
  const uint64_t done = ++row_groups_done_;
  if (!options_.hooks.progress) return;
  const bool all_known = tasks_opened_ == plan_->tasks.size();
  const uint64_t total = row_groups_ - row_groups_pruned_ - row_groups_all_deleted_;
  options_.hooks.progress(Progress{"scan", done, all_known ? std::max(total, done) : 0});
}

Result<void> ScanContext::CheckCancelled() const {
  if (options_.hooks.cancel.cancelled()) return Cancelled("stopped at the caller's request");
  return {};
}

ReadMetrics ScanContext::metrics() const { return {rows_, row_groups_, row_groups_pruned_, row_groups_all_deleted_}; }

}  // namespace delenda::read
