// Writing Puffin files: the files of the reference implementation, byte by byte.
#include "delenda/formats/puffin/puffin_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/puffin/puffin_footer.h"

namespace delenda::puffin {
namespace {

Bytes FileBytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

// Every vector is decoded, encoded again and put into a new file: all bytes of Java's file come out, so blobs, offsets
// and footers are what Java writes.
TEST(PuffinWriter, WritesJavasFilesByteByByte) {
  size_t files = 0;
  size_t vectors = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(DELENDA_FIXTURES) + "/iceberg")) {
    const std::string path = entry.path();
    // invalid_ tables hold damaged files.
    if (!path.ends_with(".puffin") || path.find("/invalid_") != std::string::npos) continue;
    SCOPED_TRACE(path);
    const Bytes java = FileBytes(path);
    const auto footer = ParseFooter(java, java.size());
    ASSERT_TRUE(footer) << footer.error().ToString();
    PuffinWriter writer;
    for (const auto& [key, value] : footer->properties) writer.SetProperty(key, value);
    for (const BlobMetadata& blob : footer->blobs) {
      if (blob.type != kDeletionVectorV1) continue;
      const ByteView stored = ByteView(java).subspan(blob.offset, blob.length);
      const auto positions = dv::DecodeIcebergBlob(stored, std::nullopt);
      ASSERT_TRUE(positions) << positions.error().ToString();
      const auto encoded = dv::EncodeIcebergBlob(*positions);
      ASSERT_TRUE(encoded);
      const auto place =
          writer.AddDeletionVector(*encoded, blob.properties.at("referenced-data-file"), positions->cardinality());
      ASSERT_TRUE(place) << place.error().ToString();
      EXPECT_EQ(place->offset, blob.offset);
      EXPECT_EQ(place->length, blob.length);
      ++vectors;
    }
    if (writer.blobs() != footer->blobs.size()) continue;  // statistics
    const auto written = std::move(writer).Finish();
    ASSERT_TRUE(written);
    EXPECT_EQ(*written, java);
    ++files;
  }
  EXPECT_GE(files, 50U);
  EXPECT_GE(vectors, 100U);
}

TEST(PuffinWriter, OtherBlobsAndNoBlobsReadBack) {
  const auto empty = PuffinWriter().Finish();
  ASSERT_TRUE(empty);
  const auto nothing = ParseFooter(*empty, empty->size());
  ASSERT_TRUE(nothing) << nothing.error().ToString();
  EXPECT_TRUE(nothing->blobs.empty());
  EXPECT_TRUE(nothing->properties.empty());
  EXPECT_TRUE(CheckHeader(*empty));

  PuffinWriter writer;
  writer.SetProperty("created-by", "test \"x\"");
  const auto place = writer.AddBlob(AsBytes("sketch"), {.type = std::string(kApacheDatasketchesThetaV1),
                                                        .fields = {1, 2},
                                                        .snapshot_id = 77,
                                                        .sequence_number = 3,
                                                        .properties = {{"ndv", "5"}}});
  ASSERT_TRUE(place);
  const auto file = std::move(writer).Finish();
  ASSERT_TRUE(file);
  const auto footer = ParseFooter(*file, file->size());
  ASSERT_TRUE(footer) << footer.error().ToString();
  ASSERT_EQ(footer->blobs.size(), 1U);
  EXPECT_EQ(footer->blobs[0].type, kApacheDatasketchesThetaV1);
  EXPECT_EQ(footer->blobs[0].fields, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(footer->blobs[0].snapshot_id, 77);
  EXPECT_EQ(footer->blobs[0].sequence_number, 3);
  EXPECT_EQ(footer->blobs[0].offset, 4U);
  EXPECT_EQ(footer->blobs[0].length, 6U);
  EXPECT_EQ(footer->blobs[0].properties.at("ndv"), "5");
  EXPECT_EQ(footer->properties.at("created-by"), "test \"x\"");
}

TEST(PuffinWriter, RefusesWhatReadersWouldMistake) {
  PuffinWriter writer;
  ASSERT_TRUE(writer.AddDeletionVector(AsBytes("x"), "/t/a.parquet", 1));
  EXPECT_EQ(writer.AddDeletionVector(AsBytes("y"), "/t/a.parquet", 1).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer.AddDeletionVector(AsBytes("y"), "", 1).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer.AddDeletionVector(AsBytes("y"), "/t/\xff", 1).error().kind(), ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer.AddBlob(AsBytes("y"), {.type = std::string(kDeletionVectorV1), .fields = {}}).error().kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer.AddBlob(AsBytes("y"), {.type = "t", .fields = {}, .properties = {{"k", "\xff"}}}).error().kind(),
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(writer.blobs(), 1U);
  writer.SetProperty("k", "\xff");
  EXPECT_EQ(std::move(writer).Finish().error().kind(), ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace delenda::puffin
