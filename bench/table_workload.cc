// One request to a table, timed: what a benchmark harness runs beside other engines. One process a request, so that its
// wall time holds the start of the process, and its peak memory belongs to the request alone.
//
//   table_workload --table DIR --output arrow|count|count_sum|plan|changes|changes_raw [--columns a,b|*]
//                  [--filter column:low:high] [--threads N]
//
// arrow: makes every Arrow batch and drops it; count: Table::Count; count_sum: reads the first column and adds it up;
// plan: Table::Plan; changes: Table::Changes from the first snapshot on, raw or with updates paired. Last line:
// {"rows": N, "sum": S, "wall_s": T}, S for count_sum and plan only; rows of `plan` are data files, its sum the delete
// files attached to them. T begins before the table is opened.
#include <delenda/changes.h>
#include <delenda/table.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct Answer {
  uint64_t rows = 0;
  std::optional<int64_t> sum = std::nullopt;
  std::optional<delenda::PlanInfo> plan = std::nullopt;  // outlives the clock: the caller would keep it
};

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "table_workload: %s\n", message.c_str());
  std::exit(1);
}

template <typename T>
T OrFail(delenda::Result<T> result) {
  if (!result) Fail(result.error().ToString());
  return *std::move(result);
}

std::string Literal(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return std::string(text);
  return "'" + std::string(text) + "'";
}

// "id:10:20" → "id >= 10 AND id <= 20"; empty stays empty.
std::string Where(std::string_view filter) {
  if (filter.empty()) return {};
  const size_t first = filter.find(':'), second = filter.find(':', first + 1);
  if (second == std::string_view::npos) Fail("a filter is column:low:high");
  const std::string column(filter.substr(0, first));
  return column + " >= " + Literal(filter.substr(first + 1, second - first - 1)) + " AND " + column +
         " <= " + Literal(filter.substr(second + 1));
}

std::optional<std::vector<std::string>> Columns(std::string_view text) {
  if (text.empty() || text == "*") return std::nullopt;
  std::vector<std::string> columns;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    columns.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return columns;
}

// Adds up column 0, 64-bit integers without NULL.
Answer ReadRows(delenda::RowStream rows, bool add_up) {
  Answer answer;
  int64_t sum = 0;
  ArrowArray batch;
  while (OrFail(rows.Next(&batch))) {
    answer.rows += static_cast<uint64_t>(batch.length);
    if (add_up) {
      const ArrowArray& column = *batch.children[0];
      const int64_t* values = static_cast<const int64_t*>(column.buffers[1]) + column.offset;
      for (int64_t i = 0; i < column.length; ++i) sum += values[i];
    }
    batch.release(&batch);
  }
  if (add_up) answer.sum = sum;
  return answer;
}

Answer Ask(const delenda::Table& table, const std::string& output, delenda::ScanOptions options) {
  if (output == "arrow") return ReadRows(OrFail(table.Scan(options)), false);
  if (output == "count") {
    options.columns.reset();
    return {.rows = OrFail(table.Count(options)).rows};
  }
  if (output == "changes" || output == "changes_raw") {
    delenda::ChangeReadOptions changes;
    changes.raw = output == "changes_raw";
    if (changes.raw) changes.updates = delenda::ChangeUpdates::kNone;
    return ReadRows(OrFail(table.Changes(changes)), false);
  }
  if (output == "count_sum") {
    options.columns = {{"id"}};
    return ReadRows(OrFail(table.Scan(options)), true);
  }
  if (output != "plan") Fail("unknown output " + output);
  Answer answer{.rows = 0, .sum = 0, .plan = OrFail(table.Plan(options))};
  answer.rows = answer.plan->files.size();
  for (const delenda::DataFileInfo& file : answer.plan->files)
    *answer.sum +=
        static_cast<int64_t>(file.dv.has_value() + file.position_deletes.size() + file.equality_deletes.size());
  return answer;
}

}  // namespace

int main(int count, char** arguments) {
  std::map<std::string_view, std::string> given;
  if (count % 2 == 0) Fail("arguments come in pairs: --name value");
  for (int i = 1; i + 1 < count; i += 2) given[arguments[i]] = arguments[i + 1];

  const auto begin = std::chrono::steady_clock::now();
  delenda::OpenOptions open;
  if (const std::string& threads = given["--threads"]; !threads.empty()) open.threads = std::stoul(threads);
  const delenda::Table table = OrFail(delenda::Table::Open(given["--table"], std::move(open)));
  const Answer answer =
      Ask(table, given["--output"], {.columns = Columns(given["--columns"]), .where = Where(given["--filter"])});
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  std::printf("{\"rows\": %llu, ", static_cast<unsigned long long>(answer.rows));
  if (answer.sum) std::printf("\"sum\": %lld, ", static_cast<long long>(*answer.sum));
  std::printf("\"wall_s\": %.7f}\n", wall.count());
  return 0;
}
