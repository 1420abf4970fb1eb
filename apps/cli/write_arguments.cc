#include "cli/write_arguments.h"

#include <CLI/CLI.hpp>

#include "cli/names.h"

namespace delenda::cli {
namespace {

constexpr const char* kDeleteExamples =
    "\nDeletes the rows that EXPR matches, in one snapshot. Data files of which no row is left are dropped, all others "
    "get\n"
    "deletion vectors: no data is copied. Needs a table of format version 3. --where TRUE deletes every row.\n"
    "\nOther writers may work at the same time: what they change meanwhile is looked at again before the commit.\n"
    "\nExamples:\n"
    "  delenda delete warehouse/orders --where \"id = 7\"\n"
    "  delenda delete warehouse/orders --where \"day < '2024-01-01'\" --dry-run\n"
    "  delenda delete lake.sales.orders --where \"region IN ('eu', 'us')\" --branch audit --json\n";

constexpr const char* kAppendExamples =
    "\nAppends the rows of all files in one snapshot. Columns are matched by name; columns that a file lacks get their "
    "default\n"
    "or NULL. A value that does not fit its column exactly is an error, and then nothing is appended.\n"
    "\nFiles: Parquet, Arrow IPC, CSV with a header line, JSON lines; - is standard input (not for Parquet).\n"
    "\nExamples:\n"
    "  delenda append warehouse/orders monday.parquet tuesday.csv\n"
    "  delenda append warehouse/orders --dry-run orders.jsonl\n"
    "  kcat -C -e -t orders | delenda append warehouse/orders --format jsonl -\n";

constexpr const char* kUpdateExamples =
    "\nGives the rows that --where matches new values, in one snapshot. The rows keep their _row_id; all values are "
    "computed\n"
    "from the old row. Needs a table of format version 3. --where TRUE updates every row.\n"
    "\nVALUE is a literal (12, 1.50, 'text', TRUE, NULL, DATE '2024-02-29'), a column, or these joined by + - * / || "
    "and\n"
    "parentheses. What does not fit the column exactly is an error, and then nothing is updated.\n"
    "\nExamples:\n"
    "  delenda update warehouse/orders --set \"state = 'paid'\" --where \"id = 7\"\n"
    "  delenda update warehouse/orders --set \"amount = amount + 5\" --set \"note = 'raised'\" --where \"region = "
    "'eu'\"\n";

void AddCommon(CLI::App& command, WriteArguments& arguments) {
  command.add_option("--branch", arguments.branch, "the branch that is changed (else main)")->type_name("NAME");
  command.add_flag("--dry-run", arguments.dry_run, "say what would be done, and change nothing");
}

void AddWhere(CLI::App& command, WriteArguments& arguments) {
  command.add_option("--where", arguments.where, "which rows, e.g. \"a > 1 AND (b = 'x' OR c IS NULL)\"")
      ->type_name("EXPR")
      ->required();
}

}  // namespace

WriteCommands AddWriteCommands(CLI::App& app, WriteArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table) {
  WriteCommands commands;
  commands.remove = app.add_subcommand("delete", "delete rows");
  add_table(*commands.remove);
  AddWhere(*commands.remove, arguments);
  AddCommon(*commands.remove, arguments);
  commands.remove->footer(kDeleteExamples);

  commands.append = app.add_subcommand("append", "add the rows of files");
  add_table(*commands.append);
  commands.append->add_option("FILES", arguments.files, "files with rows; -: standard input")->required();
  commands.append->add_option("--format", arguments.file_format, "format of the files (else by their names)")
      ->check(CLI::IsMember({"parquet", "arrow", "csv", "jsonl"}));
  commands.append->add_flag("--ignore-unknown-columns", arguments.ignore_unknown_columns,
                            "leave out columns that the table does not have");
  AddCommon(*commands.append, arguments);
  commands.append->footer(kAppendExamples);

  commands.update = app.add_subcommand("update", "give rows new values");
  add_table(*commands.update);
  commands.update->add_option("--set", arguments.assignments, "new value of a column (repeatable)")
      ->type_name("COLUMN=VALUE")
      ->allow_extra_args(false)
      ->required();
  AddWhere(*commands.update, arguments);
  AddCommon(*commands.update, arguments);
  commands.update->footer(kUpdateExamples);
  return commands;
}

void UnderstandWrite(WriteArguments& arguments) {
  for (const auto& text : arguments.assignments) {
    auto assignment = ParseAssignment(text);
    if (!assignment) throw CLI::ValidationError("--set", assignment.error().message());
    arguments.set.push_back(*std::move(assignment));
  }
}

}  // namespace delenda::cli
