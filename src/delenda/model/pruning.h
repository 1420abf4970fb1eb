// Deciding from statistics that no row of a file, row group, page or manifest can match: one evaluator for all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "delenda/model/datum.h"
#include "delenda/model/expression.h"

namespace delenda {

// What is known of one column over some rows. Unknown parts stay empty and then prune nothing.
struct ColumnStats {
  std::optional<int64_t> value_count = std::nullopt;  // rows, nulls included
  std::optional<int64_t> null_count = std::nullopt;
  std::optional<int64_t> nan_count = std::nullopt;
  std::optional<Datum> lower = std::nullopt;  // no non-null, non-NaN value is below it (may be cut short)
  std::optional<Datum> upper = std::nullopt;  // no non-null, non-NaN value is above it
};

// A bound of metadata (DatumFromBound) as statistics may use it. Empty for bytes that are no value of the type, which
// must not prune, and for NaN (old writers): it has no place in the order of bounds, so pruning by it would lose rows.
std::optional<Datum> PruningBound(const Type& type, ByteView bytes);

// Statistics of a column (by field id) or nullopt when there are none.
using StatsSource = std::function<std::optional<ColumnStats>(const BoundColumn&)>;

// May a row match? False only when no row of those described can make `expr` true; pruning on it never loses a row.
// NaN counts as above every number but is not in the bounds: "x > 5" is decided by the upper bound only when nan_count
// is known to be 0.
bool CouldMatch(const Expr& expr, const StatsSource& stats);

}  // namespace delenda
