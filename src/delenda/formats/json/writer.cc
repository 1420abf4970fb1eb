#include "delenda/formats/json/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "delenda/base/bytes.h"

namespace delenda::json {

// How many bytes at the start of the text stand in JSON as they are and are ASCII. May stop early, never late.
static size_t PlainPrefix(std::string_view text) {
  constexpr uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  const auto zero_byte = [](uint64_t word) { return (word - kOnes) & ~word & kTops; };
  size_t at = 0;
  for (; text.size() - at >= 8; at += 8) {
    const auto word = LoadUnsigned<std::endian::native, uint64_t>(reinterpret_cast<const std::byte*>(text.data()) + at);
    const uint64_t control = (word - kOnes * 0x20) & ~word & kTops;
    if (((word & kTops) | control | zero_byte(word ^ (kOnes * '"')) | zero_byte(word ^ (kOnes * '\\'))) != 0) return at;
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') return at;
  }
  return at;
}

// `text` must be valid UTF-8.
static void AppendEscaped(std::string& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\b': out += "\\b"; break;
      case '\f': out += "\\f"; break;
      default:
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20) {
          out += "\\u00";
          out += kHex[byte >> 4];
          out += kHex[byte & 0xf];
        } else {
          out += c;
        }
    }
  }
}

void AppendQuoted(std::string& out, std::string_view text) {
  out += '"';
  // Most texts are plain from end to end.
  const size_t plain = PlainPrefix(text);
  out.append(text.substr(0, plain));
  text.remove_prefix(plain);
  if (IsValidUtf8(text)) {
    AppendEscaped(out, text);
  } else {
    while (!text.empty()) {
      size_t length = 1;
      while (length <= std::min<size_t>(4, text.size()) && !IsValidUtf8(text.substr(0, length))) ++length;
      if (length <= std::min<size_t>(4, text.size())) {
        AppendEscaped(out, text.substr(0, length));
      } else {
        length = 1;
        out += "\xEF\xBF\xBD";
      }
      text.remove_prefix(length);
    }
  }
  out += '"';
}

void AppendDouble(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    const std::string text = fmt::format("{}", value);
    out += text;
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
  }
}

void Writer::Break() {
  if (style_ != Style::kPretty) return;
  out_ += '\n';
  out_.append(2 * levels_.size(), ' ');
}

void Writer::BeforeValue() {
  if (std::exchange(after_key_, false) || levels_.empty()) return;
  if (!std::exchange(levels_.back().empty, false)) out_ += ',';
  Break();
}

Writer& Writer::Begin(char open, char close) {
  BeforeValue();
  out_ += open;
  levels_.push_back({close});
  return *this;
}

Writer& Writer::End() {
  if (levels_.empty()) return *this;
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty) Break();
  out_ += level.close;
  return *this;
}

Writer& Writer::BeginObject() { return Begin('{', '}'); }
Writer& Writer::EndObject() { return End(); }
Writer& Writer::BeginArray() { return Begin('[', ']'); }
Writer& Writer::EndArray() { return End(); }

Writer& Writer::Key(std::string_view key) {
  BeforeValue();
  AppendQuoted(out_, key);
  out_ += style_ == Style::kPretty ? ": " : ":";
  after_key_ = true;
  return *this;
}

Writer& Writer::Raw(std::string_view json) {
  BeforeValue();
  out_ += json;
  return *this;
}

Writer& Writer::Null() { return Raw("null"); }
Writer& Writer::Bool(bool value) { return Raw(value ? "true" : "false"); }
Writer& Writer::Int(int64_t value) {
  const fmt::format_int text(value);
  return Raw({text.data(), text.size()});
}
Writer& Writer::Uint(uint64_t value) {
  const fmt::format_int text(value);
  return Raw({text.data(), text.size()});
}

Writer& Writer::Double(double value) {
  BeforeValue();
  AppendDouble(out_, value);
  return *this;
}

Writer& Writer::String(std::string_view value) {
  BeforeValue();
  AppendQuoted(out_, value);
  return *this;
}

Writer& Writer::Copy(Value value) {
  // Not recursive: documents may have been read with a generous depth limit.
  struct Open {
    ChildIterator at;
    ChildIterator end;
    bool keyed;
  };
  std::vector<Open> open;
  const auto put = [&](Value v) {
    switch (v.kind()) {
      case Kind::kNull: Null(); break;
      case Kind::kBool: Bool(*v.As<bool>()); break;
      case Kind::kInteger:
        if (const Result<int64_t> integer = v.As<int64_t>()) {
          Int(*integer);
        } else {
          Uint(*v.As<uint64_t>());
        }
        break;
      case Kind::kFloat: Double(*v.As<double>()); break;
      case Kind::kString: String(*v.As<std::string_view>()); break;
      case Kind::kArray: {
        const Array array = *v.As<Array>();
        BeginArray();
        open.push_back({array.begin(), array.end(), false});
        break;
      }
      case Kind::kObject: {
        const Object object = *v.As<Object>();
        BeginObject();
        open.push_back({object.begin(), object.end(), true});
        break;
      }
    }
  };
  put(value);
  while (!open.empty()) {
    Open& top = open.back();
    if (top.at == top.end) {
      End();
      open.pop_back();
      continue;
    }
    const Value child = *top.at;
    ++top.at;
    if (top.keyed) Key(child.key());
    put(child);  // may grow `open`: `top` is not used any more
  }
  return *this;
}

std::string Writer::Finish() && {
  while (!levels_.empty()) End();
  if (style_ == Style::kPretty) out_ += '\n';
  return std::move(out_);
}

}  // namespace delenda::json
