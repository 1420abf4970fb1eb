// The partitions of the rows of a batch.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::write {

// Rows of one group have equal tuples. Groups are in the order of their first rows.
struct PartitionGroups {
  std::vector<PartitionTuple> tuples;
  std::vector<uint32_t> group_of_row;
};

// EXAMPLE  spec bucket[4](id), region; rows (7, eu) (8, us) (7, eu)  →  tuples (3, eu) (1, us), group_of_row 0 1 0
//
// `batch` has the schema's columns (others may follow). A field inside structs is NULL where one of them is.
// InvalidArgument: a transform that does not take its column's values. NotSupported: a transform that this version does
// not know, a source inside a list or map.
Result<PartitionGroups> GroupByPartition(const BoundSpec& spec, const Schema& schema, const arrow::RecordBatch& batch);

}  // namespace delenda::write
