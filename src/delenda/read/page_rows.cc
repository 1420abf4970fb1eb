#include "delenda/read/page_rows.h"

#include <algorithm>
#include <map>
#include <utility>

#include "delenda/model/pruning.h"
#include "delenda/read/row_group_stats.h"

namespace delenda::read {
namespace {

using parquet::IndexedPage;
using parquet::PageIndexCost;
using parquet::RowRun;

// A batch of its own costs as much as decoding about this many rows: what lies between two runs is read if it is less.
constexpr int64_t kShortestGap = 512;
// Pages of fewer rows, on the average: to ask each costs as much as to read it.
constexpr int64_t kFewestRowsOfPage = 64;
// An index that has to be asked for by a request of its own, while the chunk is fetched whole, saves but the decoding.
constexpr uint64_t kRequestWorth = 64;
// What writers put into a page, about: where they end it by default.
constexpr uint64_t kBytesOfPage = uint64_t{1} << 20;
constexpr int64_t kRowsOfPage = 20'000;
// Keys for each page from which on hardly one is without any, were they spread evenly; and the slices of a row group
// that tell whether they are.
constexpr size_t kKeysOfPage = 4;
constexpr uint64_t kKeySlices = 16;

// A column of the question that the file holds.
struct AskedColumn {
  BoundColumn column;
  FileLeaf leaf;
  const SortedValues* keys = nullptr;  // not null: only the keys ask for it
};

// Its pages in one row group.
struct ColumnPages {
  const AskedColumn* asked = nullptr;
  std::vector<IndexedPage> pages;
  std::vector<ColumnStats> stats;
  size_t at = 0;
};

void AddAskedColumn(const parquet::ParquetFile& file, const BoundColumn& column, const SortedValues* keys,
                    std::vector<AskedColumn>& asked) {
  const auto known = std::ranges::find(
      asked, column.path, [](const AskedColumn& a) -> const std::vector<int32_t>& { return a.column.path; });
  if (known != asked.end()) return;
  const auto leaf = FindLeaf(file, column.path);
  if (leaf && !file.leaves()[static_cast<size_t>(leaf->leaf)].repeated) asked.push_back({column, *leaf, keys});
}

// Adds the columns of the filter's leaves and says how many values they compare with.
uint64_t AddFilterColumns(const parquet::ParquetFile& file, const Expr& filter, std::vector<AskedColumn>& asked) {
  uint64_t values = std::max<size_t>(filter.values.size(), 1);
  for (const ExprRef& child : filter.children) values += AddFilterColumns(file, *child, asked);
  if (!filter.column.path.empty()) AddAskedColumn(file, filter.column, nullptr, asked);
  return values;
}

// May some page be without a key? Where keys are many and lie all over the row group's range, hardly one is.
bool KeysMayMissPages(const SortedValues& keys, const ColumnStats& whole, uint64_t pages) {
  const auto [first, last] = keys.Between(whole);
  if (last - first <= kKeysOfPage * pages) return true;
  const auto* lower = whole.lower ? std::get_if<int64_t>(&*whole.lower) : nullptr;
  const auto* upper = whole.upper ? std::get_if<int64_t>(&*whole.upper) : nullptr;
  if (lower == nullptr || upper == nullptr) return false;
  const uint64_t step = (static_cast<uint64_t>(*upper) - static_cast<uint64_t>(*lower)) / kKeySlices;
  for (uint64_t i = 0; i < kKeySlices && step != 0; ++i) {
    const auto begin = static_cast<int64_t>(static_cast<uint64_t>(*lower) + i * step);
    const auto [in_first, in_last] =
        keys.Between({.lower = Datum(begin), .upper = Datum(begin + static_cast<int64_t>(step - 1))});
    if (in_first == in_last) return true;
  }
  return false;
}

bool IsWorthAsking(const parquet::ParquetFile& file, const parquet::ColumnChunk& chunk, const AskedColumn& asked,
                   const StatsSource& stats, uint64_t smallest_chunk) {
  const PageIndexCost cost = file.CostOfPageIndex(chunk.row_group, chunk.leaf);
  if (cost == PageIndexCost::kNone) return false;
  const uint64_t bytes = file.DecodedBytes(chunk.row_group, chunk.leaf);
  if ((cost == PageIndexCost::kRequest ? bytes / kRequestWorth : bytes) < smallest_chunk) return false;
  if (asked.keys == nullptr) return true;
  const uint64_t pages = 1 + std::max(bytes / kBytesOfPage,
                                      static_cast<uint64_t>(file.row_groups()[chunk.row_group].num_rows / kRowsOfPage));
  const auto whole = stats(asked.column);
  return !whole || KeysMayMissPages(*asked.keys, *whole, pages);
}

// Values of these types may be cut short in bounds, each in another way.
bool MayBeCutShort(const Type& type) {
  return type.kind() == TypeKind::kString || type.kind() == TypeKind::kBinary || type.kind() == TypeKind::kFixed;
}

// Fills in what is known of each page. False: the pages contradict each other or the row group, so that rows would be
// lost by whichever is wrong.
bool DescribePages(const parquet::ParquetFile& file, const std::optional<ColumnStats>& whole, ColumnPages& column) {
  const AskedColumn& asked = *column.asked;
  const ::parquet::Type::type physical = file.leaves()[static_cast<size_t>(asked.leaf.leaf)].physical;
  const Datum* lowest = nullptr;
  const Datum* highest = nullptr;
  bool all_known = true;
  column.stats.reserve(column.pages.size());
  for (const IndexedPage& page : column.pages) {
    const parquet::LeafStatistics& statistics = page.statistics;
    const ColumnStats& stats =
        column.stats.emplace_back(StatsOfLeaf(asked.column.type, asked.leaf, physical, statistics, page.rows));
    if (stats.null_count == page.rows) continue;
    // Either of no use or in the wrong order.
    if (statistics.min && statistics.max && !stats.lower && !stats.upper) return false;
    all_known = all_known && stats.lower && stats.upper;
    if (stats.lower && (lowest == nullptr || CompareDatum(*stats.lower, *lowest) < 0)) lowest = &*stats.lower;
    if (stats.upper && (highest == nullptr || CompareDatum(*stats.upper, *highest) > 0)) highest = &*stats.upper;
    if (!whole) continue;
    if (stats.lower && whole->upper && CompareDatum(*stats.lower, *whole->upper) > 0) return false;
    if (stats.upper && whole->lower && CompareDatum(*stats.upper, *whole->lower) < 0) return false;
  }
  if (!whole || !whole->lower || !whole->upper || !all_known || lowest == nullptr || MayBeCutShort(asked.column.type))
    return true;
  return CompareDatum(*lowest, *whole->lower) == 0 && CompareDatum(*highest, *whole->upper) == 0;
}

// Where a page of any of the columns begins, ascending: between two of these nothing changes.
std::vector<int64_t> PageStarts(const std::vector<ColumnPages>& columns) {
  std::vector<int64_t> starts;
  for (const ColumnPages& column : columns) {
    for (const IndexedPage& page : column.pages) starts.push_back(page.first_row);
  }
  std::ranges::sort(starts);
  const auto repeated = std::ranges::unique(starts);
  starts.erase(repeated.begin(), repeated.end());
  return starts;
}

// The runs of one row group, from the pages of the columns that are known.
std::optional<PageRows> RowsOf(int64_t rows, const StatsSource& whole, std::vector<ColumnPages> columns,
                               const PageQuestion& question, uint64_t filter_values) {
  const std::vector<int64_t> starts = PageStarts(columns);
  if (starts.size() < 2 || rows / static_cast<int64_t>(starts.size()) < kFewestRowsOfPage) return std::nullopt;
  // Comparing pages with a long list of values may cost more than comparing rows.
  const Expr* filter = question.filter;
  if (filter_values > static_cast<uint64_t>(rows) / starts.size()) filter = nullptr;
  std::map<std::vector<int32_t>, std::optional<ColumnStats>> others;  // columns without a page index
  const StatsSource stats = [&](const BoundColumn& column) -> std::optional<ColumnStats> {
    for (const ColumnPages& known : columns) {
      if (known.asked->column.path == column.path) return known.stats[known.at];
    }
    const auto [at, is_new] = others.try_emplace(column.path);
    if (is_new) at->second = whole(column);
    return at->second;
  };
  PageRows result;
  std::vector<RowRun>& runs = result.runs;
  int64_t left = 0;
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t first = starts[i];
    const int64_t end = i + 1 < starts.size() ? starts[i + 1] : rows;
    for (ColumnPages& column : columns) {
      if (column.at + 1 < column.pages.size() && column.pages[column.at + 1].first_row == first) ++column.at;
    }
    if ((filter != nullptr && !CouldMatch(*filter, stats)) ||
        (question.keys != nullptr && !question.keys->CouldHold(stats))) {
      continue;
    }
    if (!runs.empty() && first - runs.back().end < kShortestGap) {
      left += end - runs.back().end;
      runs.back().end = end;
    } else {
      left += end - first;
      runs.push_back({first, end});
    }
  }
  if (left == rows) return std::nullopt;
  for (const ColumnPages& column : columns) {
    parquet::KnownPages& known = result.pages.emplace_back();
    known.leaf = column.asked->leaf.leaf;
    for (const IndexedPage& page : column.pages) known.first_rows.push_back(page.first_row);
  }
  return result;
}

}  // namespace

Result<std::vector<std::optional<PageRows>>> RowsThatPagesLeave(const parquet::ParquetFile& file,
                                                                std::span<const size_t> row_groups,
                                                                const ConstantColumns& constants,
                                                                const PageQuestion& question) {
  std::vector<std::optional<PageRows>> left(row_groups.size());
  std::vector<AskedColumn> asked;
  uint64_t filter_values = 0;
  if (question.filter != nullptr) filter_values = AddFilterColumns(file, *question.filter, asked);
  if (question.keys != nullptr) {
    for (const SortedKeys::Column& key : question.keys->columns()) AddAskedColumn(file, key.column, &key.values, asked);
  }
  if (asked.empty()) return left;

  std::vector<parquet::ColumnChunk> chunks;
  std::vector<std::pair<size_t, size_t>> chunk_of;  // index of the row group, of the column
  for (size_t i = 0; i < row_groups.size(); ++i) {
    const StatsSource whole = RowGroupStats(file, row_groups[i], constants);
    for (size_t column = 0; column < asked.size(); ++column) {
      const parquet::ColumnChunk chunk{row_groups[i], asked[column].leaf.leaf};
      if (!IsWorthAsking(file, chunk, asked[column], whole, question.smallest_chunk)) continue;
      chunks.push_back(chunk);
      chunk_of.emplace_back(i, column);
    }
  }
  if (chunks.empty()) return left;
  auto indexes = DELENDA_TRY(file.ReadPageIndexes(chunks));
  size_t next = 0;
  for (size_t i = 0; i < row_groups.size(); ++i) {
    const StatsSource whole = RowGroupStats(file, row_groups[i], constants);
    std::vector<ColumnPages> columns;
    for (; next < chunks.size() && chunk_of[next].first == i; ++next) {
      // A damaged index rules nothing out: the pages may be sound, and are found broken by reading them if not.
      if (!indexes[next]) continue;
      ColumnPages column{.asked = &asked[chunk_of[next].second], .pages = *std::move(indexes[next]), .stats = {}};
      if (DescribePages(file, whole(column.asked->column), column)) columns.push_back(std::move(column));
    }
    if (!columns.empty())
      left[i] = RowsOf(file.row_groups()[row_groups[i]].num_rows, whole, std::move(columns), question, filter_values);
  }
  return left;
}

}  // namespace delenda::read
