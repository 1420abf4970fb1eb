// What the tests of the Avro reader share: the canonical text of rows (see tests/fixtures/make/make_avro_expected.py)
// and files spelled by hand.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/formats/avro/reader.h"

namespace delenda::avro {

inline std::string DataPath(const std::string& name) {
  return std::string(DELENDA_FIXTURES) + "/../unit/formats_avro/" + name;
}

inline std::string ReadTextFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline Bytes ToBytes(std::string_view text) {
  const ByteView view = AsBytes(text);
  return {view.begin(), view.end()};
}

inline Bytes ReadBytes(const std::filesystem::path& path) { return ToBytes(ReadTextFile(path)); }

inline std::string RowText(const Column& column, size_t row) {
  if (column.IsNull(row)) return "~";
  const Kind kind = column.type() == nullptr ? Kind::kString : column.type()->kind;
  std::string text;
  switch (column.storage()) {
    case Storage::kAbsent:
    case Storage::kNull: return "~";
    case Storage::kInt: return fmt::format("{}", column.Int(row));
    case Storage::kReal: return fmt::format("f{:016x}", std::bit_cast<uint64_t>(column.Real(row)));
    case Storage::kText:
      if (kind == Kind::kString || kind == Kind::kEnum) return fmt::format("\"{}\"", column.Text(row));
      text = "x";
      for (const char byte : column.Text(row)) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
      return text;
    case Storage::kRecord:
      for (const Column* child : column.children()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", child->name(), RowText(*child, row));
      }
      return "{" + text + "}";
    case Storage::kList: break;
  }
  const bool is_map = kind == Kind::kMap;
  for (size_t i = column.Begin(row); i < column.End(row); ++i) {
    if (i > column.Begin(row)) text += ",";
    if (is_map) text += fmt::format("{}=", column.children()[0]->Text(i));
    text += RowText(*column.children().back(), i);
  }
  return is_map ? "{" + text + "}" : "[" + text + "]";
}

inline std::string RowText(const Columns& columns, size_t row) {
  std::string text;
  for (const Column* column : columns.fields()) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", column->name(), RowText(*column, row));
  }
  return "{" + text + "}";
}

inline std::string AllText(const Columns& columns) {
  std::string text;
  for (size_t row = 0; row < columns.rows(); ++row) text += RowText(columns, row) + "\n";
  return text;
}

// Avro's encodings, for files that no writer makes.
inline std::string Number(int64_t value) {
  ByteWriter out;
  out.WriteZigZag(value);
  return std::string(AsText(out.view()));
}

inline std::string String(std::string_view text) { return Number(std::ssize(text)) + std::string(text); }

inline const std::string kSync = "0123456789abcdef";

inline std::string Header(std::string_view schema, std::string_view codec = "null") {
  return std::string("Obj\x01", 4) + Number(2) + String("avro.schema") + String(schema) + String("avro.codec") +
         String(codec) + Number(0) + kSync;
}

inline std::string Block(int64_t rows, std::string_view data, std::string_view sync = kSync) {
  return Number(rows) + Number(std::ssize(data)) + std::string(data) + std::string(sync);
}

// A record of one field "f".
inline std::string OneField(std::string_view type) {
  return fmt::format(R"({{"type":"record","name":"r","fields":[{{"name":"f","type":{},"field-id":1}}]}})", type);
}

}  // namespace delenda::avro
