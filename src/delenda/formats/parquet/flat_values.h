// What FlatColumn does differently for each type of value.
#pragma once

#include <memory>

#include "delenda/formats/parquet/flat_column.h"

namespace delenda::parquet {

// Null for types that FlatColumn::CanRead refuses.
std::unique_ptr<FlatColumn> MakeFlatValues(const FlatColumn::Chunk& chunk, ChunkPages pages);

}  // namespace delenda::parquet
