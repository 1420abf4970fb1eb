// Filters for the rows that have one of many keys: what can be said of keys where only a filter can be given, as to
// conflict checks. Planning has a better form (model/sorted_keys.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "delenda/model/datum.h"
#include "delenda/model/expression.h"
#include "delenda/model/partition.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/model/type.h"

namespace delenda {

// Comparisons that a filter may cost for each data file of a table: as many as 200 million for the whole table, within
// [200, 1000]. Not known how many files there are: 200.
size_t KeyComparisonBudget(std::optional<int64_t> data_files);

// A filter that is true for every row that has one of `count` keys, and for as few others as `budget` comparisons
// allow. `rows` gives all keys, each a value per column; it is asked when they are few.
//
//   keys × columns ≤ budget   for each chunk of up to 200 keys an AND over the columns of IN (the chunk's values), OR
//   IS
//                             NULL and OR IS NAN where the chunk has such keys; the chunks OR-ed
//   more                      ranges of the first column, up to budget / 2, between its largest gaps (of whole numbers
//                             only gaps that skip a value count), OR IS NULL and OR IS NAN
//
// EXAMPLE  keys (1, 'a'), (2, NULL)  →  id IN (1, 2) AND (t IN ('a') OR t IS NULL)
//          2,000 keys id 1 … 1999 and 7000, budget 1000  →  id >= 1 AND id <= 1999 OR id = 7000
ExprRef KeyFilter(const SortedKeys& keys, size_t count, size_t budget,
                  const std::function<std::vector<std::vector<Datum>>()>& rows);

// True for every row of the partition: what each partition field's value says about its source column, which buckets,
// void and unknown transforms do not say. `schema`: the one that the spec was bound to.
//
// EXAMPLE  identity(region), day(ts), bucket(4, id): ('eu', 2024-02-29, 3)  →  region = 'eu' AND ts >= 2024-02-29 AND
// ts
//          <= 2024-02-29T23:59:59.999999 AND id IS NOT NULL
ExprRef PartitionPin(const BoundSpec& spec, const PartitionTuple& tuple, const Schema& schema);

}  // namespace delenda
