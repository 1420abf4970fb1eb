// The parts of an Avro file, for comparing files that differ in markers, header order and compression only.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "delenda/formats/avro/codec.h"

namespace delenda::testing {

struct AvroParts {
  std::map<std::string, std::string> metadata;
  int64_t rows = 0;
  std::string data;  // of all blocks, inflated
};

inline Bytes BytesOfFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.is_open()) << path;
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const ByteView bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

inline Result<AvroParts> TakeApart(ByteView file) {
  AvroParts parts;
  ByteReader in(file);
  if (AsText(DELENDA_TRY(in.Read(4, "magic"))) != std::string_view("Obj\x01", 4)) return Corrupt("no Avro file");
  const auto text = [&]() -> Result<std::string> {
    const int64_t size = DELENDA_TRY(in.ReadZigZag("size"));
    return std::string(AsText(DELENDA_TRY(in.Read(static_cast<uint64_t>(size), "text"))));
  };
  while (const int64_t pairs = DELENDA_TRY(in.ReadZigZag("pairs"))) {
    for (int64_t i = 0; i < pairs; ++i) {
      std::string key = DELENDA_TRY(text());
      parts.metadata[std::move(key)] = DELENDA_TRY(text());
    }
  }
  const auto codec = avro::CodecNamed(parts.metadata["avro.codec"]);
  if (!codec) return Corrupt("codec {}", parts.metadata["avro.codec"]);
  avro::Inflater inflater(*codec, uint64_t{1} << 30, 16);
  DELENDA_TRY(in.Read(16, "marker"));
  while (in.remaining() > 0) {
    parts.rows += DELENDA_TRY(in.ReadZigZag("rows"));
    const int64_t size = DELENDA_TRY(in.ReadZigZag("size"));
    const ByteView block = DELENDA_TRY(in.Read(static_cast<uint64_t>(size), "block"));
    if (*codec == avro::Codec::kNull) {
      parts.data += AsText(block);
    } else {
      auto output = DELENDA_TRY(inflater.Inflate(block));
      parts.data += AsText(output.data);
    }
    DELENDA_TRY(in.Read(16, "marker"));
  }
  return parts;
}

// The newest metadata file of every fixture table that is to be read, and the files that it replaced.
inline std::vector<std::string> FixtureMetadataFiles() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(DELENDA_FIXTURES) + "/iceberg")) {
    const std::string path = entry.path();
    if (path.ends_with(".metadata.json") && path.find("/invalid_") == std::string::npos) paths.push_back(path);
  }
  return paths;
}

}  // namespace delenda::testing
