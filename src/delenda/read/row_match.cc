#include "delenda/read/row_match.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/stl_allocator.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "delenda/read/row_gather.h"
#include "delenda/read/row_key.h"
#include "delenda/read/selection.h"

namespace delenda::read {
namespace {

// What DeleteTable takes for a row beside the row itself, at most.
constexpr uint64_t kTableRowBytes = 48;
constexpr uint64_t kMaxParts = 16;
constexpr int kMaxDepth = 6;
constexpr size_t kPairsAtATime = 4096;
// How many deletes that wrongly share a row id are looked at for the one that was carried over.
constexpr int kMaxSameRowId = 64;

using BatchRef = std::shared_ptr<arrow::RecordBatch>;
template <typename T>
using PoolVector = std::vector<T, arrow::stl::allocator<T>>;

// Which rows are of the class; none: all.
std::optional<Selection> RowsOf(RowClass row_class, const arrow::RecordBatch& batch, const ChangeColumns& columns) {
  if (row_class == RowClass::kAll) return std::nullopt;
  const arrow::Array* ids = columns.row_id < 0 ? nullptr : batch.column(columns.row_id).get();
  const arrow::Array* updated = columns.last_updated < 0 ? nullptr : batch.column(columns.last_updated).get();
  if (row_class == RowClass::kRowId) {
    if (ids == nullptr) return Selection(batch.num_rows());
    if (ids->null_count() == 0) return std::nullopt;
    return Selection::Where(batch.num_rows(), [&](int64_t row) { return ids->IsValid(row); });
  }
  const bool wanted = row_class == RowClass::kLineage;
  if (ids == nullptr || updated == nullptr) {
    if (!wanted) return std::nullopt;
    return Selection(batch.num_rows());
  }
  if (ids->null_count() == 0 && updated->null_count() == 0) {
    if (wanted) return std::nullopt;
    return Selection(batch.num_rows());
  }
  return Selection::Where(batch.num_rows(),
                          [&](int64_t row) { return (ids->IsValid(row) && updated->IsValid(row)) == wanted; });
}

bool IsIn(const std::optional<Selection>& rows, int64_t row) { return !rows || rows->Kept(row); }

// The deletes that wait for inserts, by their key.
class DeleteTable {
 public:
  // A key that is there: its first delete, and the first that no insert took, if one is left.
  struct Found {
    uint32_t first = 0;
    std::optional<uint32_t> left;
    bool several = false;
  };

  DeleteTable(const MatchContext& context, const MatchRule& rule)
      : context_(&context),
        rule_(&rule),
        refs_(context.spill->pool),
        next_(context.spill->pool),
        left_(context.spill->pool),
        slots_(context.spill->pool) {}

  // Takes rows as long as they fit, at least a batch; all of them, if `all`.
  Result<void> Load(RowBuffer& deletes, bool all);
  const std::vector<BatchRef>& batches() const { return batches_; }
  RowRef RefOf(uint32_t row) const { return refs_[row]; }

  std::optional<Found> Find(const RowKeys& keys, int64_t row, uint64_t hash) const;
  // Of the deletes that are left of a key, one with the same values in the rule's columns `same`.
  std::optional<uint32_t> FindSame(const Found& found, const RowKeys& same, int64_t row) const;
  // An insert takes `row`, a delete with the key of `first`.
  void Take(uint32_t first, uint32_t row);
  // Hand out those that no insert took, in order. The table is of no use afterwards.
  Result<void> Release(RowBuffer& rest);

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  void Insert(uint32_t row, uint64_t hash);
  // The first row with the key, or kNone.
  uint32_t FirstOf(const RowKeys& keys, int64_t row, uint64_t hash) const;
  bool IsLeft(uint32_t row) const { return untaken_[refs_[row].batch].Kept(refs_[row].row); }

  const MatchContext* context_;
  const MatchRule* rule_;
  std::vector<BatchRef> batches_;
  std::vector<RowKeys> keys_;       // of each batch
  std::vector<RowKeys> same_;       // of each batch
  std::vector<Selection> untaken_;  // of each batch
  PoolVector<RowRef> refs_;         // rows of the class
  PoolVector<uint32_t> next_;       // by row: the next with the same key
  PoolVector<uint32_t> left_;       // by the first row of a key: the first that is left
  PoolVector<uint64_t> slots_;      // open addressing: upper half of the hash, then row + 1; 0: free
};

Result<void> DeleteTable::Load(RowBuffer& deletes, bool all) {
  uint64_t bytes = 0;
  int64_t rows = 0;
  while (deletes.rows() > 0) {
    auto batch = DELENDA_TRY(deletes.Pop());
    bytes += DELENDA_TRY(BatchBytes(*batch))
    +kTableRowBytes* static_cast<uint64_t>(batch->num_rows());
    rows += batch->num_rows();
    batches_.push_back(std::move(batch));
    if (!all && bytes >= context_->table_bytes) break;
  }
  if (rows >= kNone) return InternalError("{} deletes in one table", rows);
  refs_.reserve(static_cast<size_t>(rows));
  next_.assign(static_cast<size_t>(rows), kNone);
  left_.assign(static_cast<size_t>(rows), kNone);
  slots_.assign(std::bit_ceil(static_cast<size_t>(rows) * 2 + 2), 0);
  std::vector<uint64_t> hashes;
  for (const BatchRef& batch : batches_) {
    const auto index = static_cast<uint32_t>(keys_.size());
    keys_.emplace_back(batch, rule_->columns);
    same_.emplace_back(batch, rule_->same);
    untaken_.emplace_back(batch->num_rows(), true);
    hashes.resize(static_cast<size_t>(batch->num_rows()));
    keys_.back().Hash(hashes);
    const auto wanted = RowsOf(rule_->deletes, *batch, context_->columns);
    for (int64_t row = 0; row < batch->num_rows(); ++row) {
      if (!IsIn(wanted, row)) continue;
      refs_.push_back({index, static_cast<uint32_t>(row)});
      Insert(static_cast<uint32_t>(refs_.size() - 1), hashes[static_cast<size_t>(row)]);
    }
  }
  // So far the last row of each key.
  for (size_t row = 0; row < refs_.size(); ++row) {
    if (left_[row] != kNone) left_[row] = static_cast<uint32_t>(row);
  }
  return {};
}

void DeleteTable::Insert(uint32_t row, uint64_t hash) {
  const RowRef ref = refs_[row];
  const uint32_t first = FirstOf(keys_[ref.batch], ref.row, hash);
  if (first != kNone) {
    next_[left_[first]] = row;
    left_[first] = row;
    return;
  }
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at] != 0) at = (at + 1) & mask;
  slots_[at] = (hash >> 32 << 32) | (uint64_t{row} + 1);
  left_[row] = row;
}

uint32_t DeleteTable::FirstOf(const RowKeys& keys, int64_t row, uint64_t hash) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at] != 0; at = (at + 1) & mask) {
    if (slots_[at] >> 32 != hash >> 32) continue;
    const auto first = static_cast<uint32_t>(slots_[at] - 1);
    const RowRef ref = refs_[first];
    // Equal hashes are not enough: rows that differ would vanish as carried over, and a change would be lost.
    if (RowKeys::Equal(keys_[ref.batch], ref.row, keys, row)) return first;
  }
  return kNone;
}

std::optional<DeleteTable::Found> DeleteTable::Find(const RowKeys& keys, int64_t row, uint64_t hash) const {
  const uint32_t first = FirstOf(keys, row, hash);
  if (first == kNone) return std::nullopt;
  Found found{.first = first, .left = std::nullopt, .several = next_[first] != kNone};
  if (left_[first] != kNone) found.left = left_[first];
  return found;
}

std::optional<uint32_t> DeleteTable::FindSame(const Found& found, const RowKeys& same, int64_t row) const {
  uint32_t at = left_[found.first];
  for (int looked_at = 0; at != kNone && looked_at < kMaxSameRowId; at = next_[at], ++looked_at) {
    const RowRef ref = refs_[at];
    if (IsLeft(at) && RowKeys::Equal(same_[ref.batch], ref.row, same, row)) return at;
  }
  return std::nullopt;
}

void DeleteTable::Take(uint32_t first, uint32_t row) {
  untaken_[refs_[row].batch].Drop(refs_[row].row);
  uint32_t& left = left_[first];
  while (left != kNone && !IsLeft(left)) left = next_[left];
}

Result<void> DeleteTable::Release(RowBuffer& rest) {
  keys_.clear();
  same_.clear();
  for (auto* rows : {&next_, &left_}) PoolVector<uint32_t>(rows->get_allocator()).swap(*rows);
  PoolVector<RowRef>(refs_.get_allocator()).swap(refs_);
  PoolVector<uint64_t>(slots_.get_allocator()).swap(slots_);
  for (size_t i = 0; i < batches_.size(); ++i) {
    auto left = DELENDA_TRY(KeepRows(std::move(batches_[i]), untaken_[i], context_->spill->pool));
    if (left != nullptr) DELENDA_TRY(rest.Append(std::move(left)));
  }
  return {};
}

RowBuffer NewResult(const MatchContext& context, const std::shared_ptr<SpillFile>& file) {
  return {*context.spill, file, context.table_bytes / 4};
}

Matched NewResults(const MatchContext& context) {
  const auto file = std::make_shared<SpillFile>(*context.spill);
  return {.deletes = NewResult(context, file), .pairs = NewResult(context, file), .inserts = NewResult(context, file)};
}

RowPull Popping(RowBuffer& rows) {
  return [&rows] { return rows.Pop(); };
}

Result<void> CheckCancelled(const MatchContext& context) {
  if (context.cancel.cancelled()) return Cancelled("stopped at the caller's request");
  return {};
}

std::unexpected<Error> Ambiguous(const MatchContext& context, const MatchRule& rule, const arrow::RecordBatch& batch,
                                 int64_t row) {
  return ValidationFailed(
      "the key {} is more than once among the rows that snapshot {} deleted or inserted, so that its updates could be "
      "paired in several ways: name more key columns, or do not pair",
      KeyText(batch, rule.columns, row), NumberAt(batch, context.columns.snapshot_id, row));
}

// Matches the inserts with the deletes of the table, and adds to the results. The table keeps what is left.
Result<void> MatchTable(const MatchContext& context, const MatchRule& rule, DeleteTable& table, const RowPull& inserts,
                        Matched& matched) {
  std::vector<uint64_t> hashes;
  std::vector<RowRef> pairs;
  while (const auto batch = DELENDA_TRY(inserts())) {
    DELENDA_TRY(CheckCancelled(context));
    const int64_t rows = batch->num_rows();
    const RowKeys keys(batch, rule.columns);
    const RowKeys same(batch, rule.same);
    hashes.resize(static_cast<size_t>(rows));
    keys.Hash(hashes);
    const auto wanted = RowsOf(rule.inserts, *batch, context.columns);
    Selection left(rows, true);
    pairs.clear();
    for (int64_t row = 0; row < rows; ++row) {
      if (!IsIn(wanted, row)) continue;
      const auto found = table.Find(keys, row, hashes[static_cast<size_t>(row)]);
      if (!found) continue;
      if (rule.unique && (found->several || !found->left)) return Ambiguous(context, rule, *batch, row);
      if (!found->left) continue;
      std::optional<uint32_t> taken;
      if (rule.action != MatchRule::Action::kPair)
        taken = rule.same.empty() ? found->left : table.FindSame(*found, same, row);
      const bool drop = taken.has_value();
      if (!drop && rule.action == MatchRule::Action::kDrop) continue;
      if (!drop) taken = found->left;
      table.Take(found->first, *taken);
      left.Drop(row);
      if (drop) {
        ++matched.dropped;
        continue;
      }
      ++matched.paired;
      pairs.push_back(table.RefOf(*taken));
      pairs.push_back({static_cast<uint32_t>(table.batches().size()), static_cast<uint32_t>(row)});
    }
    if (!pairs.empty()) {
      std::vector<BatchRef> batches = table.batches();
      batches.push_back(batch);
      for (size_t begin = 0; begin < pairs.size(); begin += 2 * kPairsAtATime) {
        const auto some = std::span(pairs).subspan(begin, std::min(2 * kPairsAtATime, pairs.size() - begin));
        const auto images = DELENDA_TRY(GatherRows(batches, some, context.spill->pool));
        DELENDA_TRY(matched.pairs.Append(DELENDA_TRY(NumberUpdates(*images, context.columns.number))));
      }
    }
    auto rest = DELENDA_TRY(KeepRows(batch, left, context.spill->pool));
    if (rest != nullptr) DELENDA_TRY(matched.inserts.Append(std::move(rest)));
  }
  return {};
}

// Passes over the inserts, each with as many deletes as fit. What is paired in one pass is looked at in the next, or a
// key that is there twice could go unnoticed.
Result<Matched> MatchInPasses(const MatchContext& context, const MatchRule& rule, RowBuffer deletes,
                              const RowPull& inserts) {
  Matched matched = NewResults(context);
  bool first = true;
  while (deletes.rows() > 0) {
    DeleteTable table(context, rule);
    DELENDA_TRY(table.Load(deletes, false));
    Matched pass = NewResults(context);
    RowBuffer earlier = std::move(matched.inserts);
    DELENDA_TRY(MatchTable(context, rule, table, first ? inserts : Popping(earlier), pass));
    if (rule.unique) {
      RowBuffer checked = NewResult(context, std::make_shared<SpillFile>(*context.spill));
      std::vector<uint64_t> hashes;
      while (auto batch = DELENDA_TRY(matched.pairs.Pop())) {
        const RowKeys keys(batch, rule.columns);
        hashes.resize(static_cast<size_t>(batch->num_rows()));
        keys.Hash(hashes);
        for (int64_t row = 0; row < batch->num_rows(); ++row) {
          if (table.Find(keys, row, hashes[static_cast<size_t>(row)])) return Ambiguous(context, rule, *batch, row);
        }
        DELENDA_TRY(checked.Append(std::move(batch)));
      }
      matched.pairs = std::move(checked);
    }
    DELENDA_TRY(table.Release(matched.deletes));
    DELENDA_TRY(matched.deletes.Flush());
    std::vector<RowBuffer> runs;
    runs.push_back(std::move(matched.pairs));
    runs.push_back(std::move(pass.pairs));
    matched.pairs = DELENDA_TRY(MergeRuns(std::move(runs), context.columns.number, *context.spill,
                                          NewResult(context, std::make_shared<SpillFile>(*context.spill))));
    matched.inserts = std::move(pass.inserts);
    matched.dropped += pass.dropped;
    matched.paired += pass.paired;
    first = false;
  }
  return matched;
}

Result<Matched> MatchAtDepth(const MatchContext& context, const MatchRule& rule, RowBuffer deletes,
                             const RowPull& inserts, int depth) {
  const uint64_t needed = deletes.bytes() + kTableRowBytes * static_cast<uint64_t>(deletes.rows());
  if (needed <= context.table_bytes) {
    Matched matched = NewResults(context);
    // Takes the place of the table.
    matched.deletes = RowBuffer(*context.spill, std::make_shared<SpillFile>(*context.spill), context.table_bytes);
    DeleteTable table(context, rule);
    DELENDA_TRY(table.Load(deletes, true));
    DELENDA_TRY(MatchTable(context, rule, table, inserts, matched));
    DELENDA_TRY(table.Release(matched.deletes));
    return matched;
  }
  if (depth == kMaxDepth) return MatchInPasses(context, rule, std::move(deletes), inserts);

  const uint64_t whole = deletes.bytes();
  const size_t parts = std::clamp<uint64_t>(needed * 3 / 2 / context.table_bytes + 1, 2, kMaxParts);
  auto deleted = DELENDA_TRY(CutByHash(context, rule.columns, rule.deletes, parts, depth, Popping(deletes)));
  auto inserted = DELENDA_TRY(CutByHash(context, rule.columns, rule.inserts, parts, depth, inserts));
  std::vector<RowBuffer> deletes_left, pairs, inserts_left;
  uint64_t dropped = 0;
  uint64_t paired = 0;
  for (size_t part = 0; part < parts; ++part) {
    if (deleted[part].rows() > 0 && inserted[part].rows() > 0) {
      // Hardly smaller: its rows are the same, and cutting goes on for nothing.
      const int next_depth = deleted[part].bytes() > whole / 10 * 9 ? kMaxDepth : depth + 1;
      Matched matched =
          DELENDA_TRY(MatchAtDepth(context, rule, std::move(deleted[part]), Popping(inserted[part]), next_depth));
      dropped += matched.dropped;
      paired += matched.paired;
      DELENDA_TRY(matched.deletes.Flush());
      DELENDA_TRY(matched.pairs.Flush());
      DELENDA_TRY(matched.inserts.Flush());
      deletes_left.push_back(std::move(matched.deletes));
      pairs.push_back(std::move(matched.pairs));
      inserts_left.push_back(std::move(matched.inserts));
    } else {
      deletes_left.push_back(std::move(deleted[part]));
      inserts_left.push_back(std::move(inserted[part]));
    }
  }
  deletes_left.push_back(std::move(deleted[parts]));
  inserts_left.push_back(std::move(inserted[parts]));
  Matched matched = NewResults(context);
  const auto merge = [&](std::vector<RowBuffer> runs, RowBuffer& merged) -> Result<void> {
    merged = DELENDA_TRY(MergeRuns(std::move(runs), context.columns.number, *context.spill, std::move(merged)));
    return {};
  };
  DELENDA_TRY(merge(std::move(deletes_left), matched.deletes));
  DELENDA_TRY(merge(std::move(pairs), matched.pairs));
  DELENDA_TRY(merge(std::move(inserts_left), matched.inserts));
  matched.dropped = dropped;
  matched.paired = paired;
  return matched;
}

}  // namespace

Result<std::vector<RowBuffer>> CutByHash(const MatchContext& context, const std::vector<int>& columns,
                                         RowClass row_class, size_t parts, int depth, const RowPull& rows) {
  const auto file = std::make_shared<SpillFile>(*context.spill);
  std::vector<RowBuffer> buffers;
  for (size_t i = 0; i <= parts; ++i) buffers.emplace_back(*context.spill, file, context.spill->block_bytes);
  std::vector<uint64_t> hashes;
  while (const auto batch = DELENDA_TRY(rows())) {
    DELENDA_TRY(CheckCancelled(context));
    const int64_t count = batch->num_rows();
    hashes.resize(static_cast<size_t>(count));
    RowKeys(batch, columns).Hash(hashes);
    const auto wanted = RowsOf(row_class, *batch, context.columns);
    std::vector<std::vector<RowRef>> chosen(parts + 1);
    for (int64_t row = 0; row < count; ++row) {
      const size_t part = IsIn(wanted, row) ? PartOfHash(hashes[static_cast<size_t>(row)], depth, parts) : parts;
      chosen[part].push_back({0, static_cast<uint32_t>(row)});
    }
    for (size_t part = 0; part <= parts; ++part) {
      if (!chosen[part].empty())
        DELENDA_TRY(buffers[part].Append(DELENDA_TRY(GatherRows({batch}, chosen[part], context.spill->pool))));
    }
  }
  for (RowBuffer& buffer : buffers) DELENDA_TRY(buffer.Flush());
  return buffers;
}

Result<Matched> MatchRows(const MatchContext& context, const MatchRule& rule, RowBuffer deletes,
                          const RowPull& inserts) {
  return MatchAtDepth(context, rule, std::move(deletes), inserts, 0);
}

}  // namespace delenda::read
