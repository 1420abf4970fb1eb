// What to do with the bytes of one row: a flat list of steps, compiled once from a writer's schema and a projection.
#pragma once

#include <cstdint>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/avro/columns.h"
#include "delenda/formats/avro/projection.h"
#include "delenda/formats/avro/schema.h"

namespace delenda::avro {

enum class Step : uint8_t {
  // Into a column. With a null branch the union's branch number comes first.
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kNull,
  kRecord,  // only the null branch and the validity: the fields' steps follow
  kList,    // the element's steps follow, up to `end`
  // Past bytes that nobody wants.
  kSkipBytes,     // `size` bytes
  kSkipVarints,   // `size` variable-length numbers
  kSkipText,      // a length and as many bytes
  kSkipNullable,  // a branch number; null: on at `end`
  kSkipUnion,     // a branch number; on at the step that `targets` holds for it
  kSkipList,      // the element's steps follow, up to `end`
  kSkipCall,      // the steps [begin, end) of a record that occurs more than once
  kJump,          // on at `end`
};

inline constexpr uint8_t kNoNullBranch = 2;

// Lists whose elements are two plain values, as all maps of a manifest are: decoded in a loop of their own.
enum class Shape : uint8_t { kAny, kIntAndNumber, kIntAndBytes, kSkipNumberAndText };

struct Op {
  Step step = Step::kNull;
  uint8_t null_branch = kNoNullBranch;  // 0 or 1
  Shape shape = Shape::kAny;            // of a list's elements
  Column* column = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
  // kFixed, kSkipBytes, kSkipVarints: the count. Lists: what an element takes at least, in bytes.
  uint64_t size = 0;
  // kRecord with a null branch: the columns below it. kList: the columns that an element adds a row to.
  std::vector<Column*> group;
  std::vector<int32_t> only_keys;  // kList of a shape with int keys: the pairs to keep; empty: all
  std::vector<uint32_t> targets;   // kSkipUnion
  const Type* type = nullptr;      // kEnum
};

class Program {
 public:
  std::vector<Op> ops;
  uint32_t row_end = 0;        // the steps of a row are [0, row_end)
  std::vector<Column*> group;  // the columns that a row adds a row to
  uint64_t min_row_bytes = 0;  // what a row takes at least
};

// Makes the columns and their program. Errors as documented at Reader::Prepare.
Result<Columns> Compile(const std::shared_ptr<const Schema>& schema, const Projection& projection);

}  // namespace delenda::avro
