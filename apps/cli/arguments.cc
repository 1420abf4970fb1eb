#include "cli/arguments.h"

#include <delenda/version.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <iostream>
#include <utility>

#include "cli/names.h"
#include "cli/report.h"

namespace delenda::cli {
namespace {

constexpr const char* kDescription =
    "delenda reads lakehouse tables whose rows were deleted by deletion vectors, position deletes and equality "
    "deletes,\n"
    "makes tables, appends, deletes, updates, upserts and merges rows, and turns equality deletes into deletion "
    "vectors.\n"
    "TABLE is the folder of an Apache Iceberg table (format version 1, 2 or 3), one of its *.metadata.json files, or\n"
    "catalog.namespace.table.";

constexpr const char* kExitCodes =
    "Exit codes:\n"
    "  0    done\n"
    "  1    broken data or a failed check: the error names the file and the place\n"
    "  2    usage: a wrong option or filter, or an unknown snapshot, branch, tag or column\n"
    "  3    conflict with other writers\n"
    "  4    storage: a missing file, refused access, or a failed read or write\n"
    "  5    valid, but not supported by this version\n"
    "  130  cancelled (Ctrl-C)\n";

constexpr const char* kGeneralExamples =
    "\nExamples:\n"
    "  delenda scan warehouse/orders --where \"region = 'eu' AND amount > 10\" --limit 20\n"
    "  delenda count warehouse/orders --as-of 2024-02-29\n"
    "  delenda inspect warehouse/orders deletes\n"
    "  delenda delete warehouse/orders --where \"id = 7\"\n"
    "  delenda upsert warehouse/orders monday.parquet --key id\n"
    "\n'delenda COMMAND --help' shows all options of a command.\n\n";

constexpr const char* kScanExamples =
    "\nOutput: an aligned table on a terminal, else JSON lines; --format arrow is an IPC stream, -o FILE.arrow an IPC "
    "file.\n"
    "\nExamples:\n"
    "  delenda scan warehouse/orders\n"
    "  delenda scan warehouse/orders -o orders.parquet\n"
    "  delenda scan warehouse/orders --select id,amount --where \"day >= '2024-02-01' AND note IS NOT NULL\"\n"
    "  delenda scan warehouse/orders --select 'id,\"odd,name\"' --limit 10 --format table\n"
    "  delenda scan warehouse/orders --snapshot 3237364803904545526 --with-metadata > rows.jsonl\n"
    "  delenda scan copy/orders --map-location s3://lake/orders=copy/orders\n"
    "  delenda scan --shard shards/shard-0.json\n";

constexpr const char* kCountExamples =
    "\nReads nothing but metadata where every delete of a file is a deletion vector and partition values decide the "
    "filter.\n"
    "\nExamples:\n"
    "  delenda count warehouse/orders\n"
    "  delenda count warehouse/orders --where \"region = 'eu'\" --ref audit --stats\n";

constexpr const char* kPlanExamples =
    "\nShows what a scan would read, and which deletes apply to which data file. Output: an aligned table on a "
    "terminal,\n"
    "else one JSON document.\n"
    "\nExamples:\n"
    "  delenda plan warehouse/orders --where \"id BETWEEN 100 AND 200\"\n"
    "  delenda plan warehouse/orders --json | jq '.dataFiles | length'\n"
    "  delenda plan warehouse/orders --changes --from 3237364803904545526 --to main\n"
    "  delenda plan warehouse/orders --shards 8 -o shards && delenda scan --shard shards/shard-0.json\n";

constexpr const char* kChangesExamples =
    "\nS is the id of a snapshot, a branch or tag, or @TIME. The changes of --from itself are not told, those of --to "
    "are.\n"
    "Columns: the table's, then _change_type (INSERT, DELETE, UPDATE_BEFORE, UPDATE_AFTER), _change_ordinal,\n"
    "_commit_snapshot_id and _commit_timestamp. By snapshot, oldest first; in one, deletes, updates, inserts.\n"
    "\n--follow ends with Ctrl-C. The checkpoint is written when the changes of a snapshot are stored: a run that was\n"
    "killed goes on with the same command, and repeats at most the one snapshot that it was at; with -o nothing.\n"
    "\nExamples:\n"
    "  delenda changes warehouse/orders --from 3237364803904545526\n"
    "  delenda changes warehouse/orders --from monday --to friday --net --updates key:id -o week.parquet\n"
    "  delenda changes warehouse/orders --raw --updates none --with-metadata\n"
    "  delenda changes warehouse/orders --dialect debezium | kcat -P -t orders\n"
    "  delenda changes warehouse/orders --follow --poll 5s --checkpoint orders.json -o orders.jsonl\n";

constexpr const char* kInspectExamples =
    "\nWHAT is one of:\n"
    "  snapshots  the snapshots that the table keeps (default)\n"
    "  history    which snapshot was the current one, and when\n"
    "  refs       branches and tags\n"
    "  files      data files of a snapshot with the rows that are deleted from them\n"
    "  deletes    delete files and deletion vectors of a snapshot\n"
    "  dv FILE    the deleted positions of one data file, or all of a Puffin file; the end of a path is enough\n"
    "\nOutput: an aligned table on a terminal, else JSON lines.\n"
    "\nExamples:\n"
    "  delenda inspect warehouse/orders\n"
    "  delenda inspect warehouse/orders files --ref main\n"
    "  delenda inspect warehouse/orders dv 00000-0-48db611d.parquet --json\n";

constexpr const char* kVerifyExamples =
    "\nReads the metadata of a snapshot and checks the rules of the table format: manifests against their lists and "
    "the\n"
    "snapshot's summary, and that every delete applies to a live data file. --deep opens every file: deletion "
    "vectors,\n"
    "Puffin and Parquet footers, row ids. Exit code 0: no findings; 1: findings.\n"
    "\nOutput: text on a terminal, else JSON lines; --json gives one document with totals.\n"
    "\nExamples:\n"
    "  delenda verify warehouse/orders\n"
    "  delenda verify warehouse/orders --deep --all-snapshots\n"
    "  delenda verify warehouse/orders --errors-only --format jsonl | jq -r .place\n";

// The texts of options before they are understood.
struct Texts {
  std::vector<std::string> mappings;
  std::vector<std::string> select;
  std::string as_of;
  std::string format;
  std::string what = "snapshots";
  std::string from, to;  // changes
  std::string updates, dialect, poll;
  bool follow = false, until_idle = false;
  std::string checkpoint;
};

// `fn` turns what CLI11 cannot check by itself into a usage error.
template <typename T>
T ValueOrUsage(Result<T> result, const char* option) {
  if (!result) throw CLI::ValidationError(option, result.error().message());
  return *std::move(result);
}

void AddTable(CLI::App& app, Arguments& arguments, Texts& texts, bool required = true) {
  app.add_option("TABLE", arguments.table, "table folder, metadata file, or catalog.namespace.table")
      ->required(required);
  app.add_option("--map-location", texts.mappings, "files whose location begins with FROM are now at TO (repeatable)")
      ->type_name("FROM=TO")
      ->allow_extra_args(false);
  app.add_option("--config", arguments.config, "TOML file with catalogs (else $DELENDA_CONFIG or ~/.delenda.toml)")
      ->type_name("FILE");
  app.add_option("--threads", arguments.threads, "threads to work with (0: all)")
      ->type_name("N")
      ->check(CLI::Range(0, 1024).description(""));
  app.add_flag("--json", arguments.json, "JSON output, and errors and --stats as JSON on standard error");
  app.add_flag("--stats", arguments.stats, "tell on standard error what was read");
  app.add_flag("-q,--quiet", arguments.quiet, "no progress bar and no warnings");
}

void AddSnapshot(CLI::App& app, Arguments& arguments, Texts& texts) {
  auto* id = app.add_option("--snapshot", arguments.scan.at.snapshot_id, "the snapshot of this id")->type_name("ID");
  auto* ref = app.add_option("--ref", arguments.scan.at.ref, "a branch or tag")->type_name("NAME");
  auto* as_of = app.add_option("--as-of", texts.as_of, "what was current at this time (UTC unless it has an offset)")
                    ->type_name("TIME");
  id->excludes(ref, as_of);
  ref->excludes(as_of);
}

void AddRange(CLI::App& app, ChangeOptions& range, Texts& texts) {
  app.add_option("--from", texts.from,
                 "changes after this snapshot: id, branch, tag, or @TIME (else: from the first on)")
      ->type_name("S");
  app.add_option("--to", texts.to, "up to this one (else: the current one)")->type_name("S");
  app.add_option("--branch", range.branch, "the branch that the snapshots must lie on")->type_name("NAME");
  app.add_flag("--from-inclusive", range.from_inclusive, "the changes of --from itself too")->needs("--from");
  app.add_flag("--resolve-deletes", range.resolve_deletes,
               "read position and equality delete files too, instead of refusing ranges that have some");
}

void AddFilter(CLI::App& app, Arguments& arguments) {
  app.add_option("--where", arguments.scan.where, "filter, e.g. \"a > 1 AND (b = 'x' OR c IS NULL)\"")
      ->type_name("EXPR");
  app.add_flag("--allow-dangling-dvs", arguments.scan.allow_dangling_dvs,
               "go on when a deletion vector belongs to no data file (for repair: deleted rows may come back)");
}

void AddColumns(CLI::App& app, Texts& texts) {
  app.add_option("--select", texts.select, "columns, in this order; quote names with commas: '\"a,b\"'")
      ->type_name("C1,C2")
      ->allow_extra_args(false);
}

void AddMetadata(CLI::App& app, Arguments& arguments) {
  app.add_flag("--with-metadata", arguments.scan.with_metadata,
               "append _file (data file) and _pos (position of the row in it)");
}

void AddFormat(CLI::App& app, Texts& texts, std::vector<std::string> formats) {
  app.add_option("--format", texts.format, "output format")->check(CLI::IsMember(std::move(formats)));
}

void AddVerify(CLI::App& app, Arguments& arguments) {
  app.add_flag("--verify-footers", arguments.scan.verify_footers,
               "also compare the footers of Puffin files with the manifests");
}

void AddSplit(CLI::App& app, Arguments& arguments) {
  app.add_option("--split-size", arguments.scan.split_size,
                 "cut files into parts of about this size (bytes, or 64MB, ...)")
      ->type_name("SIZE")
      ->transform(CLI::AsSizeValue(false).description(""));
}

void AddOutput(CLI::App& app, Arguments& arguments, const char* type, const char* description) {
  auto* output = app.add_option("-o,--output", arguments.output, description)->type_name(type);
  app.add_flag("--overwrite", arguments.overwrite, "replace what -o names if it exists")->needs(output);
}

void AddChanges(CLI::App& app, Arguments& arguments, Texts& texts) {
  AddRange(app, arguments.range, texts);
  app.add_option("--where", arguments.scan.where, "which rows, as for scan")->type_name("EXPR");
  AddColumns(app, texts);
  app.add_flag("--with-metadata", arguments.scan.with_metadata, "append _file, _pos and _row_id");
  app.add_flag("--raw", arguments.changes.raw, "keep rows that a rewrite only carried over");
  app.add_option("--updates", texts.updates,
                 "what makes a delete and an insert an update: none, lineage (default: the same _row_id), or "
                 "key:C1,C2 (the same values of these columns)")
      ->type_name("HOW");
  app.add_flag("--net", arguments.changes.net, "one change at most for each row of the whole range");
  app.add_option("--dialect", texts.dialect, "names and values of the columns of changes; debezium: JSON envelopes")
      ->check(CLI::IsMember({"iceberg", "delta", "debezium"}));
  AddFormat(app, texts, {"table", "jsonl", "csv", "arrow", "parquet"});
  AddOutput(app, arguments, "FILE", "write to FILE, whole or not at all: .csv, .arrow, .parquet or .jsonl");
  app.add_flag("--verify-footers", arguments.changes.verify_footers,
               "also compare the footers of Puffin files with the manifests");
  auto* follow = app.add_flag("--follow", texts.follow, "go on with the changes of new snapshots as they come");
  app.add_option("--poll", texts.poll, "how often to look for new snapshots (500ms, 5s, 1m; default 5s)")
      ->type_name("TIME")
      ->needs(follow);
  app.add_option("--checkpoint", texts.checkpoint, "where to note how far it came, and to go on from")
      ->type_name("FILE")
      ->needs(follow);
  app.add_flag("--until-idle", texts.until_idle, "end when there is nothing new")->needs(follow);
  follow->excludes("--to", "--net");
  app.footer(kChangesExamples);
}

void UnderstandChanges(Arguments& arguments, const Texts& texts) {
  ChangeReadOptions& changes = arguments.changes;
  changes.range = arguments.range;
  constexpr std::string_view kKey = "key:";
  if (texts.updates == "none") {
    changes.updates = ChangeUpdates::kNone;
  } else if (texts.updates.starts_with(kKey)) {
    changes.updates = ChangeUpdates::kKey;
    changes.key_columns = ValueOrUsage(SplitNames(std::string_view(texts.updates).substr(kKey.size())), "--updates");
  } else if (!texts.updates.empty() && texts.updates != "lineage") {
    throw CLI::ValidationError("--updates", "write none, lineage, or key:C1,C2");
  }
  if (texts.dialect == "delta") changes.dialect = ChangeDialect::kDelta;
  if (texts.dialect == "debezium") {
    if (arguments.format && *arguments.format != OutputFormat::kLines && *arguments.format != OutputFormat::kDocument)
      throw CLI::ValidationError("--dialect", "Debezium's envelopes are JSON: leave --format out, or say jsonl");
    arguments.format = OutputFormat::kDebezium;
  }
  if (!texts.follow) return;
  arguments.follow.emplace();
  if (!texts.poll.empty()) arguments.follow->poll = ValueOrUsage(ParseDuration(texts.poll), "--poll");
  arguments.follow->checkpoint = texts.checkpoint;
  arguments.follow->until_idle = texts.until_idle;
  if (arguments.format == OutputFormat::kTable || arguments.format == OutputFormat::kArrow ||
      arguments.format == OutputFormat::kParquet) {
    throw CLI::ValidationError("--follow", "output that goes on and on is jsonl or csv");
  }
}

// A shard holds what these decide.
void CheckShard(const CLI::App& command, const Arguments& arguments, std::initializer_list<const char*> decided) {
  if (arguments.shard.empty()) {
    if (arguments.table.empty()) throw CLI::RequiredError("TABLE");
    return;
  }
  for (const char* name : decided) {
    if (command.get_option(name)->count() == 0) continue;
    throw CLI::ValidationError("--shard",
                               fmt::format("the shard says already what to read: {} can't be given with it", name));
  }
}

// What only scans, or only changes, are told by.
void CheckPlan(const CLI::App& plan, const Arguments& arguments) {
  const auto refuse = [&](std::initializer_list<const char*> names, std::string_view reason) {
    for (const char* name : names) {
      if (plan.get_option(name)->count() > 0) throw CLI::ValidationError(name, std::string(reason));
    }
  };
  if (arguments.plan_changes)
    refuse({"--snapshot", "--ref", "--as-of", "--split-size", "--allow-dangling-dvs"}, "is not for --changes");
  else
    refuse({"--from", "--to", "--branch", "--from-inclusive", "--resolve-deletes"}, "needs --changes");
}

void Understand(Arguments& arguments, const Texts& texts) {
  for (const auto& text : texts.mappings) {
    arguments.mappings.push_back(ValueOrUsage(ParseLocationMapping(text), "--map-location"));
  }
  if (!texts.as_of.empty()) arguments.scan.at.as_of_ms = ValueOrUsage(ParseTime(texts.as_of), "--as-of");
  for (const auto& text : texts.select) {
    if (!arguments.scan.columns) arguments.scan.columns.emplace();
    for (auto& name : ValueOrUsage(SplitNames(text), "--select")) arguments.scan.columns->push_back(std::move(name));
  }
  if (!texts.from.empty()) arguments.range.from = ValueOrUsage(ParseSnapshot(texts.from), "--from");
  if (!texts.to.empty()) arguments.range.to = ValueOrUsage(ParseSnapshot(texts.to), "--to");
  arguments.range.columns = arguments.scan.columns;
  arguments.range.where = arguments.scan.where;
  arguments.range.with_metadata = arguments.scan.with_metadata;
  static constexpr std::pair<std::string_view, OutputFormat> kFormats[] = {
      {"table", OutputFormat::kTable}, {"jsonl", OutputFormat::kLines}, {"json", OutputFormat::kDocument},
      {"csv", OutputFormat::kCsv},     {"arrow", OutputFormat::kArrow}, {"parquet", OutputFormat::kParquet}};
  std::string format = texts.format;
  const bool gives_rows = arguments.command == Command::kScan || arguments.command == Command::kChanges;
  if (gives_rows && !arguments.output.empty() && format.empty()) {
    // The name of the file says it.
    const size_t dot = arguments.output.rfind('.');
    format = dot == std::string::npos ? "" : arguments.output.substr(dot + 1);
    if (format != "csv" && format != "arrow" && format != "parquet" && format != "jsonl") {
      throw CLI::ValidationError("-o",
                                 "the file's name must end with .csv, .arrow, .parquet or .jsonl, or --format say "
                                 "what to write");
    }
  }
  for (const auto& [name, known] : kFormats) {
    if (format == name) arguments.format = known;
  }
  if (arguments.json) {
    if (arguments.format == OutputFormat::kTable) throw CLI::ValidationError("--json", "contradicts --format table");
    if (!arguments.format) arguments.format = OutputFormat::kDocument;
  }
  if (arguments.command == Command::kChanges) UnderstandChanges(arguments, texts);
  if (arguments.command != Command::kInspect) return;

  static constexpr std::pair<std::string_view, InspectWhat> kWhats[] = {
      {"snapshots", InspectWhat::kSnapshots}, {"files", InspectWhat::kFiles},     {"deletes", InspectWhat::kDeletes},
      {"refs", InspectWhat::kRefs},           {"history", InspectWhat::kHistory}, {"dv", InspectWhat::kDv}};
  for (const auto& [name, what] : kWhats) {
    if (name == texts.what) arguments.what = what;
  }
  const bool is_dv = arguments.what == InspectWhat::kDv;
  if (is_dv && arguments.file.empty()) throw CLI::ValidationError("dv", "FILE is missing: inspect TABLE dv FILE");
  if (!is_dv && !arguments.file.empty()) throw CLI::ValidationError(texts.what, "takes no FILE");
}

}  // namespace

std::variant<Arguments, int> ParseArguments(int argc, char** argv) {
  Arguments arguments;
  Texts texts;
  CLI::App app(kDescription, "delenda");
  app.set_version_flag("--version", [] { return fmt::format("delenda {}", Version()); });
  app.require_subcommand(1);
  app.footer(std::string(kGeneralExamples) + kExitCodes);
  app.get_formatter()->column_width(34);

  CLI::App* scan = app.add_subcommand("scan", "print the live rows of a table");
  AddTable(*scan, arguments, texts, false);
  scan->add_option("--shard", arguments.shard, "instead of TABLE: read what this file of plan --shards says (-: stdin)")
      ->type_name("FILE");
  AddSnapshot(*scan, arguments, texts);
  AddFilter(*scan, arguments);
  AddColumns(*scan, texts);
  scan->add_option("--limit", arguments.scan.limit, "at most this many rows")->type_name("N");
  AddFormat(*scan, texts, {"table", "jsonl", "csv", "arrow", "parquet"});
  AddOutput(*scan, arguments, "FILE", "write to FILE, whole or not at all: .csv, .arrow, .parquet or .jsonl");
  AddMetadata(*scan, arguments);
  scan->add_flag("--ordered", arguments.scan.ordered, "rows in the order of the plan, the same in every run");
  AddSplit(*scan, arguments);
  AddVerify(*scan, arguments);
  scan->footer(kScanExamples);

  CLI::App* count = app.add_subcommand("count", "count the live rows of a table");
  AddTable(*count, arguments, texts);
  AddSnapshot(*count, arguments, texts);
  AddFilter(*count, arguments);
  count->add_option("--limit", arguments.scan.limit, "count no further than this")->type_name("N");
  AddVerify(*count, arguments);
  count->footer(kCountExamples);

  CLI::App* plan = app.add_subcommand("plan", "show what a scan, or reading changes, would read");
  AddTable(*plan, arguments, texts);
  AddSnapshot(*plan, arguments, texts);
  AddFilter(*plan, arguments);
  AddColumns(*plan, texts);
  AddMetadata(*plan, arguments);
  AddFormat(*plan, texts, {"table", "json"});
  AddSplit(*plan, arguments);
  plan->add_flag("--changes", arguments.plan_changes, "the changes between two snapshots, instead of a scan");
  AddRange(*plan, arguments.range, texts);
  plan->add_option("--shards", arguments.shards,
                   "cut the scan into N parts of about equal bytes: one line of JSON each, for scan --shard")
      ->type_name("N")
      ->check(CLI::Range(1, 65536).description(""));
  AddOutput(*plan, arguments, "DIR", "with --shards: write the parts to DIR/shard-0.json, ...");
  plan->get_option("--output")->needs("--shards");
  plan->footer(kPlanExamples);

  CLI::App* changes = app.add_subcommand("changes", "print what snapshots inserted, deleted and updated");
  AddTable(*changes, arguments, texts, false);
  changes
      ->add_option("--shard", arguments.shard,
                   "instead of TABLE: the raw changes of this file of plan --changes --shards (-: stdin)")
      ->type_name("FILE");
  AddChanges(*changes, arguments, texts);

  CLI::App* inspect = app.add_subcommand("inspect", "look at snapshots, files and deletes");
  AddTable(*inspect, arguments, texts);
  inspect->add_option("WHAT", texts.what, "what to look at")
      ->check(CLI::IsMember({"snapshots", "files", "deletes", "refs", "history", "dv"}));
  inspect->add_option("FILE", arguments.file, "data file or Puffin file, for dv");
  AddSnapshot(*inspect, arguments, texts);
  AddFormat(*inspect, texts, {"table", "jsonl", "json"});
  inspect->add_flag("--all", arguments.all, "dv: every run of deleted positions, not the first 20");
  inspect->footer(kInspectExamples);

  CLI::App* verify = app.add_subcommand("verify", "check that a table keeps the rules of its format");
  AddTable(*verify, arguments, texts);
  verify->add_flag("--deep", arguments.deep, "also open data files, delete files and deletion vectors");
  AddSnapshot(*verify, arguments, texts);
  auto* all = verify->add_flag("--all-snapshots", arguments.all_snapshots, "every snapshot that the table keeps");
  for (const char* name : {"--snapshot", "--ref", "--as-of"}) all->excludes(name);
  verify->add_flag("--errors-only", arguments.errors_only, "leave out warnings");
  AddFormat(*verify, texts, {"table", "jsonl", "json"});
  verify->footer(kVerifyExamples);

  const WriteCommands writes =
      AddWriteCommands(app, arguments.write, [&](CLI::App& command) { AddTable(command, arguments, texts); });

  const TableCommands tables =
      AddTableCommands(app, arguments.table_changes, [&](CLI::App& command) { AddTable(command, arguments, texts); });

  try {
    app.parse(argc, argv);
    if (scan->parsed()) arguments.command = Command::kScan;
    if (count->parsed()) arguments.command = Command::kCount;
    if (plan->parsed()) arguments.command = Command::kPlan;
    if (changes->parsed()) arguments.command = Command::kChanges;
    if (inspect->parsed()) arguments.command = Command::kInspect;
    if (verify->parsed()) arguments.command = Command::kVerify;
    if (writes.remove->parsed()) arguments.command = Command::kDelete;
    if (writes.append->parsed()) arguments.command = Command::kAppend;
    if (writes.update->parsed()) arguments.command = Command::kUpdate;
    if (writes.upsert->parsed()) arguments.command = Command::kUpsert;
    if (writes.merge->parsed()) arguments.command = Command::kMerge;
    if (writes.convert->parsed()) arguments.command = Command::kConvert;
    if (tables.create->parsed()) arguments.command = Command::kCreate;
    if (tables.upgrade->parsed()) arguments.command = Command::kUpgrade;
    UnderstandWrite(writes, arguments.write);
    UnderstandTable(arguments.table_changes);
    Understand(arguments, texts);
    if (scan->parsed()) {
      CheckShard(*scan, arguments,
                 {"TABLE", "--select", "--where", "--snapshot", "--ref", "--as-of", "--with-metadata", "--split-size",
                  "--allow-dangling-dvs"});
    }
    if (changes->parsed()) {
      CheckShard(*changes, arguments,
                 {"TABLE", "--from", "--from-inclusive", "--to", "--branch", "--where", "--select", "--with-metadata",
                  "--updates", "--net", "--resolve-deletes", "--follow"});
      if (!arguments.shard.empty() && arguments.changes.dialect == ChangeDialect::kDelta)
        throw CLI::ValidationError("--dialect", "a shard does not know the versions of the Delta dialect");
    }
    if (plan->parsed()) CheckPlan(*plan, arguments);
    if (arguments.shards && arguments.format == OutputFormat::kTable)
      throw CLI::ValidationError("--shards", "contradicts --format table");
  } catch (const CLI::ParseError& error) {
    // Help and version come as exceptions too, with code 0.
    if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr);
    std::string message = error.what();
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
      message = fmt::format(
          "there is no command '{}': commands are scan, count, plan, changes, inspect, verify, create, append, delete, "
          "update, convert and upgrade",
          argv[1]);
    }
    const Error usage(ErrorKind::kInvalidArgument, std::move(message));
    std::cerr << ErrorText(usage, Phase::kOpen, arguments.json) << (arguments.json ? "" : "  hint: delenda --help\n");
    return kExitUsage;
  }
  return arguments;
}

}  // namespace delenda::cli
