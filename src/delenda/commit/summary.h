// The counters of a snapshot's summary (Iceberg spec, "Optional Snapshot Summary Fields").
#pragma once

#include <map>
#include <string>
#include <vector>

#include "delenda/commit/rebase.h"
#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/content_file.h"

namespace delenda::commit {

// As Iceberg Java counts: a vector is a delete file, its cardinality counts as position deletes, its size is that of
// its blob; counters that are 0 are left out, totals always there. Totals follow from the parent's and are left out if
// the parent has none.
//
// EXAMPLE  parent: total-records 10, total-delete-files 1, total-position-deletes 1; a vector of 1 row is replaced by
//          one of 3  →  added-dvs 1, removed-dvs 1, added-delete-files 1, removed-delete-files 1,
//          added-position-deletes 3, removed-position-deletes 1, changed-partition-count 1, total-records 10,
//          total-delete-files 1, total-position-deletes 3, ...
std::map<std::string, std::string> SummaryOf(const iceberg::Snapshot* parent, const Changes& changes,
                                             const std::vector<ContentFile>& new_deletes);

}  // namespace delenda::commit
