#include "delenda/ops/changed_files.h"

#include <arrow/array.h>

#include <string_view>
#include <utility>

#include "delenda/read/delete_loader.h"

namespace delenda::ops {

Result<void> CheckDeletes(const commit::TableSession& session, const std::string& branch) {
  if (session.format_version() >= 3 || !session.head(branch)) return {};
  return NotSupported("deletion vectors need format version 3, the table has {}: upgrade it first",
                      session.format_version());
}

void ChangedFiles::Add(const arrow::StringArray& files, const arrow::Int64Array& positions) {
  std::vector<uint64_t>* of_file = nullptr;
  std::string_view path;
  for (int64_t i = 0; i < files.length(); ++i) {
    // Rows of one file mostly come together.
    if (of_file == nullptr || files.GetView(i) != path) {
      path = files.GetView(i);
      auto found = positions_.find(path);
      if (found == positions_.end()) found = positions_.emplace(path, std::vector<uint64_t>()).first;
      of_file = &found->second;
    }
    of_file->push_back(static_cast<uint64_t>(positions.Value(i)));
  }
}

Result<std::vector<commit::FileDelete>> ChangedFiles::Deletes(const commit::TableSession& session,
                                                              RowChange& change) const {
  std::vector<read::DeleteLoader::Need> needs;
  for (const plan::FileTask& task : plan_.tasks) {
    if (positions_.contains(task.file.path))
      needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
  }
  const auto loader = DELENDA_TRY(read::DeleteLoader::Make(plan_, needs, session.io(), false, session.hooks()));
  std::vector<commit::FileDelete> deletes;
  for (const auto& need : needs) {
    commit::FileDelete& one = deletes.emplace_back();
    one.file = *need.file;
    one.before = DELENDA_TRY(loader->Load(need));
    one.deleted = one.before.Union(DELENDA_TRY(PositionSet::FromPositions(positions_.find(one.file.path)->second)));
    const bool drops = one.deleted.cardinality() == static_cast<uint64_t>(one.file.record_count);
    ++(drops ? change.files_dropped : change.files_changed);
  }
  return deletes;
}

}  // namespace delenda::ops
