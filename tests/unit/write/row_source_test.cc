// Rows from files of four formats.
#include "delenda/write/row_source.h"

#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include "delenda/write/json_rows.h"
#include "delenda/write/row_conform.h"
#include "unit/write/write_fixture.h"

namespace delenda::write {
namespace {

using testing::Batch;
using testing::BatchOf;
using testing::ColumnOf;
using testing::SchemaOf;

void Put(io::FileIO& io, const std::string& path, std::string_view bytes) {
  auto file = io.Create(path);
  ASSERT_TRUE(file && (*file)->Write(AsBytes(bytes)) && (*file)->Close());
}

Result<std::vector<Batch>> ReadRows(io::FileIO& io, const std::string& path, const RowSourceOptions& options = {}) {
  auto source = DELENDA_TRY(RowSource::Open(io, path, options));
  std::vector<Batch> batches;
  while (auto batch = DELENDA_TRY(source->Next())) {
    EXPECT_GT(batch->num_rows(), 0);
    batches.push_back(std::move(batch));
  }
  return batches;
}

// All rows of a source, as rows of the table.
Result<std::shared_ptr<arrow::Table>> TableRows(io::FileIO& io, const std::string& path, const Schema& table,
                                                RowSourceOptions options = {}) {
  options.table = table;
  auto source = DELENDA_TRY(RowSource::Open(io, path, options));
  auto conformer = DELENDA_TRY(RowConformer::Make(*source->schema(), table, {.parse_text = source->is_text()}));
  std::vector<Batch> batches;
  while (auto batch = DELENDA_TRY(source->Next())) batches.push_back(DELENDA_TRY(conformer.Conform(*batch)));
  return *arrow::Table::FromRecordBatches(batches);
}

void ExpectColumn(const arrow::Table& table, int index, const std::string& expected) {
  const auto column = arrow::Concatenate(table.column(index)->chunks());
  ASSERT_TRUE(column.ok());
  EXPECT_TRUE((*column)->Equals(*ColumnOf((*column)->type(), expected))) << (*column)->ToString() << expected;
}

TEST(RowSource, FormatsAreKnownByName) {
  EXPECT_EQ(RowFormatFromPath("/a/B.Parquet"), RowFormat::kParquet);
  EXPECT_EQ(RowFormatFromPath("s3://b/x.arrows"), RowFormat::kArrow);
  EXPECT_EQ(RowFormatFromPath("x.csv"), RowFormat::kCsv);
  EXPECT_EQ(RowFormatFromPath("x.ndjson"), RowFormat::kJsonLines);
  EXPECT_EQ(RowFormatFromPath("x.txt"), std::nullopt);
  EXPECT_EQ(*RowFormatFromName("jsonl"), RowFormat::kJsonLines);
  EXPECT_FALSE(RowFormatFromName("xml"));
  const auto io = io::MakeMemoryFileIO();
  const auto unknown = RowSource::Open(*io, "x.txt", {});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind(), ErrorKind::kInvalidArgument);
  const auto missing = RowSource::Open(*io, "x.csv", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kNotFound);
}

TEST(RowSource, CsvIsReadByRfc4180WithEmptyAsNull) {
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/r.csv",
      "s,i,ts\r\n\"a,\"\"b\"\"\nc\",1,2024-02-29T12:00:00\r\n,,\r\n\"\",-5,1969-12-31 23:59:59.999999\r\n");
  const Schema table = SchemaOf({{.id = 1, .name = "s", .type = TypeKind::kString},
                                 {.id = 2, .name = "i", .type = TypeKind::kInt},
                                 {.id = 3, .name = "ts", .type = TypeKind::kTimestamp}});
  const auto rows = TableRows(*io, "/r.csv", table);
  ASSERT_TRUE(rows) << rows.error().ToString();
  ExpectColumn(**rows, 0, R"(["a,\"b\"\nc", null, ""])");
  ExpectColumn(**rows, 1, "[1, null, -5]");
  ExpectColumn(**rows, 2, "[1709208000000000, null, -1]");
}

TEST(RowSource, CsvLinesOfOtherLengthsAreErrorsAndEmptyOnesAreNone) {
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/short.csv", "a,b\n1,2\n3\n");
  Put(*io, "/empty.csv", "a,b\n1,2\n\n3,4\n\n");
  Put(*io, "/one.csv", "a\n1\n\n3\n");
  const auto cut = ReadRows(*io, "/short.csv");
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind(), ErrorKind::kCorrupt);
  EXPECT_NE(cut.error().ToString().find("/short.csv"), std::string::npos);
  const auto empty = ReadRows(*io, "/empty.csv");
  ASSERT_TRUE(empty) << empty.error().ToString();
  EXPECT_EQ((*empty)[0]->num_rows(), 2);
  const auto one = ReadRows(*io, "/one.csv");
  ASSERT_TRUE(one) << one.error().ToString();
  EXPECT_EQ((*one)[0]->column(0)->ToString(), ColumnOf(arrow::utf8(), R"(["1", null, "3"])")->ToString());
}

TEST(RowSource, JsonLinesKeepEveryDigit) {
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/r.jsonl",
      R"({"l": 9223372036854775807, "m": 12345678901234567890123456789012.345678, "f": 0.1, "d": 1e300, "ts": "2024-02-29T12:00:00.000001Z"})"
      "\n\n"
      R"({"l": -9223372036854775808, "m": "-0.000001", "f": "NaN", "d": -0.0, "ts": "2024-02-29T13:00:00+01:00"})"
      "\r\n"
      R"({"L": 1, "m": 7, "f": 3, "ts": null})");
  const Schema table = SchemaOf({{.id = 1, .name = "l", .type = TypeKind::kLong},
                                 {.id = 2, .name = "m", .type = Type::Decimal(38, 6)},
                                 {.id = 3, .name = "f", .type = TypeKind::kFloat},
                                 {.id = 4, .name = "d", .type = TypeKind::kDouble, .write_default = Datum(2.5)},
                                 {.id = 5, .name = "ts", .type = TypeKind::kTimestampTz}});
  const auto rows = TableRows(*io, "/r.jsonl", table);
  ASSERT_TRUE(rows) << rows.error().ToString();
  ExpectColumn(**rows, 0, "[9223372036854775807, -9223372036854775808, 1]");
  ExpectColumn(**rows, 1, R"(["12345678901234567890123456789012.345678", "-0.000001", "7.000000"])");
  ExpectColumn(**rows, 3, "[1e300, -0.0, 2.5]");
  ExpectColumn(**rows, 4, "[1709208000000001, 1709208000000000, null]");
  const auto f = std::static_pointer_cast<arrow::FloatArray>((*rows)->column(2)->chunk(0));
  EXPECT_EQ(f->Value(0), 0.1F);
  EXPECT_TRUE(std::isnan(f->Value(1)));
}

TEST(RowSource, JsonLinesHoldNestedValues) {
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/r.jsonl",
      R"({"s": {"a": 1, "x": "0aff"}, "l": [1, null], "m": {"k": 1}})"
      "\n"
      R"({"s": null, "l": [], "m": [["k", null], ["j", 2]]})"
      "\n"
      R"({"s": {}, "l": null})");
  const Schema table =
      SchemaOf({{.id = 1,
                 .name = "s",
                 .type = Type::Struct({{.id = 4, .name = "a", .type = TypeKind::kInt},
                                       {.id = 5, .name = "x", .type = TypeKind::kBinary}})},
                {.id = 2, .name = "l", .type = Type::List({.id = 6, .name = "element", .type = TypeKind::kInt})},
                {.id = 3,
                 .name = "m",
                 .type = Type::Map({.id = 7, .name = "key", .type = TypeKind::kString, .required = true},
                                   {.id = 8, .name = "value", .type = TypeKind::kInt})}});
  const auto rows = TableRows(*io, "/r.jsonl", table);
  ASSERT_TRUE(rows) << rows.error().ToString();
  EXPECT_EQ((*rows)->num_rows(), 3);
  ASSERT_TRUE((*rows)->ValidateFull().ok());
  ExpectColumn(**rows, 1, "[[1, null], [], null]");
  ExpectColumn(**rows, 2, R"([[["k", 1]], [["k", null], ["j", 2]], null])");
  EXPECT_EQ((*(*rows)->column(0)->GetScalar(0))->ToString(), "{a:int32 = 1, x:binary = \n\xFF}");
  EXPECT_FALSE((*(*rows)->column(0)->GetScalar(1))->is_valid);
  EXPECT_TRUE((*(*rows)->column(0)->GetScalar(2))->is_valid);
}

TEST(RowSource, TheFirstObjectOfJsonLinesNamesItsMembers) {
  const auto names = [&](std::string_view text) {
    const auto io = io::MakeMemoryFileIO();
    Put(*io, "/rows.jsonl", text);
    LineReader lines(OpenBytes(*io, "/rows.jsonl").value());
    return FirstMembers(lines);
  };
  EXPECT_EQ(names("\n{\"b\": 1, \"a\": {\"c\": 2}}\n{\"d\": 3}\n").value(), (std::vector<std::string>{"b", "a"}));
  EXPECT_TRUE(names("").value().empty());
  EXPECT_FALSE(names("[1]"));
  EXPECT_FALSE(names("{"));
}

TEST(RowSource, JsonLinesThatDoNotFitNameTheLineAndThePlace) {
  struct Case {
    const char* line;
    const char* part;
  };
  const Case cases[] = {
      {R"({"i": 2147483648})", "$.i: '2147483648' is no value of type int"},
      {R"({"i": 1.5})", "$.i: '1.5' is no value of type int"},
      {R"({"i": true})", "$.i: expected a number, found a boolean"},
      {R"({"t": 5})", "$.t: expected a string"},
      {R"({"t": "x", "T": "y"})", "a second value for column 't'"},
      {R"({"q": 5})", "$.q: the table has no such column"},
      {R"([1])", "expected an object"},
      {R"({"i": )", "invalid JSON"},
      {R"({"m": 0.001})", "$.m: '0.001' is no value of type decimal(4, 2)"},
  };
  const Schema table = SchemaOf({{.id = 1, .name = "i", .type = TypeKind::kInt},
                                 {.id = 2, .name = "t", .type = TypeKind::kString},
                                 {.id = 3, .name = "m", .type = Type::Decimal(4, 2)}});
  for (const Case& c : cases) {
    const auto io = io::MakeMemoryFileIO();
    Put(*io, "/r.jsonl", std::string("{\"i\": 1}\n") + c.line + "\n");
    const auto rows = ReadRows(*io, "/r.jsonl", {.table = table});
    ASSERT_FALSE(rows) << c.line;
    EXPECT_NE(rows.error().ToString().find(c.part), std::string::npos) << rows.error().ToString();
    EXPECT_NE(rows.error().ToString().find("line: 2"), std::string::npos) << rows.error().ToString();
  }
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/r.jsonl", R"({"q": 5, "i": 1})");
  EXPECT_TRUE(ReadRows(*io, "/r.jsonl", {.table = table, .ignore_unknown_columns = true}));
}

TEST(RowSource, JsonLinesComeInBatchesAndLongLinesAreWhole) {
  const auto io = io::MakeMemoryFileIO();
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += fmt::format("{{\"t\": \"{}\"}}\n", std::string(static_cast<size_t>(i) * 7, 'x'));
  Put(*io, "/r.jsonl", text);
  const Schema table = SchemaOf({{.id = 1, .name = "t", .type = TypeKind::kString}});
  const auto rows = ReadRows(*io, "/r.jsonl", {.batch_rows = 300, .table = table});
  ASSERT_TRUE(rows) << rows.error().ToString();
  ASSERT_EQ(rows->size(), 4U);
  int64_t row = 0;
  for (const Batch& batch : *rows) {
    for (int64_t i = 0; i < batch->num_rows(); ++i) {
      ASSERT_EQ(static_cast<const arrow::StringArray&>(*batch->column(0)).value_length(i), row++ * 7);
    }
  }
  EXPECT_EQ(row, 1000);
}

TEST(RowSource, ArrowFilesAndStreamsGiveTheirBatches) {
  const auto schema = arrow::schema({arrow::field("i", arrow::int64()), arrow::field("t", arrow::utf8())});
  const Batch batch = BatchOf(schema, {"[1, null]", R"(["a", null])"});
  for (const bool is_file : {true, false}) {
    const auto sink = *arrow::io::BufferOutputStream::Create();
    auto writer = *(is_file ? arrow::ipc::MakeFileWriter(sink, schema) : arrow::ipc::MakeStreamWriter(sink, schema));
    ASSERT_TRUE(writer->WriteRecordBatch(*batch).ok() && writer->WriteRecordBatch(*batch->Slice(0, 0)).ok() &&
                writer->WriteRecordBatch(*batch).ok() && writer->Close().ok());
    const auto bytes = (*sink->Finish())->ToString();
    const auto io = io::MakeMemoryFileIO();
    Put(*io, "/r.arrow", bytes);
    const auto rows = ReadRows(*io, "/r.arrow");
    ASSERT_TRUE(rows) << rows.error().ToString();
    ASSERT_EQ(rows->size(), 2U);
    EXPECT_TRUE((*rows)[1]->Equals(*batch));
    // Cut short, it is an error, never fewer rows.
    Put(*io, "/cut.arrow", std::string_view(bytes).substr(0, bytes.size() - 300));
    EXPECT_FALSE(ReadRows(*io, "/cut.arrow"));
  }
}

TEST(RowSource, ParquetFilesGiveAllRowsAndMarkUuids) {
  const Schema schema =
      SchemaOf({{.id = 1, .name = "i", .type = TypeKind::kLong}, {.id = 2, .name = "u", .type = TypeKind::kUuid}});
  const WriteTarget target = testing::TargetOf(schema, {}, {{"write.parquet.row-group-limit", "2"}});
  const auto files = testing::WriteAll(
      target, {BatchOf(*target.BatchSchema(), {"[1, 2, 3]", R"(["0123456789abcdef", null, "0123456789abcdef"])"})});
  ASSERT_TRUE(files) << files.error().ToString();
  const auto source = RowSource::Open(*target.io, files->front().path, {});
  ASSERT_TRUE(source) << source.error().ToString();
  EXPECT_EQ(*(*source)->schema()->field(1)->metadata()->Get("ARROW:extension:name"), "arrow.uuid");
  const auto rows = TableRows(*target.io, files->front().path, schema);
  ASSERT_TRUE(rows) << rows.error().ToString();
  ExpectColumn(**rows, 0, "[1, 2, 3]");
  const auto standard = RowSource::Open(*target.io, "-", {.format = RowFormat::kParquet});
  ASSERT_FALSE(standard);
  EXPECT_EQ(standard.error().kind(), ErrorKind::kNotSupported);
}

// As Arrow writes a table of no rows: a row group whose column chunks have no page.
TEST(RowSource, ParquetFilesMayHoldRowGroupsWithoutRows) {
  const auto schema = arrow::schema({arrow::field("i", arrow::int64()), arrow::field("s", arrow::utf8())});
  const auto sink = *arrow::io::BufferOutputStream::Create();
  const auto none = *arrow::Table::MakeEmpty(schema);
  ASSERT_TRUE(::parquet::arrow::WriteTable(*none, arrow::default_memory_pool(), sink).ok());
  const auto io = io::MakeMemoryFileIO();
  Put(*io, "/none.parquet", (*sink->Finish())->ToString());
  const auto batches = ReadRows(*io, "/none.parquet");
  ASSERT_TRUE(batches) << batches.error().ToString();
  EXPECT_TRUE(batches->empty());
}

}  // namespace
}  // namespace delenda::write
