#include "cli/listing.h"

#include <fmt/format.h>

namespace delenda::cli {

std::string JsonText(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<void> Listing::Print(OutputFormat format, Output& out) const {
  std::string text;
  switch (format) {
    case OutputFormat::kLines:
      for (const auto& row : rows) text += JsonText(row.second);
      break;
    case OutputFormat::kDocument: {
      Json document = totals;
      Json& list = document[name] = Json::array();
      for (const auto& row : rows) list.push_back(row.second);
      text = JsonText(document, 2);
      break;
    }
    case OutputFormat::kTable: {
      const auto collect = [&text](std::string_view piece) -> Result<void> {
        text += piece;
        return {};
      };
      // Without a terminal nothing needs to be cut.
      const size_t width = out.Width();
      const TextTable::Options options = {.width = width, .max_cell = width > 0 ? width : SIZE_MAX};
      TextTable table(columns, options, collect);
      for (const auto& row : rows) static_cast<void>(table.AddRow(row.first));
      static_cast<void>(table.Finish());
      text += summary;
      break;
    }
    case OutputFormat::kCsv:
    case OutputFormat::kArrow:
    case OutputFormat::kParquet:
    case OutputFormat::kDebezium: return std::unexpected(Error(ErrorKind::kInternal, "a listing in a format of rows"));
  }
  return out.Write(text);
}

std::string Plural(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string ShareText(uint64_t part, uint64_t whole) {
  if (whole == 0) return {};
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string SizeText(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace delenda::cli
