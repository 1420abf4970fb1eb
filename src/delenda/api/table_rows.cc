// From a plan to a RowStream.
#include "delenda/api/table_rows.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <string>
#include <utility>
#include <vector>

#include "delenda/api/row_stream_impl.h"

namespace delenda::api {
namespace {

bool HoldsUuid(const Type& type) {
  if (type.kind() == TypeKind::kUuid) return true;
  for (const Field& field : type.fields()) {
    if (HoldsUuid(field.type)) return true;
  }
  return false;
}

// Arrow has no UUID type of its own: 16 bytes are marked as Arrow's canonical extension, which consumers know.
std::shared_ptr<arrow::Field> MarkUuids(const Field& field, const std::shared_ptr<arrow::Field>& arrow_field) {
  if (!HoldsUuid(field.type)) return arrow_field;
  if (field.type.kind() == TypeKind::kUuid) {
    const std::vector<std::string> keys = {"ARROW:extension:name", "ARROW:extension:metadata"};
    const std::vector<std::string> values = {"arrow.uuid", ""};
    return arrow_field->WithMergedMetadata(arrow::key_value_metadata(keys, values));
  }
  const auto& children = field.type.fields();
  const arrow::DataType& type = *arrow_field->type();
  switch (type.id()) {
    case arrow::Type::STRUCT: {
      if (static_cast<size_t>(type.num_fields()) != children.size()) return arrow_field;
      arrow::FieldVector marked;
      for (size_t i = 0; i < children.size(); ++i) {
        marked.push_back(MarkUuids(children[i], type.field(static_cast<int>(i))));
      }
      return arrow_field->WithType(arrow::struct_(std::move(marked)));
    }
    case arrow::Type::LIST: return arrow_field->WithType(arrow::list(MarkUuids(children[0], type.field(0))));
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapType&>(type);
      return arrow_field->WithType(std::make_shared<arrow::MapType>(MarkUuids(children[0], map.key_field()),
                                                                    MarkUuids(children[1], map.item_field())));
    }
    default: return arrow_field;
  }
}

class TableRows final : public RowStream::Impl {
 public:
  TableRows(std::shared_ptr<const plan::ScanPlan> plan, std::unique_ptr<read::ScanStream> stream)
      : plan_(std::move(plan)), stream_(std::move(stream)), schema_(stream_->schema()) {
    arrow::FieldVector fields = schema_->fields();
    for (size_t i = 0; i < fields.size() && i < plan_->columns.size(); ++i) {
      fields[i] = MarkUuids(plan_->columns[i].field, fields[i]);
    }
    if (fields != schema_->fields()) {
      schema_ = arrow::schema(std::move(fields), schema_->metadata());
      is_marked_ = true;
    }
  }

  const std::shared_ptr<arrow::Schema>& schema() const override { return schema_; }

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    auto batch = DELENDA_TRY(stream_->Next());
    if (!batch || !is_marked_) return batch;
    return arrow::RecordBatch::Make(schema_, batch->num_rows(), batch->columns());
  }

  ScanStats stats() const override {
    const read::ReadMetrics metrics = stream_->metrics();
    const plan::PlanMetrics& planned = plan_->metrics;
    return {.rows = metrics.rows,
            .files = planned.data_files_live - planned.data_files_pruned,
            .files_pruned = planned.data_files_pruned,
            .deletes = plan_->deletes.size(),
            .manifests = planned.data_manifests + planned.delete_manifests,
            .manifests_read = planned.data_manifests_read + planned.delete_manifests_read,
            .row_groups = metrics.row_groups,
            .row_groups_pruned = metrics.row_groups_pruned,
            .row_groups_all_deleted = metrics.row_groups_all_deleted};
  }

 private:
  std::shared_ptr<const plan::ScanPlan> plan_;
  std::unique_ptr<read::ScanStream> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  bool is_marked_ = false;
};

}  // namespace

Result<RowStream> OpenRows(std::shared_ptr<const plan::ScanPlan> plan, std::shared_ptr<io::FileIO> io,
                           read::ReadOptions options) {
  auto stream = DELENDA_TRY(read::OpenScan(plan, std::move(io), std::move(options)));
  return RowStream(std::make_unique<TableRows>(std::move(plan), std::move(stream)));
}

}  // namespace delenda::api
