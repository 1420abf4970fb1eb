// What the JSON forms of scan plans and of change plans have in common: schema, columns, filter, partition specs, keys
// and files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/json/json.h"
#include "delenda/formats/json/writer.h"
#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"
#include "delenda/model/name_mapping.h"
#include "delenda/plan/scan_task.h"

namespace delenda::plan {

class PlanPartsWriter {
 public:
  // Either kind of plan; it outlives the writer.
  template <typename Plan>
  PlanPartsWriter(const Plan& plan, json::Writer& json)
      : parts_{plan.schema, plan.specs, plan.columns, plan.filter, plan.key_fields, plan.name_mapping, plan.deletes},
        json_(json) {}

  // The members "schema" to "deleteFiles" of the document.
  Result<void> Write();

  // Members of an object that has been begun.
  // The writer would replace what is not UTF-8: another path, another value.
  Result<void> WriteText(std::string_view key, std::string_view text);
  Result<void> WriteFilter(std::string_view key, const ExprRef& filter);
  // What data files and delete files have in common.
  Result<void> WriteFile(const ContentFile& file);
  void WriteIndexes(std::string_view key, const std::vector<uint32_t>& indexes);

 private:
  // The texts of a partition, made once: many files share few.
  struct PartitionTexts {
    std::string all;
    std::vector<std::optional<std::string>> values;
  };
  Result<const PartitionTexts*> TextsOf(const ContentFile& file);

  struct Parts {
    const Schema& schema;
    const std::map<int32_t, BoundSpec>& specs;
    const std::vector<OutputColumn>& columns;
    const ExprRef& filter;
    const std::map<int32_t, KeyField>& key_fields;
    const std::optional<NameMapping>& name_mapping;
    const std::vector<ContentFile>& deletes;
  };

  // As a struct that has this field only: the form that schemas have.
  Result<void> WriteField(const Field& field);
  Result<void> WriteKeyFields();
  Result<void> WriteColumns();
  Result<void> WriteSpecs();
  // `text`: from which the value can be read back; none: its form by alternative is written.
  void WriteValue(const Datum& value, const std::optional<std::string>& text);
  Result<void> WriteDelete(const ContentFile& file);

  Parts parts_;
  json::Writer& json_;
  std::unordered_map<const Expr*, std::string> filters_;  // files of one partition share their residual
  std::map<int32_t, std::unordered_map<const PartitionTuple*, PartitionTexts>> partitions_;  // by spec id
};

class PlanPartsReader {
 public:
  // The members "schema" to "deleteFiles" of a document; then the functions below may be called.
  Result<void> Read(const json::Value& root);

  template <typename Plan>
  void MoveTo(Plan& plan) && {
    plan.schema = std::move(parts_.schema);
    plan.specs = std::move(parts_.specs);
    plan.columns = std::move(parts_.columns);
    plan.filter = std::move(parts_.filter);
    plan.key_fields = std::move(parts_.key_fields);
    plan.name_mapping = std::move(parts_.name_mapping);
    plan.deletes = std::move(parts_.deletes);
  }

  Result<ExprRef> ReadFilter(const json::Value& value);
  // A count or size: a negative one would pass as a huge one later.
  static Result<int64_t> ReadCount(const json::Value& value, std::string_view key);
  // All but `content` and the record count.
  Result<ContentFile> ReadFile(const json::Value& value) const;
  Result<uint32_t> ReadIndex(const json::Value& value, std::string_view kind) const;
  Result<std::vector<uint32_t>> ReadIndexes(const json::Value& value, std::string_view key) const;
  // A data file with its record count and first row id.
  Result<ContentFile> ReadDataFile(const json::Value& value) const;

 private:
  struct Parts {
    Schema schema;
    std::map<int32_t, BoundSpec> specs;
    std::vector<OutputColumn> columns;
    ExprRef filter;
    std::map<int32_t, KeyField> key_fields;
    std::optional<NameMapping> name_mapping;
    std::vector<ContentFile> deletes;
  };

  Result<OutputColumn> ReadColumn(const json::Value& value) const;
  static Result<Field> ReadField(const json::Value& value);
  Result<void> ReadKeyField(const json::Value& value);
  Result<void> ReadSpec(const json::Value& value);
  static Result<Type> ReadType(const json::Value& value, std::string_view key);
  static Result<Datum> ReadValue(const Type& type, const json::Value& value);
  Result<ContentFile> ReadDelete(const json::Value& value) const;

  Parts parts_;
  std::unordered_map<std::string, ExprRef> filters_;  // files of one partition have the same residual
};

}  // namespace delenda::plan
