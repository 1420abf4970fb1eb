// The part of verify that opens files: deletion vectors, data and delete files. See Table::Verify.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"
#include "delenda/model/name_mapping.h"
#include "delenda/model/partition.h"
#include "delenda/model/type.h"

namespace delenda::ops {

struct VerifyContext {
  io::FileIO& io;
  Executor& executor;
  const Hooks& hooks;
  std::optional<NameMapping> names = {};  // the table's, for files without field ids
};

// The vectors among `deletes`, each Puffin file opened once. `targets` (per delete, an index into `data`): the data
// file that it applies to. `done` holds the vectors that were read for another snapshot already; those that are read
// here join it.
Result<Findings> VerifyVectors(const VerifyContext& context, const std::vector<ContentFile>& data,
                               const std::vector<ContentFile>& deletes,
                               const std::vector<std::optional<size_t>>& targets, std::set<std::string>& done);

// Invariant: a vector contains the one that it replaces. `replaced`: vectors of the parent snapshot that may be gone;
// those whose data file is gone too have done their work. Positions that are no longer deleted are a warning, since an
// undelete is allowed to bring rows back.
//
// EXAMPLE  parent: DV of a.parquet {3, 9}; now: DV of a.parquet {9, 11}  →  dv-lost-bits: 1 row, position 3
Result<Findings> VerifyReplacedVectors(const VerifyContext& context, const std::vector<ContentFile>& data,
                                       const std::vector<ContentFile>& deletes,
                                       const std::vector<ContentFile>& replaced);

// Footers of data files and delete files other than vectors, see read/data_file_check.h; in parallel.
Result<Findings> VerifyFiles(const VerifyContext& context, const std::vector<const ContentFile*>& files,
                             const Schema& schema, const std::map<int32_t, BoundSpec>& specs);

}  // namespace delenda::ops
