// Changes by key while others commit between their evaluation and their own commit: what serial execution would give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "delenda/iceberg/metadata_writer.h"
#include "delenda/ops/append_rows.h"
#include "delenda/ops/delete_keys.h"
#include "delenda/ops/delete_rows.h"
#include "delenda/ops/merge_rows.h"
#include "delenda/ops/update_rows.h"
#include "delenda/ops/upsert_rows.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops {
namespace {

using testing::Json;
using testing::TableCopy;

// Lets others commit just before the first publication.
class LatePoint final : public catalog::CommitPoint {
 public:
  LatePoint(std::shared_ptr<catalog::CommitPoint> inner, std::function<void()> meanwhile)
      : inner_(std::move(inner)), meanwhile_(std::move(meanwhile)) {}

  Result<std::string> Current() override { return inner_->Current(); }
  Result<std::string> Publish(std::string_view base, std::string_view text, bool gzip) override {
    if (const auto others = std::exchange(meanwhile_, nullptr)) others();
    return inner_->Publish(base, text, gzip);
  }

 private:
  std::shared_ptr<catalog::CommitPoint> inner_;
  std::function<void()> meanwhile_;
};

// mor_dv_partitioned: ids from 1 on; (1, us), (2, ap), (3, eu) are there.
class KeyedRace : public ::testing::Test {
 protected:
  using Act = std::function<Result<RowChange>(commit::TableSession&)>;

  // Carries out `act`, and `other` between its evaluation and its commit.
  RowChange Race(const Act& act, const Act& other) {
    auto point = std::make_shared<LatePoint>(table_.MakePoint(), [&] {
      auto session = table_.Session();
      const auto change = other(session);
      EXPECT_TRUE(change) << change.error().ToString();
      EXPECT_TRUE(change->snapshot_id);
    });
    auto session = table_.Session(point);
    const auto change = act(session);
    EXPECT_TRUE(change) << change.error().ToString();
    return change ? *change : RowChange();
  }

  Act Upsert(const std::string& name, const std::string& csv, std::string delete_when = "", uint64_t memory = 1 << 20) {
    const auto path = table_.Put(name, csv);
    return [this, path, delete_when, memory](commit::TableSession& session) {
      return UpsertRows(
          session, *files_,
          {.rows = {.files = {path}, .key = {"id"}, .memory_budget = memory}, .delete_when = delete_when});
    };
  }
  Act Append(const std::string& name, const std::string& csv) {
    const auto path = table_.Put(name, csv);
    return [this, path](commit::TableSession& session) { return AppendRows(session, *files_, {.files = {path}}); };
  }
  Act RemoveKeys(const std::string& name, const std::string& csv) {
    const auto path = table_.Put(name, csv);
    return [this, path](commit::TableSession& session) {
      return DeleteKeys(session, *files_, {.rows = {.files = {path}}});
    };
  }
  static Act Remove(const std::string& where) {
    return [where](commit::TableSession& session) { return DeleteRows(session, {.where = where}); };
  }
  static Act Update(const std::string& where, const std::string& value) {
    return [where, value](commit::TableSession& session) {
      return UpdateRows(session, {.where = where, .set = {{"s", value}}});
    };
  }
  void SetProperty(const std::string& key, const std::string& value) {
    auto metadata = table_.Metadata();
    metadata.properties[key] = value;
    const auto point = table_.MakePoint();
    ASSERT_TRUE(point->Publish(*point->Current(), *iceberg::TableMetadataToJson(metadata), false));
  }
  // The values of s of all rows with this id.
  std::vector<Json> Values(int64_t id) {
    std::vector<Json> values;
    for (const Json& row : table_.Rows({.select = {"id", "s"}, .select_all = false})) {
      if (row["id"] == id) values.push_back(row["s"]);
    }
    return values;
  }
  int64_t RowId(int64_t id) { return table_.ById("_row_id").at(id).get<int64_t>(); }

  TableCopy table_{"mor_dv_partitioned"};
  std::shared_ptr<io::FileIO> files_ = io::MakeLocalFileIO();
};

TEST_F(KeyedRace, OfTwoUpsertsOfANewKeyTheLaterReplacesTheRowOfTheOther) {
  const auto other = Upsert("other.csv", "id,region,s\n9001,eu,other\n");
  int64_t row_id = -1;
  const auto change = Race(Upsert("own.csv", "id,region,s\n9001,us,own\n"), [&](commit::TableSession& session) {
    auto done = other(session);
    row_id = RowId(9001);
    return done;
  });
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_updated, 1U);
  EXPECT_EQ(change.rows_added, 0U);
  EXPECT_THAT(Values(9001), ::testing::ElementsAre("own"));
  EXPECT_EQ(RowId(9001), row_id);
}

TEST_F(KeyedRace, AKeyThatOthersAppendIsReplaced) {
  for (const char* isolation : {"serializable", "snapshot"}) {
    SetProperty("write.merge.isolation-level", isolation);
    const auto change =
        Race(Upsert("own.csv", "id,s\n9001,own\n"), Append("other.csv", "id,s\n9001,other\n9002,other\n"));
    EXPECT_EQ(change.looked_again, 1U);
    EXPECT_THAT(Values(9001), ::testing::ElementsAre("own"));
    EXPECT_THAT(Values(9002), ::testing::ElementsAre("other"));
    auto session = table_.Session();
    ASSERT_TRUE(DeleteRows(session, {.where = "id > 9000"}));
  }
}

// The bounds of the new file hold the key, its rows do not; then not even the bounds do.
TEST_F(KeyedRace, OtherKeysThatOthersAddDoNotMatter) {
  for (const char* csv : {"id,s\n9000,other\n9002,other\n", "id,s\n9500,other\n"}) {
    const auto change = Race(Upsert("own.csv", "id,s\n9001,own\n3,own\n"), Append("other.csv", csv));
    EXPECT_EQ(change.looked_again, 0U);
    EXPECT_EQ(change.attempts, 2U);
    EXPECT_THAT(Values(9001), ::testing::ElementsAre("own"));
  }
  EXPECT_THAT(Values(9002), ::testing::ElementsAre("other"));
  EXPECT_THAT(Values(3), ::testing::ElementsAre("own"));
}

TEST_F(KeyedRace, UpsertsOfOtherRowsOfOneFileAreMerged) {
  const int64_t row_id = RowId(3);
  const auto change =
      Race(Upsert("own.csv", "id,region,s\n3,eu,own\n"), Upsert("other.csv", "id,region,s\n6,eu,other\n"));
  EXPECT_EQ(change.looked_again, 0U);
  EXPECT_THAT(Values(3), ::testing::ElementsAre("own"));
  EXPECT_THAT(Values(6), ::testing::ElementsAre("other"));
  EXPECT_EQ(RowId(3), row_id);
}

TEST_F(KeyedRace, ARowThatOthersDeletedIsInserted) {
  const int64_t row_id = RowId(3);
  const auto change = Race(Upsert("own.csv", "id,s\n3,own\n"), Remove("id = 3"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_added, 1U);
  EXPECT_EQ(change.rows_updated, 0U);
  EXPECT_THAT(Values(3), ::testing::ElementsAre("own"));
  EXPECT_NE(RowId(3), row_id);
}

TEST_F(KeyedRace, ARowThatOthersUpdatedIsReplacedInItsNewVersion) {
  const int64_t row_id = RowId(3);
  const auto change = Race(Upsert("own.csv", "id,s\n3,own\n"), Update("id = 3", "'other'"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_updated, 1U);
  EXPECT_THAT(Values(3), ::testing::ElementsAre("own"));
  EXPECT_EQ(RowId(3), row_id);
}

TEST_F(KeyedRace, AnUpdateOfARowThatAnUpsertReplacedIsOfItsNewVersion) {
  const auto change = Race(Update("id = 3", "s || '!'"), Upsert("other.csv", "id,s\n3,other\n"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_THAT(Values(3), ::testing::ElementsAre("other!"));
}

TEST_F(KeyedRace, AnUpsertThatOnlyDeletesTakesNewRowsToo) {
  const auto change =
      Race(Upsert("own.csv", "id,op\n3,d\n9001,d\n", "op = 'd'"), Append("other.csv", "id,s\n9001,other\n"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_deleted, 2U);
  EXPECT_TRUE(Values(9001).empty());
  EXPECT_TRUE(Values(3).empty());
}

TEST_F(KeyedRace, KeysOfSourcesInSeveralPartsAreLookedForInAll) {
  std::string csv = "id,region,s\n";
  for (int id = 9000; id < 10000; ++id) csv += std::to_string(id) + ",eu,own\n";
  const auto change =
      Race(Upsert("own.csv", csv, "", 1), Append("other.csv", "id,region,s\n8999,us,other\n9700,us,other\n"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_added, 999U);
  EXPECT_EQ(change.rows_updated, 1U);
  EXPECT_THAT(Values(9700), ::testing::ElementsAre("own"));
  const auto next =
      Race(Upsert("own.csv", csv, "", 1), Append("other.csv", "id,region,s\n8998,us,other\n10001,us,o\n"));
  EXPECT_EQ(next.looked_again, 0U);
}

TEST_F(KeyedRace, AMergeDoesNotInsertAKeyThatOthersInserted) {
  const auto path = table_.Put("own.csv", "id,s\n9001,own\n");
  const auto change = Race(
      [&](commit::TableSession& session) {
        return MergeRows(session, *files_,
                         {.rows = {.files = {path}, .key = {"id"}},
                          .matched_update = {{"s", "s || '+' || source.s"}},
                          .not_matched_insert = ""});
      },
      Append("other.csv", "id,s\n9001,other\n"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_THAT(Values(9001), ::testing::ElementsAre("other+own"));
}

TEST_F(KeyedRace, ARowThatAMergeLeftAloneAndOthersDeletedIsInsertedIfItIsSerializable) {
  struct Case {
    const char* isolation;
    std::string update_when;  // false for id 3: empty, no clause looks at matched rows
    bool is_inserted;
  };
  for (const Case& one : {Case{"serializable", "source.s = 'never'", true}, Case{"serializable", "", true},
                          Case{"snapshot", "source.s = 'never'", false}, Case{"snapshot", "", false}}) {
    SCOPED_TRACE(std::string(one.isolation) + " " + one.update_when);
    SetProperty("write.merge.isolation-level", one.isolation);
    // What serial execution after the other's delete gives: the key is not there any more.
    const auto path = table_.Put("own.csv", "id,region,s\n3,eu,own\n9001,eu,own\n");
    MergeOptions options{.rows = {.files = {path}, .key = {"id"}}, .not_matched_insert = ""};
    if (!one.update_when.empty()) {
      options.matched_update = {{"s", "source.s"}};
      options.matched_update_when = one.update_when;
    }
    const auto change =
        Race([&](commit::TableSession& session) { return MergeRows(session, *files_, options); }, Remove("id = 3"));
    EXPECT_EQ(change.looked_again, one.is_inserted ? 1U : 0U);
    EXPECT_EQ(change.rows_added, one.is_inserted ? 2U : 1U);
    EXPECT_EQ(Values(3).size(), one.is_inserted ? 1U : 0U);
    // As it was, for the next case.
    auto session = table_.Session();
    ASSERT_TRUE(DeleteRows(session, {.where = "id = 3 OR id = 9001"}));
    const auto back = table_.Put("back.csv", "id,region,s\n3,eu,was\n");
    ASSERT_TRUE(AppendRows(session, *files_, {.files = {back}}));
  }
}

TEST_F(KeyedRace, ADeleteOfAnotherRowThanAMergeMatchedIsNoReasonToLookAgain) {
  const auto path = table_.Put("own.csv", "id,region,s\n3,eu,own\n9001,eu,own\n");
  const auto change = Race(
      [&](commit::TableSession& session) {
        return MergeRows(session, *files_, {.rows = {.files = {path}, .key = {"id"}}, .not_matched_insert = ""});
      },
      Remove("id = 6"));
  EXPECT_EQ(change.looked_again, 0U);
  EXPECT_EQ(change.rows_added, 1U);
}

TEST_F(KeyedRace, KeysOfADeleteThatOthersAddAreDeletedIfItIsSerializable) {
  const auto change = Race(RemoveKeys("own.csv", "id\n3\n9001\n"), Append("other.csv", "id,s\n9001,other\n"));
  EXPECT_EQ(change.looked_again, 1U);
  EXPECT_EQ(change.rows_deleted, 2U);
  EXPECT_TRUE(Values(9001).empty());

  SetProperty("write.delete.isolation-level", "snapshot");
  const auto next = Race(RemoveKeys("own.csv", "id\n6\n9002\n"), Append("other.csv", "id,s\n9002,other\n"));
  EXPECT_EQ(next.looked_again, 0U);
  EXPECT_EQ(next.rows_deleted, 1U);
  EXPECT_THAT(Values(9002), ::testing::ElementsAre("other"));
}

TEST_F(KeyedRace, DeletesOfTheSameKeysMerge) {
  const auto change = Race(RemoveKeys("own.csv", "id\n3\n6\n"), RemoveKeys("other.csv", "id\n6\n9\n"));
  EXPECT_EQ(change.looked_again, 0U);
  EXPECT_EQ(change.rows_deleted, 1U);
  for (const int64_t id : {3, 6, 9}) EXPECT_TRUE(Values(id).empty()) << id;
}

TEST_F(KeyedRace, OtherColumnsThanWhenRowsWereReadEndIt) {
  const auto own = Upsert("own.csv", "id,s\n3,own\n");
  auto point = std::make_shared<LatePoint>(table_.MakePoint(), [&] {
    auto metadata = table_.Metadata();
    auto fields = metadata.CurrentSchema().fields();
    fields.push_back({.id = ++metadata.last_column_id, .name = "extra", .type = TypeKind::kLong});
    metadata.schemas.push_back(*Schema::Make(100, fields));
    metadata.current_schema_id = 100;
    const auto other = table_.MakePoint();
    ASSERT_TRUE(other->Publish(*other->Current(), *iceberg::TableMetadataToJson(metadata), false));
    auto session = table_.Session();
    ASSERT_TRUE(DeleteRows(session, {.where = "id = 3"}));
  });
  auto session = table_.Session(point);
  const auto change = own(session);
  ASSERT_FALSE(change);
  EXPECT_EQ(change.error().kind(), ErrorKind::kCommitConflict) << change.error().ToString();
  EXPECT_TRUE(Values(3).empty());
}

}  // namespace
}  // namespace delenda::ops
