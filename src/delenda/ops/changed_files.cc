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
    if (whole_.contains(task.file.path) || positions_.contains(task.file.path))
      needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
  }
  const auto loader = DELENDA_TRY(read::DeleteLoader::Make(plan_, needs, session.io(), false, session.hooks()));
  std::vector<commit::FileDelete> deletes;
  for (const auto& need : needs) {
    commit::FileDelete one{.file = *need.file, .before = {}, .deleted = {}};
    one.before = DELENDA_TRY(loader->Load(need));
    const auto records = static_cast<uint64_t>(one.file.record_count);
    one.deleted = whole_.contains(one.file.path) ? DELENDA_TRY(PositionSet::FromRange(0, records))
                      : one.before.Union(
                            DELENDA_TRY(PositionSet::FromPositions(positions_.find(one.file.path)->second)));
                      if (one.deleted == one.before) continue;
                      ++(one.deleted.cardinality() == records ? change.files_dropped : change.files_changed);
                      deletes.push_back(std::move(one));
  }
  return deletes;
}

}  // namespace delenda::ops
