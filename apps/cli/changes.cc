#include <delenda/changes.h>
#include <delenda/rows.h>

#include <utility>

#include "cli/row_output.h"
#include "cli/session.h"

namespace delenda::cli {

Result<void> RunChanges(Session& session) {
  session.stats.is_changes = true;
  auto rows = session.table->Changes(session.arguments.changes);
  if (!rows) return std::unexpected(std::move(rows).error());
  return WriteToOutput(session, *rows);
}

}  // namespace delenda::cli
