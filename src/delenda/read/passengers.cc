// Tasks of changes that come back to a data file: what of them is read along with an earlier one, and which files stay
// open in between.
#include <string_view>
#include <unordered_map>
#include <utility>

#include "delenda/read/mapped_schema.h"
#include "delenda/read/task_reader.h"

namespace delenda::read {

// Tasks that read the same file by positions alone know the next one: its rows may be read along. Whatever may differ
// between two entries of a file must not differ here.
void ScanContext::LinkTasksOfFiles() {
  std::unordered_map<std::string_view, size_t> last;  // by path
  for (size_t i = 0; i < changes_.size(); ++i) {
    const plan::FileTask& task = plan_->tasks[i];
    const DataFileCell& cell = files_[i];
    if (!cell.key_tables.empty() || !cell.only_key_tables.empty()) continue;
    const auto [at, is_first] = last.try_emplace(task.file.path, i);
    if (is_first) continue;
    const ContentFile& before = plan_->tasks[at->second].file;
    const bool same_partition = before.partition == task.file.partition ||
                                (before.partition && task.file.partition && *before.partition == *task.file.partition);
    if (cell.only && before.file_size == task.file.file_size && before.record_count == task.file.record_count &&
        before.spec_id == task.file.spec_id && same_partition) {
      files_[at->second].next = i;
    }
    at->second = i;
  }
}

std::vector<ScanContext::Passenger> ScanContext::PassengersOf(const OpenTask& task, const parquet::RowGroup& group) {
  constexpr size_t kMost = 64;
  std::vector<Passenger> passengers;
  // Another file than the manifest tells of: its tasks say so one by one.
  if (task.data->file->num_rows() != plan_->tasks[task.index].file.record_count) return passengers;
  const uint64_t end = group.first_position + static_cast<uint64_t>(group.num_rows);
  std::optional<size_t> next = files_[file_of_task_[task.index]].next;
  for (size_t looked_at = 0; next && looked_at < kMost; ++looked_at) {
    const DataFileCell& cell = files_[file_of_task_[*next]];
    if (!taken_along_.Reserve(kPassengerBytes)) break;
    auto positions = PositionsOf(cell);
    if (positions && *positions && (*positions)->only &&
        (*positions)->only->CountInRange(group.first_position, end) > 0) {
      passengers.push_back({*next, *std::move(positions)});
    } else {
      taken_along_.Release(kPassengerBytes);
    }
    if (!positions) break;  // what is wrong with it is told when its turn comes, after the rows before it
    next = cell.next;
  }
  return passengers;
}

Result<std::shared_ptr<const parquet::ParquetFile>> ScanContext::OpenFile(const ContentFile& file) {
  constexpr size_t kMostOpen = 64;
  const auto size = static_cast<uint64_t>(file.file_size);
  if (!changes_.empty()) {
    std::lock_guard lock(mutex_);
    for (auto at = recent_files_.begin(); at != recent_files_.end(); ++at) {
      if ((*at)->path() != file.path) continue;
      recent_files_.splice(recent_files_.begin(), recent_files_, at);
      return recent_files_.front();
    }
  }
  ++files_opened_;
  std::shared_ptr<io::InputFile> input = DELENDA_TRY(io_->Open(file.path, size));
  auto opened = DELENDA_TRY(parquet::ParquetFile::Open(std::move(input), size, AssignIdsBy(plan_->name_mapping)));
  if (!changes_.empty()) {
    std::lock_guard lock(mutex_);
    recent_files_.push_front(opened);
    if (recent_files_.size() > kMostOpen) recent_files_.pop_back();
  }
  return opened;
}

}  // namespace delenda::read
