#include "delenda/api/key_resolver.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "delenda/api/row_stream_impl.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/read/arrow_type.h"
#include "delenda/read/constant_array.h"

namespace delenda {

class KeyQuery::Impl {
 public:
  const commit::TableSession& session;
  const ops::KeyQuery& query;
  const plan::ScanPlan& plan;
};

namespace {

constexpr size_t kKeysOfBatch = 64 * 1024;

// The key column inside of its top-level column, under its full name.
Field KeyColumn(const plan::KeyField& key) {
  Field column = key.column;
  for (size_t depth = 1; depth < key.path.size(); ++depth) {
    const auto& inner = column.type.fields();
    Field next = *std::ranges::find(inner, key.path[depth], &Field::id);
    next.name = column.name + "." + next.name;
    column = std::move(next);
  }
  column.required = false;
  return column;
}

class KeyRows final : public RowStream::Impl {
 public:
  static Result<std::unique_ptr<KeyRows>> Make(const ops::KeyQuery& query) {
    auto rows = std::make_unique<KeyRows>();
    arrow::FieldVector fields;
    for (const plan::KeyField& key : query.keys->keys()) {
      fields.push_back(DELENDA_TRY(read::ToArrowField(KeyColumn(key))));
      rows->types_.push_back(key.type);
    }
    fields.push_back(arrow::field("_below", arrow::int64()));
    rows->types_.emplace_back(TypeKind::kLong);
    rows->schema_ = arrow::schema(std::move(fields));
    rows->keys_ = query.keys->Values();
    for (size_t i = 0; i < rows->keys_.size(); ++i) {
      const int64_t below = query.sequence_numbers ? (*query.sequence_numbers)[i] : ops::kUncommitted;
      rows->keys_[i].push_back(below == ops::kUncommitted ? Datum() : Datum(below));
    }
    return rows;
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }
  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    const size_t count = std::min(kKeysOfBatch, keys_.size() - done_);
    if (count == 0) return std::shared_ptr<arrow::RecordBatch>();
    arrow::ArrayVector columns;
    std::vector<Datum> values(count);
    for (size_t column = 0; column < types_.size(); ++column) {
      for (size_t i = 0; i < count; ++i) values[i] = std::move(keys_[done_ + i][column]);
      columns.push_back(
          DELENDA_TRY(read::ArrayOfValues(types_[column], schema_->field(static_cast<int>(column))->type(), values)));
    }
    done_ += count;
    stats_.rows += count;
    return arrow::RecordBatch::Make(schema_, static_cast<int64_t>(count), std::move(columns));
  }
  ScanStats stats() const override { return stats_; }

 private:
  std::shared_ptr<arrow::Schema> schema_;
  std::vector<Type> types_;
  std::vector<std::vector<Datum>> keys_;
  size_t done_ = 0;
  ScanStats stats_;
};

}  // namespace

const std::string& KeyQuery::branch() const { return impl_->query.branch; }
int64_t KeyQuery::base_snapshot_id() const { return impl_->query.base_snapshot_id; }
uint64_t KeyQuery::size() const { return static_cast<uint64_t>(impl_->query.keys->size()); }

std::optional<int32_t> KeyQuery::spec_id() const {
  const auto& partition = impl_->query.partition;
  return partition ? std::optional(partition->spec_id) : std::nullopt;
}

std::string KeyQuery::partition() const {
  const auto& partition = impl_->query.partition;
  if (!partition) return {};
  return PartitionText(impl_->plan.specs.at(partition->spec_id), *partition->tuple);
}

Result<RowStream> KeyQuery::Keys() const { return RowStream(DELENDA_TRY(KeyRows::Make(impl_->query))); }

Result<std::vector<KeyPositions>> KeyQuery::Scan() const {
  std::vector<KeyPositions> positions;
  for (const auto& file :
       DELENDA_TRY(ops::ScanKeyPositionResolver().Resolve(impl_->session, std::span(&impl_->query, 1)))) {
    KeyPositions& one = positions.emplace_back();
    one.data_file = file.data_file.path;
    file.found.ForEachRun([&](PositionRun run) { one.positions.push_back({.begin = run.begin, .end = run.end}); });
  }
  return positions;
}

namespace api {
namespace {

Result<PositionSet> PositionsIn(const ContentFile& file, const std::vector<PositionRange>& ranges) {
  std::vector<PositionRun> runs;
  for (const PositionRange& range : ranges) {
    if (range.begin >= range.end || range.end > static_cast<uint64_t>(file.record_count)) {
      return InvalidArgument("the resolver found rows [{}, {}) in {}, which has {} rows", range.begin, range.end,
                             file.path, file.record_count);
    }
    runs.push_back({.begin = range.begin, .end = range.end});
  }
  return PositionSet::FromRanges(runs);
}

}  // namespace

std::optional<CallersResolver> CallersResolver::Of(const delenda::KeyPositionResolver* resolver) {
  return resolver == nullptr ? std::nullopt : std::optional(CallersResolver(*resolver));
}

Result<std::vector<ops::KeyPositions>> CallersResolver::Resolve(const commit::TableSession& session,
                                                                std::span<const ops::KeyQuery> queries) const {
  if (queries.empty()) return std::vector<ops::KeyPositions>();
  const auto plan = DELENDA_TRY(session.Plan(queries[0].branch, {.select = {"_file", "_pos"}, .select_all = false}));
  std::map<std::string_view, const plan::FileTask*> tasks;
  for (const plan::FileTask& task : plan->tasks) tasks.emplace(task.file.path, &task);
  ops::ChangedFiles found(*plan);
  for (const ops::KeyQuery& query : queries) {
    const KeyQuery::Impl impl{.session = session, .query = query, .plan = *plan};
    const int64_t highest = query.sequence_numbers && !query.sequence_numbers->empty()
                                ? std::ranges::max(*query.sequence_numbers)
                                : ops::kUncommitted;
    for (const KeyPositions& one : DELENDA_TRY(resolver_->Resolve(KeyQuery(impl)))) {
      const auto task = tasks.find(one.data_file);
      if (task == tasks.end()) {
        return InvalidArgument("the resolver found rows in {}, which is no data file of snapshot {}", one.data_file,
                               query.base_snapshot_id);
      }
      const ContentFile& file = task->second->file;
      const auto& only = query.partition;
      if (only && (only->spec_id != file.spec_id || !(*only->tuple == *file.partition)))
        return InvalidArgument("the resolver found rows in {}, which lies in another partition than the keys",
                               one.data_file);
      if (file.data_sequence_number >= highest)
        return InvalidArgument("the resolver found rows in {}, which is newer than the deletes of all keys",
                               one.data_file);
      DELENDA_TRY(ops::CheckPositionDeletes(*task->second, query));
      found.Add(one.data_file, DELENDA_TRY(PositionsIn(file, one.positions)));
    }
  }
  return ops::NewlyFound(found, *plan, session);
}

}  // namespace api
}  // namespace delenda
