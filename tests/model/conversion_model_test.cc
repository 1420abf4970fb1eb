// Equality deletes become vectors while others delete, update, add and upsert rows, commit equality deletes, convert
// and compact, between the look and each attempt of the commit: beside a map of rows. DELENDA_SEED repeats a run;
// DELENDA_MODEL_SECONDS lengthens it (for each kind of table, else 3).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <span>

#include "delenda/ops/append_rows.h"
#include "delenda/ops/convert_deletes.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/update_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "model/changed_table.h"
#include "model/compaction.h"

namespace delenda::testing {
namespace {

using RowsToBring = std::vector<std::pair<int64_t, ModelRow>>;

bool HasId(const RowsToBring& rows, int64_t id) {
  return std::ranges::find(rows, id, &RowsToBring::value_type::first) != rows.end();
}

// In files of changes: the row only deletes.
constexpr int64_t kGone = -1;

// Says what the scan says; then something happens, before anything is committed.
class InterruptedResolver final : public ops::KeyPositionResolver {
 public:
  explicit InterruptedResolver(std::function<void()> then) : then_(std::move(then)) {}
  Result<std::vector<ops::KeyPositions>> Resolve(const commit::TableSession& session,
                                                 std::span<const ops::KeyQuery> queries) const override {
    auto found = scan_.Resolve(session, queries);
    then_();
    return found;
  }

 private:
  ops::ScanKeyPositionResolver scan_;
  std::function<void()> then_;
};

// Runs `before` ahead of each publication, which fails if it says so.
class InterruptedPoint final : public catalog::CommitPoint {
 public:
  InterruptedPoint(std::unique_ptr<catalog::CommitPoint> inner, std::function<Result<void>()> before)
      : inner_(std::move(inner)), before_(std::move(before)) {}

  Result<std::string> Current() override { return inner_->Current(); }
  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    DELENDA_TRY(before_());
    return inner_->Publish(base, text, gzip);
  }

 private:
  std::unique_ptr<catalog::CommitPoint> inner_;
  std::function<Result<void>()> before_;
};

// A table, and what others do to it.
class ConvertedTable {
 public:
  explicit ConvertedTable(TableKind kind)
      : table_(kind, {{"commit.retry.min-wait-ms", "1"}, {"commit.retry.max-wait-ms", "1"}}),
        key_(kind.is_partitioned ? std::vector<std::string>{"id", "region"} : std::vector<std::string>{"id"}) {}

  commit::TableSession Session(std::shared_ptr<catalog::CommitPoint> point) {
    auto session = commit::TableSession::Open(table_.io(), std::move(point), executor_, {});
    EXPECT_TRUE(session) << session.error().ToString();
    return *std::move(session);
  }
  commit::TableSession Session() { return Session(std::shared_ptr(*table_.Point(table_.io()))); }

  void Append(const RowsToBring& rows) {
    auto session = Session();
    const auto change = ops::AppendRows(session, *table_.io(), {.files = {table_.Put(rows)}});
    ASSERT_TRUE(change) << change.error().ToString();
    Apply(rows);
  }
  void Delete(int64_t id) {
    auto session = Session();
    const auto change = ops::DeleteRows(session, {.where = fmt::format("id = {}", id)});
    ASSERT_TRUE(change) << change.error().ToString();
    model_.erase(id);
  }
  void Update(int64_t id, int64_t v) {
    auto session = Session();
    const auto change =
        ops::UpdateRows(session, {.where = fmt::format("id = {}", id), .set = {{"v", std::to_string(v)}}});
    ASSERT_TRUE(change) << change.error().ToString();
    model_.at(id).v = v;
  }
  void Upsert(const RowsToBring& rows, ops::UpsertVia via) { UpsertWith(rows, {.via = via}); }
  // Rows, and the equality deletes of their keys, as a writer of streams leaves them.
  void CommitEqualityDeletes(const RowsToBring& rows) {
    UpsertWith(rows, {.via = ops::UpsertVia::kEqualityDeletes,
                      .most_tries = 0,
                      .fallback = ops::DeltaFallback::kCommitEqualityDeletes});
  }

  std::optional<Compaction> BeginCompaction(const std::function<bool(const ContentFile&)>& chosen) {
    const auto point = table_.Point(table_.io());
    auto begun = Compaction::Begin(table_.io(), **point, chosen);
    EXPECT_TRUE(begun) << begun.error().ToString();
    return begun ? *std::move(begun) : std::nullopt;
  }
  bool Finish(Compaction& compaction) {
    const auto point = table_.Point(table_.io());
    const auto finished = compaction.Finish(table_.io(), **point);
    EXPECT_TRUE(finished) << finished.error().ToString();
    return finished.value_or(false);
  }

  // Paths of those that are live.
  std::set<std::string> EqualityDeletes() {
    std::set<std::string> paths;
    const auto live = Session().LiveDeletes("main");
    EXPECT_TRUE(live) << live.error().ToString();
    for (const ContentFile& file : *live) {
      if (file.content == FileContent::kEqualityDeletes) paths.insert(file.path);
    }
    return paths;
  }

  // The rows are right; and no snapshot since the last check that says it changes none has changed one, nor its row id
  // or the number of its last change.
  void Check() {
    EXPECT_EQ(table_.Rows().rows, model_);
    const auto metadata = table_.Metadata();
    for (const auto& snapshot : metadata.snapshots) {
      if (snapshot.operation != "replace" || !checked_.insert(snapshot.snapshot_id).second) continue;
      EXPECT_EQ(RowsAt(metadata, snapshot.snapshot_id), RowsAt(metadata, *snapshot.parent_id))
          << "snapshot " << snapshot.snapshot_id << " of sequence number " << snapshot.sequence_number;
    }
  }
  // Equality deletes of which compaction has left no older file are there until they are converted.
  void Verify() const { table_.Verify("deletes-unused"); }

  const ModelRows& model() const { return model_; }
  const ChangedTable& table() const { return table_; }

 private:
  void UpsertWith(const RowsToBring& rows, ops::UpsertOptions options) {
    options.rows.files = {table_.Put(rows)};
    options.rows.key = key_;
    options.delete_when = fmt::format("v = {}", kGone);
    auto session = Session();
    const auto change = ops::UpsertRows(session, *table_.io(), options);
    ASSERT_TRUE(change) << change.error().ToString();
    Apply(rows);
  }
  void Apply(const RowsToBring& rows) {
    for (const auto& [id, row] : rows) {
      model_.erase(id);
      if (row.v != kGone) model_[id] = row;
    }
  }

  std::vector<std::string> RowsAt(const iceberg::TableMetadata& metadata, int64_t snapshot_id) {
    std::vector<std::string> rows;
    const auto plan = plan::PlanScan(metadata, *table_.io(),
                                     {.snapshot = {.snapshot_id = snapshot_id},
                                      .select = {"id", "region", "v", "_row_id", "_last_updated_sequence_number"},
                                      .select_all = false},
                                     executor_, {});
    EXPECT_TRUE(plan) << plan.error().ToString();
    if (!plan) return rows;
    const auto stream = read::OpenScan(std::make_shared<plan::ScanPlan>(*plan), table_.io(), {.threads = 1});
    while (const auto batch = stream->get()->Next().value_or(nullptr)) {
      for (int64_t i = 0; i < batch->num_rows(); ++i) {
        std::string row;
        for (const auto& column : batch->columns()) row += (*column->GetScalar(i))->ToString() + " ";
        rows.push_back(std::move(row));
      }
    }
    std::ranges::sort(rows);
    return rows;
  }

  ChangedTable table_;
  std::vector<std::string> key_;
  Executor executor_{1};
  ModelRows model_;
  std::set<int64_t> checked_;
};

bool Any(const ContentFile&) { return true; }

// A conversion; the compaction commits between its first look and its commit.
Result<ops::RowChange> ConvertBeside(ConvertedTable& table, Compaction& compaction) {
  bool is_done = false;
  const InterruptedResolver resolver([&] {
    if (std::exchange(is_done, true)) return;
    EXPECT_TRUE(table.Finish(compaction));
  });
  auto session = table.Session();
  return ops::ConvertDeletes(session, {.resolver = &resolver});
}

// Compaction that read the table before the deletes came writes files to which they still apply.
TEST(ConversionBesideCompaction, LooksAtFilesThatTakeThePlaceOfOlderOnes) {
  ConvertedTable table({});
  table.Append({{1, {"a", 1}}, {2, {"a", 2}}});
  table.Append({{3, {"b", 3}}, {4, {"b", 4}}});
  auto compaction = table.BeginCompaction(Any);
  ASSERT_TRUE(compaction);
  table.CommitEqualityDeletes({{2, {"a", kGone}}, {3, {"b", 33}}});
  const auto change = ConvertBeside(table, *compaction);
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->looked_again, 1U);
  EXPECT_EQ(change->rows_converted, 2U);
  EXPECT_THAT(table.EqualityDeletes(), ::testing::IsEmpty());
  table.Check();
  table.Verify();
}

// Files that compaction wrote when it had seen the deletes hold none of their rows.
TEST(ConversionBesideCompaction, NeedNotLookAtFilesWrittenAfterTheDeletes) {
  ConvertedTable table({});
  table.Append({{1, {"a", 1}}, {2, {"a", 2}}});
  table.Append({{3, {"b", 3}}, {4, {"b", 4}}});
  table.CommitEqualityDeletes({{2, {"a", kGone}}, {3, {"b", 33}}});
  auto compaction = table.BeginCompaction(Any);
  ASSERT_TRUE(compaction);
  const auto change = ConvertBeside(table, *compaction);
  ASSERT_TRUE(change) << change.error().ToString();
  EXPECT_EQ(change->looked_again, 0U);
  EXPECT_THAT(table.EqualityDeletes(), ::testing::IsEmpty());
  table.Check();
  table.Verify();
}

// What the runs came to: one that never met compaction has proved nothing.
struct ConversionTally {
  uint64_t cycles = 0, looked_again = 0, attempts = 0, failed = 0;
  uint64_t interruptions = 0, equality_deletes = 0, compacted = 0, given_up = 0;
};

class ConversionSequence {
 public:
  ConversionSequence(TableKind kind, uint64_t seed, ConversionTally& tally)
      : random_(seed), table_(kind), tally_(tally) {}

  void Run(int cycles) {
    for (int i = 0; i < 3; ++i) table_.Append(NewRows(6));
    for (int cycle = 0; cycle < cycles && !::testing::Test::HasFailure(); ++cycle) {
      for (uint64_t i = Number(3); i > 0; --i) Interrupt();
      if (Number(3) > 0) BeginCompaction();
      table_.CommitEqualityDeletes(Changes());
      Convert();
      table_.Check();
    }
    table_.Verify();
  }

 private:
  uint64_t Number(uint64_t below) { return random_() % below; }

  ModelRow AnyRow() {
    const uint64_t region = Number(3);
    return {.region = region == 0 ? std::nullopt : std::optional(region == 1 ? "eu" : "us"),
            .v = static_cast<int64_t>(Number(1'000'000))};
  }
  std::optional<int64_t> KnownId() {
    if (table_.model().empty()) return std::nullopt;
    return std::next(table_.model().begin(), static_cast<std::ptrdiff_t>(Number(table_.model().size())))->first;
  }
  RowsToBring NewRows(uint64_t count) {
    RowsToBring rows;
    for (uint64_t i = 0; i < count; ++i) {
      // Also ids that were there once, and that pending deletes name.
      int64_t id = static_cast<int64_t>(Number(60));
      while (table_.model().contains(id) || HasId(rows, id)) id = 60 + next_id_++;
      rows.emplace_back(id, AnyRow());
    }
    return rows;
  }
  // Updated, deleted and new rows, each in the partition where it is.
  RowsToBring Changes() {
    RowsToBring rows = NewRows(Number(3));
    for (uint64_t i = 1 + Number(4); i > 0; --i) {
      const auto id = KnownId();
      if (!id || HasId(rows, *id)) continue;
      ModelRow row{.region = table_.model().at(*id).region, .v = static_cast<int64_t>(Number(1'000'000))};
      if (Number(2) == 0) row.v = kGone;
      rows.emplace_back(*id, row);
    }
    // A key that nobody has: its file has nothing to delete, or a row that comes later.
    rows.emplace_back(1'000'000, ModelRow{.region = "eu", .v = kGone});
    return rows;
  }

  // Something that another writer does.
  void Interrupt() {
    ++tally_.interruptions;
    const auto id = KnownId();
    switch (Number(12)) {
      case 0:
        if (id) table_.Delete(*id);
        return;
      case 1:
        if (id) table_.Update(*id, static_cast<int64_t>(Number(1'000'000)));
        return;
      case 2: return table_.Append(NewRows(1 + Number(3)));
      case 3:
        return table_.Upsert(Changes(), Number(2) == 0 ? ops::UpsertVia::kPositions : ops::UpsertVia::kEqualityDeletes);
      case 4:
      case 5: ++tally_.equality_deletes; return table_.CommitEqualityDeletes(Changes());
      case 6: {
        auto session = table_.Session();
        EXPECT_TRUE(ops::ConvertDeletes(session, {}));
        return;
      }
      case 7:
      case 8: return BeginCompaction();
      default: return FinishCompaction();
    }
  }

  void BeginCompaction() {
    auto begun = table_.BeginCompaction([&](const ContentFile&) { return Number(2) == 0; });
    if (begun) compactions_.push_back(*std::move(begun));
  }
  // Of several at work any one.
  void FinishCompaction() {
    if (compactions_.empty()) return;
    const auto at = compactions_.begin() + static_cast<std::ptrdiff_t>(Number(compactions_.size()));
    ++(table_.Finish(*at) ? tally_.compacted : tally_.given_up);
    compactions_.erase(at);
  }

  // Interrupted for a while; as often as it takes.
  void Convert() {
    ++tally_.cycles;
    const auto pending = table_.EqualityDeletes();
    int left = 6;
    // Much at once may hide that one thing went unnoticed: any new file makes it look again.
    const bool only_compaction = Number(2) == 0;
    const auto interrupt = [&] {
      if (only_compaction) return FinishCompaction();
      for (uint64_t i = Number(4); i > 0 && left > 0; --i, --left) Interrupt();
    };
    const InterruptedResolver resolver(interrupt);
    const auto before = [&]() -> Result<void> {
      interrupt();
      if (left > 0 && Number(6) == 0) return IoError("the connection was reset");
      return {};
    };
    for (;;) {
      auto session =
          table_.Session(std::make_shared<InterruptedPoint>(*table_.table().Point(table_.table().io()), before));
      const auto change = ops::ConvertDeletes(session, {.resolver = &resolver});
      if (change) {
        tally_.looked_again += change->looked_again;
        tally_.attempts += change->attempts;
        for (const std::string& path : table_.EqualityDeletes())
          EXPECT_FALSE(pending.contains(path)) << path << " was there before the conversion, and still is";
        return;
      }
      ASSERT_EQ(change.error().kind(), ErrorKind::kIo) << change.error().ToString();
      ++tally_.failed;
      table_.Check();
    }
  }

  std::mt19937_64 random_;
  ConvertedTable table_;
  ConversionTally& tally_;
  std::vector<Compaction> compactions_;
  int64_t next_id_ = 0;
};

class ConversionModel : public ::testing::TestWithParam<TableKind> {};

TEST_P(ConversionModel, NoConversionChangesARowWhateverOthersDo) {
  const char* seconds = std::getenv("DELENDA_MODEL_SECONDS");
  const auto until = std::chrono::steady_clock::now() +
                     std::chrono::seconds(seconds == nullptr ? 3 : std::strtoll(seconds, nullptr, 10));
  const char* seed_text = std::getenv("DELENDA_SEED");
  ConversionTally tally;
  do {
    const uint64_t seed = seed_text != nullptr ? std::strtoull(seed_text, nullptr, 10) : std::random_device()();
    ConversionSequence(GetParam(), seed, tally).Run(8);
    if (HasFailure()) {
      ADD_FAILURE() << "DELENDA_SEED=" << seed;
      return;
    }
  } while (seed_text == nullptr && std::chrono::steady_clock::now() < until);
  fmt::print(
      "{} cycles: {} looks again, {} attempts, {} failures; {} interruptions: {} commits of equality deletes, {} "
      "compactions, {} given up\n",
      tally.cycles, tally.looked_again, tally.attempts, tally.failed, tally.interruptions, tally.equality_deletes,
      tally.compacted, tally.given_up);
}

INSTANTIATE_TEST_SUITE_P(Tables, ConversionModel,
                         ::testing::Values(TableKind{CatalogKind::kFolder, false, false},
                                           TableKind{CatalogKind::kFolder, true, false}),
                         [](const auto& one) { return one.param.is_partitioned ? "Partitioned" : "Plain"; });

}  // namespace
}  // namespace delenda::testing
