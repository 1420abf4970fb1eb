// What the command line says about changing a table.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace delenda::cli {

struct WriteArguments {
  std::string where;  // delete, update
  std::string branch = "main";
  bool dry_run = false;
  std::vector<std::string> assignments;                  // update: as they were typed
  std::vector<std::pair<std::string, std::string>> set;  // and understood
  std::vector<std::string> files;                        // append
  std::string file_format;                               // empty: as the names of the files say
  bool ignore_unknown_columns = false;
};

struct WriteCommands {
  CLI::App* remove = nullptr;  // "delete" is no name in C++
  CLI::App* append = nullptr;
  CLI::App* update = nullptr;
};

// Adds the commands delete, append and update. `add_table`: adds TABLE and the options that all commands have.
WriteCommands AddWriteCommands(CLI::App& app, WriteArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table);

// Throws CLI::ValidationError for what CLI11 cannot check by itself.
void UnderstandWrite(WriteArguments& arguments);

}  // namespace delenda::cli
