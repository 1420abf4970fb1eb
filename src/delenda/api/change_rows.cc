#include "delenda/api/change_rows.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delenda/api/delta_columns.h"
#include "delenda/api/row_stream_impl.h"
#include "delenda/api/uuid_fields.h"
#include "delenda/plan/output_columns.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/change_pairing.h"
#include "delenda/read/change_stream.h"

namespace delenda::api {
namespace {

using plan::ChangeTask;
using plan::OutputColumn;
using BatchRef = std::shared_ptr<arrow::RecordBatch>;

constexpr int kChangeColumns = 4;  // that OpenChanges adds

// What is read, and which of it is handed out.
struct ReadColumns {
  std::vector<OutputColumn> columns;  // fields of the table first
  size_t fields = 0;                  // how many of them
  std::vector<int> output;            // indexes of what was asked for, then of the columns of changes
};

// The snapshots of these tasks, by ordinal, that have both deletes and inserts: only there rows can be pairs.
std::set<uint64_t> OrdinalsWithBoth(std::span<const ChangeTask> tasks) {
  std::set<uint64_t> sides[2];
  for (const ChangeTask& task : tasks) {
    const bool inserts = task.kind == ChangeTask::Kind::kAddedRows || task.kind == ChangeTask::Kind::kRestoredRows;
    sides[inserts ? 1 : 0].insert(task.change_ordinal);
  }
  std::set<uint64_t> both;
  std::ranges::set_intersection(sides[0], sides[1], std::inserter(both, both.end()));
  return both;
}

// Every row of these tasks that may have a pair has a _row_id: from the file, else from the metadata.
bool HasLineage(std::span<const ChangeTask> tasks, const std::set<uint64_t>& ordinals) {
  return std::ranges::all_of(tasks, [&](const ChangeTask& task) {
    return task.file.first_row_id.has_value() || !ordinals.contains(task.change_ordinal);
  });
}

class ColumnPlanner {
 public:
  ColumnPlanner(const plan::ChangePlan& plan, ReadColumns& result) : plan_(plan), result_(result) {}

  // The columns that were asked for, and nothing else.
  void TakeWanted() {
    result_.columns = plan_.columns;
    for (size_t i = 0; i < plan_.columns.size(); ++i) result_.output.push_back(static_cast<int>(i));
    AddChangeColumns();
  }

  // Which fields of the table pairing compares, selected or not: a selection must not change which rows there are.
  enum class Compared : uint8_t {
    kKeys,      // those of `ids`
    kReadable,  // all but those of types that can't be read
    kAll,
  };
  // Beside the columns that were asked for those, and row lineage.
  Result<void> TakeForPairing(Compared compared, const std::vector<int32_t>& ids) {
    for (const OutputColumn& column : plan_.columns) {
      if (column.kind == OutputColumn::Kind::kField) Add(column);
    }
    for (const Field& field : plan_.schema.fields()) {
      if (compared == Compared::kAll || std::ranges::find(ids, field.id) != ids.end() ||
          (compared == Compared::kReadable && read::ToArrowType(field.type)))
        Add({.kind = OutputColumn::Kind::kField, .field = field});
    }
    result_.fields = result_.columns.size();
    for (const OutputColumn& column : plan_.columns) Add(column);
    const std::vector<std::string> lineage = {"_row_id", "_last_updated_sequence_number"};
    for (const OutputColumn& column :
         DELENDA_TRY(plan::ChooseColumns({.select = lineage, .select_all = false}, Schema(), {}))) {
      Add(column);
    }
    for (const OutputColumn& column : plan_.columns) result_.output.push_back(*Find(column));
    AddChangeColumns();
    return {};
  }

 private:
  std::optional<int> Find(const OutputColumn& column) const {
    for (size_t i = 0; i < result_.columns.size(); ++i) {
      const OutputColumn& other = result_.columns[i];
      if (other.kind == column.kind && other.field.id == column.field.id) return static_cast<int>(i);
    }
    return std::nullopt;
  }
  void Add(const OutputColumn& column) {
    if (!Find(column)) result_.columns.push_back(column);
  }
  void AddChangeColumns() {
    for (int i = 0; i < kChangeColumns; ++i) result_.output.push_back(static_cast<int>(result_.columns.size()) + i);
  }

  const plan::ChangePlan& plan_;
  ReadColumns& result_;
};

// A stream as the source of another one.
class StreamSource final : public read::BatchSource {
 public:
  explicit StreamSource(std::shared_ptr<read::ScanStream> stream) : stream_(std::move(stream)) {}
  Result<BatchRef> Next() override { return stream_->Next(); }

 private:
  std::shared_ptr<read::ScanStream> stream_;
};

class ChangeRows final : public RowStream::Impl {
 public:
  struct Parts {
    std::shared_ptr<const plan::ChangePlan> plan;
    uint64_t tasks = 0;
    std::shared_ptr<read::ScanStream> stream;
    std::unique_ptr<read::ChangePairing> pairing;  // may be null: the stream's batches are handed out
    ReadColumns columns;
    std::optional<DeltaColumns> delta;
  };

  explicit ChangeRows(Parts parts) : parts_(std::move(parts)) {
    std::vector<OutputColumn> wanted;
    arrow::FieldVector fields;
    for (const int at : parts_.columns.output) {
      fields.push_back(parts_.stream->schema()->field(at));
      const auto index = static_cast<size_t>(at);
      wanted.push_back(index < parts_.columns.columns.size() ? parts_.columns.columns[index] : OutputColumn());
    }
    schema_ = WithUuids(arrow::schema(std::move(fields)), wanted);
    if (parts_.delta) schema_ = parts_.delta->ToSchema(*schema_);
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  Result<BatchRef> Next() override {
    if (error_) return std::unexpected(*error_);
    Result<BatchRef> batch = NextOrError();
    if (!batch) error_ = batch.error();
    return batch;
  }

  ScanStats stats() const override {
    const read::ReadMetrics metrics = parts_.stream->metrics();
    const plan::ChangeMetrics& planned = parts_.plan->metrics;
    const uint64_t manifests = planned.delete_manifests_read + planned.data_manifests_read;
    ScanStats stats = {.rows = rows_,
                       .files = parts_.tasks,
                       .files_pruned = 0,
                       .deletes = parts_.plan->deletes.size(),
                       .manifests = manifests,
                       .manifests_read = manifests,
                       .row_groups = metrics.row_groups,
                       .row_groups_pruned = metrics.row_groups_pruned,
                       .row_groups_all_deleted = metrics.row_groups_all_deleted,
                       .rows_pruned = metrics.rows_pruned,
                       .row_groups_unchanged = metrics.row_groups_unchanged,
                       .carry_overs = 0,
                       .updates = 0,
                       .spilled_bytes = 0};
    if (parts_.pairing) {
      const read::PairingMetrics pairing = parts_.pairing->metrics();
      stats.carry_overs = pairing.carry_overs;
      stats.updates = pairing.updates;
      stats.spilled_bytes = pairing.spilled_bytes;
    }
    return stats;
  }

 private:
  Result<BatchRef> NextOrError() {
    BatchRef batch = parts_.pairing ? DELENDA_TRY(parts_.pairing->Next()) : DELENDA_TRY(parts_.stream->Next());
    if (!batch) return batch;
    rows_ += static_cast<uint64_t>(batch->num_rows());
    arrow::ArrayVector columns;
    if (parts_.pairing) {
      columns = batch->columns();  // those of `output`
    } else {
      for (const int at : parts_.columns.output) columns.push_back(batch->column(at));
    }
    if (parts_.delta) columns = DELENDA_TRY(parts_.delta->ToColumns(std::move(columns)));
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), std::move(columns));
  }

  Parts parts_;
  std::shared_ptr<arrow::Schema> schema_;
  uint64_t rows_ = 0;
  std::optional<Error> error_;
};

// The names of the key columns as the table has them, and their ids.
Result<std::vector<const Field*>> KeyFields(const Schema& schema, const std::vector<std::string>& names) {
  std::vector<const Field*> fields;
  for (const std::string& name : names) {
    const Schema found = DELENDA_TRY(schema.Select({name}));
    fields.push_back(schema.FindById(found.fields().front().id).front());
  }
  return fields;
}

}  // namespace

Result<RowStream> OpenChangeRows(const ChangeSource& source, std::span<const plan::ChangeTask> tasks,
                                 const ChangeReadOptions& options) {
  const plan::ChangePlan& plan = *source.plan;
  const bool by_key = options.updates == ChangeUpdates::kKey;
  if (by_key && options.key_columns.empty())
    return InvalidArgument("updates are to be told by key, but there are no key columns");
  if (!by_key && !options.key_columns.empty()) return InvalidArgument("key columns are only for updates by key");
  const std::vector<const Field*> keys = DELENDA_TRY(KeyFields(plan.schema, options.key_columns));
  const std::set<uint64_t> both = OrdinalsWithBoth(tasks);
  const bool raw = options.raw && options.updates == ChangeUpdates::kNone && !options.net;
  const bool pairs = options.net || (!raw && !both.empty());

  ChangeRows::Parts parts;
  ColumnPlanner planner(plan, parts.columns);
  if (pairs) {
    std::vector<int32_t> ids;
    for (const Field* key : keys) ids.push_back(key->id);
    // Where all rows have lineage their values are a second look only, which may leave a column out.
    using enum ColumnPlanner::Compared;
    const auto compared = options.net ? kAll : options.raw ? kKeys : HasLineage(tasks, both) ? kReadable : kAll;
    DELENDA_TRY(planner.TakeForPairing(compared, ids));
  } else {
    planner.TakeWanted();
  }
  if (options.dialect == ChangeDialect::kDelta)
    parts.delta = DELENDA_TRY(DeltaColumns::Make(source.sequence_numbers, plan.columns.size()));
  parts.stream =
      DELENDA_TRY(read::OpenChanges(plan, tasks, parts.columns.columns, source.io, source.read, options.first_ordinal));
  if (pairs) {
    read::PairingOptions pairing;
    pairing.user_columns = parts.columns.fields;
    pairing.carry_overs = options.raw ? read::CarryOvers::kKeep : read::CarryOvers::kRemove;
    pairing.updates = by_key                                       ? read::Updates::kKey
                      : options.updates == ChangeUpdates::kLineage ? read::Updates::kLineage
                                                                   : read::Updates::kNone;
    for (const Field* key : keys) pairing.key_columns.push_back(key->name);
    pairing.net = options.net;
    pairing.output_columns = parts.columns.output;
    pairing.holds_both = [both, first = options.first_ordinal](int64_t ordinal) {
      return both.contains(static_cast<uint64_t>(ordinal - first));
    };
    pairing.memory_budget = options.pairing_memory;
    pairing.temp_folder = options.temp_folder;
    pairing.batch_rows = source.read.batch_rows;
    pairing.cancel = source.read.hooks.cancel;
    parts.pairing = DELENDA_TRY(
        read::PairChanges(std::make_unique<StreamSource>(parts.stream), parts.stream->schema(), std::move(pairing)));
  }
  parts.plan = source.plan;
  parts.tasks = tasks.size();
  return RowStream(std::make_unique<ChangeRows>(std::move(parts)));
}

}  // namespace delenda::api
