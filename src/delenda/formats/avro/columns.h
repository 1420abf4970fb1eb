// What is decoded from an Avro file: typed columns, no records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/bytes.h"
#include "delenda/base/result.h"
#include "delenda/formats/avro/projection.h"
#include "delenda/formats/avro/schema.h"

namespace delenda::avro {

// How a column holds its values, which decides the accessor.
enum class Storage : uint8_t {
  kAbsent,  // the writer's schema has no such field: every row is null
  kNull,    // Avro type null: every row is null
  kInt,     // boolean (0, 1), int, long and all logical types on them: Int
  kReal,    // float, double: Real
  kText,    // string (checked UTF-8), bytes, fixed, enum (its symbol): Text
  kRecord,  // IsNull, Child; the rows of the children are the rows of the record
  kList,    // array or map: Begin, End, Child; the children have rows of their own
};

// "int", "text", ...: for messages.
std::string_view StorageName(Storage storage);

namespace detail {

// A growing array that does not initialise what it has not been given, and keeps its memory when it is cleared.
template <typename T>
class Cells {
 public:
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  // Room for `count` cells at least; the first `used` ones keep their values.
  void Reserve(size_t count, size_t used) {
    if (count <= capacity_) return;
    size_t capacity = count + count / 2 + 16;
    auto grown = std::make_unique_for_overwrite<T[]>(capacity);
    if (used > 0) std::memcpy(static_cast<void*>(grown.get()), data_.get(), used * sizeof(T));
    data_ = std::move(grown);
    capacity_ = capacity;
  }

 private:
  std::unique_ptr<T[]> data_;
  size_t capacity_ = 0;
};

}  // namespace detail

// One column. Rows count from 0 within the batch. The accessor must be the one of the storage: look columns up with
// Columns::Required or Columns::Optional, which check it once.
class Column {
 public:
  const std::string& name() const { return name_; }
  int32_t id() const { return id_; }
  Storage storage() const { return storage_; }
  bool absent() const { return storage_ == Storage::kAbsent; }
  // The writer's type without its null branch; nullptr for an absent column and for a map's key (a string).
  const Type* type() const { return type_; }
  size_t size() const { return size_; }

  // True also for every row of an absent column, and for what lies inside a record that is null.
  bool IsNull(size_t row) const { return maybe_null_ && (row >= size_ || valid_.data()[row] == 0); }
  // Null rows: 0, 0.0, "".
  int64_t Int(size_t row) const { return ints_.data()[row]; }
  double Real(size_t row) const { return reals_.data()[row]; }
  // Points into the batch's buffers: valid until the batch is decoded into again or dropped (see Columns::buffers).
  std::string_view Text(size_t row) const { return texts_.data()[row]; }
  // Rows of the children that belong to this row: [Begin, End). Null and absent lists are empty.
  uint32_t Begin(size_t row) const { return row < size_ ? offsets_.data()[row] : 0; }
  uint32_t End(size_t row) const { return row < size_ ? offsets_.data()[row + 1] : 0; }

  std::span<const int64_t> ints() const { return {ints_.data(), storage_ == Storage::kInt ? size_ : 0}; }
  std::span<const std::string_view> texts() const { return {texts_.data(), storage_ == Storage::kText ? size_ : 0}; }

  // Record: its fields. Array: one column, the element. Map: key, value.
  std::span<const Column* const> children() const { return children_; }
  // The wanted field with this id below a record or a list (through the element record of a list); nullptr: not wanted.
  const Column* Child(int32_t id) const;
  const Column* ChildNamed(std::string_view name) const;

 private:
  friend class Columns;
  friend class ProgramCompiler;
  friend class Decoder;

  std::string name_;
  int32_t id_ = kNoId;
  Storage storage_ = Storage::kAbsent;
  bool maybe_null_ = true;
  const Type* type_ = nullptr;
  std::vector<const Column*> children_;

  void Grow(size_t count);

  size_t size_ = 0;               // rows that there is room for; all of them are filled when decoding has ended
  size_t filled_ = 0;             // the next row to be written
  detail::Cells<uint8_t> valid_;  // only if maybe_null_
  detail::Cells<int64_t> ints_;
  detail::Cells<double> reals_;
  detail::Cells<std::string_view> texts_;
  detail::Cells<uint32_t> offsets_;  // size_ + 1
};

class Program;

// The columns of a projection for one writer's schema, and the rows decoded into them last. Made by Reader::Prepare.
// Addresses of columns stay the same over every decode and move.
class Columns {
 public:
  Columns(Columns&&) noexcept;
  Columns& operator=(Columns&&) noexcept;
  ~Columns();

  size_t rows() const { return rows_; }
  // The columns of the root record's wanted fields, in the order of the projection (Everything: of the writer).
  std::span<const Column* const> fields() const { return fields_; }

  // The wanted column at a path of field ids, to be looked up once: Required({2, 100}, Storage::kText) is
  // data_file.file_path. A list's element record takes no step in the path: {2, 125, 126}; the element of an array of
  // plain values is {2, 132, 133}.
  // Corrupt if the writer's field is of another storage, and (Required) if the writer's schema lacks the field;
  // Internal if the path was not wanted.
  Result<const Column*> Required(std::initializer_list<int32_t> path, Storage storage) const;
  // Same, but a field that the writer's schema lacks gives its absent column, whose rows are all null.
  Result<const Column*> Optional(std::initializer_list<int32_t> path, Storage storage) const;

  // What the texts point into. Whoever keeps texts longer than the batch keeps these.
  std::vector<std::shared_ptr<const void>> buffers() const;

 private:
  friend class Reader;
  friend class ProgramCompiler;
  friend class Decoder;
  Columns();
  void Clear();
  Result<const Column*> Find(std::initializer_list<int32_t> path, Storage storage, bool required) const;

  std::deque<Column> all_;
  std::vector<const Column*> fields_;
  std::unique_ptr<Program> program_;
  std::shared_ptr<const Schema> schema_;
  size_t rows_ = 0;
  std::vector<std::shared_ptr<const void>> buffers_;
  bool recyclable_ = false;  // buffers_ holds inflated blocks, not the file
};

}  // namespace delenda::avro
