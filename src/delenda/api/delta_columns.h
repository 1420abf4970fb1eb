// Columns of changes as Delta's change data feed has them.
#pragma once

#include <arrow/type_fwd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "delenda/base/result.h"

namespace delenda::api {

// From the columns of changes of Iceberg's dialect, which lie behind `table_columns` others, to those of Delta's.
//
// EXAMPLE  …, _change_type UPDATE_BEFORE, _change_ordinal 0, _commit_snapshot_id 5013, _commit_timestamp t
//          →  …, _change_type update_preimage, _commit_version 7, _commit_timestamp t     (5013 has sequence number 7)
class DeltaColumns {
 public:
  // NotSupported without sequence numbers.
  static Result<DeltaColumns> Make(std::shared_ptr<const std::map<int64_t, int64_t>> sequence_numbers,
                                   size_t table_columns);

  std::shared_ptr<arrow::Schema> ToSchema(const arrow::Schema& schema) const;
  // InvalidArgument for a snapshot that has no sequence number.
  Result<arrow::ArrayVector> ToColumns(arrow::ArrayVector columns) const;

 private:
  std::shared_ptr<const std::map<int64_t, int64_t>> sequence_numbers_;
  size_t table_columns_ = 0;
};

}  // namespace delenda::api
