#include "delenda/api/plan_info.h"

#include <unordered_map>
#include <utility>

#include "delenda/base/large_pages.h"

namespace delenda {
namespace api {
namespace {

std::string PartitionOf(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  const auto spec = specs.find(file.spec_id);
  if (spec == specs.end() || file.partition->values.empty()) return {};
  return PartitionText(spec->second, *file.partition);
}

// The texts of partitions and filters, each made once: files of one partition share their tuple and their residual.
class SharedTexts {
 public:
  explicit SharedTexts(const std::map<int32_t, BoundSpec>& specs) : specs_(specs) {}

  const std::string& Partition(const ContentFile& file) {
    if (file.partition.get() == last_tuple_ && file.spec_id == last_spec_) return *last_text_;
    const auto [text, is_new] = partitions_[file.spec_id].try_emplace(file.partition.get());
    if (is_new) text->second = PartitionOf(file, specs_);
    last_tuple_ = file.partition.get();
    last_spec_ = file.spec_id;
    last_text_ = &text->second;
    return *last_text_;
  }

  const std::string& Filter(const Expr& filter) {
    const auto [text, is_new] = filters_.try_emplace(&filter);
    if (is_new && filter.op != Op::kTrue) text->second = filter.ToString();
    return text->second;
  }

 private:
  const std::map<int32_t, BoundSpec>& specs_;
  std::map<int32_t, std::unordered_map<const PartitionTuple*, std::string>> partitions_;
  std::unordered_map<const Expr*, std::string> filters_;
  const PartitionTuple* last_tuple_ = nullptr;
  int32_t last_spec_ = 0;
  const std::string* last_text_ = nullptr;
};

DeleteInfo::Kind KindOf(const ContentFile& file) {
  if (file.IsDeletionVector()) return DeleteInfo::Kind::kDeletionVector;
  return file.content == FileContent::kEqualityDeletes ? DeleteInfo::Kind::kEqualityDeletes
                                                       : DeleteInfo::Kind::kPositionDeletes;
}

DeleteInfo MakeDeleteInfo(ContentFile file, std::string partition) {
  return {.kind = KindOf(file),
          .format = std::string(FileFormatName(file.format)),
          .path = std::move(file.path),
          .content_offset = file.content_offset,
          .content_size = file.content_size,
          .file_size = file.file_size,
          .record_count = file.record_count,
          .referenced_data_file = std::move(file.referenced_data_file),
          .equality_ids = std::move(file.equality_ids),
          .spec_id = file.spec_id,
          .partition = std::move(partition),
          .data_sequence_number = file.data_sequence_number,
          .file_sequence_number = file.file_sequence_number};
}

DataFileInfo MakeDataFileInfo(const ContentFile& file, std::string path, std::string partition) {
  return {.path = std::move(path),
          .format = std::string(FileFormatName(file.format)),
          .record_count = file.record_count,
          .file_size = file.file_size,
          .length = static_cast<uint64_t>(file.file_size),
          .spec_id = file.spec_id,
          .partition = std::move(partition),
          .data_sequence_number = file.data_sequence_number,
          .file_sequence_number = file.file_sequence_number,
          .first_row_id = file.first_row_id};
}

// All but the files, for which there is room.
PlanInfo StartPlanInfo(const plan::ScanPlan& plan) {
  PlanInfo info;
  info.snapshot_id = plan.snapshot_id;
  info.schema_id = plan.schema.id();
  ReserveLarge(info.deletes, plan.deletes.size());
  info.deletes.resize(plan.deletes.size());
  ReserveLarge(info.files, plan.tasks.size());
  info.files.resize(plan.tasks.size());
  info.data_manifests = plan.metrics.data_manifests;
  info.data_manifests_read = plan.metrics.data_manifests_read;
  info.delete_manifests = plan.metrics.delete_manifests;
  info.delete_manifests_read = plan.metrics.delete_manifests_read;
  info.files_live = plan.metrics.data_files_live;
  info.files_pruned = plan.metrics.data_files_pruned;
  return info;
}

// One of so many pieces of the plan's files: a range of the deletes and one of the tasks.
void MoveFiles(plan::ScanPlan& plan, size_t piece, size_t pieces, PlanInfo& info) {
  SharedTexts texts(plan.specs);
  const auto range = [&](size_t count) { return std::pair(count * piece / pieces, count * (piece + 1) / pieces); };
  for (auto [i, end] = range(plan.deletes.size()); i < end; ++i) {
    ContentFile& file = plan.deletes[i];
    const std::string& partition = texts.Partition(file);
    info.deletes[i] = MakeDeleteInfo(std::move(file), partition);
  }
  for (auto [i, end] = range(plan.tasks.size()); i < end; ++i) {
    plan::FileTask& task = plan.tasks[i];
    DataFileInfo& file = info.files[i];
    file = MakeDataFileInfo(task.file, std::move(task.file.path), texts.Partition(task.file));
    file.start = task.start;
    file.length = task.length;
    file.dv = task.dv;
    file.position_deletes = std::move(task.position_deletes);
    file.equality_deletes = std::move(task.equality_deletes);
    file.residual = texts.Filter(*task.residual);
  }
}

}  // namespace

DeleteInfo ToDeleteInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  return MakeDeleteInfo(file, PartitionOf(file, specs));
}

DataFileInfo ToDataFileInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  return MakeDataFileInfo(file, file.path, PartitionOf(file, specs));
}

PlanInfo ToPlanInfo(plan::ScanPlan plan) {
  PlanInfo info = StartPlanInfo(plan);
  MoveFiles(plan, 0, 1, info);
  return info;
}

Result<PlanInfo> ToPlanInfo(plan::ScanPlan& plan, Executor& executor) {
  constexpr size_t kFilesPerPiece = 4096;
  PlanInfo info = StartPlanInfo(plan);
  const size_t pieces = 1 + (plan.tasks.size() + plan.deletes.size()) / kFilesPerPiece;
  DELENDA_TRY(executor.ParallelFor(pieces, [&](size_t piece) -> Result<void> {
    MoveFiles(plan, piece, pieces, info);
    return {};
  }));
  return info;
}

}  // namespace api

std::optional<uint64_t> DataFileInfo::DeletedRows(const std::vector<DeleteInfo>& deletes) const {
  if (!position_deletes.empty() || !equality_deletes.empty()) return std::nullopt;
  if (!dv) return 0;
  if (*dv >= deletes.size() || deletes[*dv].record_count < 0) return std::nullopt;
  return static_cast<uint64_t>(deletes[*dv].record_count);
}

}  // namespace delenda
