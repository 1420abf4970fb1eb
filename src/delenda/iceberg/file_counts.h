// What a snapshot's summary counts (Iceberg spec, "Snapshots", "Snapshot Summary Fields").
#pragma once

#include <cstdint>

#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"

namespace delenda::iceberg {

// Files of one kind of entry. A deletion vector is a delete file, its cardinality counts as position deletes and its
// size is that of its blob, not of the Puffin file that it shares, as the reference implementation has it.
struct FileCounts {
  int64_t data_files = 0, delete_files = 0, deletion_vectors = 0, position_delete_files = 0, equality_delete_files = 0;
  int64_t records = 0, position_deletes = 0, equality_deletes = 0, bytes = 0;

  void Add(const ContentFile& file);
  void Add(const FileCounts& other);
};

// Compares a snapshot's summary with its entries: all live ones, those that it added, those that it removed. Counters
// that the summary leaves out are 0 for changes, and not known for totals. A summary without any counter of changes (as
// old writers and some catalogs leave it) says nothing of them.
Findings CheckSummary(const Snapshot& snapshot, const FileCounts& live, const FileCounts& added,
                      const FileCounts& removed);

}  // namespace delenda::iceberg
