#include "cli/write_arguments.h"

#include <CLI/CLI.hpp>

#include "cli/names.h"

namespace delenda::cli {
namespace {

constexpr const char* kDeleteExamples =
    "\nDeletes the rows that EXPR matches, or those that have one of the keys in FILE, in one snapshot. Data files of "
    "which no\n"
    "row is left are dropped, all others get deletion vectors: no data is copied. Needs a table of format version 3.\n"
    "--where TRUE deletes every row.\n"
    "\nFILE is Parquet, Arrow IPC, CSV with a header line or JSON lines; - is standard input. Its columns are the key, "
    "or\n"
    "those that --key names. NULL equals NULL.\n"
    "\nOther writers may work at the same time: what they change meanwhile is looked at again before the commit.\n"
    "\nExamples:\n"
    "  delenda delete warehouse/orders --where \"id = 7\"\n"
    "  delenda delete warehouse/orders --where \"day < '2024-01-01'\" --dry-run\n"
    "  delenda delete warehouse/orders --keys gone.csv --key id,region\n"
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

constexpr const char* kUpsertExamples =
    "\nRows of the files replace the rows with the same key, in one snapshot; rows whose key the table lacks are "
    "inserted. For\n"
    "each key the last row of the files counts. Replaced rows keep their _row_id. NULL equals NULL. Needs a table of "
    "format\n"
    "version 3. A key never gets two rows, whatever others write at the same time.\n"
    "\n--delete-when EXPR: rows of the files for which EXPR is true only delete. EXPR may name columns that the table "
    "lacks;\n"
    "in CSV and JSON lines these are texts.\n"
    "\n--via equality: as writers of streams do. Rows are written once, whatever others commit meanwhile, but get new "
    "row ids,\n"
    "and an update is reported as a deleted row and an inserted one. The rows are the same.\n"
    "--fallback commit-equality-deletes: when others were faster in all --tries, leaves the deletes to readers and to\n"
    "'delenda convert'. The table must have an unpartitioned spec, or the key the columns of all partition fields.\n"
    "\nFiles, and columns that they lack or that the table lacks: as for append.\n"
    "\nExamples:\n"
    "  delenda upsert warehouse/orders monday.parquet tuesday.csv --key id\n"
    "  delenda upsert warehouse/orders cdc.jsonl --key id,region --delete-when \"op = 'd'\"\n"
    "  delenda upsert warehouse/orders - --format jsonl --key id --strict --dry-run\n";

constexpr const char* kMergeExamples =
    "\nRows of the files meet the rows with the same key, in one snapshot, as SQL's MERGE has it. The first clause "
    "whose\n"
    "condition holds is carried out: --matched-delete, then --matched-update; rows whose key the table lacks are "
    "inserted\n"
    "with --not-matched-insert. Conditions and values name the table's columns, and those of the files as "
    "source.NAME.\n"
    "Updated rows keep their _row_id. Two rows of the files with one key are an error. Needs a table of format version "
    "3.\n"
    "\nFiles, and columns that they lack or that the table lacks: as for append.\n"
    "\nExamples:\n"
    "  delenda merge warehouse/stock sold.csv --key id --matched-delete \"source.n = 0\" --matched-update \"n = n - "
    "source.n\"\n"
    "  delenda merge warehouse/orders new.parquet --key id --matched-update \"*\" --not-matched-insert\n"
    "  delenda merge warehouse/orders new.parquet --key id --matched-update \"state = source.state\" \\\n"
    "    --matched-update-when \"state != 'paid'\" --not-matched-insert \"source.state = 'open'\"\n";

constexpr const char* kConvertExamples =
    "\nFinds the rows that the equality deletes of a branch delete and writes them down as deletion vectors, in one "
    "snapshot\n"
    "which removes those delete files. No row changes; every reader is faster afterwards. Needs a table of format "
    "version 3.\n"
    "\nExamples:\n"
    "  delenda convert warehouse/orders\n"
    "  delenda convert warehouse/orders --position-deletes --dry-run\n"
    "  delenda convert lake.sales.orders --branch audit --json\n";

void AddCommon(CLI::App& command, WriteArguments& arguments) {
  command.add_option("--branch", arguments.branch, "the branch that is changed (else main)")->type_name("NAME");
  command.add_flag("--dry-run", arguments.dry_run, "say what would be done, and change nothing");
}

CLI::Option* AddWhere(CLI::App& command, WriteArguments& arguments) {
  return command.add_option("--where", arguments.where, "which rows, e.g. \"a > 1 AND (b = 'x' OR c IS NULL)\"")
      ->type_name("EXPR");
}

void AddSourceFormat(CLI::App& command, WriteArguments& arguments) {
  command.add_option("--format", arguments.file_format, "format of the files (else by their names)")
      ->check(CLI::IsMember({"parquet", "arrow", "csv", "jsonl"}));
}

void AddSourceFiles(CLI::App& command, WriteArguments& arguments) {
  command.add_option("FILES", arguments.files, "files with rows; -: standard input")->required();
  AddSourceFormat(command, arguments);
  command.add_flag("--ignore-unknown-columns", arguments.ignore_unknown_columns,
                   "leave out columns that the table does not have");
}

void AddKey(CLI::App& command, WriteArguments& arguments) {
  command
      .add_option("--key", arguments.key_text,
                  "columns by which rows are told apart: c1,c2 (else the table's identifier fields)")
      ->type_name("NAMES");
}

void AddUpsert(CLI::App& upsert, WriteArguments& arguments) {
  AddSourceFiles(upsert, arguments);
  AddKey(upsert, arguments);
  upsert.add_option("--delete-when", arguments.delete_when, "rows of the files that only delete, e.g. \"op = 'd'\"")
      ->type_name("EXPR");
  upsert.add_flag("--strict", arguments.strict, "a key that is there twice, in the files or the table, is an error");
  upsert
      .add_option("--via", arguments.via,
                  "look for the keys, then write (positions); or write, and look for them in the commit (equality)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"positions", "equality"}));
  upsert
      .add_option("--tries", arguments.most_tries,
                  "via equality: how often keys are looked for before the fallback (else 50); 0: it is done at once")
      ->type_name("N");
  upsert
      .add_option("--fallback", arguments.fallback,
                  "via equality: what happens when others were faster in all tries (else abort)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"abort", "commit-equality-deletes"}));
  AddCommon(upsert, arguments);
  upsert.footer(kUpsertExamples);
}

void AddMerge(CLI::App& merge, WriteArguments& arguments) {
  AddSourceFiles(merge, arguments);
  AddKey(merge, arguments);
  merge.add_option("--matched-delete", arguments.matched_delete, "matched rows that are deleted")->type_name("EXPR");
  merge
      .add_option("--matched-update", arguments.matched_assignments,
                  "new value of a column of matched rows (repeatable); *: all columns of the files")
      ->type_name("COLUMN=VALUE")
      ->allow_extra_args(false);
  merge.add_option("--matched-update-when", arguments.matched_update_when, "matched rows that are updated (else all)")
      ->type_name("EXPR");
  merge
      .add_option("--not-matched-insert", arguments.not_matched_insert,
                  "insert rows whose key the table lacks: all, or those that EXPR matches")
      ->type_name("EXPR")
      ->expected(0, 1);
  AddCommon(merge, arguments);
  merge.footer(kMergeExamples);
}

}  // namespace

WriteCommands AddWriteCommands(CLI::App& app, WriteArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table) {
  WriteCommands commands;
  commands.remove = app.add_subcommand("delete", "delete rows");
  add_table(*commands.remove);
  CLI::Option* where = AddWhere(*commands.remove, arguments);
  CLI::Option* keys =
      commands.remove
          ->add_option("--keys", arguments.keys_file, "rows with one of the keys in a file; -: standard input")
          ->type_name("FILE")
          ->excludes(where);
  commands.remove->add_option("--key", arguments.key_text, "columns of FILE that are the key (else all): c1,c2")
      ->type_name("NAMES")
      ->needs(keys);
  AddSourceFormat(*commands.remove, arguments);
  AddCommon(*commands.remove, arguments);
  commands.remove->footer(kDeleteExamples);

  commands.append = app.add_subcommand("append", "add the rows of files");
  add_table(*commands.append);
  AddSourceFiles(*commands.append, arguments);
  AddCommon(*commands.append, arguments);
  commands.append->footer(kAppendExamples);

  commands.update = app.add_subcommand("update", "give rows new values");
  add_table(*commands.update);
  commands.update->add_option("--set", arguments.assignments, "new value of a column (repeatable)")
      ->type_name("COLUMN=VALUE")
      ->allow_extra_args(false)
      ->required();
  AddWhere(*commands.update, arguments)->required();
  AddCommon(*commands.update, arguments);
  commands.update->footer(kUpdateExamples);

  commands.upsert = app.add_subcommand("upsert", "replace or insert the rows of files by key");
  add_table(*commands.upsert);
  AddUpsert(*commands.upsert, arguments);

  commands.merge = app.add_subcommand("merge", "update, delete and insert by the rows of files with the same key");
  add_table(*commands.merge);
  AddMerge(*commands.merge, arguments);

  commands.convert = app.add_subcommand("convert", "turn equality deletes into deletion vectors");
  add_table(*commands.convert);
  commands.convert->add_flag("--position-deletes", arguments.position_deletes, "position delete files too");
  AddCommon(*commands.convert, arguments);
  commands.convert->footer(kConvertExamples);
  return commands;
}

void UnderstandWrite(const WriteCommands& commands, WriteArguments& arguments) {
  for (const auto& text : arguments.assignments) {
    auto assignment = ParseAssignment(text);
    if (!assignment) throw CLI::ValidationError("--set", assignment.error().message());
    arguments.set.push_back(*std::move(assignment));
  }
  for (const auto& text : arguments.matched_assignments) {
    if (text == "*") {
      arguments.matched_update_all = true;
      continue;
    }
    auto assignment = ParseAssignment(text);
    if (!assignment) throw CLI::ValidationError("--matched-update", assignment.error().message());
    arguments.matched_update.push_back(*std::move(assignment));
  }
  if (!arguments.key_text.empty()) {
    auto key = SplitNames(arguments.key_text);
    if (!key) throw CLI::ValidationError("--key", key.error().message());
    arguments.key = *std::move(key);
  }
  // An empty filter would mean every row.
  if (commands.remove->parsed() && arguments.where.empty() && arguments.keys_file.empty())
    throw CLI::RequiredError("--where or --keys");
}

}  // namespace delenda::cli
