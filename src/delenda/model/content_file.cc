#include "delenda/model/content_file.h"

#include <algorithm>

namespace delenda {

namespace {

bool EqualsUpper(std::string_view name, std::string_view upper) {
  return std::equal(name.begin(), name.end(), upper.begin(), upper.end(),
                    [](char a, char b) { return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b; });
}

}  // namespace

std::string_view FileContentName(FileContent content) {
  switch (content) {
    case FileContent::kData: return "data";
    case FileContent::kPositionDeletes: return "position deletes";
    case FileContent::kEqualityDeletes: return "equality deletes";
  }
  return "unknown content";
}

std::string_view FileFormatName(FileFormat format) {
  switch (format) {
    case FileFormat::kParquet: return "parquet";
    case FileFormat::kAvro: return "avro";
    case FileFormat::kOrc: return "orc";
    case FileFormat::kPuffin: return "puffin";
    case FileFormat::kOther: return "other";
  }
  return "other";
}

FileFormat FileFormatFromName(std::string_view name) {
  if (name == "PARQUET" || EqualsUpper(name, "PARQUET")) return FileFormat::kParquet;
  if (EqualsUpper(name, "AVRO")) return FileFormat::kAvro;
  if (EqualsUpper(name, "ORC")) return FileFormat::kOrc;
  if (EqualsUpper(name, "PUFFIN")) return FileFormat::kPuffin;
  return FileFormat::kOther;
}

}  // namespace delenda
