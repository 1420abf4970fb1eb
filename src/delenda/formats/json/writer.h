// Writing JSON text piece by piece.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/formats/json/json.h"

namespace delenda::json {

// Append `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, since JSON has no way to say
// them.
void AppendQuoted(std::string& out, std::string_view text);
// Append the shortest text that reads back as `value`; always with a point or an exponent. NaN and infinities, which
// JSON lacks, become the strings "NaN", "Infinity" and "-Infinity".
void AppendDouble(std::string& out, double value);

// Usage: Writer w; w.BeginObject(); w.Key("a"); w.Int(1); w.Member("b", "x"); w.EndObject(); std::move(w).Finish();
// The caller keeps the order of calls (a key before each member's value); commas, line breaks and indents come by
// themselves.
class Writer {
 public:
  enum class Style : uint8_t { kCompact, kPretty };
  explicit Writer(Style style = Style::kCompact) : style_(style) {}

  Writer& BeginObject();
  Writer& EndObject();
  Writer& BeginArray();
  Writer& EndArray();
  Writer& Key(std::string_view key);

  Writer& Null();
  Writer& Bool(bool value);
  Writer& Int(int64_t value);
  Writer& Uint(uint64_t value);
  Writer& Double(double value);
  Writer& String(std::string_view value);
  // A finished JSON value, put in as it is.
  Writer& Raw(std::string_view json);
  // A value that was read, with all that is in it.
  Writer& Copy(Value value);

  Writer& Member(std::string_view key, std::string_view value) { return Key(key).String(value); }
  Writer& Member(std::string_view key, const char* value) { return Key(key).String(value); }
  Writer& Member(std::string_view key, std::same_as<bool> auto value) { return Key(key).Bool(value); }
  Writer& Member(std::string_view key, std::signed_integral auto value) { return Key(key).Int(value); }
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Writer& Member(std::string_view key, T value) {
    return Key(key).Uint(value);
  }
  Writer& Member(std::string_view key, double value) { return Key(key).Double(value); }

  // The text so far, for output in pieces.
  std::string_view text() const { return out_; }
  // The text; arrays and objects still open are closed. Pretty text ends with a line break.
  std::string Finish() &&;

 private:
  void BeforeValue();
  Writer& Begin(char open, char close);
  Writer& End();
  void Break();

  struct Level {
    char close;
    bool empty = true;
  };
  Style style_;
  bool after_key_ = false;
  std::vector<Level> levels_;
  std::string out_;
};

}  // namespace delenda::json
