#include "delenda/ops/match_rows.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <map>
#include <memory>
#include <utility>

#include "delenda/plan/scan_task.h"
#include "delenda/read/delete_loader.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

// Every row that no vector deletes matches. (Which rows equality deletes cover only reading tells.)
bool IsWholeFile(const plan::FileTask& task) { return task.residual->op == Op::kTrue && task.equality_deletes.empty(); }

// Positions of the rows that a scan of `plan` gives, by path; its columns are _file and _pos.
Result<std::map<std::string, std::vector<uint64_t>>> ReadPositions(std::shared_ptr<const plan::ScanPlan> plan,
                                                                   const commit::TableSession& session) {
  std::map<std::string, std::vector<uint64_t>> positions;
  const auto stream = DELENDA_TRY(read::OpenScan(std::move(plan), session.io(),
                                                 {.threads = session.executor().threads(), .hooks = session.hooks()}));
  while (const auto batch = DELENDA_TRY(stream->Next())) {
    // A batch holds rows of one file.
    const auto& files = static_cast<const arrow::StringArray&>(*batch->column(0));
    const auto& rows = static_cast<const arrow::Int64Array&>(*batch->column(1));
    auto& of_file = positions[std::string(files.GetView(0))];
    for (int64_t i = 0; i < rows.length(); ++i) of_file.push_back(static_cast<uint64_t>(rows.Value(i)));
  }
  return positions;
}

}  // namespace

Result<MatchedRows> MatchRows(const commit::TableSession& session, const std::string& branch,
                              const std::string& where) {
  const auto plan =
      DELENDA_TRY(session.Plan(branch, {.select = {"_file", "_pos"}, .select_all = false, .where = where}));
  MatchedRows result;
  result.filter = plan->filter;
  auto reading = std::make_shared<plan::ScanPlan>(*plan);
  std::erase_if(reading->tasks, IsWholeFile);
  std::map<std::string, std::vector<uint64_t>> positions;
  if (!reading->tasks.empty()) positions = DELENDA_TRY(ReadPositions(std::move(reading), session));

  std::vector<read::DeleteLoader::Need> needs;
  for (const plan::FileTask& task : plan->tasks)
    needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
  const auto loader = DELENDA_TRY(read::DeleteLoader::Make(*plan, needs, session.io(), false, session.hooks()));
  for (size_t i = 0; i < needs.size(); ++i) {
    const plan::FileTask& task = plan->tasks[i];
    MatchedFile matched{.file = task.file, .before = {}, .matched = {}};
    matched.before = DELENDA_TRY(loader->Load(needs[i]));
    if (IsWholeFile(task)) {
      const auto all = DELENDA_TRY(PositionSet::FromRange(0, static_cast<uint64_t>(task.file.record_count)));
      matched.matched = all.Difference(matched.before);
      ++result.files_by_metadata;
    } else {
      matched.matched = DELENDA_TRY(PositionSet::FromPositions(positions[task.file.path]));
    }
    if (matched.matched.empty()) continue;
    result.rows += matched.matched.cardinality();
    result.files.push_back(std::move(matched));
  }
  return result;
}

}  // namespace delenda::ops
