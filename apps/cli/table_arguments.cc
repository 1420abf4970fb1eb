#include "cli/table_arguments.h"

#include <CLI/CLI.hpp>

#include <utility>

#include "cli/names.h"

namespace delenda::cli {
namespace {

constexpr const char* kCreateExamples =
    "\nMakes a table without rows: TABLE is the folder that it gets, or catalog.namespace.table.\n"
    "\n--columns: NAME TYPE [NOT NULL] [DEFAULT VALUE], ... with the types boolean, int, long, float, double, "
    "decimal(P, S),\n"
    "date, time, timestamp, timestamptz, timestamp_ns, timestamptz_ns, string, uuid, fixed[N], binary,\n"
    "struct<a int, b string>, list<long>, map<string, long>. --like reads a Parquet, Arrow or JSON lines file; in "
    "JSON\n"
    "all numbers are long or double, and dates are strings: state other types with --columns.\n"
    "--partition-by: columns, bucket(N, c), truncate(N, c), year(c), month(c), day(c), hour(c), void(c).\n"
    "\nOutput: a table on a terminal, else one JSON document.\n"
    "\nExamples:\n"
    "  delenda create warehouse/orders --columns \"id long NOT NULL, region string, ts timestamptz\" --key id \\\n"
    "      --partition-by \"region, day(ts)\"\n"
    "  delenda create lake.sales.orders --like orders.parquet --partition-by \"bucket(16, id)\"\n"
    "  delenda create lake.sales.orders --schema schema.json --property write.delete.isolation-level=snapshot\n";

constexpr const char* kUpgradeExamples =
    "\nChanges the format version in the table's metadata: no file is rewritten, and no snapshot is made. Engines that "
    "do not\n"
    "know the higher version can't read the table any more, and there is no way back.\n"
    "\nExamples:\n"
    "  delenda upgrade warehouse/orders --to 3\n";

}  // namespace

TableCommands AddTableCommands(CLI::App& app, TableArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table) {
  TableCommands commands;
  commands.create = app.add_subcommand("create", "make a table");
  add_table(*commands.create);
  auto* columns = commands.create->add_option_group("columns")->require_option(1);
  columns->add_option("--columns", arguments.columns, "the columns and their types")->type_name("TEXT");
  columns->add_option("--like", arguments.like, "columns as in this file: .parquet, .arrow or .jsonl")
      ->type_name("FILE");
  columns->add_option("--schema", arguments.schema_file, "columns as in this file: a schema of Iceberg, in JSON")
      ->type_name("FILE");
  commands.create->add_option("--partition-by", arguments.partition_by, "how rows are partitioned")->type_name("TEXT");
  commands.create
      ->add_option("--key", arguments.key_texts, "columns that identify a row (never null, no floating point)")
      ->type_name("C1,C2")
      ->allow_extra_args(false);
  commands.create->add_option("--property", arguments.property_texts, "a property of the table (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  commands.create->add_option("--location", arguments.location, "where the files go (else as the catalog says)")
      ->type_name("URI");
  commands.create->add_option("--format-version", arguments.format_version, "3 (default) or 2")
      ->check(CLI::IsMember({2, 3}));
  commands.create->add_flag("--if-not-exists", arguments.if_not_exists, "a table that exists is no error");
  commands.create->add_flag("--dry-run", arguments.dry_run, "say what would be made, and make nothing");
  commands.create->footer(kCreateExamples);

  commands.upgrade = app.add_subcommand("upgrade", "raise the format version of a table");
  add_table(*commands.upgrade);
  commands.upgrade->add_option("--to", arguments.upgrade_to, "the format version (default 3)")->type_name("VERSION");
  commands.upgrade->add_flag("--dry-run", arguments.dry_run, "say what would be done, and change nothing");
  commands.upgrade->footer(kUpgradeExamples);
  return commands;
}

void UnderstandTable(TableArguments& arguments) {
  for (const auto& text : arguments.key_texts) {
    auto names = SplitNames(text);
    if (!names) throw CLI::ValidationError("--key", names.error().message());
    for (auto& name : *names) arguments.key.push_back(std::move(name));
  }
  for (const auto& text : arguments.property_texts) {
    const size_t sign = text.find('=');
    if (sign == std::string::npos || sign == 0) throw CLI::ValidationError("--property", "write NAME=VALUE");
    arguments.properties[text.substr(0, sign)] = text.substr(sign + 1);
  }
}

}  // namespace delenda::cli
