// Where a command's rows go: standard output or the file of -o.
#pragma once

#include <delenda/rows.h>

#include "cli/session.h"

namespace delenda::cli {

// Writes all rows in the format that the arguments ask for, else as a table on a terminal and JSON lines elsewhere.
Result<void> WriteToOutput(Session& session, RowStream& rows);

}  // namespace delenda::cli
