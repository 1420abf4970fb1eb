// Strict reading of JSON (RFC 8259) for table metadata: a compact immutable document and cursors whose errors name the
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"

namespace delenda::json {

enum class Kind : uint8_t { kNull, kBool, kInteger, kFloat, kString, kArray, kObject };

// "a number", "a string", ...: for messages.
std::string_view KindName(Kind kind);

struct ParseLimits {
  size_t max_depth = 100;                  // nested arrays and objects
  uint64_t max_bytes = uint64_t{1} << 30;  // length of the text; less than 4 GiB
};

class Array;
class Object;
namespace detail {
struct Tape;
}

// A cursor to one value of a Document, which must outlive it (and the string_views that it hands out). Cheap to copy.
//
// Typed reading: T is one of bool, int32_t, int64_t, uint64_t, double, std::string_view, std::string, Array, Object,
// Value. What does not fit is Corrupt and carries the JSON path: "$.snapshots[3].snapshot-id: expected an integer,
// found a string". Integers out of T's range and numbers with a fraction or exponent where an integer is wanted are
// errors; an integer is accepted as double.
class Value {
 public:
  Kind kind() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  template <typename T>
  Result<T> As() const;

  // Member `key` of an object. Get: it must be there and not null. Optional: absent and null are nullopt.
  template <typename T>
  Result<T> Get(std::string_view key) const {
    Value member = DELENDA_TRY(Member(key));
    return member.As<T>();
  }
  template <typename T>
  Result<std::optional<T>> Optional(std::string_view key) const {
    std::optional<Value> member = DELENDA_TRY(Find(key));
    if (!member || member->is_null()) return std::optional<T>();
    return std::optional<T>(DELENDA_TRY(member->template As<T>()));
  }
  // A number as the text has it, every digit of it: "12.50", "1e3". Corrupt when this is no number.
  Result<std::string> NumberText() const;
  // The member, null or not; nullopt when absent. Corrupt when this is no object.
  Result<std::optional<Value>> Find(std::string_view key) const;
  // The member; Corrupt when absent.
  Result<Value> Member(std::string_view key) const;

  // Name of this member within its object; empty for elements of arrays and for the root.
  std::string_view key() const;
  // "$.snapshots[3].snapshot-id"
  std::string Path() const;
  // A Corrupt error at this place, for values that are JSON but make no sense: "PATH: MESSAGE".
  std::unexpected<Error> Fail(std::string_view message) const;

 private:
  friend class Document;
  friend class Array;
  friend class Object;
  friend class ChildIterator;
  Value(const detail::Tape* tape, uint32_t index) : tape_(tape), index_(index) {}
  std::unexpected<Error> Mismatch(std::string_view expected) const;

  const detail::Tape* tape_;
  uint32_t index_;
};

class ChildIterator {
 public:
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  Value operator*() const { return Value(tape_, index_); }
  ChildIterator& operator++();
  ChildIterator operator++(int) {
    ChildIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const ChildIterator&, const ChildIterator&) = default;

 private:
  friend class Array;
  friend class Object;
  ChildIterator(const detail::Tape* tape, uint32_t index) : tape_(tape), index_(index) {}
  const detail::Tape* tape_;
  uint32_t index_;
};

// The elements of an array, in order: for (json::Value element : DELENDA_TRY(value.Get<json::Array>("list"))) …
// (Not `: *value.Get<json::Array>("list")`: the Result would be gone before the first step.)
class Array {
 public:
  size_t size() const;
  bool empty() const { return size() == 0; }
  ChildIterator begin() const;
  ChildIterator end() const;
  Value value() const { return value_; }

 private:
  friend class Value;
  explicit Array(Value value) : value_(value) {}
  Value value_;
};

// The members of an object, in the order of the text; each knows its key(). Of members with one name only the last is
// seen, as in most readers: files with doubled keys exist and are not refused.
class Object {
 public:
  size_t size() const;
  bool empty() const { return size() == 0; }
  ChildIterator begin() const;
  ChildIterator end() const;
  Value value() const { return value_; }

 private:
  friend class Value;
  explicit Object(Value value) : value_(value) {}
  Value value_;
};

// A parsed text. Owns all strings; the text itself is not needed any more. Movable; cursors stay valid when it moves.
class Document {
 public:
  // Corrupt, with the byte offset, for anything that is not one JSON value in valid UTF-8: trailing bytes, comments,
  // NaN, raw control characters, numbers beyond double, deeper than the limit, longer than the limit.
  static Result<Document> Parse(std::string_view text, const ParseLimits& limits = {});
  static Result<Document> Parse(ByteView text, const ParseLimits& limits = {}) { return Parse(AsText(text), limits); }

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  Value root() const { return Value(tape_.get(), 0); }

 private:
  explicit Document(std::unique_ptr<const detail::Tape> tape);
  std::unique_ptr<const detail::Tape> tape_;
};

template <>
Result<bool> Value::As<bool>() const;
template <>
Result<int32_t> Value::As<int32_t>() const;
template <>
Result<int64_t> Value::As<int64_t>() const;
template <>
Result<uint64_t> Value::As<uint64_t>() const;
template <>
Result<double> Value::As<double>() const;
template <>
Result<std::string_view> Value::As<std::string_view>() const;
template <>
Result<std::string> Value::As<std::string>() const;
template <>
Result<Array> Value::As<Array>() const;
template <>
Result<Object> Value::As<Object>() const;
template <>
Result<Value> Value::As<Value>() const;

}  // namespace delenda::json
