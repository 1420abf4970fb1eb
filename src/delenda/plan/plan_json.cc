#include "delenda/plan/plan_json.h"

#include "delenda/formats/json/writer.h"
#include "delenda/model/expression.h"

namespace delenda::plan {
namespace {

std::string_view ContentKeyword(const ContentFile& file) {
  if (file.IsDeletionVector()) return "deletion-vector";
  switch (file.content) {
    case FileContent::kPositionDeletes: return "position-deletes";
    case FileContent::kEqualityDeletes: return "equality-deletes";
    case FileContent::kData: break;
  }
  return "data";
}

void WriteIndexes(json::Writer& json, std::string_view key, const std::vector<uint32_t>& indexes) {
  if (indexes.empty()) return;
  json.Key(key).BeginArray();
  for (const uint32_t index : indexes) json.Uint(index);
  json.EndArray();
}

// What data files and delete files have in common.
void WriteFile(json::Writer& json, const ScanPlan& plan, const ContentFile& file) {
  json.Member("path", file.path)
      .Member("format", FileFormatName(file.format))
      .Member("file-size", file.file_size)
      .Member("record-count", file.record_count)
      .Member("spec-id", file.spec_id);
  const auto spec = plan.specs.find(file.spec_id);
  if (spec != plan.specs.end() && !file.partition->values.empty()) {
    json.Member("partition", PartitionText(spec->second, *file.partition));
    json.Key("partition-values").BeginArray();
    for (size_t i = 0; i < file.partition->values.size(); ++i) {
      const Datum& value = file.partition->values[i];
      if (IsNull(value) || i >= spec->second.result_types.size()) json.Null();
      else json.String(DatumToText(spec->second.result_types[i], value));
    }
    json.EndArray();
  }
  json.Member("sequence-number", file.data_sequence_number).Member("file-sequence-number", file.file_sequence_number);
}

void WriteDelete(json::Writer& json, const ScanPlan& plan, const ContentFile& file) {
  json.BeginObject().Member("content", ContentKeyword(file));
  WriteFile(json, plan, file);
  if (file.content_offset) json.Member("content-offset", *file.content_offset);
  if (file.content_size) json.Member("content-size", *file.content_size);
  if (file.referenced_data_file) json.Member("referenced-data-file", *file.referenced_data_file);
  if (!file.equality_ids.empty()) {
    json.Key("equality-ids").BeginArray();
    for (const int32_t id : file.equality_ids) json.Int(id);
    json.EndArray();
  }
  json.EndObject();
}

void WriteTask(json::Writer& json, const ScanPlan& plan, const FileTask& task) {
  json.BeginObject();
  WriteFile(json, plan, task.file);
  json.Member("start", task.start).Member("length", task.length);
  if (task.file.first_row_id) json.Member("first-row-id", *task.file.first_row_id);
  if (task.dv) json.Member("deletion-vector", *task.dv);
  WriteIndexes(json, "position-deletes", task.position_deletes);
  WriteIndexes(json, "equality-deletes", task.equality_deletes);
  if (task.residual->op != Op::kTrue) json.Member("residual", task.residual->ToString());
  json.EndObject();
}

void WriteMetrics(json::Writer& json, const PlanMetrics& metrics) {
  json.Key("metrics")
      .BeginObject()
      .Member("data-manifests", metrics.data_manifests)
      .Member("data-manifests-read", metrics.data_manifests_read)
      .Member("delete-manifests", metrics.delete_manifests)
      .Member("delete-manifests-read", metrics.delete_manifests_read)
      .Member("data-files", metrics.data_files_live)
      .Member("data-files-pruned", metrics.data_files_pruned)
      .Member("delete-files", metrics.delete_files_live)
      .EndObject();
}

}  // namespace

std::string PlanToJson(const ScanPlan& plan) {
  json::Writer json(json::Writer::Style::kPretty);
  json.BeginObject().Key("snapshot-id");
  if (plan.snapshot_id) json.Int(*plan.snapshot_id);
  else json.Null();
  json.Member("schema-id", plan.schema.id()).Key("columns").BeginArray();
  for (const auto& column : plan.columns) json.String(column.field.name);
  json.EndArray();
  if (plan.filter && plan.filter->op != Op::kTrue) json.Member("filter", plan.filter->ToString());
  json.Key("delete-files").BeginArray();
  for (const auto& file : plan.deletes) WriteDelete(json, plan, file);
  json.EndArray().Key("data-files").BeginArray();
  for (const auto& task : plan.tasks) WriteTask(json, plan, task);
  json.EndArray();
  WriteMetrics(json, plan.metrics);
  json.EndObject();
  return std::move(json).Finish();
}

}  // namespace delenda::plan
