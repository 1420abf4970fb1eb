#include "delenda/formats/json/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "delenda/base/bytes.h"

namespace delenda::json {

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
Writer& Writer::Int(int64_t value) { return Raw(fmt::format_int(value).c_str()); }
Writer& Writer::Uint(uint64_t value) { return Raw(fmt::format_int(value).c_str()); }

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
