// What the command line says.
#pragma once

#include <delenda/changes.h>
#include <delenda/result.h>
#include <delenda/rows.h>
#include <delenda/scan.h>
#include <delenda/table.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "cli/table_arguments.h"
#include "cli/write_arguments.h"

namespace delenda::cli {

// Those from kDelete on change a table; kCreate makes one.
enum class Command : uint8_t {
  kScan,
  kCount,
  kPlan,
  kInspect,
  kChanges,
  kVerify,
  kDelete,
  kAppend,
  kUpdate,
  kUpsert,
  kMerge,
  kConvert,
  kUpgrade,
  kCreate,
};
enum class InspectWhat : uint8_t { kSnapshots, kFiles, kDeletes, kRefs, kHistory, kDv };

enum class OutputFormat : uint8_t { kTable, kLines, kDocument, kCsv, kArrow, kParquet, kDebezium };

// changes --follow: the changes of new snapshots as they come.
struct Follow {
  std::chrono::milliseconds poll{5000};
  std::string checkpoint;   // file; empty: none
  bool until_idle = false;  // end when there is nothing new
};

struct Arguments {
  Command command = Command::kScan;
  std::string table;  // empty with --shard
  std::vector<LocationMapping> mappings;
  std::optional<std::string> config;
  uint64_t threads = 0;
  bool json = false;
  bool stats = false;
  bool quiet = false;
  std::optional<OutputFormat> format;  // not set: it depends on where the output goes
  ScanOptions scan;                    // inspect uses `at` only
  InspectWhat what = InspectWhat::kSnapshots;
  std::string shard;               // scan --shard: a file, or "-" for standard input
  std::optional<uint64_t> shards;  // plan --shards
  bool plan_changes = false;       // plan --changes: `range`, not `scan`, says of what
  ChangeOptions range;             // changes, plan --changes
  ChangeReadOptions changes;       // of `range`
  std::optional<Follow> follow;
  std::string output;            // scan, changes: a file; plan --shards: a folder. Empty: standard output
  bool overwrite = false;        // of `output`
  std::string file;              // inspect dv
  bool all = false;              // inspect dv: every run
  bool deep = false;             // verify: open files too
  bool all_snapshots = false;    // verify
  bool errors_only = false;      // verify: no warnings
  WriteArguments write;          // delete, append, update, upsert, merge
  TableArguments table_changes;  // create, upgrade

  bool ChangesTable() const { return command >= Command::kDelete && command != Command::kCreate; }
};

// Parses the command line. An int is the exit code of a program that has said all it had to: help, version, usage
// error.
std::variant<Arguments, int> ParseArguments(int argc, char** argv);

}  // namespace delenda::cli
