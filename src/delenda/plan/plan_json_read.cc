// Reading plans back.
#include <fmt/format.h>

#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "delenda/formats/json/json.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/plan/plan_json.h"
#include "delenda/plan/plan_json_names.h"

namespace delenda::plan {
namespace {

using json::Value;

class PlanReader {
 public:
  Result<ScanPlan> Read(const Value& root) {
    const auto version = DELENDA_TRY(root.Get<int64_t>("version"));
    if (version != kPlanJsonVersion) {
      return NotSupported("a plan of version {}: this delenda reads version {}", version, kPlanJsonVersion);
    }
    const Value snapshot = DELENDA_TRY(root.Member("snapshotId"));
    if (!snapshot.is_null()) plan_.snapshot_id = DELENDA_TRY(snapshot.As<int64_t>());
    plan_.schema = DELENDA_TRY(iceberg::SchemaFromJson(DELENDA_TRY(root.Member("schema"))));
    for (const auto column : DELENDA_TRY(root.Get<json::Array>("columns")))
      plan_.columns.push_back(DELENDA_TRY(ReadColumn(column)));
    plan_.filter = DELENDA_TRY(ReadFilter(DELENDA_TRY(root.Member("filter"))));
    for (const auto spec : DELENDA_TRY(root.Get<json::Array>("partitionSpecs"))) DELENDA_TRY(ReadSpec(spec));
    for (const auto key : DELENDA_TRY(root.Get<json::Array>("keyFields"))) DELENDA_TRY(ReadKeyField(key));
    for (const auto file : DELENDA_TRY(root.Get<json::Array>("deleteFiles")))
      plan_.deletes.push_back(DELENDA_TRY(ReadDelete(file)));
    for (const auto file : DELENDA_TRY(root.Get<json::Array>("dataFiles")))
      plan_.tasks.push_back(DELENDA_TRY(ReadTask(file)));
    DELENDA_TRY(ReadMetrics(root));
    return std::move(plan_);
  }

 private:
  Result<OutputColumn> ReadColumn(const Value& value) const {
    OutputColumn column;
    const auto kind = DELENDA_TRY(value.Get<std::string_view>("kind"));
    if (kind == names::kField) {
      const auto id = DELENDA_TRY(value.Get<int32_t>("id"));
      for (const Field& field : plan_.schema.fields()) {
        if (field.id != id) continue;
        column.field = field;
        return column;
      }
      return value.Fail(fmt::format("the schema has no top-level field {}", id));
    }
    for (const auto& [known, name] : names::kMetadataColumns) {
      if (name != kind) continue;
      column.kind = known;
      column.field = DELENDA_TRY(ReadField(value));
      return column;
    }
    return NotSupported("{}: columns of kind '{}' are not known to this version", value.Path(), kind);
  }

  static Result<Field> ReadField(const Value& value) {
    const Value type = DELENDA_TRY(value.Member("struct"));
    const auto schema = DELENDA_TRY(iceberg::SchemaFromJson(type));
    if (schema.fields().size() != 1) return type.Fail("expected one field");
    return schema.fields().front();
  }

  Result<void> ReadKeyField(const Value& value) {
    KeyField key;
    const auto id = DELENDA_TRY(value.Get<int32_t>("id"));
    key.column = DELENDA_TRY(ReadField(value));
    key.type = DELENDA_TRY(ReadType(value, "type"));
    const auto path = DELENDA_TRY(value.Get<json::Array>("path"));
    // The path must lead through the column's structs to the key, or other values would be compared.
    const Field* at = nullptr;
    for (const auto step : path) {
      const auto step_id = DELENDA_TRY(step.As<int32_t>());
      const Field* next = nullptr;
      if (at == nullptr) {
        next = key.column.id == step_id ? &key.column : nullptr;
      } else if (at->type.kind() == TypeKind::kStruct) {
        for (const Field& child : at->type.fields()) {
          if (child.id == step_id) next = &child;
        }
      }
      if (next == nullptr) return step.Fail("is no step within the column");
      at = next;
      key.path.push_back(step_id);
    }
    if (at == nullptr || at->id != id) return path.value().Fail(fmt::format("does not lead to field {}", id));
    if (!plan_.key_fields.emplace(id, std::move(key)).second)
      return value.Fail(fmt::format("key field {} stands there twice", id));
    return {};
  }

  Result<ExprRef> ReadFilter(const Value& value) {
    const auto text = DELENDA_TRY(value.As<std::string>());
    const auto [known, is_new] = filters_.try_emplace(text);
    if (is_new) {
      auto bound = BindText(text, plan_.schema);
      if (!bound) return value.Fail(bound.error().message());
      known->second = *std::move(bound);
    }
    return known->second;
  }

  Result<void> ReadSpec(const Value& value) {
    BoundSpec bound;
    bound.spec.spec_id = DELENDA_TRY(value.Get<int32_t>("specId"));
    for (const auto item : DELENDA_TRY(value.Get<json::Array>("fields"))) {
      PartitionField field;
      field.name = DELENDA_TRY(item.Get<std::string>("name"));
      auto transform = Transform::Parse(DELENDA_TRY(item.Get<std::string_view>("transform")));
      if (!transform) return item.Fail(transform.error().message());
      field.transform = *std::move(transform);
      field.source_id = DELENDA_TRY(item.Get<int32_t>("sourceId"));
      field.field_id = DELENDA_TRY(item.Get<int32_t>("fieldId"));
      bound.spec.fields.push_back(std::move(field));
      bound.source_types.push_back(DELENDA_TRY(ReadType(item, "sourceType")));
      bound.result_types.push_back(DELENDA_TRY(ReadType(item, "resultType")));
    }
    const int32_t id = bound.spec.spec_id;
    if (!plan_.specs.emplace(id, std::move(bound)).second)
      return value.Fail(fmt::format("partition spec {} stands there twice", id));
    return {};
  }

  static Result<Type> ReadType(const Value& value, std::string_view key) {
    const Value member = DELENDA_TRY(value.Member(key));
    auto type = Type::Parse(DELENDA_TRY(member.As<std::string_view>()));
    if (!type) return member.Fail(type.error().message());
    return type;
  }

  static Result<Datum> ReadValue(const Type& type, const Value& value) {
    const auto from_text = [&](const Type& of, const Value& text) -> Result<Datum> {
      auto datum = DatumFromText(of, DELENDA_TRY(text.As<std::string_view>()));
      if (!datum) return text.Fail(datum.error().message());
      return datum;
    };
    if (value.is_null()) return Datum();
    if (value.is_string()) return from_text(type, value);
    const auto kinds = DELENDA_TRY(value.As<json::Object>());
    if (kinds.size() != 1) return value.Fail("expected one kind of value");
    const Value only = *kinds.begin();
    const std::pair<std::string_view, Type> known[] = {
        {names::kBoolean, TypeKind::kBoolean},   {names::kLong, TypeKind::kLong},
        {names::kFloat, TypeKind::kFloat},       {names::kDouble, TypeKind::kDouble},
        {names::kDecimal, Type::Decimal(38, 0)}, {names::kHex, TypeKind::kBinary}};
    for (const auto& [name, of] : known) {
      if (only.key() == name) return from_text(of, only);
    }
    return value.Fail("expected a kind of value that is known");
  }

  // A count or size: a negative one would pass as a huge one later.
  static Result<int64_t> ReadCount(const Value& value, std::string_view key) {
    const Value member = DELENDA_TRY(value.Member(key));
    const auto count = DELENDA_TRY(member.As<int64_t>());
    if (count < 0) return member.Fail("is negative");
    return count;
  }

  // All but `content` and the record count.
  Result<ContentFile> ReadFile(const Value& value) const {
    ContentFile file;
    file.path = DELENDA_TRY(value.Get<std::string>("path"));
    file.format = FileFormatFromName(DELENDA_TRY(value.Get<std::string_view>("format")));
    file.file_size = DELENDA_TRY(ReadCount(value, "fileSize"));
    file.spec_id = DELENDA_TRY(value.Get<int32_t>("specId"));
    const auto spec = plan_.specs.find(file.spec_id);
    if (spec == plan_.specs.end()) return value.Fail(fmt::format("there is no partition spec {}", file.spec_id));
    const auto values = DELENDA_TRY(value.Get<json::Array>("partitionValues"));
    if (values.size() != spec->second.spec.fields.size()) {
      return values.value().Fail(
          fmt::format("expected {} values, found {}", spec->second.spec.fields.size(), values.size()));
    }
    auto tuple = std::make_shared<PartitionTuple>();
    for (const auto item : values)
      tuple->values.push_back(DELENDA_TRY(ReadValue(spec->second.result_types[tuple->values.size()], item)));
    file.partition = std::move(tuple);
    file.data_sequence_number = DELENDA_TRY(value.Get<int64_t>("sequenceNumber"));
    file.file_sequence_number = DELENDA_TRY(value.Get<int64_t>("fileSequenceNumber"));
    return file;
  }

  Result<ContentFile> ReadDelete(const Value& value) const {
    auto file = DELENDA_TRY(ReadFile(value));
    const auto content = DELENDA_TRY(value.Get<std::string_view>("content"));
    const bool is_vector = content == names::kDeletionVector;
    if (!is_vector && content != names::kPositionDeletes && content != names::kEqualityDeletes)
      return value.Fail(fmt::format("deletes of kind '{}' are not known", content));
    file.content = content == names::kEqualityDeletes ? FileContent::kEqualityDeletes : FileContent::kPositionDeletes;
    // A vector read as a file of positions, or the other way round, would delete other rows.
    if (is_vector != file.IsDeletionVector())
      return value.Fail(fmt::format("{} in a {} file", content, FileFormatName(file.format)));
    file.record_count = DELENDA_TRY(ReadCount(value, is_vector ? "cardinality" : "recordCount"));
    if (is_vector) {
      file.content_offset = DELENDA_TRY(ReadCount(value, "contentOffset"));
      file.content_size = DELENDA_TRY(ReadCount(value, "contentSize"));
      file.referenced_data_file = DELENDA_TRY(value.Get<std::string>("referencedDataFile"));
    } else {
      file.content_offset = DELENDA_TRY(value.Optional<int64_t>("contentOffset"));
      file.content_size = DELENDA_TRY(value.Optional<int64_t>("contentSize"));
      file.referenced_data_file = DELENDA_TRY(value.Optional<std::string>("referencedDataFile"));
    }
    if (file.content == FileContent::kEqualityDeletes) {
      const auto ids = DELENDA_TRY(value.Get<json::Array>("equalityIds"));
      for (const auto id : ids) {
        file.equality_ids.push_back(DELENDA_TRY(id.As<int32_t>()));
        if (!plan_.key_fields.contains(file.equality_ids.back())) return id.Fail("is not among the key fields");
      }
      // No key column would be equal to every row.
      if (ids.empty()) return ids.value().Fail("is empty");
    }
    return file;
  }

  Result<uint32_t> ReadIndex(const Value& value, std::string_view kind) const {
    const auto index = DELENDA_TRY(value.As<uint64_t>());
    if (index >= plan_.deletes.size()) return value.Fail(fmt::format("there is no delete file {}", index));
    const ContentFile& file = plan_.deletes[index];
    const bool is_kind = kind == names::kDeletionVector ? file.IsDeletionVector()
                         : kind == names::kEqualityDeletes
                             ? file.content == FileContent::kEqualityDeletes
                             : file.content == FileContent::kPositionDeletes && !file.IsDeletionVector();
    if (!is_kind) return value.Fail(fmt::format("delete file {} is of another kind", index));
    return static_cast<uint32_t>(index);
  }

  Result<std::vector<uint32_t>> ReadIndexes(const Value& value, std::string_view key) const {
    std::vector<uint32_t> indexes;
    for (const auto item : DELENDA_TRY(value.Get<json::Array>(key)))
      indexes.push_back(DELENDA_TRY(ReadIndex(item, key)));
    return indexes;
  }

  Result<FileTask> ReadTask(const Value& value) {
    FileTask task;
    task.file = DELENDA_TRY(ReadFile(value));
    task.file.content = FileContent::kData;
    task.file.record_count = DELENDA_TRY(ReadCount(value, "recordCount"));
    task.file.first_row_id = DELENDA_TRY(value.Optional<int64_t>("firstRowId"));
    task.start = static_cast<uint64_t>(DELENDA_TRY(ReadCount(value, "start")));
    task.length = static_cast<uint64_t>(DELENDA_TRY(ReadCount(value, "length")));
    const Value vector = DELENDA_TRY(value.Member(names::kDeletionVector));
    if (!vector.is_null()) task.dv = DELENDA_TRY(ReadIndex(vector, names::kDeletionVector));
    task.position_deletes = DELENDA_TRY(ReadIndexes(value, names::kPositionDeletes));
    task.equality_deletes = DELENDA_TRY(ReadIndexes(value, names::kEqualityDeletes));
    if (task.dv && !task.position_deletes.empty())
      return value.Fail("a deletion vector and position deletes for one data file");
    task.residual = DELENDA_TRY(ReadFilter(DELENDA_TRY(value.Member("residual"))));
    return task;
  }

  // For reports only, so that they may be missing.
  Result<void> ReadMetrics(const Value& root) {
    const auto metrics = DELENDA_TRY(root.Optional<Value>("metrics"));
    if (!metrics) return {};
    const std::pair<std::string_view, uint64_t PlanMetrics::*> members[] = {
        {"dataManifests", &PlanMetrics::data_manifests},
        {"dataManifestsRead", &PlanMetrics::data_manifests_read},
        {"deleteManifests", &PlanMetrics::delete_manifests},
        {"deleteManifestsRead", &PlanMetrics::delete_manifests_read},
        {"dataFiles", &PlanMetrics::data_files_live},
        {"dataFilesPruned", &PlanMetrics::data_files_pruned},
        {"deleteFiles", &PlanMetrics::delete_files_live}};
    for (const auto& [key, member] : members) {
      const auto count = DELENDA_TRY(metrics->Optional<uint64_t>(key));
      plan_.metrics.*member = count.value_or(0);
    }
    return {};
  }

  ScanPlan plan_;
  std::unordered_map<std::string, ExprRef> filters_;  // files of one partition have the same residual
};

}  // namespace

Result<ScanPlan> PlanFromJson(std::string_view text) {
  const auto document = DELENDA_TRY(json::Document::Parse(text));
  return PlanReader().Read(document.root());
}

}  // namespace delenda::plan
