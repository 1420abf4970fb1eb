#include "delenda/delta_writer.h"

#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "delenda/rows.h"
#include "support/temporary_folder.h"

namespace delenda {
namespace {

struct DeltaEvent {
  std::string op;
  int64_t id = 0;
  std::string v;
};

// Batches of one event each, as another program's C stream.
ArrowArrayStream EventStream(const std::vector<DeltaEvent>& events) {
  const auto schema = arrow::schema(
      {arrow::field("op", arrow::utf8()), arrow::field("id", arrow::int64()), arrow::field("v", arrow::utf8())});
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  for (const DeltaEvent& event : events) {
    arrow::StringBuilder op, v;
    arrow::Int64Builder id;
    EXPECT_TRUE(op.Append(event.op).ok() && id.Append(event.id).ok() && v.Append(event.v).ok());
    batches.push_back(arrow::RecordBatch::Make(
        schema, 1, {op.Finish().ValueOrDie(), id.Finish().ValueOrDie(), v.Finish().ValueOrDie()}));
  }
  ArrowArrayStream stream;
  auto reader = arrow::RecordBatchReader::Make(std::move(batches), schema).ValueOrDie();
  EXPECT_TRUE(arrow::ExportRecordBatchReader(std::move(reader), &stream).ok());
  return stream;
}

class DeltaWriterApi : public ::testing::Test {
 protected:
  Result<DeltaResult> Write(WritableTable& table, uint64_t order, const std::vector<DeltaEvent>& events) {
    auto writer = DeltaWriter::Make(table, {.key = {"id"}, .order = order});
    if (!writer) return std::unexpected(writer.error());
    ArrowArrayStream stream = EventStream(events);
    if (auto written = writer->Write(&stream); !written) return std::unexpected(written.error());
    EXPECT_EQ(stream.release, nullptr);
    return writer->Finish();
  }
  static std::string TextOf(RowStream& rows) {
    std::string text;
    EXPECT_TRUE(
        WriteRows(rows, {.format = RowFormat::kCsv, .header = false}, [&](std::string_view piece) -> Result<void> {
          text += piece;
          return {};
        }));
    return text;
  }
  std::string Rows() {
    auto table = Table::Open(folder_, {.threads = 1});  // rows in their order
    auto rows = table->Scan({});
    return TextOf(*rows);
  }

  testing::TemporaryFolder scratch_;
  const std::string folder_ = scratch_.path() / "table";
};

TEST_F(DeltaWriterApi, WorkOfSeveralWritersIsOneSnapshot) {
  ASSERT_TRUE(CreateTable(folder_, {.columns = "id long NOT NULL, v string"}));
  auto table = WritableTable::Open(folder_);
  ASSERT_TRUE(table) << table.error().ToString();
  auto first = Write(*table, 1, {{"c", 1, "a"}, {"c", 2, "b"}, {"u", 1, "c"}});
  ASSERT_TRUE(first) << first.error().ToString();
  EXPECT_EQ(first->order(), 1U);
  EXPECT_EQ(first->rows(), 2U);
  EXPECT_EQ(first->data_files().size(), 1U);
  EXPECT_EQ(first->delete_files().size(), 1U);
  auto second = Write(*table, 2, {{"d", 2, ""}, {"c", 3, "d"}});
  ASSERT_TRUE(second) << second.error().ToString();
  std::vector<DeltaResult> work;
  work.push_back(*std::move(second));
  work.push_back(*std::move(first));
  const auto report = CommitDeltas(*table, work);
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_EQ(report->rows_added, 2U);
  EXPECT_EQ(report->rows_deleted, 0U);
  EXPECT_EQ(Rows(), "1,c\r\n3,d\r\n");
  // Rows that a later worker replaced never were: neither checks nor change feeds tell of them.
  auto reader = Table::Open(folder_);
  const auto findings = reader->Verify({.deep = true});
  ASSERT_TRUE(findings) << findings.error().ToString();
  EXPECT_TRUE(findings->findings.empty());
  auto changes = reader->Changes();
  ASSERT_TRUE(changes) << changes.error().ToString();
  const std::string text = TextOf(*changes);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  EXPECT_EQ(text.find("DELETE"), std::string::npos) << text;
  EXPECT_EQ(text.find(",b"), std::string::npos) << text;
  for (const std::string& path : work[0].delete_files()) EXPECT_FALSE(std::filesystem::exists(path)) << path;

  work.clear();
  auto third = Write(*table, 0, {{"u", 1, "e"}, {"d", 3, ""}});
  ASSERT_TRUE(third) << third.error().ToString();
  work.push_back(*std::move(third));
  ASSERT_TRUE(CommitDeltas(*table, work));
  EXPECT_EQ(Rows(), "1,e\r\n");
}

// Answers what it was told to.
class Told final : public KeyPositionResolver {
 public:
  Result<std::vector<KeyPositions>> Resolve(const KeyQuery& query) const override {
    EXPECT_FALSE(query.spec_id());
    EXPECT_EQ(query.size(), 2U);
    auto keys = query.Keys();
    EXPECT_TRUE(keys) << keys.error().ToString();
    std::string text;
    EXPECT_TRUE(WriteRows(*keys, {}, [&](std::string_view piece) -> Result<void> {
      text += piece;
      return {};
    }));
    EXPECT_EQ(text, "{\"id\": 2, \"_below\": null}\n{\"id\": 3, \"_below\": null}\n");
    return answer;
  }

  std::vector<KeyPositions> answer;
};

TEST_F(DeltaWriterApi, RowsAreThoseThatTheCallersResolverFinds) {
  ASSERT_TRUE(CreateTable(folder_, {.columns = "id long NOT NULL, v string"}));
  auto table = WritableTable::Open(folder_);
  ASSERT_TRUE(table) << table.error().ToString();
  std::vector<DeltaResult> work;
  work.push_back(Write(*table, 0, {{"c", 1, "a"}, {"c", 2, "b"}, {"c", 3, "c"}}).value());
  const std::string path = work[0].data_files().front();
  ASSERT_TRUE(CommitDeltas(*table, work));
  work.clear();
  work.push_back(Write(*table, 0, {{"u", 2, "B"}, {"d", 3, ""}}).value());

  Told resolver;
  const std::pair<std::vector<KeyPositions>, const char*> wrong[] = {
      {{{.data_file = path + "x", .positions = {{0, 1}}}}, "is no data file of snapshot"},
      {{{.data_file = path, .positions = {{1, 4}}}}, "has 3 rows"},
      {{{.data_file = path, .positions = {{2, 2}}}}, "[2, 2)"},
  };
  for (const auto& [answer, text] : wrong) {
    resolver.answer = answer;
    const auto refused = CommitDeltas(*table, work, {.resolver = &resolver});
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_NE(refused.error().ToString().find(text), std::string::npos) << refused.error().ToString();
    EXPECT_EQ(Rows(), "1,a\r\n2,b\r\n3,c\r\n");
  }
  resolver.answer = {{.data_file = path, .positions = {{2, 3}, {1, 3}}}};
  const auto report = CommitDeltas(*table, work, {.resolver = &resolver});
  ASSERT_TRUE(report) << report.error().ToString();
  EXPECT_EQ(report->rows_deleted, 2U);
  EXPECT_EQ(Rows(), "2,B\r\n1,a\r\n");

  // What is deleted already may be found again.
  work.clear();
  work.push_back(Write(*table, 0, {{"d", 2, ""}, {"d", 3, ""}}).value());
  const auto nothing = CommitDeltas(*table, work, {.resolver = &resolver});
  ASSERT_TRUE(nothing) << nothing.error().ToString();
  EXPECT_EQ(nothing->rows_deleted, 0U);
  EXPECT_EQ(Rows(), "2,B\r\n1,a\r\n");
}

TEST_F(DeltaWriterApi, ErrorsNameWhatIsWrong) {
  ASSERT_TRUE(CreateTable(folder_, {.columns = "id long NOT NULL, region string, v string", .partition_by = "region"}));
  auto table = WritableTable::Open(folder_);
  EXPECT_EQ(DeltaWriter::Make(*table, {.key = {"nope"}}).error().kind(), ErrorKind::kNotFound);
  EXPECT_EQ(
      DeltaWriter::Make(*table, {.key = {"id"}, .fallback = DeltaFallback::kCommitEqualityDeletes}).error().kind(),
      ErrorKind::kInvalidArgument);
  EXPECT_TRUE(DeltaWriter::Make(*table, {.key = {"id", "region"}, .fallback = DeltaFallback::kCommitEqualityDeletes}));
  EXPECT_EQ(Write(*table, 0, {{"t", 1, "a"}}).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(CommitDeltas(*table, {}).error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda
