// Raising a table's format version.
#pragma once

#include <cstdint>
#include <string>

#include "delenda/base/result.h"
#include "delenda/commit/committer.h"
#include "delenda/iceberg/table_location.h"
#include "delenda/iceberg/table_metadata.h"

namespace delenda::commit {

struct Upgraded {
  int32_t from = 0;  // equal to what was asked for: nothing was changed
  std::string metadata_path;
  uint64_t attempts = 1;
};

// Makes the table one of format version 2 or 3, in its metadata alone: no snapshot, no other file is written. Others
// may commit meanwhile: it is tried again, as Commit does. `dry_run`: checks, and changes nothing.
//
// EXAMPLE  version 2, snapshots 7 and 9  →  version 3, next-row-id 0, the snapshots as they were. The next commit gives
//          first row ids to all data manifests of its branch (spec, "Row Lineage for Upgraded Tables"), so that every
//          row has one from then on; what snapshots 7 and 9 hold never has.
//
// InvalidArgument: a lower version than the table has, or one that there is not. CommitConflict, CommitStateUnknown as
// Commit. NotSupported: a version 1 snapshot without manifest list.
Result<Upgraded> UpgradeTable(int32_t version, bool dry_run, const CommitContext& context);

// The next version of the metadata, in a higher format version. Version 1 lacks what later ones ask for: a table UUID
// is made up, specs and schemas get their ids.
Result<iceberg::TableMetadata> UpgradedMetadata(const iceberg::LoadedTable& base, int32_t version);

// NotSupported, with what to do about it, when tables of this format version can't be appended to.
Result<void> CheckTakesAppends(int32_t format_version);
// The same for deletes and updates: they need deletion vectors.
Result<void> CheckTakesDeletes(int32_t format_version);

}  // namespace delenda::commit
