// Writing plans.
#include "delenda/plan/plan_json.h"

#include <unordered_map>
#include <utility>

#include "delenda/base/bytes.h"
#include "delenda/iceberg/schema_json.h"
#include "delenda/model/expression.h"
#include "delenda/plan/plan_json_names.h"

namespace delenda::plan {
namespace {

std::string_view ContentKeyword(const ContentFile& file) {
  if (file.IsDeletionVector()) return names::kDeletionVector;
  return file.content == FileContent::kEqualityDeletes ? names::kEqualityDeletes : names::kPositionDeletes;
}

class PlanWriter {
 public:
  PlanWriter(const ScanPlan& plan, json::Writer::Style style) : plan_(plan), json_(style) {}

  Result<std::string> Write() && {
    json_.BeginObject().Member("version", kPlanJsonVersion).Key("snapshotId");
    if (plan_.snapshot_id)
      json_.Int(*plan_.snapshot_id);
    else
      json_.Null();
    json_.Key("schema");
    DELENDA_TRY(iceberg::SchemaToJson(plan_.schema, json_));
    DELENDA_TRY(WriteColumns());
    DELENDA_TRY(WriteFilter("filter", plan_.filter ? plan_.filter : Expr::True()));
    DELENDA_TRY(WriteSpecs());
    DELENDA_TRY(WriteKeyFields());
    json_.Key("deleteFiles").BeginArray();
    for (const auto& file : plan_.deletes) DELENDA_TRY(WriteDelete(file));
    json_.EndArray().Key("dataFiles").BeginArray();
    for (const auto& task : plan_.tasks) DELENDA_TRY(WriteTask(task));
    json_.EndArray();
    WriteMetrics();
    json_.EndObject();
    return std::move(json_).Finish();
  }

 private:
  // The writer would replace what is not UTF-8: another path, another value.
  Result<void> WriteText(std::string_view key, std::string_view text) {
    if (!IsValidUtf8(text)) return NotSupported("a {} that is not UTF-8 can't be put in the JSON form of a plan", key);
    json_.Member(key, text);
    return {};
  }

  Result<void> WriteFilter(std::string_view key, const ExprRef& filter) {
    const auto [known, is_new] = filters_.try_emplace(filter.get());
    if (is_new) {
      std::string text = filter->ToString();
      const auto bound = BindText(text, plan_.schema);
      // A filter that came back as another one would select other rows.
      if (!bound || (*bound)->ToString() != text) {
        return NotSupported("the filter \"{}\" can't be put in the JSON form of a plan: {}", text,
                            bound ? "it reads back as " + (*bound)->ToString() : bound.error().message());
      }
      known->second = std::move(text);
    }
    return WriteText(key, known->second);
  }

  // As a struct that has this field only: the form that schemas have.
  Result<void> WriteField(const Field& field) {
    json_.Key("struct");
    return iceberg::SchemaToJson(DELENDA_TRY(Schema::Make(0, {field})), json_);
  }

  Result<void> WriteKeyFields() {
    json_.Key("keyFields").BeginArray();
    for (const auto& [id, key] : plan_.key_fields) {
      if (key.type.is_nested()) return NotSupported("equality deletes by a key of type {}", key.type.ToString());
      json_.BeginObject().Member("id", id);
      DELENDA_TRY(WriteField(key.column));
      json_.Key("path").BeginArray();
      for (const int32_t step : key.path) json_.Int(step);
      json_.EndArray();
      DELENDA_TRY(WriteText("type", key.type.ToString()));
      json_.EndObject();
    }
    json_.EndArray();
    return {};
  }

  Result<void> WriteColumns() {
    json_.Key("columns").BeginArray();
    for (const auto& column : plan_.columns) {
      json_.BeginObject();
      if (column.kind == OutputColumn::Kind::kField) {
        json_.Member("kind", names::kField).Member("id", column.field.id);
      } else {
        std::string_view kind;
        for (const auto& [known, name] : names::kMetadataColumns) {
          if (known == column.kind) kind = name;
        }
        if (kind.empty()) return NotSupported("column {} can't be put in the JSON form of a plan", column.field.name);
        json_.Member("kind", kind);
        DELENDA_TRY(WriteField(column.field));
      }
      json_.EndObject();
    }
    json_.EndArray();
    return {};
  }

  Result<void> WriteSpecs() {
    // A partition's source and values are primitive. Other types come from metadata that names a wrong source, whose
    // values nobody can use.
    const auto type_text = [](const std::vector<Type>& types, size_t i) {
      return i < types.size() && !types[i].is_nested() ? types[i].ToString() : Type().ToString();
    };
    json_.Key("partitionSpecs").BeginArray();
    for (const auto& [id, bound] : plan_.specs) {
      json_.BeginObject().Member("specId", id).Key("fields").BeginArray();
      for (size_t i = 0; i < bound.spec.fields.size(); ++i) {
        const PartitionField& field = bound.spec.fields[i];
        json_.BeginObject();
        DELENDA_TRY(WriteText("name", field.name));
        DELENDA_TRY(WriteText("transform", field.transform.ToString()));
        json_.Member("sourceId", field.source_id).Member("fieldId", field.field_id);
        DELENDA_TRY(WriteText("sourceType", type_text(bound.source_types, i)));
        DELENDA_TRY(WriteText("resultType", type_text(bound.result_types, i)));
        json_.EndObject();
      }
      json_.EndArray().EndObject();
    }
    json_.EndArray();
    return {};
  }

  Result<void> WriteValue(const Type& type, const Datum& value) {
    if (IsNull(value)) {
      json_.Null();
      return {};
    }
    const std::string text = DatumToText(type, value);
    if (IsValidUtf8(text)) {
      const auto read = DatumFromText(type, text);
      if (read && read->index() == value.index() && SamePartitionValue(*read, value)) {
        json_.String(text);
        return {};
      }
    }
    json_.BeginObject();
    if (const auto* boolean = std::get_if<bool>(&value))
      json_.Member(names::kBoolean, *boolean ? "true" : "false");
    else if (std::holds_alternative<int64_t>(value))
      json_.Member(names::kLong, DatumToText(TypeKind::kLong, value));
    else if (std::holds_alternative<float>(value))
      json_.Member(names::kFloat, DatumToText(TypeKind::kFloat, value));
    else if (std::holds_alternative<double>(value))
      json_.Member(names::kDouble, DatumToText(TypeKind::kDouble, value));
    else if (std::holds_alternative<Int128>(value))
      json_.Member(names::kDecimal, DatumToText(Type::Decimal(38, 0), value));
    else
      json_.Member(names::kHex, DatumToText(TypeKind::kBinary, value));
    json_.EndObject();
    return {};
  }

  // What data files and delete files have in common.
  Result<void> WriteFile(const ContentFile& file) {
    DELENDA_TRY(WriteText("path", file.path));
    json_.Member("format", FileFormatName(file.format)).Member("fileSize", file.file_size);
    json_.Member(file.IsDeletionVector() ? "cardinality" : "recordCount", file.record_count);
    json_.Member("specId", file.spec_id);
    const auto spec = plan_.specs.find(file.spec_id);
    if (spec == plan_.specs.end() || file.partition->values.size() != spec->second.spec.fields.size()) {
      return Corrupt("{} lies in a partition that its partition spec {} does not fit", file.path, file.spec_id);
    }
    if (!file.partition->values.empty()) {
      const std::string text = PartitionText(spec->second, *file.partition);
      if (IsValidUtf8(text)) json_.Member("partition", text);
    }
    json_.Key("partitionValues").BeginArray();
    for (size_t i = 0; i < file.partition->values.size(); ++i) {
      const auto& types = spec->second.result_types;
      DELENDA_TRY(WriteValue(i < types.size() ? types[i] : Type(), file.partition->values[i]));
    }
    json_.EndArray()
        .Member("sequenceNumber", file.data_sequence_number)
        .Member("fileSequenceNumber", file.file_sequence_number);
    return {};
  }

  Result<void> WriteDelete(const ContentFile& file) {
    json_.BeginObject().Member("content", ContentKeyword(file));
    DELENDA_TRY(WriteFile(file));
    if (file.content_offset) json_.Member("contentOffset", *file.content_offset);
    if (file.content_size) json_.Member("contentSize", *file.content_size);
    if (file.referenced_data_file) DELENDA_TRY(WriteText("referencedDataFile", *file.referenced_data_file));
    if (file.content == FileContent::kEqualityDeletes) {
      json_.Key("equalityIds").BeginArray();
      for (const int32_t id : file.equality_ids) json_.Int(id);
      json_.EndArray();
    }
    json_.EndObject();
    return {};
  }

  void WriteIndexes(std::string_view key, const std::vector<uint32_t>& indexes) {
    json_.Key(key).BeginArray();
    for (const uint32_t index : indexes) json_.Uint(index);
    json_.EndArray();
  }

  Result<void> WriteTask(const FileTask& task) {
    json_.BeginObject();
    DELENDA_TRY(WriteFile(task.file));
    json_.Member("start", task.start).Member("length", task.length);
    if (task.file.first_row_id) json_.Member("firstRowId", *task.file.first_row_id);
    json_.Key("deletionVector");
    if (task.dv)
      json_.Uint(*task.dv);
    else
      json_.Null();
    WriteIndexes("positionDeletes", task.position_deletes);
    WriteIndexes("equalityDeletes", task.equality_deletes);
    DELENDA_TRY(WriteFilter("residual", task.residual));
    json_.EndObject();
    return {};
  }

  void WriteMetrics() {
    const PlanMetrics& metrics = plan_.metrics;
    json_.Key("metrics")
        .BeginObject()
        .Member("dataManifests", metrics.data_manifests)
        .Member("dataManifestsRead", metrics.data_manifests_read)
        .Member("deleteManifests", metrics.delete_manifests)
        .Member("deleteManifestsRead", metrics.delete_manifests_read)
        .Member("dataFiles", metrics.data_files_live)
        .Member("dataFilesPruned", metrics.data_files_pruned)
        .Member("deleteFiles", metrics.delete_files_live)
        .EndObject();
  }

  const ScanPlan& plan_;
  json::Writer json_;
  std::unordered_map<const Expr*, std::string> filters_;  // files of one partition share their residual
};

}  // namespace

Result<std::string> PlanToJson(const ScanPlan& plan, json::Writer::Style style) {
  return PlanWriter(plan, style).Write();
}

}  // namespace delenda::plan
