#include "delenda/formats/json/json.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "delenda/formats/json/tape.h"
#include "delenda/formats/json/writer.h"

namespace delenda::json {

using detail::Node;
using detail::Tape;

std::string_view KindName(Kind kind) {
  switch (kind) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "a boolean";
    case Kind::kInteger: return "an integer";
    case Kind::kFloat: return "a number";
    case Kind::kString: return "a string";
    case Kind::kArray: return "an array";
    case Kind::kObject: return "an object";
  }
  return "?";
}

// Append ".name", or ["na.me"] when dots or other marks in the name would blur the path.
static void AppendStep(std::string& path, std::string_view key) {
  constexpr size_t kLongest = 100;
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  if (!key.empty() && key.size() <= kLongest && std::ranges::all_of(key, plain)) {
    path.append(".").append(key);
    return;
  }
  path += '[';
  AppendQuoted(path, key.substr(0, kLongest));
  path += ']';
}

Kind Value::kind() const { return tape_->nodes[index_].kind; }

std::string_view Value::key() const { return tape_->Key(tape_->nodes[index_]); }

std::string Value::Path() const {
  const std::vector<Node>& nodes = tape_->nodes;
  std::vector<uint32_t> steps;
  for (uint32_t at = index_; at != 0; at = nodes[at].parent) steps.push_back(at);
  std::string path = "$";
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const uint32_t parent = nodes[*step].parent;
    if (nodes[parent].kind == Kind::kObject) {
      AppendStep(path, tape_->Key(nodes[*step]));
      continue;
    }
    size_t position = 0;
    for (uint32_t at = parent + 1; at != *step; at = nodes[at].end) ++position;
    path += fmt::format("[{}]", position);
  }
  return path;
}

std::unexpected<Error> Value::Fail(std::string_view message) const { return Corrupt("{}: {}", Path(), message); }

std::unexpected<Error> Value::Mismatch(std::string_view expected) const {
  const Node& node = tape_->nodes[index_];
  if (node.kind == Kind::kFloat) {
    return Corrupt("{}: expected {}, found the number {}", Path(), expected, tape_->Text(node));
  }
  return Corrupt("{}: expected {}, found {}", Path(), expected, KindName(node.kind));
}

Result<std::optional<Value>> Value::Find(std::string_view key) const {
  const Node& node = tape_->nodes[index_];
  if (node.kind != Kind::kObject) return Mismatch("an object");
  for (uint32_t at = index_ + 1; at < node.end; at = tape_->nodes[at].end) {
    const Node& member = tape_->nodes[at];
    if (!member.shadowed && tape_->Key(member) == key) return std::optional<Value>(Value(tape_, at));
  }
  return std::optional<Value>();
}

Result<Value> Value::Member(std::string_view key) const {
  const std::optional<Value> member = DELENDA_TRY(Find(key));
  if (member) return *member;
  std::string path = Path();
  AppendStep(path, key);
  return Corrupt("{}: required, but missing", path);
}

template <>
Result<bool> Value::As<bool>() const {
  if (kind() != Kind::kBool) return Mismatch("a boolean");
  return tape_->nodes[index_].payload.boolean;
}

template <>
Result<int64_t> Value::As<int64_t>() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind != Kind::kInteger) return Mismatch("an integer");
  if (node.beyond_signed) return Corrupt("{}: {} does not fit into 64 bits with a sign", Path(), node.payload.natural);
  return node.payload.integer;
}

template <>
Result<int32_t> Value::As<int32_t>() const {
  const int64_t wide = DELENDA_TRY(As<int64_t>());
  if (!std::in_range<int32_t>(wide)) return Corrupt("{}: {} does not fit into 32 bits with a sign", Path(), wide);
  return static_cast<int32_t>(wide);
}

template <>
Result<uint64_t> Value::As<uint64_t>() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind != Kind::kInteger) return Mismatch("an integer");
  if (node.beyond_signed) return node.payload.natural;
  if (node.payload.integer < 0) return Corrupt("{}: {} is negative", Path(), node.payload.integer);
  return static_cast<uint64_t>(node.payload.integer);
}

template <>
Result<double> Value::As<double>() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind == Kind::kFloat) {
    const std::string_view text = tape_->Text(node);
    double value = text.starts_with('-') ? -0.0 : 0.0;
    // Numbers too large were refused when the text was parsed; one too small leaves the zero.
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  if (node.kind != Kind::kInteger) return Mismatch("a number");
  return node.beyond_signed ? static_cast<double>(node.payload.natural) : static_cast<double>(node.payload.integer);
}

Result<std::string> Value::NumberText() const {
  const Node& node = tape_->nodes[index_];
  if (node.kind == Kind::kFloat) return std::string(tape_->Text(node));
  if (node.kind != Kind::kInteger) return Mismatch("a number");
  return node.beyond_signed ? fmt::format("{}", node.payload.natural) : fmt::format("{}", node.payload.integer);
}

template <>
Result<std::string_view> Value::As<std::string_view>() const {
  if (kind() != Kind::kString) return Mismatch("a string");
  return tape_->Text(tape_->nodes[index_]);
}

template <>
Result<std::string> Value::As<std::string>() const {
  return std::string(DELENDA_TRY(As<std::string_view>()));
}

template <>
Result<Array> Value::As<Array>() const {
  if (kind() != Kind::kArray) return Mismatch("an array");
  return Array(*this);
}

template <>
Result<Object> Value::As<Object>() const {
  if (kind() != Kind::kObject) return Mismatch("an object");
  return Object(*this);
}

template <>
Result<Value> Value::As<Value>() const {
  if (is_null()) return Mismatch("a value");
  return *this;
}

ChildIterator& ChildIterator::operator++() {
  const Node& node = tape_->nodes[index_];
  index_ = tape_->Visible(node.end, tape_->nodes[node.parent].end);
  return *this;
}

size_t Array::size() const { return value_.tape_->nodes[value_.index_].payload.children; }
ChildIterator Array::begin() const { return {value_.tape_, value_.index_ + 1}; }
ChildIterator Array::end() const { return {value_.tape_, value_.tape_->nodes[value_.index_].end}; }

size_t Object::size() const { return value_.tape_->nodes[value_.index_].payload.children; }
ChildIterator Object::begin() const {
  const uint32_t end = value_.tape_->nodes[value_.index_].end;
  return {value_.tape_, value_.tape_->Visible(value_.index_ + 1, end)};
}
ChildIterator Object::end() const { return {value_.tape_, value_.tape_->nodes[value_.index_].end}; }

Document::Document(std::unique_ptr<const Tape> tape) : tape_(std::move(tape)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

}  // namespace delenda::json
