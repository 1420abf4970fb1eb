#include "delenda/ops/delta_files.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "delenda/base/uuid.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/keyed_rows_writer.h"
#include "delenda/write/partitioned_writer.h"

namespace delenda::ops {
namespace {

bool HasUnpartitionedSpec(const commit::TableSession& session) {
  return std::ranges::any_of(session.specs(), [](const auto& spec) { return spec.second.spec.IsUnpartitioned(); });
}

// Writes rows' keys into equality delete files of one spec.
class KeyFileWriter {
 public:
  static Result<KeyFileWriter> Make(const commit::TableSession& session, const std::vector<std::string>& key,
                                    BoundSpec spec, std::shared_ptr<write::StagedFiles> staged) {
    write::WriteTarget target;
    target.io = session.io();
    target.table_location = session.location();
    target.schema = DELENDA_TRY(session.schema().Select(key));
    target.spec = BoundSpec::Make(spec.spec, target.schema);
    target.properties = DELENDA_TRY(write::WriteProperties::Parse(session.properties(), target.schema));
    target.staged = std::move(staged);
    target.executor = &session.executor();
    return KeyFileWriter(key, DELENDA_TRY(write::PartitionedWriter::Make(std::move(target))));
  }

  Result<void> Write(const arrow::RecordBatch& rows) {
    arrow::ArrayVector columns;
    for (const std::string& name : key_) columns.push_back(rows.GetColumnByName(name));
    const auto schema = DELENDA_TRY(writer_.target().BatchSchema());
    return writer_.Write(*arrow::RecordBatch::Make(schema, rows.num_rows(), std::move(columns)));
  }

  Result<std::vector<ContentFile>> Finish() {
    auto files = DELENDA_TRY(writer_.Finish());
    for (ContentFile& file : files) {
      file.content = FileContent::kEqualityDeletes;
      for (const Field& field : writer_.target().schema.fields()) file.equality_ids.push_back(field.id);
      file.sort_order_id.reset();
      file.data_sequence_number = kUncommitted;
    }
    return files;
  }

 private:
  KeyFileWriter(std::vector<std::string> key, write::PartitionedWriter writer)
      : key_(std::move(key)), writer_(std::move(writer)) {}

  std::vector<std::string> key_;
  write::PartitionedWriter writer_;
};

}  // namespace

Result<void> CheckTakesEqualityDeletes(const commit::TableSession& session, const std::vector<std::string>& key) {
  if (HasUnpartitionedSpec(session)) return {};
  const Schema fields = DELENDA_TRY(session.schema().Select(key));
  for (const auto& [id, spec] : session.specs()) {
    for (const PartitionField& field : spec.spec.fields) {
      if (field.transform.kind() == Transform::Kind::kVoid) continue;
      if (field.transform.kind() != Transform::Kind::kUnknown && !fields.FindById(field.source_id).empty()) continue;
      return InvalidArgument(
          "equality deletes with this key can't be committed: partition field '{}' of spec {} is not determined by the "
          "key, so that rows with one key may lie in several partitions, and the table has no unpartitioned spec. Take "
          "fallback 'abort', or a key with the columns of all partition fields",
          field.name, id);
    }
  }
  return {};
}

Result<DeltaResult> WriteDeltaFiles(
    const commit::TableSession& session, KeyedSource& source,
    const std::function<Result<read::Selection>(const arrow::RecordBatch&)>& only_deletes,
    const DeltaFilesOptions& options) {
  DELENDA_TRY(CheckColumnsStayed(source, session));
  auto rows_writer = DELENDA_TRY(KeyedRowsWriter::Make(session, source, false, false));
  DeltaResult result;
  result.id = RandomUuid();
  result.order = options.order;
  result.table = session.location();
  result.schema = session.schema();
  result.key = source.key();
  result.fallback = options.fallback;
  result.staged = rows_writer.staged();
  std::map<int32_t, KeyFileWriter> by_spec;
  if (options.fallback == DeltaFallback::kCommitEqualityDeletes) {
    DELENDA_TRY(CheckTakesEqualityDeletes(session, source.key()));
    if (!HasUnpartitionedSpec(session)) {
      for (const auto& [id, spec] : session.specs())
        by_spec.emplace(id, DELENDA_TRY(KeyFileWriter::Make(session, source.key(), spec, result.staged)));
    }
  }
  BoundSpec every;
  every.spec.spec_id = kEverySpec;
  for (size_t part = 0; part < source.parts(); ++part) {
    const auto rows = DELENDA_TRY(source.Part(part));
    // A file of its own: tables of keys are made of whole files, and have to fit into memory.
    auto keys_writer = DELENDA_TRY(KeyFileWriter::Make(session, source.key(), every, result.staged));
    for (const auto& batch : rows->batches) {
      read::Selection written = DELENDA_TRY(only_deletes(*batch));
      written.Invert();
      result.rows += static_cast<uint64_t>(written.Count());
      DELENDA_TRY(rows_writer.Write(batch, written, {}));
      DELENDA_TRY(keys_writer.Write(*batch));
      for (auto& [id, writer] : by_spec) DELENDA_TRY(writer.Write(*batch));
      if (session.hooks().progress) session.hooks().progress({.stage = "upsert", .done = result.rows, .total = 0});
    }
    auto files = DELENDA_TRY(keys_writer.Finish());
    const uint64_t memory = rows->keys.memory() + rows->keys.sorted_memory();
    for (ContentFile& file : files) {
      result.keys.push_back({.file = std::move(file), .memory_needed = memory / files.size()});
    }
  }
  result.data_files = DELENDA_TRY(rows_writer.Finish());
  for (auto& [id, writer] : by_spec) result.deletes_of_spec[id] = DELENDA_TRY(writer.Finish());
  return result;
}

}  // namespace delenda::ops
