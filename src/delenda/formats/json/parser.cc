#include <algorithm>
#include <exception>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "delenda/formats/json/json.h"
#include "delenda/formats/json/tape.h"

namespace delenda::json {
namespace {

using detail::Node;
using detail::Tape;

// Receives the parser's events and lays the values out. The parser keeps its own stack: neither it nor this recurses.
class TapeBuilder {
 public:
  TapeBuilder(Tape& tape, size_t max_depth) : tape_(tape), max_depth_(max_depth) {}

  const std::optional<std::string>& failure() const { return failure_; }

  bool null() { return Add(Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    Node* node = Add(Kind::kBool);
    if (node != nullptr) node->payload.boolean = value;
    return node != nullptr;
  }
  bool number_integer(int64_t value) {
    Node* node = Add(Kind::kInteger);
    if (node != nullptr) node->payload.integer = value;
    return node != nullptr;
  }
  bool number_unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return number_integer(static_cast<int64_t>(value));
    }
    Node* node = Add(Kind::kInteger);
    if (node == nullptr) return false;
    node->payload.natural = value;
    node->beyond_signed = true;
    return true;
  }
  // The text is kept: a double has fewer digits than a decimal may have.
  bool number_float(double /*value*/, const std::string& text) {
    if (!AddText(Kind::kFloat, text)) return false;
    // The library reads numbers with the point of the process's locale.
    const Node& node = tape_.nodes.back();
    for (size_t i = 0; i < node.payload.text.length; ++i) {
      char& c = tape_.text[node.payload.text.offset + i];
      if ((c < '0' || c > '9') && c != '-' && c != '+' && c != 'e' && c != 'E') c = '.';
    }
    return true;
  }
  bool string(const std::string& value) { return AddText(Kind::kString, value); }
  bool binary(const nlohmann::json::binary_t& /*value*/) { return false; }  // JSON text has none

  bool start_object(size_t /*unknown*/) { return Open(Kind::kObject); }
  bool end_object() {
    const uint32_t object = Close();
    tape_.nodes[object].payload.children = Shadow(object);
    return true;
  }
  bool start_array(size_t /*unknown*/) { return Open(Kind::kArray); }
  bool end_array() {
    const uint32_t array = Close();
    uint32_t children = 0;
    for (uint32_t at = array + 1; at < tape_.nodes[array].end; at = tape_.nodes[at].end) ++children;
    tape_.nodes[array].payload.children = children;
    return true;
  }
  bool key(const std::string& value) {
    key_offset_ = static_cast<uint32_t>(tape_.text.size());
    key_length_ = static_cast<uint32_t>(value.size());
    tape_.text += value;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*last_token*/, const nlohmann::json::exception& error) {
    failure_ = fmt::format("invalid JSON at byte {}: {}", position == 0 ? 0 : position - 1, Reason(error.what()));
    return false;
  }

 private:
  // The library's reason without its prefix and without the token that it read last, which may be as long as the file.
  static std::string Reason(std::string_view what) {
    if (const size_t syntax = what.find("syntax error"); syntax != std::string_view::npos) what.remove_prefix(syntax);
    what = what.substr(0, what.find("; last read"));
    if (what.starts_with('[')) what.remove_prefix(std::min(what.find("] ") + 2, what.size()));
    constexpr size_t kLongest = 200;
    return std::string(what.substr(0, kLongest));
  }

  Node* Add(Kind kind) {
    if (tape_.nodes.size() >= std::numeric_limits<uint32_t>::max()) {
      failure_ = "JSON has too many values";
      return nullptr;
    }
    Node& node = tape_.nodes.emplace_back();
    node.parent = open_.empty() ? 0 : open_.back();
    node.end = static_cast<uint32_t>(tape_.nodes.size());
    node.key_offset = key_offset_;
    node.key_length = key_length_;
    node.kind = kind;
    key_length_ = 0;
    return &node;
  }

  bool AddText(Kind kind, const std::string& value) {
    Node* node = Add(kind);
    if (node == nullptr) return false;
    node->payload.text = {static_cast<uint32_t>(tape_.text.size()), static_cast<uint32_t>(value.size())};
    tape_.text += value;
    return true;
  }

  bool Open(Kind kind) {
    if (open_.size() >= max_depth_) {
      failure_ = fmt::format("JSON is nested deeper than {} levels", max_depth_);
      return false;
    }
    if (Add(kind) == nullptr) return false;
    open_.push_back(static_cast<uint32_t>(tape_.nodes.size() - 1));
    return true;
  }

  uint32_t Close() {
    const uint32_t index = open_.back();
    open_.pop_back();
    tape_.nodes[index].end = static_cast<uint32_t>(tape_.nodes.size());
    return index;
  }

  // Mark members that a later one of the same name replaces; returns how many are left.
  uint32_t Shadow(uint32_t object) {
    members_.clear();
    for (uint32_t at = object + 1; at < tape_.nodes[object].end; at = tape_.nodes[at].end) members_.push_back(at);
    auto left = static_cast<uint32_t>(members_.size());
    const auto key = [&](uint32_t index) { return tape_.Key(tape_.nodes[index]); };
    const auto shadow = [&](uint32_t index) {
      tape_.nodes[index].shadowed = true;
      --left;
    };
    constexpr size_t kSmall = 24;  // comparing each with each, mostly by length only, is quicker than sorting
    if (members_.size() <= kSmall) {
      for (size_t i = 0; i < members_.size(); ++i) {
        const auto later = members_.begin() + static_cast<std::ptrdiff_t>(i) + 1;
        if (std::any_of(later, members_.end(), [&](uint32_t m) { return key(m) == key(members_[i]); })) {
          shadow(members_[i]);
        }
      }
      return left;
    }
    std::ranges::sort(members_, {}, [&](uint32_t index) { return std::pair(key(index), index); });
    for (size_t i = 1; i < members_.size(); ++i) {
      if (key(members_[i - 1]) == key(members_[i])) shadow(members_[i - 1]);
    }
    return left;
  }

  Tape& tape_;
  size_t max_depth_;
  std::vector<uint32_t> open_;
  std::vector<uint32_t> members_;
  uint32_t key_offset_ = 0;
  uint32_t key_length_ = 0;
  std::optional<std::string> failure_;
};

}  // namespace

Result<Document> Document::Parse(std::string_view text, const ParseLimits& limits) {
  const uint64_t longest = std::min<uint64_t>(limits.max_bytes, std::numeric_limits<uint32_t>::max());
  if (text.size() > longest) return Corrupt("JSON of {} bytes is longer than the limit of {}", text.size(), longest);
  // The library takes a NUL byte for the end of the text, and what follows would be overlooked.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return Corrupt("invalid JSON at byte {}: a NUL byte", nul);
  }
  try {
    auto tape = std::make_unique<Tape>();
    TapeBuilder builder(*tape, limits.max_depth);
    const bool parsed = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &builder);
    if (!parsed || tape->nodes.empty()) return Corrupt("{}", builder.failure().value_or("invalid JSON"));
    return Document(std::move(tape));
  } catch (const std::exception& error) {
    return InternalError("cannot parse JSON: {}", error.what());
  }
}

}  // namespace delenda::json
