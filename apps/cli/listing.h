// A list of things that are shown as a table, as JSON lines, or as one JSON document.
#pragma once

#include <delenda/text_table.h>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.h"
#include "cli/output.h"

namespace delenda::cli {

using Json = nlohmann::ordered_json;

// Text that is no UTF-8 is repaired, since JSON cannot hold it.
std::string JsonText(const Json& json, int indent = -1);

struct Listing {
  std::string name;  // of the list in a JSON document
  std::vector<TextColumn> columns;
  std::vector<std::pair<std::vector<std::string>, Json>> rows;  // cells of the table, and the same as an object
  std::string summary;                                          // line below the table
  Json totals = Json::object();                                 // beside the list in a JSON document

  void Add(std::vector<std::string> cells, Json object) { rows.emplace_back(std::move(cells), std::move(object)); }
  Result<void> Print(OutputFormat format, Output& out) const;
};

// "3 files", "1 file"
std::string Plural(uint64_t count, std::string_view noun);
// "12.3 %"; empty for no whole
std::string ShareText(uint64_t part, uint64_t whole);
// "1.5 MB": powers of 1,000
std::string SizeText(int64_t bytes);

}  // namespace delenda::cli
