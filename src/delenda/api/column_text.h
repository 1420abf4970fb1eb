// A column of a batch as text, value by value.
#pragma once

#include <arrow/type_fwd.h>

#include <compare>
#include <cstdint>
#include <memory>
#include <string>

#include "delenda/base/result.h"

namespace delenda::api {

// Bound to one array, which must outlive it.
class ColumnText {
 public:
  virtual ~ColumnText() = default;

  // `field` says what the array's type does not: that 16 bytes are a UUID (extension name "arrow.uuid").
  // NotSupported for an Arrow type that no table type gives.
  static Result<std::unique_ptr<ColumnText>> Make(const arrow::Field& field, const arrow::Array& array);

  // The value as JSON. `row` is below the array's length.
  void AppendJson(std::string& out, int64_t row) const;
  // The value as a cell of a table: text without quotes, NULL for null, nested values as JSON.
  void AppendCell(std::string& out, int64_t row) const;

  // Order of two values of this column, nulls first: numbers by value, text by its bytes.
  virtual std::weak_ordering Compare(int64_t a, int64_t b) const;
  bool IsNull(int64_t row) const;

 protected:
  explicit ColumnText(const arrow::Array& array) : array_(array) {}
  // The value is not null.
  virtual void AppendValue(std::string& out, int64_t row) const = 0;
  // JSON puts quotes around AppendValue's text, which needs no escapes.
  virtual bool IsQuoted() const { return false; }
  virtual void AppendPlain(std::string& out, int64_t row) const { AppendValue(out, row); }

  const arrow::Array& array_;
};

// Numbers are aligned to the right.
bool IsNumber(const arrow::DataType& type);

}  // namespace delenda::api
