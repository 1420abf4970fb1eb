// How many data files are left to open for given keys: by sorted keys, and by filters made of the keys.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "delenda/model/key_filters.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/plan/scan_planner.h"
#include "unit/commit/memory_table.h"

namespace delenda::ops {
namespace {

using commit::testing::MemoryTable;

constexpr int64_t kRowsPerFile = 5000;

PartitionSpec SpecOf(const std::vector<std::pair<int32_t, const char*>>& fields) {
  PartitionSpec spec;
  for (const auto& [source, transform] : fields) {
    spec.fields.push_back({.source_id = source,
                           .field_id = static_cast<int32_t>(1000 + spec.fields.size()),
                           .name = "p" + std::to_string(spec.fields.size()),
                           .transform = Transform::Parse(transform).value()});
  }
  return spec;
}

// Keys of column id, or of id and region.
struct Keys {
  std::vector<std::vector<Datum>> rows;
  std::shared_ptr<const SortedKeys> sorted;

  explicit Keys(std::vector<std::vector<Datum>> values) : rows(std::move(values)) {
    const BoundColumn columns[] = {{.field_id = 1, .type = TypeKind::kLong, .name = "id", .path = {1}},
                                   {.field_id = 2, .type = TypeKind::kString, .name = "region", .path = {2}}};
    std::vector<SortedKeys::Column> all;
    for (size_t i = 0; i < rows.front().size(); ++i) {
      std::vector<Datum> of_column;
      for (const auto& row : rows) of_column.push_back(row[i]);
      all.push_back({columns[i], SortedValues::Of(std::move(of_column))});
    }
    sorted = std::make_shared<const SortedKeys>(std::move(all));
  }
  ExprRef Filter(size_t budget) const {
    return KeyFilter(*sorted, rows.size(), budget, [&] { return rows; });
  }
};

Keys Ids(const std::set<int64_t>& ids) {
  std::vector<std::vector<Datum>> rows;
  for (const int64_t id : ids) rows.push_back({Datum(id)});
  return Keys(std::move(rows));
}

// Files of 5,000 consecutive ids each.
class RangeTable : public MemoryTable {
 public:
  RangeTable(int64_t files, std::shared_ptr<io::FileIO> io) : MemoryTable(std::move(io)) {
    commit::Intent intent;
    for (int64_t i = 0; i < files; ++i) {
      ContentFile& file = intent.added_files.emplace_back(DataFile(std::to_string(i) + ".parquet", kRowsPerFile));
      const auto bound = [](int64_t value) {
        return std::string(AsText(DatumToBound(TypeKind::kLong, Datum(value)).value()));
      };
      FileMetrics metrics;
      metrics.value_counts = {{1, kRowsPerFile}};
      metrics.null_counts = {{1, 0}};
      metrics.lower_bounds = {{1, bound(i * kRowsPerFile)}};
      metrics.upper_bounds = {{1, bound((i + 1) * kRowsPerFile - 1)}};
      file.metrics = std::make_shared<const FileMetrics>(std::move(metrics));
    }
    Commit(intent);
  }
};

size_t FilesFor(const MemoryTable& table, const plan::ScanRequest& request, io::FileIO& io) {
  Executor executor(1);
  const auto plan = plan::PlanScan(table.Metadata(), io, request, executor, {});
  EXPECT_TRUE(plan) << plan.error().ToString();
  return plan ? plan->tasks.size() : 0;
}

// Files to open by the keys themselves, and by the filter of that budget.
std::pair<size_t, size_t> FilesBoth(const MemoryTable& table, const Keys& keys, size_t budget, io::FileIO& io) {
  return {FilesFor(table, {.keys = keys.sorted}, io), FilesFor(table, {.where = keys.Filter(budget)->ToString()}, io)};
}

TEST(KeyPlanning, PinsPartitionsWithMoreKeysThanOneListHolds) {
  struct Case {
    const char* transform;
    int32_t source;
    std::function<Datum(int64_t)> partition;  // of file i
    std::function<std::vector<Datum>(int64_t)> key;
  };
  const auto region = [](int64_t i) { return Datum("r" + std::to_string(i)); };
  // Ids by their bucket.
  const Transform bucket = Transform::Parse("bucket[12]").value();
  std::vector<std::vector<int64_t>> in_bucket(12);
  for (int64_t id = 0; id < 20000; ++id) {
    const auto number = std::get<int64_t>(bucket.Apply(TypeKind::kLong, Datum(id)).value());
    in_bucket[static_cast<size_t>(number)].push_back(id);
  }
  const Case cases[] = {
      {"identity", 2, region, [&](int64_t k) { return std::vector<Datum>{Datum(k), region(k % 3 * 4)}; }},
      {"bucket[12]", 1, [](int64_t i) { return Datum(i); },
       [&](int64_t k) {
         return std::vector<Datum>{Datum(in_bucket[static_cast<size_t>(k % 3 * 4)][static_cast<size_t>(k)])};
       }},
  };
  for (const Case& one : cases) {
    const auto io = io::MakeMemoryFileIO();
    MemoryTable table(io, {}, 3, SpecOf({{one.source, one.transform}}));
    commit::Intent intent;
    for (int64_t i = 0; i < 12; ++i) {
      ContentFile& file = intent.added_files.emplace_back(MemoryTable::DataFile(std::to_string(i), 10));
      file.partition = std::make_shared<const PartitionTuple>(PartitionTuple{{one.partition(i)}});
    }
    table.Commit(intent);
    std::vector<std::vector<Datum>> rows;
    for (int64_t k = 0; k < 450; ++k) rows.push_back(one.key(k));
    const Keys keys(std::move(rows));
    EXPECT_EQ(FilesBoth(table, keys, 1000, *io), std::pair(size_t{3}, size_t{3})) << one.transform;
    // The partition of a delete, without keys.
    const plan::OnePartition only{.spec_id = 0,
                                  .tuple = std::make_shared<const PartitionTuple>(PartitionTuple{{one.partition(5)}})};
    EXPECT_EQ(FilesFor(table, {.partition = only}, *io), 1U) << one.transform;
    EXPECT_EQ(FilesFor(table, {.keys = keys.sorted, .partition = only}, *io), 0U) << one.transform;
  }
}

TEST(KeyPlanning, OpensExactlyTheFilesThatHoldKeys) {
  const auto io = io::MakeMemoryFileIO();
  RangeTable table(200, io);
  // A run of keys over three files, and single ones.
  std::set<int64_t> few, many;
  for (int64_t id = 52'000; id < 62'000; id += 20) few.insert(id);
  many = few;
  for (int64_t i = 0; i < 8; ++i) few.insert(100'000 + i * 100'000 + 7);
  for (int64_t i = 0; i < 153; ++i) many.insert((20 + i) * kRowsPerFile + 4999);
  const size_t budget = KeyComparisonBudget(200);
  EXPECT_EQ(FilesBoth(table, Ids(few), budget, *io), std::pair(size_t{11}, size_t{11}));
  EXPECT_EQ(FilesBoth(table, Ids(many), budget, *io), std::pair(size_t{156}, size_t{156}));
}

TEST(KeyPlanning, RangesOfTwoThousandKeysOpenTheFilesOfTheScatteredOnes) {
  const auto io = io::MakeMemoryFileIO();
  RangeTable table(2000, io);
  std::set<int64_t> ids;
  for (int64_t i = 0; i < 600; ++i) ids.insert({1'230'600 + i, 4'230'100 + i, 4'231'500 + i});
  std::mt19937_64 random(3);
  std::set<int64_t> files = {246, 846};
  while (files.size() < 202) {
    const auto file = static_cast<int64_t>(random() % 2000);
    if (files.insert(file).second) ids.insert(file * kRowsPerFile + static_cast<int64_t>(random() % kRowsPerFile));
  }
  ASSERT_EQ(ids.size(), 2000U);
  const Keys keys = Ids(ids);
  EXPECT_EQ(FilesBoth(table, keys, KeyComparisonBudget(2000), *io), std::pair(size_t{202}, size_t{202}));
  // With 100 ranges, whatever the table has, files between the keys are opened for nothing.
  EXPECT_GT(FilesBoth(table, keys, 200, *io).second, 400U);
}

// The worst case for few ranges: all gaps between the scattered keys are equally wide.
TEST(KeyPlanning, RangesOfEvenlyScatteredKeysOpenTheirFilesOnly) {
  const auto io = io::MakeMemoryFileIO();
  RangeTable table(2000, io);
  std::set<int64_t> ids;
  for (int64_t i = 0; i < 900; ++i) ids.insert({1005 * kRowsPerFile + i, 1999 * kRowsPerFile + i});
  for (int64_t i = 0; i < 200; ++i) ids.insert(i * 10 * kRowsPerFile);
  ASSERT_EQ(ids.size(), 2000U);
  const Keys keys = Ids(ids);
  EXPECT_EQ(FilesBoth(table, keys, KeyComparisonBudget(2000), *io), std::pair(size_t{202}, size_t{202}));
  // 100 ranges leave out 99 gaps of 9 files each.
  EXPECT_EQ(FilesBoth(table, keys, 200, *io).second, 2000U - 99 * 9);
}

}  // namespace
}  // namespace delenda::ops
