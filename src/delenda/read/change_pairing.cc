#include "delenda/read/change_pairing.h"

#include <arrow/array.h>
#include <arrow/compute/initialize.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <deque>
#include <numeric>
#include <optional>
#include <utility>

#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/read/change_columns.h"
#include "delenda/read/change_net.h"
#include "delenda/read/change_output.h"
#include "delenda/read/change_runs.h"
#include "delenda/read/row_gather.h"
#include "delenda/read/row_key.h"
#include "delenda/read/row_match.h"

namespace delenda::read {
namespace {

constexpr auto kPairing = parquet::StatusSource::kCompute;
constexpr uint64_t kLeastBudget = 4096;
constexpr uint64_t kLeastBlock = 4096;

using BatchRef = std::shared_ptr<arrow::RecordBatch>;
using Action = MatchRule::Action;

// What rows of a snapshot were seen: rules that can match nothing are left out.
struct SeenRows {
  bool lineage = false;
  bool no_lineage = false;
  bool partial = false;  // with `_row_id`, but without last-updated number

  void Add(const arrow::RecordBatch& batch, const ChangeColumns& columns) {
    if (columns.row_id < 0) {
      no_lineage = true;
      return;
    }
    const arrow::Array& ids = *batch.column(columns.row_id);
    const int64_t rows = batch.num_rows();
    const int64_t without_id = ids.null_count();
    if (columns.last_updated < 0) {
      no_lineage = true;
      partial = partial || without_id != rows;
      return;
    }
    const arrow::Array& updated = *batch.column(columns.last_updated);
    if (without_id == 0 && updated.null_count() == 0) {
      lineage = true;
    } else if (without_id == rows) {
      no_lineage = true;
    } else {
      lineage = no_lineage = true;
      partial = partial || updated.null_count() != 0;
    }
  }

  bool MayHold(RowClass row_class) const {
    switch (row_class) {
      case RowClass::kAll: return true;
      case RowClass::kLineage: return lineage;
      case RowClass::kNoLineage: return no_lineage;
      case RowClass::kRowId: return lineage || partial;
    }
    return true;
  }
};

class PairingStream final : public ChangePairing {
 public:
  // `options`: checked, nothing left out.
  PairingStream(std::unique_ptr<BatchSource> source, const arrow::Schema& schema, ChangeColumns columns,
                PairingOptions options, std::vector<int> key_columns)
      : options_(std::move(options)),
        columns_(columns),
        key_columns_(std::move(key_columns)),
        user_columns_(options_.user_columns),
        spill_{.schema = WithNumber(schema),
               .pool = options_.pool,
               .folder = options_.temp_folder,
               .block_bytes = std::max(options_.memory_budget / 128, kLeastBlock)},
        match_{
            .spill = &spill_, .columns = columns, .table_bytes = options_.memory_budget / 2, .cancel = options_.cancel},
        runs_(std::move(source), columns, spill_.schema),
        output_(schema, columns, options_.output_columns, options_.batch_rows) {
    std::iota(user_columns_.begin(), user_columns_.end(), 0);
    rules_ = Rules();
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return output_.schema(); }

  PairingMetrics metrics() const override {
    PairingMetrics metrics = metrics_;
    metrics.spilled_bytes = spill_.spilled_bytes;
    return metrics;
  }

  Result<BatchRef> Next() override {
    if (failure_) return std::unexpected(*failure_);
    auto batch = NextBatch();
    if (!batch) failure_ = batch.error();
    return batch;
  }

 private:
  Result<BatchRef> NextBatch() {
    while (true) {
      DELENDA_TRY(CheckCancelled());
      if (auto batch = DELENDA_TRY(output_.Next())) return batch;
      if (!DELENDA_TRY(options_.net ? CollapseAll() : Advance())) return nullptr;
    }
  }

  Result<void> CheckCancelled() const {
    if (options_.cancel.cancelled()) return Cancelled("stopped at the caller's request");
    return {};
  }

  // What PairSnapshot and NextOf need to know of the snapshot of the next run.
  bool MayHoldBoth(int64_t ordinal) const { return options_.holds_both == nullptr || options_.holds_both(ordinal); }

  // Adds some rows to the output; false at the end.
  Result<bool> Advance() {
    const ChangeRun* next = DELENDA_TRY(runs_.Peek());
    if (next == nullptr) return false;
    const int64_t ordinal = next->ordinal;
    if (rules_.empty() || next->inserted || !MayHoldBoth(ordinal)) {
      DELENDA_TRY(CheckSingle(*next));
      DELENDA_TRY(output_.Add(runs_.Pop().batch));
      return true;
    }
    auto snapshot = DELENDA_TRY(PairSnapshot(ordinal));
    for (RowBuffer& rows : snapshot) output_.Add(std::move(rows));
    return true;
  }

  // A wrong answer of holds_both would leave carried-over rows as changes.
  Result<void> CheckSingle(const ChangeRun& run) {
    if (rules_.empty()) return {};
    if (run.inserted && run.ordinal == passed_deletes_of_)
      return InternalError("deletes and inserts at ordinal {}, which was said to hold only one of them", run.ordinal);
    if (!run.inserted) passed_deletes_of_ = run.ordinal;
    return {};
  }

  // The rules of a snapshot, in turn: each sees what those before it left.
  std::vector<MatchRule> Rules() const {
    std::vector<MatchRule> rules;
    const bool by_lineage = options_.updates == Updates::kLineage && !options_.net && columns_.row_id >= 0;
    switch (options_.carry_overs) {
      case CarryOvers::kKeep: break;
      case CarryOvers::kRemove:
        if (columns_.row_id >= 0 && columns_.last_updated >= 0) {
          // The values too: a writer that kept the number of a row that it updated would lose the change.
          std::vector<int> same = user_columns_;
          same.insert(same.begin(), columns_.last_updated);
          rules.push_back({.columns = {columns_.row_id},
                           .same = std::move(same),
                           .deletes = RowClass::kLineage,
                           .inserts = RowClass::kLineage,
                           .action = by_lineage ? Action::kDropElsePair : Action::kDrop});
        }
        rules.push_back({.columns = user_columns_, .deletes = RowClass::kNoLineage});
        rules.push_back({.columns = user_columns_, .deletes = RowClass::kLineage, .inserts = RowClass::kNoLineage});
        break;
      case CarryOvers::kRemoveEqual: rules.push_back({.columns = user_columns_}); break;
    }
    if (by_lineage) {
      rules.push_back({.columns = {columns_.row_id},
                       .deletes = RowClass::kRowId,
                       .inserts = RowClass::kRowId,
                       .action = Action::kPair});
    }
    if (options_.updates == Updates::kKey && !options_.net)
      rules.push_back({.columns = key_columns_, .action = Action::kPair, .unique = true});
    return rules;
  }

  // The rows of the next snapshot, which begins with deletes; or these alone, if inserts need not wait for them.
  Result<std::vector<RowBuffer>> PairSnapshot(int64_t ordinal) {
    SeenRows deleted;
    SeenRows inserted;
    RowBuffer deletes(spill_, std::make_shared<SpillFile>(spill_), match_.table_bytes);
    while (auto batch = DELENDA_TRY(runs_.NextOf(ordinal, false))) {
      DELENDA_TRY(CheckCancelled());
      deleted.Add(*batch, columns_);
      DELENDA_TRY(deletes.Append(std::move(batch)));
    }
    std::vector<RowBuffer> result;
    const ChangeRun* next = DELENDA_TRY(runs_.Peek());
    if (next == nullptr || next->ordinal != ordinal) {
      result.push_back(std::move(deletes));
      return result;
    }
    std::optional<RowBuffer> inserts;  // none: they are still to come from the source
    const RowPull pull = [&]() -> Result<BatchRef> {
      if (inserts) return inserts->Pop();
      auto batch = DELENDA_TRY(runs_.NextOf(ordinal, true));
      if (batch != nullptr) inserted.Add(*batch, columns_);
      return batch;
    };
    std::vector<RowBuffer> pairs;
    for (const MatchRule& rule : rules_) {
      if (!deleted.MayHold(rule.deletes)) continue;
      if (inserts && (deletes.rows() == 0 || inserts->rows() == 0 || !inserted.MayHold(rule.inserts))) continue;
      // The rule for lineage has paired these.
      if (rule.deletes == RowClass::kRowId && inserts && options_.carry_overs == CarryOvers::kRemove &&
          !deleted.partial && !inserted.partial)
        continue;
      Matched matched = DELENDA_TRY(MatchRows(match_, rule, std::move(deletes), pull));
      metrics_.carry_overs += matched.dropped;
      metrics_.updates += matched.paired;
      deletes = std::move(matched.deletes);
      inserts = std::move(matched.inserts);
      pairs.push_back(std::move(matched.pairs));
    }
    RowBuffer merged(spill_, std::make_shared<SpillFile>(spill_), match_.table_bytes / 4);
    merged = DELENDA_TRY(MergeRuns(std::move(pairs), columns_.number, spill_, std::move(merged)));
    result.push_back(std::move(deletes));
    result.push_back(std::move(merged));
    if (inserts) result.push_back(*std::move(inserts));
    return result;
  }

  // Adds the net changes to the output, once.
  Result<bool> CollapseAll() {
    if (std::exchange(collapsed_, true)) return false;
    std::deque<RowBuffer> waiting;
    const RowPull changes = [&]() -> Result<BatchRef> {
      while (true) {
        if (!waiting.empty()) {
          if (auto batch = DELENDA_TRY(waiting.front().Pop())) return batch;
          waiting.pop_front();
          continue;
        }
        const ChangeRun* next = DELENDA_TRY(runs_.Peek());
        if (next == nullptr) return nullptr;
        const int64_t ordinal = next->ordinal;
        if (rules_.empty() || next->inserted || !MayHoldBoth(ordinal)) {
          DELENDA_TRY(CheckSingle(*next));
          return runs_.NextOf(ordinal, next->inserted);
        }
        auto snapshot = DELENDA_TRY(PairSnapshot(ordinal));
        for (RowBuffer& rows : snapshot) waiting.push_back(std::move(rows));
      }
    };
    NetRule rule{.identity = key_columns_, .user_columns = user_columns_, .pair = options_.updates != Updates::kNone};
    if (rule.identity.empty()) rule.identity.push_back(columns_.row_id);
    output_.Add(DELENDA_TRY(CollapseChanges(match_, rule, changes, metrics_.updates)));
    return true;
  }

  PairingOptions options_;
  ChangeColumns columns_;
  std::vector<int> key_columns_;
  std::vector<int> user_columns_;
  std::vector<MatchRule> rules_;
  SpillContext spill_;
  MatchContext match_;
  ChangeRuns runs_;
  ChangeOutput output_;
  PairingMetrics metrics_;
  int64_t passed_deletes_of_ = -1;
  bool collapsed_ = false;
  std::optional<Error> failure_;
};

Result<std::vector<int>> FindKeyColumns(const arrow::Schema& schema, const PairingOptions& options) {
  std::vector<int> columns;
  for (const std::string& name : options.key_columns) {
    int found = -1;
    for (int i = 0; i < static_cast<int>(options.user_columns) && found < 0; ++i) {
      if (schema.field(i)->name() == name) found = i;
    }
    if (found < 0) return InvalidArgument("the table has no column {} to pair rows by", name);
    if (std::ranges::find(columns, found) == columns.end()) columns.push_back(found);
  }
  return columns;
}

}  // namespace

Result<std::unique_ptr<ChangePairing>> PairChanges(std::unique_ptr<BatchSource> source,
                                                   std::shared_ptr<arrow::Schema> schema, PairingOptions options) {
  static const arrow::Status initialized = arrow::compute::Initialize();
  DELENDA_TRY(parquet::ToResult(initialized, kPairing));
  if (options.user_columns > static_cast<size_t>(schema->num_fields()))
    return InvalidArgument("{} columns of the table, of {} columns of its changes", options.user_columns,
                           schema->num_fields());
  for (const auto& field : schema->fields())
    DELENDA_TRY(WithContext(RowKeys::CheckComparable(*field->type()), "column", field->name()));
  const ChangeColumns columns = DELENDA_TRY(FindChangeColumns(*schema, options.user_columns));
  auto key_columns = DELENDA_TRY(FindKeyColumns(*schema, options));
  if (options.updates == Updates::kKey && key_columns.empty())
    return InvalidArgument("updates are to be paired by key, but no key column is named");
  if (options.net && key_columns.empty()) {
    if (columns.row_id < 0)
      return InvalidArgument("net changes need row ids, which this table does not have: name key columns");
    // A row may have gone on under another row id.
    if (options.carry_overs == CarryOvers::kRemoveEqual)
      return InvalidArgument("net changes by row id need carried-over rows removed by row id too: name key columns");
  }
  if (options.output_columns.empty()) {
    options.output_columns.resize(static_cast<size_t>(schema->num_fields()));
    std::iota(options.output_columns.begin(), options.output_columns.end(), 0);
  }
  for (const int column : options.output_columns) {
    if (column < 0 || column >= schema->num_fields()) return InvalidArgument("no column {} of changes", column);
  }
  options.memory_budget = std::max(options.memory_budget, kLeastBudget);
  options.batch_rows = std::max<int64_t>(options.batch_rows, 1);
  if (options.pool == nullptr) options.pool = arrow::default_memory_pool();
  options.temp_folder = SpillFolder(options.temp_folder);
  return std::make_unique<PairingStream>(std::move(source), *schema, columns, std::move(options),
                                         std::move(key_columns));
}

}  // namespace delenda::read
