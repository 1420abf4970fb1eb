#include "delenda/ops/key_positions.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "delenda/ops/changed_files.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {

Result<std::vector<KeyPositions>> ScanKeyPositionResolver::Resolve(const commit::TableSession& session,
                                                                   const KeyQuery& query) const {
  std::vector<KeyPositions> positions;
  if (query.keys->size() == 0) return positions;
  const auto planned = DELENDA_TRY(session.Plan(
      query.branch,
      {.select = {"_file", "_pos"}, .select_all = false, .keys = query.keys->sorted(), .partition = query.partition}));
  auto reading = std::make_shared<plan::ScanPlan>(*planned);
  if (query.sequence_numbers) {
    const int64_t highest = std::ranges::max(*query.sequence_numbers);
    std::erase_if(reading->tasks,
                  [&](const plan::FileTask& task) { return task.file.data_sequence_number >= highest; });
  }
  for (plan::FileTask& task : reading->tasks) {
    if (!task.position_deletes.empty() && !query.allows_position_deletes) {
      return ValidationFailed(
          "data file {} has position delete files: turn them into deletion vectors first (delenda convert "
          "--position-deletes)",
          task.file.path);
    }
    // They stay attached, and readers go on to apply them beside the vector.
    task.equality_deletes.clear();
  }
  if (reading->tasks.empty()) return positions;
  const auto stream = DELENDA_TRY(read::OpenScan(reading, session.io(),
                                                 {.threads = session.executor().threads(),
                                                  .keys = query.keys,
                                                  .key_sequence_numbers = query.sequence_numbers,
                                                  .hooks = session.hooks()}));
  ChangedFiles found(*reading);
  while (const auto batch = DELENDA_TRY(stream->Next())) {
    DELENDA_TRY(found.Add(static_cast<const arrow::StringArray&>(*batch->column(0)),
                          static_cast<const arrow::Int64Array&>(*batch->column(1))));
  }
  std::map<std::string_view, uint32_t> vector_of;
  for (const plan::FileTask& task : reading->tasks) {
    if (task.dv) vector_of.emplace(task.file.path, *task.dv);
  }
  for (auto& file : DELENDA_TRY(found.Deletes(session))) {
    KeyPositions& one = positions.emplace_back();
    if (const auto at = vector_of.find(file.file.path); at != vector_of.end())
      one.vector = reading->deletes[at->second];
    one.found = file.deleted.Difference(file.before);
    one.before = std::move(file.before);
    one.data_file = std::move(file.file);
  }
  return positions;
}

}  // namespace delenda::ops
