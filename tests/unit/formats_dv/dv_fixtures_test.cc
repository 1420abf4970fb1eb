// Deletion vectors that Spark wrote, against the rows that Spark no longer returns.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "delenda/formats/dv/dv_codec.h"
#include "delenda/formats/dv/dv_format.h"
#include "delenda/formats/dv/z85.h"
#include "delenda/formats/puffin/puffin_footer.h"

namespace delenda::dv {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kRoot = DELENDA_FIXTURES;

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<Json> ReadLines(const fs::path& path) {
  std::vector<Json> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// "/warehouse/t/…" of a fixture's metadata → the file below `format`; one level of percent encoding is undone if asked.
fs::path Located(std::string text, const char* format) {
  text.erase(0, text.find("/warehouse/") + std::string("/warehouse/").size());
  return kRoot / format / text;
}

std::string PercentDecoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// The `.bin` file of a descriptor with storage type u: prefix, then a UUID as 20 characters of Z85.
fs::path DeltaFileOf(const fs::path& table, const std::string& text) {
  const Bytes id = DecodeZ85(std::string_view(text).substr(text.size() - 20)).value();
  std::string name = "deletion_vector_";
  for (size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) name += '-';
    name += fmt::format("{:02x}", std::to_integer<int>(id[i]));
  }
  return table / text.substr(0, text.size() - 20) / (name + ".bin");
}

Result<PositionSet> DecodeDescriptor(const fs::path& table, const Json& descriptor) {
  const auto kind = descriptor.at("storageType").get<std::string>();
  const auto text = descriptor.at("pathOrInlineDv").get<std::string>();
  const auto size = descriptor.at("sizeInBytes").get<int64_t>();
  const auto cardinality = descriptor.at("cardinality").get<uint64_t>();
  if (kind == "i") return DecodeDeltaInline(text, size, cardinality);
  const std::string file = ReadText(kind == "u" ? DeltaFileOf(table, text) : Located(PercentDecoded(text), "delta"));
  if (file.empty()) return NotFound("no file");
  const ByteView bytes = AsBytes(file);
  DELENDA_TRY(CheckDeltaFileVersion(bytes[0]));
  const auto offset = descriptor.value("offset", uint64_t{0});
  return DecodeDeltaFileFrame(bytes.subspan(offset), size, cardinality);
}

TEST(DvFixturesTest, EveryDeltaVectorDecodesToItsCardinalityAndEncodesToTheSameBytes) {
  int decoded = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "delta")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".expected") || name.starts_with("invalid_") || !fs::exists(entry.path() / "dvs.jsonl"))
      continue;
    const fs::path table = kRoot / "delta" / entry.path().stem();
    std::map<std::string, PositionSet> latest;
    std::map<std::string, int64_t> latest_version;
    for (const Json& descriptor : ReadLines(entry.path() / "dvs.jsonl")) {
      SCOPED_TRACE(name + " " + descriptor.dump());
      const auto text = descriptor.at("pathOrInlineDv").get<std::string>();
      // A table may have had files removed since.
      if (descriptor.at("storageType") == "u" && !fs::exists(DeltaFileOf(table, text))) continue;
      const auto set = DecodeDescriptor(table, descriptor);
      ASSERT_TRUE(set.has_value()) << set.error().ToString();
      EXPECT_EQ(set->cardinality(), descriptor.at("cardinality").get<uint64_t>());
      EXPECT_EQ(DecodeDeltaFileFrame(EncodeDeltaFileFrame(*set).value(),
                                     static_cast<int64_t>(EncodeDeltaFileFrame(*set)->size() - kFrameBytes), {})
                    .value(),
                *set);
      ++decoded;
      const std::string path = PercentDecoded(descriptor.at("path").get<std::string>());
      const auto version = descriptor.at("version").get<int64_t>();
      if (descriptor.at("action") == "add" && (!latest_version.contains(path) || latest_version[path] <= version)) {
        latest[path] = *set;
        latest_version[path] = version;
      }
    }
    // The rows that Spark no longer returns from a live file are exactly its last vector.
    for (const Json& file : ReadLines(entry.path() / "deleted-positions.jsonl")) {
      const auto found = latest.find(file.at("file").get<std::string>());
      if (found == latest.end()) continue;
      SCOPED_TRACE(name + " " + found->first);
      EXPECT_EQ(found->second.ToVector(), file.at("deleted").get<std::vector<uint64_t>>());
      EXPECT_TRUE(CheckWithinFile(found->second, file.at("records").get<uint64_t>()).has_value());
    }
  }
  EXPECT_GT(decoded, 100);
}

TEST(DvFixturesTest, DamagedDeltaVectorsAreRefused) {
  for (const auto& [name, message] :
       std::map<std::string, std::string>{{"invalid_dv_cardinality", "cardinality mismatch: expected 99, found 6"},
                                          {"invalid_dv_crc", "CRC mismatch"},
                                          {"invalid_dv_size", "ends inside a vector"}}) {
    SCOPED_TRACE(name);
    int refused = 0;
    // The log is the source here: the damage is in it or in the file that it names.
    for (const auto& entry : fs::directory_iterator(kRoot / "delta" / name / "_delta_log")) {
      if (entry.path().extension() != ".json") continue;
      for (const Json& action : ReadLines(entry.path())) {
        if (!action.contains("add") || !action["add"].contains("deletionVector")) continue;
        const auto set = DecodeDescriptor(kRoot / "delta" / name, action["add"]["deletionVector"]);
        if (set.has_value()) continue;
        EXPECT_EQ(set.error().kind(), ErrorKind::kCorrupt);
        EXPECT_NE(set.error().message().find(message), std::string::npos) << set.error().ToString();
        ++refused;
      }
    }
    EXPECT_GE(refused, 1);
  }
}

TEST(DvFixturesTest, EveryIcebergVectorEqualsThePositionsThatThePeerLeavesOut) {
  int decoded = 0;
  int same_bytes = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "iceberg")) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".expected") || name.starts_with("invalid_") || !fs::exists(entry.path() / "plan.jsonl"))
      continue;
    std::map<std::string, Json> deleted;
    for (Json& file : ReadLines(entry.path() / "deleted-positions.jsonl")) deleted[file.at("path")] = file;
    for (const Json& task : ReadLines(entry.path() / "plan.jsonl")) {
      for (const Json& dv : task.at("deletes")) {
        if (dv.at("format") != "PUFFIN") continue;
        SCOPED_TRACE(name + " " + dv.dump());
        const std::string file = ReadText(Located(dv.at("path").get<std::string>(), "iceberg"));
        const ByteView blob =
            AsBytes(file).subspan(dv.at("content_offset").get<size_t>(), dv.at("content_size").get<size_t>());
        const auto set = DecodeIcebergBlob(blob, dv.at("records").get<uint64_t>());
        ASSERT_TRUE(set.has_value()) << set.error().ToString();
        EXPECT_TRUE(CheckWithinFile(*set, task.at("data_file").at("records").get<uint64_t>()).has_value());
        const Bytes again = EncodeIcebergBlob(*set).value();
        EXPECT_EQ(DecodeIcebergBlob(again, set->cardinality()).value(), *set);
        EXPECT_LE(again.size(), blob.size()) << "no larger than Java's";
        same_bytes += std::ranges::equal(again, blob);
        ++decoded;
        // Equality deletes remove further rows.
        const auto expected = deleted.find(task.at("data_file").at("path").get<std::string>());
        if (task.at("deletes").size() != 1 || expected == deleted.end()) continue;
        EXPECT_EQ(set->ToVector(), expected->second.at("deleted").get<std::vector<uint64_t>>());
      }
    }
  }
  EXPECT_GT(decoded, 100);
  std::printf("%d of %d vectors encode to Java's very bytes\n", same_bytes, decoded);
  EXPECT_EQ(same_bytes, decoded) << "the encoding is canonical: Java run-optimises alike";
}

TEST(DvFixturesTest, EveryBlobOfEveryPuffinFileDecodesUnlessItIsDamaged) {
  int decoded = 0;
  std::map<std::string, int> refused;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "iceberg")) {
    if (entry.path().extension() != ".puffin") continue;
    SCOPED_TRACE(entry.path());
    const std::string file = ReadText(entry.path());
    const auto footer = puffin::ParseFooter(AsBytes(file), file.size());
    ASSERT_TRUE(footer.has_value()) << footer.error().ToString();
    for (const puffin::BlobMetadata& blob : footer->blobs) {
      const auto cardinality = std::stoull(blob.properties.find(puffin::kCardinality)->second);
      const auto set = DecodeIcebergBlob(AsBytes(file).subspan(blob.offset, blob.length), cardinality);
      if (set.has_value()) {
        ++decoded;
        continue;
      }
      EXPECT_EQ(set.error().kind(), ErrorKind::kCorrupt);
      EXPECT_NE(set.error().message().find("CRC mismatch"), std::string::npos) << set.error().ToString();
      ++refused[entry.path().parent_path().parent_path().filename()];
    }
  }
  EXPECT_GT(decoded, 150);
  EXPECT_EQ(refused, (std::map<std::string, int>{{"invalid_dv_bitmap", 1}, {"invalid_dv_crc", 1}}));
}

}  // namespace
}  // namespace delenda::dv
