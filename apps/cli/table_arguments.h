// What the command line says about making tables and changing their format version.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace delenda::cli {

struct TableArguments {
  // create
  std::string like, schema_file, columns, partition_by, location;
  std::vector<std::string> key_texts, property_texts;  // as they were typed
  std::vector<std::string> key;                        // and understood
  std::map<std::string, std::string> properties;
  int32_t format_version = 3;
  bool if_not_exists = false;
  int32_t upgrade_to = 3;  // upgrade
  bool dry_run = false;
};

struct TableCommands {
  CLI::App* create = nullptr;
  CLI::App* upgrade = nullptr;
};

// Adds the commands create and upgrade. `add_table`: adds TABLE and the options that all commands have.
TableCommands AddTableCommands(CLI::App& app, TableArguments& arguments,
                               const std::function<void(CLI::App&)>& add_table);

// Throws CLI::ValidationError for what CLI11 cannot check by itself.
void UnderstandTable(TableArguments& arguments);

}  // namespace delenda::cli
