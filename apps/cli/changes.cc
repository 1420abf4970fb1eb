#include <delenda/changes.h>
#include <delenda/rows.h>

#include <utility>

#include "cli/row_output.h"
#include "cli/session.h"

namespace delenda::cli {

Result<void> RunChanges(Session& session) {
  session.stats.is_changes = true;
  const ChangeReadOptions& options = session.arguments.changes;
  auto rows = session.change_shard != nullptr ? session.change_shard->Changes(options.verify_footers)
                                              : session.table->Changes(options);
  if (!rows) return std::unexpected(std::move(rows).error());
  return WriteToOutput(session, *rows);
}

}  // namespace delenda::cli
