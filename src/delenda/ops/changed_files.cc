#include "delenda/ops/changed_files.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <string_view>
#include <utility>

#include "delenda/commit/upgrade.h"
#include "delenda/read/delete_loader.h"

namespace delenda::ops {
namespace {

// Positions that are held as they came: 32 MiB. A row takes 8 bytes there, and a bit or two in a set.
constexpr size_t kMostLoose = size_t{4} << 20;

}  // namespace

Result<void> CheckDeletes(const commit::TableSession& session, const std::string& branch) {
  DELENDA_TRY(session.CheckBranch(branch));
  if (!session.head(branch)) return {};
  return commit::CheckTakesDeletes(session.format_version());
}

Result<void> ChangedFiles::Add(const arrow::RecordBatch& rows, int first) {
  const auto& files = static_cast<const arrow::StringArray&>(*rows.column(first));
  const auto& positions = static_cast<const arrow::Int64Array&>(*rows.column(first + 1));
  std::vector<uint64_t>* of_file = nullptr;
  std::string_view path;
  for (int64_t i = 0; i < files.length(); ++i) {
    // Rows of one file mostly come together.
    if (of_file == nullptr || files.GetView(i) != path) {
      path = files.GetView(i);
      auto found = rows_.find(path);
      if (found == rows_.end()) found = rows_.emplace(path, Rows()).first;
      of_file = &found->second.loose;
    }
    of_file->push_back(static_cast<uint64_t>(positions.Value(i)));
  }
  loose_ += static_cast<size_t>(files.length());
  return loose_ < kMostLoose ? Result<void>() : Pack();
}

void ChangedFiles::Add(const std::string& file, const PositionSet& positions) {
  PositionSet& packed = rows_[file].packed;
  packed = packed.Union(positions);
}

Result<void> ChangedFiles::Pack() {
  for (auto& [path, rows] : rows_) {
    if (rows.loose.empty()) continue;
    const auto more = DELENDA_TRY(WithContext(PositionSet::FromPositions(rows.loose), "file", path));
    rows.packed = rows.packed.empty() ? more : rows.packed.Union(more);
    std::vector<uint64_t>().swap(rows.loose);
  }
  loose_ = 0;
  return {};
}

Result<std::vector<commit::FileDelete>> ChangedFiles::Deletes(const commit::TableSession& session) {
  DELENDA_TRY(Pack());
  std::vector<read::DeleteLoader::Need> needs;
  for (const plan::FileTask& task : plan_.tasks) {
    if (whole_.contains(task.file.path) || rows_.contains(task.file.path))
      needs.push_back({.file = &task.file, .dv = task.dv, .position_deletes = task.position_deletes});
  }
  const auto loader = DELENDA_TRY(read::DeleteLoader::Make(plan_, needs, session.io(), false, session.hooks()));
  std::vector<commit::FileDelete> deletes;
  for (const auto& need : needs) {
    commit::FileDelete one{.file = *need.file, .before = {}, .deleted = {}};
    one.before = DELENDA_TRY(loader->Load(need));
    if (whole_.contains(one.file.path)) {
      one.deleted = DELENDA_TRY(PositionSet::FromRange(0, static_cast<uint64_t>(one.file.record_count)));
    } else {
      one.deleted = one.before.Union(rows_.find(one.file.path)->second.packed);
    }
    if (!(one.deleted == one.before)) deletes.push_back(std::move(one));
  }
  return deletes;
}

Result<std::vector<commit::ReadRows>> ChangedFiles::Read() {
  DELENDA_TRY(Pack());
  std::vector<commit::ReadRows> read;
  for (const plan::FileTask& task : plan_.tasks) {
    if (const auto rows = rows_.find(task.file.path); rows != rows_.end())
      read.push_back({.file = task.file, .positions = rows->second.packed});
  }
  return read;
}

void JoinedDeletes::Add(std::vector<commit::FileDelete> deletes) {
  for (auto& one : deletes) {
    const auto found = by_path_.find(one.file.path);
    if (found == by_path_.end()) {
      std::string path = one.file.path;
      by_path_.emplace(std::move(path), std::move(one));
    } else {
      found->second.deleted = found->second.deleted.Union(one.deleted);
    }
  }
}

std::vector<commit::FileDelete> JoinedDeletes::Take() {
  std::vector<commit::FileDelete> deletes;
  for (auto& [path, one] : by_path_) deletes.push_back(std::move(one));
  by_path_.clear();
  return deletes;
}

uint64_t DeletedRows(const std::vector<commit::FileDelete>& deletes) {
  uint64_t rows = 0;
  for (const auto& one : deletes) rows += one.deleted.cardinality() - one.before.cardinality();
  return rows;
}

void CountChanged(const std::vector<commit::FileDelete>& deletes, RowChange& change) {
  for (const auto& one : deletes) {
    const bool is_dropped = one.deleted.cardinality() == static_cast<uint64_t>(one.file.record_count);
    ++(is_dropped ? change.files_dropped : change.files_changed);
  }
}

}  // namespace delenda::ops
