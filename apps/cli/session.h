// One run of the program: its arguments, its output, its table.
#pragma once

#include <delenda/hooks.h>
#include <delenda/shard.h>
#include <delenda/table.h>
#include <delenda/write.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/report.h"

namespace delenda::cli {

struct Session {
  const Arguments& arguments;
  Output& out;
  ProgressBar& progress;
  const CancelToken& cancel;
  const OpenOptions& open;          // of the table
  const Table* table;               // null with --shard, and for commands that make or change a table
  WritableTable* writable;          // for these; else null
  const Shard* shard;               // scan --shard; else null
  const ChangeShard* change_shard;  // changes --shard; else null
  Stats& stats;
  int exit_code = kExitOk;  // of work that was done: a check that finds something is no error of its own

  // The format that was asked for, else a table on a terminal and `other` everywhere else.
  OutputFormat Format(OutputFormat other) const {
    if (arguments.format) return *arguments.format;
    return out.IsTerminal() ? OutputFormat::kTable : other;
  }
};

Result<void> RunScan(Session& session);
Result<void> RunCount(Session& session);
Result<void> RunPlan(Session& session);
Result<void> RunInspect(Session& session);
Result<void> RunChanges(Session& session);
Result<void> RunFollow(Session& session);
Result<void> RunVerify(Session& session);
Result<void> RunWrite(Session& session);  // delete, append, update, upsert, merge
Result<void> RunCreate(Session& session);
Result<void> RunUpgrade(Session& session);

}  // namespace delenda::cli
