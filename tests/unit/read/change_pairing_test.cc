// Pairing of change rows, rule by rule.
#include "delenda/read/change_pairing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "unit/read/change_rows.h"

namespace delenda::read {
namespace {

using namespace delenda::testing;  // NOLINT(google-build-using-namespace): the tests' vocabulary
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TableRow Named(int64_t id, const std::string& name) { return {.id = id, .name = name}; }

ChangeRow Delete(int32_t ordinal, TableRow row, std::optional<int64_t> row_id = std::nullopt,
                 std::optional<int64_t> last_updated = std::nullopt) {
  return {.type = "DELETE", .ordinal = ordinal, .row = std::move(row), .row_id = row_id, .last_updated = last_updated};
}

ChangeRow Insert(int32_t ordinal, TableRow row, std::optional<int64_t> row_id = std::nullopt,
                 std::optional<int64_t> last_updated = std::nullopt) {
  return {.type = "INSERT", .ordinal = ordinal, .row = std::move(row), .row_id = row_id, .last_updated = last_updated};
}

std::vector<std::string> Changes(const std::vector<ChangeRow>& rows, const PairingOptions& options) {
  const auto changes = Paired(Numbered(rows), options);
  if (!changes) return {changes.error().ToString()};
  return TextsOf(*changes);
}

// The example of the header.
const std::vector<ChangeRow> kRewrite = {Delete(0, Named(1, "a"), 10, 1), Delete(0, Named(2, "b"), 11, 1),
                                         Delete(0, Named(3, "c"), 12, 1), Insert(0, Named(1, "a"), 10, 1),
                                         Insert(0, Named(2, "x"), 11, 2), Insert(0, Named(9, "n"), 20, 2)};

std::vector<ChangeRow> WithoutLineage(std::vector<ChangeRow> rows) {
  for (ChangeRow& row : rows) row.row_id = row.last_updated = std::nullopt;
  return rows;
}

TEST(ChangePairing, RewrittenFileGivesWhatChanged) {
  EXPECT_THAT(Changes(kRewrite, {}),
              ElementsAre("DELETE 0 #2", "UPDATE_BEFORE 0 #1", "UPDATE_AFTER 0 #4", "INSERT 0 #5"));
  EXPECT_THAT(Changes(kRewrite, {.updates = Updates::kNone}),
              ElementsAre("DELETE 0 #1", "DELETE 0 #2", "INSERT 0 #4", "INSERT 0 #5"));
  EXPECT_THAT(Changes(kRewrite, {.carry_overs = CarryOvers::kKeep, .updates = Updates::kNone}),
              ElementsAre("DELETE 0 #0", "DELETE 0 #1", "DELETE 0 #2", "INSERT 0 #3", "INSERT 0 #4", "INSERT 0 #5"));
}

TEST(ChangePairing, RewrittenFileWithoutLineageGivesTheSameByKey) {
  EXPECT_THAT(Changes(WithoutLineage(kRewrite), {.updates = Updates::kKey, .key_columns = {"id"}}),
              ElementsAre("DELETE 0 #2", "UPDATE_BEFORE 0 #1", "UPDATE_AFTER 0 #4", "INSERT 0 #5"));
  EXPECT_THAT(Changes(WithoutLineage(kRewrite), {}),
              ElementsAre("DELETE 0 #1", "DELETE 0 #2", "INSERT 0 #4", "INSERT 0 #5"));
}

TEST(ChangePairing, CarriedOverRowsThatAreKeptPairToo) {
  EXPECT_THAT(
      Changes({Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "a"), 10, 1)}, {.carry_overs = CarryOvers::kKeep}),
      ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
}

TEST(ChangePairing, LineageDecidesWhereBothRowsHaveIt) {
  // Updated to its old values; and deleted, and inserted again as another row.
  const std::vector<ChangeRow> touched = {Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "a"), 10, 2)};
  const std::vector<ChangeRow> again = {Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "a"), 11, 2)};
  EXPECT_THAT(Changes(touched, {}), ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
  EXPECT_THAT(Changes(touched, {.updates = Updates::kNone}), ElementsAre("DELETE 0 #0", "INSERT 0 #1"));
  EXPECT_THAT(Changes(again, {}), ElementsAre("DELETE 0 #0", "INSERT 0 #1"));
  for (const auto& rows : {touched, again})
    EXPECT_THAT(Changes(rows, {.carry_overs = CarryOvers::kRemoveEqual}), IsEmpty());
}

TEST(ChangePairing, RowsWithLineageOnOneSideCompareByValue) {
  EXPECT_THAT(Changes({Delete(0, Named(1, "a")), Insert(0, Named(1, "a"), 10, 2)}, {}), IsEmpty());
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "a"))}, {}), IsEmpty());
  // A row id without last-updated number is no lineage, but pairs.
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 10), Insert(0, Named(1, "a"), 11)}, {}), IsEmpty());
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 10), Insert(0, Named(1, "b"), 10, 2)}, {}),
              ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
}

TEST(ChangePairing, AnUpdateThatKeptItsNumberIsNotLost) {
  const std::vector<ChangeRow> rows = {Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "b"), 10, 1)};
  EXPECT_THAT(Changes(rows, {}), ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
  EXPECT_THAT(Changes(rows, {.updates = Updates::kNone}), ElementsAre("DELETE 0 #0", "INSERT 0 #1"));
}

TEST(ChangePairing, LineageGoesBeforeValues) {
  // The row without lineage must not take the delete that row 10 carries over.
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 10, 1), Insert(0, Named(1, "a")), Insert(0, Named(1, "a"), 10, 1)}, {}),
              ElementsAre("INSERT 0 #1"));
}

TEST(ChangePairing, EqualRowsVanishAsMultisets) {
  const TableRow row = Named(1, "a");
  EXPECT_THAT(Changes({Delete(0, row), Delete(0, row), Delete(0, row), Insert(0, row), Insert(0, row)}, {}),
              ElementsAre("DELETE 0 #2"));
  EXPECT_THAT(Changes({Delete(0, row), Insert(0, row), Insert(0, row), Insert(0, row)}, {}),
              ElementsAre("INSERT 0 #2", "INSERT 0 #3"));
}

TEST(ChangePairing, RowsCompareExactly) {
  const TableRow full = {.id = 1, .name = "a", .score = 1.5, .tags = {{1, std::nullopt}}, .info = {{1, "x"}}};
  const auto changed = [&](auto&& change) {
    TableRow row = full;
    change(row);
    return row;
  };
  const struct {
    TableRow before;
    TableRow after;
    bool same;
  } cases[] = {
      {full, full, true},
      {{}, {}, true},  // NULL equals NULL
      {changed([](auto& r) { r.score = kNan; }), changed([](auto& r) { r.score = -kNan; }), true},
      {changed([](auto& r) { r.score = 0.0; }), changed([](auto& r) { r.score = -0.0; }), false},
      {full, changed([](auto& r) { r.id = std::nullopt; }), false},
      {changed([](auto& r) { r.id = 0; }), changed([](auto& r) { r.id = std::nullopt; }), false},
      {changed([](auto& r) { r.name = ""; }), changed([](auto& r) { r.name = std::nullopt; }), false},
      {full, changed([](auto& r) { r.tags = {{1, 0}}; }), false},
      {full, changed([](auto& r) { r.tags = {{std::nullopt, 1}}; }), false},
      {full, changed([](auto& r) { r.tags = {{1, std::nullopt, std::nullopt}}; }), false},
      {changed([](auto& r) { r.tags = std::vector<std::optional<int32_t>>{}; }),
       changed([](auto& r) { r.tags = std::nullopt; }), false},
      {full, changed([](auto& r) { r.info->second = "y"; }), false},
      {full, changed([](auto& r) { r.info = {{std::nullopt, "x"}}; }), false},
      {changed([](auto& r) { r.info = {{std::nullopt, std::nullopt}}; }),
       changed([](auto& r) { r.info = std::nullopt; }), false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(TextOf(c.before) + " and " + TextOf(c.after));
    EXPECT_EQ(Changes({Delete(0, c.before), Insert(0, c.after)}, {}).empty(), c.same);
  }
}

TEST(ChangePairing, NothingPairsAcrossSnapshots) {
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 10, 1), Insert(1, Named(1, "a"), 10, 1)}, {}),
              ElementsAre("DELETE 0 #0", "INSERT 1 #1"));
  EXPECT_THAT(Changes({Insert(0, Named(1, "a"), 10, 1), Delete(1, Named(1, "a"), 10, 1)}, {}),
              ElementsAre("INSERT 0 #0", "DELETE 1 #1"));
}

TEST(ChangePairing, KeysPairNullWithNull) {
  const TableRow before = {.name = "a", .score = kNan};
  const TableRow after = {.name = "b", .score = kNan};
  EXPECT_THAT(
      Changes({Delete(0, before), Insert(0, after)}, {.updates = Updates::kKey, .key_columns = {"id", "score"}}),
      ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
  EXPECT_THAT(Changes({Delete(0, before), Insert(0, after)}, {.updates = Updates::kKey, .key_columns = {"id", "name"}}),
              ElementsAre("DELETE 0 #0", "INSERT 0 #1"));
}

TEST(ChangePairing, NestedColumnsCanBeKeys) {
  const TableRow before = {.id = 1, .info = {{7, "k"}}};
  const TableRow after = {.id = 2, .info = {{7, "k"}}};
  EXPECT_THAT(Changes({Delete(0, before), Insert(0, after)}, {.updates = Updates::kKey, .key_columns = {"info"}}),
              ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"));
}

TEST(ChangePairing, AKeyThatCouldPairInSeveralWaysIsRefused) {
  const PairingOptions by_id = {.updates = Updates::kKey, .key_columns = {"id", "name"}};
  const auto row = [](double score) { return TableRow{.id = 7, .score = score}; };
  for (const auto& rows : {std::vector{Delete(3, row(1)), Delete(3, row(2)), Insert(3, row(3))},
                           std::vector{Delete(3, row(1)), Insert(3, row(2)), Insert(3, row(3))}}) {
    const auto refused = Paired(Numbered(rows), by_id);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kValidationFailed);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("(id = 7, name = NULL)"));
    EXPECT_THAT(refused.error().ToString(), HasSubstr("snapshot 9003"));
  }
  // Only on one side there is nothing to pair; what was carried over does not count.
  EXPECT_THAT(Changes({Delete(0, row(1)), Delete(0, row(2)), Insert(0, Named(1, "a"))}, by_id),
              ElementsAre("DELETE 0 #0", "DELETE 0 #1", "INSERT 0 #2"));
  EXPECT_THAT(Changes({Delete(0, row(1)), Delete(0, row(2)), Insert(0, row(2)), Insert(0, row(3))}, by_id),
              ElementsAre("UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #3"));
}

TEST(ChangePairing, TheFirstErrorEndsTheStream) {
  const auto rows = Numbered(
      {Delete(0, Named(1, "a")), Delete(0, Named(1, "b")), Insert(0, Named(1, "c")), Insert(1, Named(5, "e"))});
  const auto stream = PairChanges(SourceOf(rows), ChangeSchema(),
                                  {.user_columns = kTableColumns, .updates = Updates::kKey, .key_columns = {"id"}});
  ASSERT_TRUE(stream);
  for (int i = 0; i < 3; ++i) {
    const auto batch = (*stream)->Next();
    ASSERT_FALSE(batch);
    EXPECT_EQ(batch.error().kind(), ErrorKind::kValidationFailed);
  }
}

TEST(ChangePairing, ColumnsOutsideTheOutputAreComparedAll) {
  const auto rows = Numbered(
      {Delete(0, Named(1, "a")), Delete(0, Named(2, "b")), Insert(0, Named(1, "x")), Insert(0, Named(2, "b"))});
  const auto stream =
      PairChanges(SourceOf(rows), ChangeSchema(), {.user_columns = kTableColumns, .output_columns = {5, 0}});
  ASSERT_TRUE(stream);
  EXPECT_EQ((*stream)->schema()->ToString(), "_change_type: string\nid: int64");
  std::vector<std::string> texts;
  while (const auto batch = (*stream)->Next().value()) {
    for (int64_t row = 0; row < batch->num_rows(); ++row)
      texts.push_back(batch->column(0)->GetScalar(row).ValueOrDie()->ToString() + " " +
                      batch->column(1)->GetScalar(row).ValueOrDie()->ToString());
  }
  EXPECT_THAT(texts, ElementsAre("DELETE 1", "INSERT 1"));
}

TEST(ChangePairing, RowsOfSnapshotsThatHoldOneKindPassThroughAtOnce) {
  // Batch by batch: the first is handed out before the second is read.
  class Counting final : public BatchSource {
   public:
    Counting(std::unique_ptr<BatchSource> source, int& reads) : source_(std::move(source)), reads_(&reads) {}
    Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
      ++*reads_;
      return source_->Next();
    }

   private:
    std::unique_ptr<BatchSource> source_;
    int* reads_;
  };
  for (const char* type : {"INSERT", "DELETE"}) {
    std::vector<ChangeRow> rows;
    for (int i = 0; i < 50; ++i) rows.push_back({.type = type, .row = Named(i, "a"), .row_id = i, .last_updated = 1});
    int reads = 0;
    const auto stream = PairChanges(std::make_unique<Counting>(SourceOf(Numbered(rows), 1), reads), ChangeSchema(),
                                    {.user_columns = kTableColumns, .holds_both = [](int64_t) { return false; }});
    ASSERT_TRUE(stream);
    for (int i = 1; i <= 50; ++i) {
      ASSERT_NE((*stream)->Next().value(), nullptr);
      EXPECT_EQ(reads, i) << type;
    }
  }
}

TEST(ChangePairing, AWrongPromiseIsFound) {
  const auto refused = Paired(Numbered({Delete(0, Named(1, "a")), Insert(0, Named(1, "a"))}),
                              {.holds_both = [](int64_t) { return false; }});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInternal);
}

TEST(ChangePairing, RowsOutOfOrderAreRefused) {
  for (const auto& rows : {std::vector{Insert(0, Named(1, "a")), Delete(0, Named(1, "a"))},
                           std::vector{Delete(1, Named(1, "a")), Insert(0, Named(1, "a"))},
                           std::vector{Delete(0, Named(1, "a")), Insert(1, Named(1, "a")), Insert(0, Named(2, "a"))}}) {
    const auto refused = Paired(Numbered(rows), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInternal);
  }
}

TEST(ChangePairing, RequestsThatCannotBeMetAreRefused) {
  auto without_ids = ChangeSchema();
  without_ids = without_ids->RemoveField(11).ValueOrDie()->RemoveField(10).ValueOrDie();
  const struct {
    PairingOptions options;
    std::shared_ptr<arrow::Schema> schema;
    ErrorKind kind;
    const char* text;
  } cases[] = {
      {{.updates = Updates::kKey}, ChangeSchema(), ErrorKind::kInvalidArgument, "no key column"},
      {{.updates = Updates::kKey, .key_columns = {"ID"}}, ChangeSchema(), ErrorKind::kInvalidArgument, "no column ID"},
      {{.updates = Updates::kKey, .key_columns = {"_pos"}}, ChangeSchema(), ErrorKind::kInvalidArgument, "_pos"},
      {{.net = true}, without_ids, ErrorKind::kInvalidArgument, "row ids"},
      {{.carry_overs = CarryOvers::kRemoveEqual, .net = true}, ChangeSchema(), ErrorKind::kInvalidArgument, "row id"},
      {{.output_columns = {99}}, ChangeSchema(), ErrorKind::kInvalidArgument, "99"},
      {{}, ChangeSchema()->RemoveField(6).ValueOrDie(), ErrorKind::kInvalidArgument, "_change_ordinal"},
      {{},
       ChangeSchema()->AddField(5, arrow::field("d", arrow::dictionary(arrow::int32(), arrow::utf8()))).ValueOrDie(),
       ErrorKind::kNotSupported,
       "dictionary"},
  };
  for (const auto& c : cases) {
    PairingOptions options = c.options;
    options.user_columns = kTableColumns;
    const auto stream = PairChanges(SourceOf({}), c.schema, options);
    ASSERT_FALSE(stream) << c.text;
    EXPECT_EQ(stream.error().kind(), c.kind) << stream.error().ToString();
    EXPECT_THAT(stream.error().ToString(), HasSubstr(c.text));
  }
}

TEST(ChangePairing, WithoutLineageColumnsRowsCompareByValue) {
  const auto rows = Numbered({Delete(0, Named(1, "a")), Insert(0, Named(1, "a")), Insert(0, Named(2, "b"))});
  std::vector<int> columns = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto batch = BatchOf(rows)->SelectColumns(columns).ValueOrDie();
  for (const CarryOvers carry_overs : {CarryOvers::kRemove, CarryOvers::kKeep}) {
    const auto stream = PairChanges(std::make_unique<BatchList>(std::vector{batch}), batch->schema(),
                                    {.user_columns = kTableColumns, .carry_overs = carry_overs});
    ASSERT_TRUE(stream);
    int64_t count = 0;
    while (const auto changes = (*stream)->Next().value()) count += changes->num_rows();
    EXPECT_EQ(count, carry_overs == CarryOvers::kKeep ? 3 : 1);
  }
}

TEST(ChangePairing, CancelStops) {
  CancelToken cancel;
  cancel.Cancel();
  const auto stopped = Paired(Numbered({Insert(0, Named(1, "a"))}), {.cancel = cancel});
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind(), ErrorKind::kCancelled);
}

TEST(NetChanges, TakeTheFirstImageAndTheLast) {
  const TableRow a = Named(1, "a"), b = Named(1, "b"), c = Named(1, "c");
  const struct {
    const char* name;
    std::vector<ChangeRow> rows;
    std::vector<std::string> changes;
  } cases[] = {
      {"insert", {Insert(0, a, 5, 1)}, {"INSERT 0 #0"}},
      {"delete", {Delete(0, a, 5, 1)}, {"DELETE 0 #0"}},
      {"insert, delete", {Insert(0, a, 5, 1), Delete(1, a, 5, 1)}, {}},
      {"insert, update", {Insert(0, a, 5, 1), Delete(1, a, 5, 1), Insert(1, b, 5, 2)}, {"INSERT 1 #2"}},
      {"insert, update, delete", {Insert(0, a, 5, 1), Delete(1, a, 5, 1), Insert(1, b, 5, 2), Delete(2, b, 5, 2)}, {}},
      {"insert, delete, insert", {Insert(0, a, 5, 1), Delete(1, a, 5, 1), Insert(2, b, 5, 2)}, {"INSERT 2 #2"}},
      {"update", {Delete(0, a, 5, 1), Insert(0, b, 5, 2)}, {"UPDATE_BEFORE 0 #0", "UPDATE_AFTER 0 #1"}},
      {"update, update",
       {Delete(0, a, 5, 1), Insert(0, b, 5, 2), Delete(1, b, 5, 2), Insert(1, c, 5, 3)},
       {"UPDATE_BEFORE 0 #0", "UPDATE_AFTER 1 #3"}},
      {"update and back", {Delete(0, a, 5, 1), Insert(0, b, 5, 2), Delete(1, b, 5, 2), Insert(1, a, 5, 3)}, {}},
      {"update, delete", {Delete(0, a, 5, 1), Insert(0, b, 5, 2), Delete(1, b, 5, 2)}, {"DELETE 0 #0"}},
      {"delete, insert", {Delete(0, a, 5, 1), Insert(3, b, 5, 2)}, {"UPDATE_BEFORE 0 #0", "UPDATE_AFTER 3 #1"}},
      {"delete, restored", {Delete(0, a, 5, 1), Insert(3, a, 5, 1)}, {}},
      {"touched", {Delete(0, a, 5, 1), Insert(0, a, 5, 2)}, {}},
      {"delete, insert, delete",
       {Delete(0, a, 5, 1), Insert(1, b, 5, 2), Delete(2, b, 5, 2), Insert(3, c, 5, 4), Delete(4, c, 5, 4)},
       {"DELETE 0 #0"}},
      {"carried over", {Delete(0, a, 5, 1), Insert(0, a, 5, 1)}, {}},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(Changes(test.rows, {.net = true}), ::testing::ElementsAreArray(test.changes)) << test.name;
    // By key, and without lineage.
    EXPECT_THAT(Changes(WithoutLineage(test.rows), {.updates = Updates::kKey, .key_columns = {"id"}, .net = true}),
                ::testing::ElementsAreArray(test.changes))
        << test.name;
  }
}

TEST(NetChanges, WithoutUpdatesAreDeletesAndInserts) {
  const std::vector<ChangeRow> rows = {Delete(0, Named(1, "a"), 5, 1), Insert(0, Named(1, "b"), 5, 2),
                                       Delete(1, Named(1, "b"), 5, 2), Insert(1, Named(1, "c"), 5, 3)};
  EXPECT_THAT(Changes(rows, {.updates = Updates::kNone, .net = true}), ElementsAre("DELETE 0 #0", "INSERT 1 #3"));
  EXPECT_THAT(Changes(WithoutLineage(rows), {.updates = Updates::kNone, .key_columns = {"id"}, .net = true}),
              ElementsAre("DELETE 0 #0", "INSERT 1 #3"));
}

TEST(NetChanges, AnUpdateStandsWhereItsAfterImageDoes) {
  EXPECT_THAT(Changes({Delete(0, Named(1, "a"), 5, 1), Insert(0, Named(2, "b"), 6, 1), Insert(0, Named(3, "c"), 7, 1),
                       Delete(1, Named(9, "z"), 1, 0), Insert(1, Named(4, "d"), 8, 2), Insert(1, Named(1, "e"), 5, 2)},
                      {.net = true}),
              ElementsAre("INSERT 0 #1", "INSERT 0 #2", "DELETE 1 #3", "UPDATE_BEFORE 0 #0", "UPDATE_AFTER 1 #5",
                          "INSERT 1 #4"));
}

TEST(NetChanges, NeedAnIdentity) {
  const auto refused = Paired(Numbered({Insert(0, Named(1, "a"), 5, 1), Insert(1, Named(2, "b"))}), {.net = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_THAT(refused.error().ToString(), HasSubstr("9001"));
}

TEST(NetChanges, OfTwoRowsWithOneIdentityAreRefused) {
  for (const auto& rows : {std::vector{Insert(0, Named(1, "a")), Insert(1, Named(1, "b"))},
                           std::vector{Insert(0, Named(1, "a")), Insert(0, Named(1, "b"))},
                           std::vector{Delete(0, Named(1, "a")), Delete(1, Named(1, "b"))},
                           std::vector{Delete(0, Named(1, "a")), Insert(0, Named(1, "b")), Insert(1, Named(1, "c"))},
                           std::vector{Insert(0, Named(1, "a")), Delete(1, Named(1, "a")), Delete(1, Named(1, "c"))},
                           // The row that was there before goes, the one that came stays.
                           std::vector{Insert(0, Named(1, "a")), Delete(1, Named(1, "c"))}}) {
    const auto refused = Paired(Numbered(rows), {.updates = Updates::kKey, .key_columns = {"id"}, .net = true});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind(), ErrorKind::kValidationFailed);
    EXPECT_THAT(refused.error().ToString(), HasSubstr("(id = 1)"));
  }
}

}  // namespace
}  // namespace delenda::read
