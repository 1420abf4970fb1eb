// Byte files of Apache Iceberg's own tests (iceberg_blobs/README.md of the golden data), with the values that Java
// reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/formats/puffin/puffin_footer.h"

namespace delenda {
namespace {

using ::testing::HasSubstr;

std::string ReadGolden(const std::string& name) {
  std::ifstream in(std::string(DELENDA_GOLDEN_DIR) + "/iceberg_blobs/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

// The [start, end) ranges of a file in positions.json.
std::vector<PositionRun> ExpectedRuns(const std::string& name) {
  std::vector<PositionRun> runs;
  const auto all = nlohmann::json::parse(ReadGolden("positions.json"));
  for (const auto& run : all.at(name)) {
    runs.push_back({run.at(0).get<uint64_t>(), run.at(1).get<uint64_t>()});
  }
  return runs;
}

TEST(DvGoldenTest, BlobsDecodeToTheirPositions) {
  for (const std::string name :
       {"empty-position-index.bin", "small-alternating-values-position-index.bin",
        "small-and-large-values-position-index.bin", "all-container-types-position-index.bin"}) {
    SCOPED_TRACE(name);
    const std::string blob = ReadGolden(name);
    const PositionSet expected = PositionSet::FromRanges(ExpectedRuns(name)).value();
    const auto set = dv::DecodeIcebergBlob(AsBytes(blob), expected.cardinality());
    ASSERT_TRUE(set.has_value()) << set.error().ToString();
    EXPECT_EQ(set->Runs(), expected.Runs());
    EXPECT_EQ(*set, expected);
    EXPECT_EQ(AsText(dv::EncodeIcebergBlob(expected).value()), blob) << "the very bytes that Java writes";
    EXPECT_FALSE(dv::DecodeIcebergBlob(AsBytes(blob), expected.cardinality() + 1).has_value());
    EXPECT_FALSE(puffin::ParseFooter(AsBytes(blob), blob.size()).has_value()) << "a blob is no Puffin file";
  }
}

TEST(DvGoldenTest, BareVectorsDecodeToTheirPositions) {
  for (const std::string name : {"64map32bitvals.bin", "64mapempty.bin", "64mapspreadvals.bin"}) {
    SCOPED_TRACE(name);
    const std::string bytes = ReadGolden(name);
    const auto set = PositionSet::FromPortable(AsBytes(bytes));
    ASSERT_TRUE(set.has_value()) << set.error().ToString();
    EXPECT_EQ(set->Runs(), PositionSet::FromRanges(ExpectedRuns(name))->Runs());
    EXPECT_EQ(PositionSet::FromPortable(set->ToPortable()).value(), *set);
  }
}

TEST(DvGoldenTest, VectorWithKeysAboveTheBoundIsRefused) {
  const std::string bytes = ReadGolden("64maphighvals.bin");
  const auto set = PositionSet::FromPortable(AsBytes(bytes));
  ASSERT_FALSE(set.has_value());
  EXPECT_EQ(set.error().kind(), ErrorKind::kCorrupt);
  EXPECT_THAT(set.error().message(), HasSubstr("bucket key is too large"));
}

TEST(PuffinGoldenTest, EmptyFileIsRead) {
  const std::string file = ReadGolden("empty-puffin-uncompressed.bin");
  const auto footer = puffin::ParseFooter(AsBytes(file), file.size());
  ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
  EXPECT_TRUE(footer->blobs.empty());
}

TEST(PuffinGoldenTest, BlobsAreReadWithEveryCodec) {
  using namespace std::literals;
  for (const std::string name : {"sample-metric-data-uncompressed.bin", "sample-metric-data-compressed-zstd.bin"}) {
    SCOPED_TRACE(name);
    const std::string file = ReadGolden(name);
    const auto footer = puffin::ParseFooter(AsBytes(file), file.size());
    ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
    EXPECT_EQ(footer->properties.at("created-by"), "Test 1234");
    ASSERT_EQ(footer->blobs.size(), 2u);
    EXPECT_EQ(footer->blobs[0].type, "some-blob");
    EXPECT_EQ(footer->blobs[1].type, "some-other-blob");
    EXPECT_EQ(footer->blobs[1].fields, std::vector<int32_t>{2});
    EXPECT_EQ(footer->blobs[1].snapshot_id, 2);
    EXPECT_EQ(footer->blobs[1].sequence_number, 1);
    const auto content = [&](const puffin::BlobMetadata& blob) {
      return puffin::DecompressBlob(blob, AsBytes(file).subspan(blob.offset, blob.length), 1'000);
    };
    EXPECT_EQ(AsText(content(footer->blobs[0]).value()), "abcdefghi");
    EXPECT_EQ(AsText(content(footer->blobs[1]).value()),
              "some blob \0 binary data \U0001F92F that is not very very very very very very long, is it?"sv);
  }
}

}  // namespace
}  // namespace delenda
