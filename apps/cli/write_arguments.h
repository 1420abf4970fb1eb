// What the command line says about changing a table.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace delenda::cli {

struct WriteArguments {
  std::string where;  // delete, update: empty for delete with keys
  std::string branch = "main";
  bool dry_run = false;
  std::vector<std::string> assignments;                  // update: as they were typed
  std::vector<std::pair<std::string, std::string>> set;  // and understood
  std::vector<std::string> files;                        // append, upsert, merge
  std::string file_format;                               // empty: as the names of the files say
  bool ignore_unknown_columns = false;
  std::string keys_file;           // delete: instead of `where`
  std::string key_text;            // delete, upsert, merge: names of columns, as they were typed
  std::vector<std::string> key;    // and understood
  std::string delete_when;         // upsert
  bool strict = false;             // upsert
  std::string via = "positions";   // upsert: or "equality"
  uint64_t most_tries = 50;        // upsert, via equality
  std::string fallback = "abort";  // or "commit-equality-deletes"
  std::string matched_delete;      // merge, as are those below
  std::vector<std::string> matched_assignments;
  std::vector<std::pair<std::string, std::string>> matched_update;
  bool matched_update_all = false;
  std::string matched_update_when;
  std::optional<std::string> not_matched_insert;
  bool position_deletes = false;  // convert
};

struct WriteCommands {
  CLI::App* remove = nullptr;  // "delete" is no name in C++
  CLI::App* append = nullptr;
  CLI::App* update = nullptr;
  CLI::App* upsert = nullptr;
  CLI::App* merge = nullptr;
  CLI::App* convert = nullptr;
};

// Adds the commands delete, append, update, upsert, merge and convert. `add_table`: adds TABLE and the options that all
// commands have.
WriteCommands AddWriteCommands(CLI::App& app, WriteArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table);

// Throws CLI::ValidationError for what CLI11 cannot check by itself.
void UnderstandWrite(const WriteCommands& commands, WriteArguments& arguments);

}  // namespace delenda::cli
