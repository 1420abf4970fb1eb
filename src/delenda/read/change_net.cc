#include "delenda/read/change_net.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/stl_allocator.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "delenda/read/change_columns.h"
#include "delenda/read/row_gather.h"
#include "delenda/read/row_key.h"
#include "delenda/read/selection.h"

namespace delenda::read {
namespace {

constexpr size_t kNetParts = 16;
constexpr int kNetMaxDepth = 8;
constexpr size_t kNetPairsAtATime = 4096;
constexpr RowRef kNoRow{std::numeric_limits<uint32_t>::max(), 0};

using BatchRef = std::shared_ptr<arrow::RecordBatch>;
template <typename T>
using PoolVector = std::vector<T, arrow::stl::allocator<T>>;

bool IsRow(RowRef ref) { return ref.batch != kNoRow.batch; }

// A row without id is any row: its changes could not be told from those of others.
Result<void> CheckRowIds(const arrow::RecordBatch& batch, const ChangeColumns& columns) {
  const arrow::Array& ids = *batch.column(columns.row_id);
  for (int64_t row = 0; ids.null_count() != 0 && row < batch.num_rows(); ++row) {
    if (ids.IsNull(row)) {
      return InvalidArgument("net changes need row ids, and rows that snapshot {} changed have none: name key columns",
                             NumberAt(batch, columns.snapshot_id, row));
    }
  }
  return {};
}

// The changes of each row so far, boiled down to one or two:
//   delete          it was there before the range, and is gone
//   delete, insert  it was there before, and is there
//   insert          it was not there, and is there
//   insert, delete  it was not there, and is gone
// Two, so that adding what is left of a table to another gives the same again.
class NetTable {
 public:
  NetTable(const MatchContext& context, const NetRule& rule)
      : context_(&context), rule_(&rule), histories_(context.spill->pool), slots_(context.spill->pool) {
    Clear();
  }

  Result<void> Add(BatchRef batch);
  uint64_t bytes() const {
    return batch_bytes_ + histories_.capacity() * (sizeof(History) + sizeof(RowRef)) +
           slots_.size() * sizeof(slots_[0]);
  }
  bool half_dead() const { return live_rows_ * 2 <= rows_; }
  // The changes that are known, in order; the table is empty afterwards.
  Result<RowBuffer> TakeAll();
  // The net changes; the table is empty afterwards.
  Result<RowBuffer> Finish(uint64_t& updates);

 private:
  struct History {
    RowRef first = kNoRow;
    RowRef last = kNoRow;  // kNoRow: only one
    uint64_t hash = 0;
  };

  void Clear();
  void Grow();
  History* Find(const RowKeys& keys, int64_t row, uint64_t hash);
  bool Deleted(RowRef ref) const { return RankOfNumber(NumberOf(ref)) == ChangeRank::kDelete; }
  int64_t NumberOf(RowRef ref) const { return NumberAt(*batches_[ref.batch], context_->columns.number, ref.row); }
  bool SameValues(RowRef a, RowRef b) const { return RowKeys::Equal(values_[a.batch], a.row, values_[b.batch], b.row); }
  void Kill(RowRef ref) {
    live_[ref.batch].Drop(ref.row);
    --live_rows_;
  }
  RowBuffer NewBuffer(uint64_t limit) const {
    return {*context_->spill, std::make_shared<SpillFile>(*context_->spill), limit};
  }
  Result<RowBuffer> TakeLive(uint64_t limit);

  const MatchContext* context_;
  const NetRule* rule_;
  std::vector<BatchRef> batches_;
  std::vector<RowKeys> keys_;    // of each batch: the identity
  std::vector<RowKeys> values_;  // of each batch: the table's columns
  std::vector<Selection> live_;  // of each batch: the rows of histories
  uint64_t batch_bytes_ = 0;
  int64_t rows_ = 0;
  int64_t live_rows_ = 0;
  PoolVector<History> histories_;
  PoolVector<uint32_t> slots_;  // open addressing: history + 1; 0: free
};

void NetTable::Clear() {
  batches_.clear();
  keys_.clear();
  values_.clear();
  live_.clear();
  batch_bytes_ = 0;
  rows_ = live_rows_ = 0;
  histories_.clear();
  histories_.shrink_to_fit();
  slots_.assign(64, 0);
  slots_.shrink_to_fit();
}

void NetTable::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < histories_.size(); ++i) {
    size_t at = histories_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<uint32_t>(i + 1);
  }
}

NetTable::History* NetTable::Find(const RowKeys& keys, int64_t row, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
    History& history = histories_[slots_[at] - 1];
    // Rows that differ with equal hashes would be taken for one, and a change of either would be lost.
    if (history.hash == hash && RowKeys::Equal(keys_[history.first.batch], history.first.row, keys, row))
      return &history;
  }
  return nullptr;
}

Result<void> NetTable::Add(BatchRef batch) {
  const int64_t rows = batch->num_rows();
  const auto index = static_cast<uint32_t>(batches_.size());
  batch_bytes_ += DELENDA_TRY(BatchBytes(*batch))
  +static_cast<uint64_t>(rows) / 8;
  rows_ += rows;
  batches_.push_back(batch);
  keys_.emplace_back(batch, rule_->identity);
  values_.emplace_back(batch, rule_->user_columns);
  live_.emplace_back(rows, true);
  live_rows_ += rows;
  const RowKeys& keys = keys_.back();
  if (rule_->identity[0] == context_->columns.row_id) DELENDA_TRY(CheckRowIds(*batch, context_->columns));
  std::vector<uint64_t> hashes(static_cast<size_t>(rows));
  keys.Hash(hashes);
  for (int64_t row = 0; row < rows; ++row) {
    const RowRef ref{index, static_cast<uint32_t>(row)};
    const uint64_t hash = hashes[static_cast<size_t>(row)];
    History* history = Find(keys, row, hash);
    if (history == nullptr) {
      if ((histories_.size() + 1) * 2 > slots_.size()) Grow();
      histories_.push_back({.first = ref, .hash = hash});
      const size_t mask = slots_.size() - 1;
      size_t at = hash & mask;
      while (slots_[at] != 0) at = (at + 1) & mask;
      slots_[at] = static_cast<uint32_t>(histories_.size());
      continue;
    }
    const bool deleted = Deleted(ref);
    const bool pair = IsRow(history->last);
    const RowRef latest = pair ? history->last : history->first;
    // What is deleted must be what was inserted: else the rest of one row would be taken for that of another.
    if (Deleted(latest) == deleted || (deleted && !SameValues(latest, ref))) {
      return ValidationFailed(
          "net changes are not defined where two rows have one identity: snapshot {} {} the row {}, which {}",
          NumberAt(*batch, context_->columns.snapshot_id, row), deleted ? "deleted" : "inserted",
          KeyText(*batch, rule_->identity, row),
          !deleted          ? "is there already"
          : Deleted(latest) ? "is not there"
                            : "is there with other values");
    }
    if (!pair) {
      history->last = ref;
      continue;
    }
    Kill(history->last);
    history->last = kNoRow;
    if (deleted) {  // delete, insert, delete
      Kill(ref);
    } else {  // insert, delete, insert
      Kill(history->first);
      history->first = ref;
    }
  }
  return {};
}

Result<RowBuffer> NetTable::TakeLive(uint64_t limit) {
  RowBuffer rows = NewBuffer(limit);
  keys_.clear();
  values_.clear();
  for (size_t i = 0; i < batches_.size(); ++i) {
    auto live = DELENDA_TRY(KeepRows(std::move(batches_[i]), live_[i], context_->spill->pool));
    if (live != nullptr) DELENDA_TRY(rows.Append(std::move(live)));
  }
  Clear();
  return rows;
}

Result<RowBuffer> NetTable::TakeAll() { return TakeLive(std::numeric_limits<uint64_t>::max()); }

Result<RowBuffer> NetTable::Finish(uint64_t& updates) {
  std::vector<std::pair<RowRef, RowRef>> pairs;
  for (const History& history : histories_) {
    if (!IsRow(history.last)) continue;
    const auto [first, last] = std::pair(history.first, history.last);
    const bool nothing = Deleted(last) || SameValues(first, last);
    if (!nothing && !rule_->pair) continue;
    Kill(first);
    Kill(last);
    if (!nothing) pairs.emplace_back(first, last);
  }
  const auto place = [](const std::pair<RowRef, RowRef>& pair) { return std::tie(pair.second.batch, pair.second.row); };
  std::ranges::sort(pairs, [&](const auto& a, const auto& b) { return place(a) < place(b); });
  updates += pairs.size();
  RowBuffer images = NewBuffer(context_->table_bytes / 4);
  std::vector<RowRef> chosen;
  for (size_t begin = 0; begin < pairs.size(); begin += kNetPairsAtATime) {
    chosen.clear();
    for (const auto& [first, last] :
         std::span(pairs).subspan(begin, std::min(kNetPairsAtATime, pairs.size() - begin))) {
      chosen.push_back(first);
      chosen.push_back(last);
    }
    const auto gathered = DELENDA_TRY(GatherRows(batches_, chosen, context_->spill->pool));
    DELENDA_TRY(images.Append(DELENDA_TRY(NumberUpdates(*gathered, context_->columns.number))));
  }
  std::vector<RowBuffer> runs;
  runs.push_back(std::move(images));
  runs.push_back(DELENDA_TRY(TakeLive(context_->table_bytes)));
  return MergeRuns(std::move(runs), context_->columns.number, *context_->spill, NewBuffer(context_->table_bytes / 4));
}

Result<RowBuffer> CollapseAtDepth(const MatchContext& context, const NetRule& rule, const RowPull& changes, int depth,
                                  uint64_t& updates) {
  NetTable table(context, rule);
  while (auto batch = DELENDA_TRY(changes())) {
    if (context.cancel.cancelled()) return Cancelled("stopped at the caller's request");
    DELENDA_TRY(table.Add(std::move(batch)));
    if (table.bytes() <= context.table_bytes) continue;
    if (table.half_dead()) {
      RowBuffer known = DELENDA_TRY(table.TakeAll());
      while (auto rows = DELENDA_TRY(known.Pop())) DELENDA_TRY(table.Add(std::move(rows)));
      continue;
    }
    // So deep only rows of one hash are left: a few.
    if (depth == kNetMaxDepth) continue;

    RowBuffer known = DELENDA_TRY(table.TakeAll());
    const RowPull rest = [&]() -> Result<BatchRef> {
      if (auto rows = DELENDA_TRY(known.Pop())) return rows;
      return changes();
    };
    auto parts = DELENDA_TRY(CutByHash(context, rule.identity, RowClass::kAll, kNetParts, depth, rest));
    std::vector<RowBuffer> runs;
    for (RowBuffer& part : parts) {
      const RowPull rows = [&part] { return part.Pop(); };
      runs.push_back(DELENDA_TRY(CollapseAtDepth(context, rule, rows, depth + 1, updates)));
      DELENDA_TRY(runs.back().Flush());
    }
    return MergeRuns(std::move(runs), context.columns.number, *context.spill,
                     RowBuffer(*context.spill, std::make_shared<SpillFile>(*context.spill), context.table_bytes / 4));
  }
  return table.Finish(updates);
}

}  // namespace

Result<RowBuffer> CollapseChanges(const MatchContext& context, const NetRule& rule, const RowPull& changes,
                                  uint64_t& updates) {
  return CollapseAtDepth(context, rule, changes, 0, updates);
}

}  // namespace delenda::read
