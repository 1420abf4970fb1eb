// Which deletes of a snapshot apply, and which cannot (Iceberg spec, "Scan Planning", "Deletion Vectors").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"
#include "delenda/model/partition.h"

namespace delenda::plan {

struct LiveFiles {
  const std::vector<ContentFile>& data;
  const std::vector<ContentFile>& deletes;
  const std::vector<std::optional<std::string>>& scopes;  // per delete, see DeleteIndex::Make
  bool all_data = true;  // false: data files are missing from `data`, so that nothing is said of deletes without one
};

struct DeleteCheck {
  // Per delete: the data file (index into LiveFiles::data) that a deletion vector applies to.
  std::vector<std::optional<size_t>> vector_target;
  Findings findings;
};

// Where a scan stops at the first delete that cannot be applied, this goes on and reports each: vectors that are
// incomplete, lie outside their file, or are the second one for a data file; vectors that no live data file matches by
// path, spec, partition and sequence number; and, as warnings, deletes that apply to nothing or that a vector
// supersedes.
//
// EXAMPLE  a.parquet (sequence number 3), a DV for it (2), a DV for b.parquet (4), a position delete file for a.parquet
//          →  two findings dv-unmatched
Result<DeleteCheck> CheckDeletes(const LiveFiles& files, const std::map<int32_t, BoundSpec>& specs,
                                 int32_t format_version, int64_t snapshot_id);

}  // namespace delenda::plan
