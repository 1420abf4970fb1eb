#include "delenda/rows.h"

#include <arrow/api.h>
#include <arrow/c/bridge.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace delenda {
namespace {

using arrow::field;

// What a program outside delenda hands in: a C stream of these arrays, one batch each.
ArrowArrayStream StreamOf(const std::shared_ptr<arrow::Schema>& schema,
                          const std::vector<std::vector<std::shared_ptr<arrow::Array>>>& batches) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> made;
  for (const auto& arrays : batches) made.push_back(arrow::RecordBatch::Make(schema, arrays[0]->length(), arrays));
  auto reader = arrow::RecordBatchReader::Make(std::move(made), schema).ValueOrDie();
  ArrowArrayStream stream;
  EXPECT_TRUE(arrow::ExportRecordBatchReader(std::move(reader), &stream).ok());
  return stream;
}

Result<std::string> Write(RowStream rows, RowFormat format = RowFormat::kJsonLines) {
  std::string text;
  const auto written = WriteRows(rows, {.format = format}, [&text](std::string_view piece) -> Result<void> {
    text += piece;
    return {};
  });
  if (!written) return std::unexpected(written.error());
  return text;
}

std::string JsonOf(const std::shared_ptr<arrow::Field>& one, const std::shared_ptr<arrow::Array>& array) {
  ArrowArrayStream stream = StreamOf(arrow::schema({one}), {{array}});
  auto rows = RowStream::Import(&stream);
  if (!rows) return rows.error().ToString();
  return Write(*std::move(rows)).value_or("failed");
}

template <typename Builder, typename... Values>
std::shared_ptr<arrow::Array> ArrayOf(const std::shared_ptr<arrow::DataType>& type, Values... values) {
  Builder builder(type, arrow::default_memory_pool());
  const auto append = [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), std::nullptr_t>)
      EXPECT_TRUE(builder.AppendNull().ok());
    else
      EXPECT_TRUE(builder.Append(value).ok());
  };
  (append(values), ...);
  return builder.Finish().ValueOrDie();
}

TEST(Rows, JsonOfNumbers) {
  EXPECT_EQ(
      JsonOf(field("a", arrow::int64()), ArrayOf<arrow::Int64Builder>(arrow::int64(), INT64_MIN, nullptr, INT64_MAX)),
      "{\"a\": -9223372036854775808}\n{\"a\": null}\n{\"a\": 9223372036854775807}\n");
  EXPECT_EQ(
      JsonOf(field("a", arrow::float64()), ArrayOf<arrow::DoubleBuilder>(arrow::float64(), 0.1, -0.0, 1.0, 5e-324,
                                                                         std::numeric_limits<double>::infinity())),
      "{\"a\": 0.1}\n{\"a\": -0.0}\n{\"a\": 1.0}\n{\"a\": 5e-324}\n{\"a\": \"Infinity\"}\n");
  EXPECT_EQ(JsonOf(field("a", arrow::float32()), ArrayOf<arrow::FloatBuilder>(arrow::float32(), 0.1F, 16777216.0F)),
            "{\"a\": 0.1}\n{\"a\": 16777216.0}\n");
}

TEST(Rows, JsonOfDecimalsHasFullScale) {
  const auto type = arrow::decimal128(38, 10);
  EXPECT_EQ(JsonOf(field("a", type),
                   ArrayOf<arrow::Decimal128Builder>(type, arrow::Decimal128("0.0000000001"), arrow::Decimal128(0),
                                                     arrow::Decimal128("-12.5000000000"))),
            "{\"a\": \"0.0000000001\"}\n{\"a\": \"0.0000000000\"}\n{\"a\": \"-12.5000000000\"}\n");
}

TEST(Rows, JsonOfTextIsEscaped) {
  EXPECT_EQ(JsonOf(field("a\"b", arrow::utf8()), ArrayOf<arrow::StringBuilder>(arrow::utf8(), "q\"\\\n\x01 ü", "")),
            "{\"a\\\"b\": \"q\\\"\\\\\\n\\u0001 ü\"}\n{\"a\\\"b\": \"\"}\n");
}

TEST(Rows, SixteenBytesAreAUuidOnlyIfTheFieldSaysSo) {
  const auto type = arrow::fixed_size_binary(16);
  const auto array = ArrayOf<arrow::FixedSizeBinaryBuilder>(type, "0123456789abcdef");
  EXPECT_EQ(JsonOf(field("a", type), array), "{\"a\": \"30313233343536373839616263646566\"}\n");
  const auto marked = field("a", type)->WithMetadata(
      arrow::key_value_metadata({"ARROW:extension:name", "ARROW:extension:metadata"}, {"arrow.uuid", ""}));
  EXPECT_EQ(JsonOf(marked, array), "{\"a\": \"30313233-3435-3637-3839-616263646566\"}\n");
}

TEST(Rows, JsonOfNestedValuesHonoursSlices) {
  const auto numbers = ArrayOf<arrow::Int32Builder>(arrow::int32(), 1, 2, 3, 4);
  const auto texts = ArrayOf<arrow::StringBuilder>(arrow::utf8(), "a", nullptr, "c", "d");
  const auto pairs = arrow::StructArray::Make({numbers, texts}, std::vector<std::string>{"n", "t"}).ValueOrDie();
  EXPECT_EQ(JsonOf(field("s", pairs->type()), pairs->Slice(1, 2)),
            "{\"s\": {\"n\": 2, \"t\": null}}\n{\"s\": {\"n\": 3, \"t\": \"c\"}}\n");

  const auto offsets = ArrayOf<arrow::Int32Builder>(arrow::int32(), 0, 0, 3, 4);
  const auto lists = arrow::ListArray::FromArrays(*offsets, *numbers).ValueOrDie();
  EXPECT_EQ(JsonOf(field("l", lists->type()), lists->Slice(1)), "{\"l\": [1, 2, 3]}\n{\"l\": [4]}\n");
}

TEST(Rows, JsonOfMapsIsSortedByKey) {
  const auto keys = ArrayOf<arrow::Int32Builder>(arrow::int32(), 10, 9, -1, 2);
  const auto values = ArrayOf<arrow::StringBuilder>(arrow::utf8(), "x", nullptr, "y", "z");
  const auto offsets = ArrayOf<arrow::Int32Builder>(arrow::int32(), 0, 3, 4);
  const auto maps = arrow::MapArray::FromArrays(offsets, keys, values).ValueOrDie();
  EXPECT_EQ(JsonOf(field("m", maps->type()), maps),
            "{\"m\": [[-1, \"y\"], [9, null], [10, \"x\"]]}\n{\"m\": [[2, \"z\"]]}\n");
}

TEST(Rows, TablesShowTextWithoutQuotesAndCountRows) {
  ArrowArrayStream stream =
      StreamOf(arrow::schema({field("n", arrow::float64()), field("t", arrow::utf8())}),
               {{ArrayOf<arrow::DoubleBuilder>(arrow::float64(), 1.5, std::numeric_limits<double>::quiet_NaN()),
                 ArrayOf<arrow::StringBuilder>(arrow::utf8(), "say \"hi\"", nullptr)}});
  auto rows = RowStream::Import(&stream);
  ASSERT_TRUE(rows);
  EXPECT_EQ(Write(*std::move(rows), RowFormat::kTable).value_or("failed"),
            "  n  t\n"
            "---  --------\n"
            "1.5  say \"hi\"\n"
            "NaN  NULL\n"
            "(2 rows)\n");
}

TEST(Rows, AStreamIsReadOnceAndGivesItsBatchesAndSchema) {
  const auto schema = arrow::schema({field("a", arrow::int32())});
  ArrowArrayStream stream = StreamOf(schema, {{ArrayOf<arrow::Int32Builder>(arrow::int32(), 1, 2)},
                                              {ArrayOf<arrow::Int32Builder>(arrow::int32(), 3)}});
  auto rows = RowStream::Import(&stream);
  ASSERT_TRUE(rows);
  EXPECT_EQ(stream.release, nullptr);
  ArrowSchema exported;
  ASSERT_TRUE(rows->GetSchema(&exported));
  EXPECT_TRUE(arrow::ImportSchema(&exported).ValueOrDie()->Equals(*schema));
  ArrowArray batch;
  ASSERT_EQ(rows->Next(&batch).value_or(false), true);
  EXPECT_EQ(batch.length, 2);
  batch.release(&batch);

  ArrowArrayStream out;
  ASSERT_TRUE(std::move(*rows).Export(&out));
  auto reader = arrow::ImportRecordBatchReader(&out).ValueOrDie();
  EXPECT_EQ(reader->ToTable().ValueOrDie()->num_rows(), 1);
}

TEST(Rows, AReleasedStreamIsRefused) {
  ArrowArrayStream stream = {};
  const auto rows = RowStream::Import(&stream);
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().kind(), ErrorKind::kInvalidArgument);
}

class FailingReader : public arrow::RecordBatchReader {
 public:
  explicit FailingReader(std::shared_ptr<arrow::RecordBatch> batch) : batch_(std::move(batch)) {}
  std::shared_ptr<arrow::Schema> schema() const override { return batch_->schema(); }
  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* batch) override {
    if (calls_++ > 0) return arrow::Status::IOError("the second batch is lost");
    *batch = batch_;
    return arrow::Status::OK();
  }

 private:
  std::shared_ptr<arrow::RecordBatch> batch_;
  int calls_ = 0;
};

TEST(Rows, AnErrorAfterAFewRowsLeavesNothingWritten) {
  auto batch = arrow::RecordBatch::Make(arrow::schema({field("a", arrow::int32())}), 1,
                                        {ArrayOf<arrow::Int32Builder>(arrow::int32(), 1)});
  for (const auto format : {RowFormat::kJsonLines, RowFormat::kTable}) {
    ArrowArrayStream stream;
    ASSERT_TRUE(arrow::ExportRecordBatchReader(std::make_shared<FailingReader>(batch), &stream).ok());
    auto rows = RowStream::Import(&stream);
    ASSERT_TRUE(rows);
    bool called = false;
    const auto written = WriteRows(*rows, {.format = format}, [&called](std::string_view) -> Result<void> {
      called = true;
      return {};
    });
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().message().find("the second batch is lost"), std::string::npos);
    EXPECT_FALSE(called);
  }
}

}  // namespace
}  // namespace delenda
