// Pairing of more rows than the memory budget holds: the memory, the files, and that the result stays the same.
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/memory_pool.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "delenda/read/change_pairing.h"
#include "delenda/read/row_key.h"
#include "delenda/read/row_spill.h"
#include "support/temporary_folder.h"
#include "unit/read/change_rows.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::HasSubstr;

constexpr int64_t kBatchRows = 2000;

std::shared_ptr<arrow::Schema> WideSchema() {
  using arrow::field;
  return arrow::schema({field("id", arrow::int64()), field("text", arrow::utf8()), field("_change_type", arrow::utf8()),
                        field("_change_ordinal", arrow::int32()), field("_commit_snapshot_id", arrow::int64()),
                        field("_row_id", arrow::int64()), field("_last_updated_sequence_number", arrow::int64())});
}

// One snapshot that deletes rows 0 … n - 1 and inserts them again, in another order; made batch by batch, in `pool`.
class Rewrite final : public BatchSource {
 public:
  struct Kind {
    int64_t rows = 0;
    bool lineage = true;
    int64_t updated_every = 0;  // 0: none
    bool same_values = false;   // all rows have the same values
  };

  Rewrite(Kind kind, arrow::MemoryPool* pool) : kind_(kind), pool_(pool) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (next_ == 2 * kind_.rows) return nullptr;
    const bool insert = next_ >= kind_.rows;
    const int64_t count = std::min(kBatchRows, (insert ? 2 : 1) * kind_.rows - next_);
    arrow::Int64Builder ids(pool_), snapshots(pool_), row_ids(pool_), last_updated(pool_);
    arrow::StringBuilder texts(pool_), types(pool_);
    arrow::Int32Builder ordinals(pool_);
    for (int64_t i = 0; i < count; ++i, ++next_) {
      // 7,919 is prime to the numbers of rows here: every row once, in another order.
      const int64_t row = insert ? (next_ - kind_.rows) * 7919 % kind_.rows : next_;
      const bool updated = insert && kind_.updated_every != 0 && row % kind_.updated_every == 0;
      const std::string text = fmt::format("the text of row {}{}", kind_.same_values ? 0 : row, updated ? "!" : "");
      bool good = ids.Append(kind_.same_values ? 0 : row).ok() && texts.Append(text).ok();
      good = good && types.Append(insert ? "INSERT" : "DELETE").ok() && ordinals.Append(0).ok();
      good = good && snapshots.Append(1).ok();
      good = good && (kind_.lineage ? row_ids.Append(row) : row_ids.AppendNull()).ok();
      good = good && (kind_.lineage ? last_updated.Append(updated ? 2 : 1) : last_updated.AppendNull()).ok();
      EXPECT_TRUE(good);
    }
    const auto finish = [](auto& builder) { return builder.Finish().ValueOrDie(); };
    return arrow::RecordBatch::Make(WideSchema(), count,
                                    {finish(ids), finish(texts), finish(types), finish(ordinals), finish(snapshots),
                                     finish(row_ids), finish(last_updated)});
  }

 private:
  Kind kind_;
  arrow::MemoryPool* pool_;
  int64_t next_ = 0;
};

std::vector<std::string> FilesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

TEST(ChangeSpill, MemoryStaysWithinTheBudget) {
  constexpr int64_t kRows = 150'000;  // twice, about 16 MB each
  constexpr uint64_t kBudget = uint64_t{4} << 20;
  const struct {
    const char* name;
    Rewrite::Kind kind;
    PairingOptions options;
    int64_t changes;
  } cases[] = {
      {"carried over", {.rows = kRows}, {}, 0},
      {"carried over by value", {.rows = kRows, .lineage = false}, {}, 0},
      {"all updated", {.rows = kRows, .updated_every = 1}, {}, 2 * kRows},
      {"all updated, kept apart", {.rows = kRows, .updated_every = 1}, {.updates = Updates::kNone}, 2 * kRows},
      {"some updated, by key",
       {.rows = kRows, .lineage = false, .updated_every = 10},
       {.updates = Updates::kKey, .key_columns = {"id"}},
       kRows / 5},
      {"net", {.rows = kRows, .updated_every = 2}, {.carry_overs = CarryOvers::kKeep, .net = true}, kRows},
      {"one value", {.rows = kRows / 5, .lineage = false, .same_values = true}, {}, 0},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.name);
    TemporaryFolder folder;
    arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
    PairingOptions options = test.options;
    options.user_columns = 2;
    options.memory_budget = kBudget;
    options.temp_folder = folder.path();
    options.batch_rows = kBatchRows;
    options.pool = &pool;
    auto stream = PairChanges(std::make_unique<Rewrite>(test.kind, &pool), WideSchema(), options);
    ASSERT_TRUE(stream);
    int64_t rows = 0;
    while (true) {
      const auto batch = (*stream)->Next();
      ASSERT_TRUE(batch) << batch.error().ToString();
      EXPECT_TRUE(FilesIn(folder.path()).empty());  // nothing is left behind by a kill
      if (*batch == nullptr) break;
      rows += (*batch)->num_rows();
    }
    EXPECT_EQ(rows, test.changes);
    EXPECT_GT((*stream)->metrics().spilled_bytes, uint64_t{2} << 20);
    EXPECT_LE(pool.max_memory(), static_cast<int64_t>(kBudget));  // the source's batches in flight included
    stream->reset();
    EXPECT_EQ(pool.bytes_allocated(), 0);
  }
}

// Deletes of one key that no table holds at once: they are matched in several passes.
TEST(ChangeSpill, AnAmbiguousKeyIsFoundHoweverManyRowsHaveIt) {
  for (const uint64_t budget : {uint64_t{256} << 20, uint64_t{20'000}}) {
    for (const int64_t inserted : {1, 2}) {
      std::vector<ChangeRow> rows;
      for (int i = 0; i < 3000; ++i)
        rows.push_back({.type = "DELETE", .row = {.id = 1, .name = fmt::format("n{}", i)}});
      rows.push_back({.type = "INSERT", .row = {.id = inserted, .name = "new"}});
      const auto changes = Paired(
          Numbered(rows),
          {.carry_overs = CarryOvers::kKeep, .updates = Updates::kKey, .key_columns = {"id"}, .memory_budget = budget});
      ASSERT_EQ(changes.has_value(), inserted == 2) << budget;
      if (changes) {
        EXPECT_EQ(TextsOf(*changes), TextsOf(Numbered(rows)));
      } else {
        EXPECT_EQ(changes.error().kind(), ErrorKind::kValidationFailed);
      }
    }
  }
}

TEST(ChangeSpill, WithinTheBudgetNothingIsWritten) {
  TemporaryFolder folder;
  auto stream = PairChanges(std::make_unique<Rewrite>(Rewrite::Kind{.rows = 50'000}, arrow::default_memory_pool()),
                            WideSchema(), {.user_columns = 2, .temp_folder = folder.path() / "is not there"});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->Next().value(), nullptr);
  EXPECT_EQ((*stream)->metrics().spilled_bytes, 0);
  EXPECT_EQ((*stream)->metrics().carry_overs, 50'000);
}

TEST(ChangeSpill, AFolderThatCannotBeWrittenIsNamed) {
  TemporaryFolder folder;
  const auto missing = folder.path() / "is not there";
  auto stream = PairChanges(std::make_unique<Rewrite>(Rewrite::Kind{.rows = 50'000}, arrow::default_memory_pool()),
                            WideSchema(), {.user_columns = 2, .memory_budget = 1 << 20, .temp_folder = missing});
  ASSERT_TRUE(stream);
  for (int i = 0; i < 2; ++i) {
    const auto batch = (*stream)->Next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().kind(), ErrorKind::kIo);
    EXPECT_THAT(batch.error().ToString(), HasSubstr(missing.string()));
  }
}

TEST(RowBuffer, GivesRowsBackInOrder) {
  TemporaryFolder folder;
  SpillContext context{
      .schema = ChangeSchema(), .pool = arrow::default_memory_pool(), .folder = folder.path(), .block_bytes = 4096};
  for (const uint64_t limit : {uint64_t{0}, uint64_t{10'000}, uint64_t{1} << 30}) {
    const auto file = std::make_shared<SpillFile>(context);
    RowBuffer first(context, file, limit), second(context, file, limit);
    std::vector<ChangeRow> rows;
    for (int i = 0; i < 500; ++i)
      rows.push_back({.type = "DELETE", .row = {.id = i, .name = std::string(static_cast<size_t>(i), 'x')}});
    const auto all = BatchOf(Numbered(rows));
    for (int64_t begin = 0; begin < all->num_rows(); begin += 7) {
      const auto some = all->Slice(begin, 7);
      ASSERT_TRUE(first.Append(some));
      ASSERT_TRUE(second.Append(some));
    }
    EXPECT_EQ(first.spilled(), limit < 100'000);
    for (int time = 0; time < 2; ++time) {
      int64_t at = 0;
      ASSERT_TRUE(first.ForEach([&](const std::shared_ptr<arrow::RecordBatch>& batch) -> Result<void> {
        EXPECT_TRUE(batch->Equals(*all->Slice(at, batch->num_rows())));
        at += batch->num_rows();
        return {};
      }));
      EXPECT_EQ(at, 500);
    }
    for (RowBuffer* buffer : {&second, &first}) {
      EXPECT_EQ(buffer->rows(), 500);
      int64_t at = 0;
      while (const auto batch = buffer->Pop().value()) {
        EXPECT_TRUE(batch->ValidateFull().ok());
        EXPECT_TRUE(batch->Equals(*all->Slice(at, batch->num_rows())));
        at += batch->num_rows();
      }
      EXPECT_EQ(at, 500);
      EXPECT_EQ(buffer->rows(), 0);
    }
  }
}

// A few rows of large batches must not keep these in memory.
TEST(RowBuffer, CopiesPartsOfLargerBatches) {
  arrow::ProxyMemoryPool pool(arrow::default_memory_pool());
  SpillContext context{.schema = WideSchema(), .pool = &pool, .folder = "/", .block_bytes = 1 << 20};
  RowBuffer buffer(context, std::make_shared<SpillFile>(context), 1 << 20);
  Rewrite source({.rows = 20 * kBatchRows}, &pool);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(buffer.Append(source.Next().value()->Slice(100, 2)));
  EXPECT_EQ(buffer.rows(), 40);
  EXPECT_LT(pool.bytes_allocated(), 40 * 1024);
}

// Two rows of two integers whose hashes are the same.
TEST(ChangePairing, RowsOfEqualHashesAreToldApart) {
  // The part of the hash that takes a value, as the code has it; if that changes, the check of the hashes below fails.
  constexpr uint64_t kFactor = 0x9DDFEA08EB382D69U;
  const auto spread = [](uint64_t value) {
    value *= kFactor;
    return value ^ value >> 32;
  };
  const auto gather = [](uint64_t value) {
    uint64_t inverse = 1;
    for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
    return (value ^ value >> 32) * inverse;
  };
  ASSERT_EQ(gather(spread(12345)), 12345U);
  const auto schema =
      arrow::schema({arrow::field("a", arrow::int64()), arrow::field("b", arrow::int64()),
                     arrow::field("_change_type", arrow::utf8()), arrow::field("_change_ordinal", arrow::int64()),
                     arrow::field("_commit_snapshot_id", arrow::int64())});
  const auto rows = [&](std::pair<int64_t, int64_t> first, std::pair<int64_t, int64_t> second) {
    auto builder = arrow::RecordBatchBuilder::Make(schema, arrow::default_memory_pool()).ValueOrDie();
    for (const auto& [a, b] : {first, second}) {
      EXPECT_TRUE(builder->GetFieldAs<arrow::Int64Builder>(0)->Append(a).ok());
      EXPECT_TRUE(builder->GetFieldAs<arrow::Int64Builder>(1)->Append(b).ok());
      EXPECT_TRUE(builder->GetFieldAs<arrow::StringBuilder>(2)->Append(a == first.first ? "DELETE" : "INSERT").ok());
      EXPECT_TRUE(builder->GetFieldAs<arrow::Int64Builder>(3)->Append(0).ok());
      EXPECT_TRUE(builder->GetFieldAs<arrow::Int64Builder>(4)->Append(1).ok());
    }
    return builder->Flush().ValueOrDie();
  };
  std::vector<uint64_t> begun(2), hashes(2);
  RowKeys(rows({1, 7}, {2, 0}), {0}).Hash(begun);
  const auto other = static_cast<int64_t>(gather(begun[0] ^ begun[1] ^ spread(7)));
  const auto batch = rows({1, 7}, {2, other});
  RowKeys(batch, {0, 1}).Hash(hashes);
  ASSERT_EQ(hashes[0], hashes[1]);

  for (const bool net : {false, true}) {
    PairingOptions options{.user_columns = 2, .net = net};
    if (net) options.key_columns = {"a", "b"};
    auto stream = PairChanges(std::make_unique<BatchList>(std::vector{batch}), schema, options);
    ASSERT_TRUE(stream);
    int64_t count = 0;
    while (const auto changes = (*stream)->Next().value()) count += changes->num_rows();
    EXPECT_EQ(count, 2);
  }
}

}  // namespace
}  // namespace delenda::read
