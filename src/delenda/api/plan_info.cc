#include "delenda/api/plan_info.h"

namespace delenda {
namespace api {
namespace {

std::string PartitionOf(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  const auto spec = specs.find(file.spec_id);
  if (spec == specs.end() || file.partition->values.empty()) return {};
  return PartitionText(spec->second, *file.partition);
}

DeleteInfo::Kind KindOf(const ContentFile& file) {
  if (file.IsDeletionVector()) return DeleteInfo::Kind::kDeletionVector;
  return file.content == FileContent::kEqualityDeletes ? DeleteInfo::Kind::kEqualityDeletes
                                                       : DeleteInfo::Kind::kPositionDeletes;
}

}  // namespace

DeleteInfo ToDeleteInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  return {.kind = KindOf(file),
          .format = std::string(FileFormatName(file.format)),
          .path = file.path,
          .content_offset = file.content_offset,
          .content_size = file.content_size,
          .file_size = file.file_size,
          .record_count = file.record_count,
          .referenced_data_file = file.referenced_data_file,
          .equality_ids = file.equality_ids,
          .spec_id = file.spec_id,
          .partition = PartitionOf(file, specs),
          .data_sequence_number = file.data_sequence_number,
          .file_sequence_number = file.file_sequence_number};
}

DataFileInfo ToDataFileInfo(const ContentFile& file, const std::map<int32_t, BoundSpec>& specs) {
  DataFileInfo info;
  info.path = file.path;
  info.format = FileFormatName(file.format);
  info.record_count = file.record_count;
  info.file_size = file.file_size;
  info.length = static_cast<uint64_t>(file.file_size);
  info.spec_id = file.spec_id;
  info.partition = PartitionOf(file, specs);
  info.data_sequence_number = file.data_sequence_number;
  info.file_sequence_number = file.file_sequence_number;
  info.first_row_id = file.first_row_id;
  return info;
}

PlanInfo ToPlanInfo(const plan::ScanPlan& plan) {
  PlanInfo info;
  info.snapshot_id = plan.snapshot_id;
  info.schema_id = plan.schema.id();
  info.deletes.reserve(plan.deletes.size());
  for (const auto& file : plan.deletes) info.deletes.push_back(ToDeleteInfo(file, plan.specs));
  info.files.reserve(plan.tasks.size());
  for (const auto& task : plan.tasks) {
    DataFileInfo file = ToDataFileInfo(task.file, plan.specs);
    file.start = task.start;
    file.length = task.length;
    file.dv = task.dv;
    file.position_deletes = task.position_deletes;
    file.equality_deletes = task.equality_deletes;
    if (task.residual->op != Op::kTrue) file.residual = task.residual->ToString();
    info.files.push_back(std::move(file));
  }
  info.data_manifests = plan.metrics.data_manifests;
  info.data_manifests_read = plan.metrics.data_manifests_read;
  info.delete_manifests = plan.metrics.delete_manifests;
  info.delete_manifests_read = plan.metrics.delete_manifests_read;
  info.files_live = plan.metrics.data_files_live;
  info.files_pruned = plan.metrics.data_files_pruned;
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
