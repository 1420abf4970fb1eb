#include "delenda/table.h"

#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include <utility>

#include "delenda/api/plan_info.h"
#include "delenda/api/row_stream_impl.h"
#include "delenda/api/table_impl.h"
#include "delenda/formats/parquet/arrow_status.h"
#include "delenda/plan/plan_json.h"
#include "delenda/read/count.h"
#include "delenda/read/scan_stream.h"

namespace delenda {
namespace {

std::vector<io::LocationMapping> ToIoMappings(const std::vector<LocationMapping>& mappings) {
  std::vector<io::LocationMapping> result;
  for (const auto& mapping : mappings) result.push_back({.from = mapping.from, .to = mapping.to});
  return result;
}

read::ReadOptions ToReadOptions(const ScanOptions& options, const OpenOptions& open) {
  read::ReadOptions result;
  result.threads = open.threads;
  result.ordered = options.ordered;
  result.limit = options.limit;
  result.verify_footers = options.verify_footers;
  result.hooks = open.hooks;
  return result;
}

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

Result<LocationMapping> ParseLocationMapping(std::string_view text) {
  auto mapping = DELENDA_TRY(io::ParseLocationMapping(text));
  return LocationMapping{.from = std::move(mapping.from), .to = std::move(mapping.to)};
}

Table::Impl::Impl(OpenOptions open_options)
    : options(std::move(open_options)),
      mappings(ToIoMappings(options.mappings)),
      counter(std::make_shared<io::CountingFileIO>(io::MakeLocalFileIO())),
      io(counter),
      executor(options.threads) {
  if (!mappings.empty()) io = io::MakeMappingFileIO(counter, mappings);
}

Result<std::shared_ptr<const plan::ScanPlan>> Table::Impl::Plan(const ScanOptions& scan) const {
  plan::ScanRequest request;
  request.snapshot = Select(scan.at);
  request.select_all = !scan.columns.has_value();
  if (scan.columns) request.select = *scan.columns;
  request.with_metadata = scan.with_metadata;
  request.where = scan.where;
  request.split_size = scan.split_size;
  request.allow_dangling_dvs = scan.allow_dangling_dvs;
  auto planned = DELENDA_TRY(plan::PlanScan(loaded.metadata, *io, request, executor, options.hooks));
  if (options.hooks.log) {
    for (const auto& warning : planned.warnings) options.hooks.log(LogLevel::kWarning, warning);
  }
  return std::make_shared<const plan::ScanPlan>(std::move(planned));
}

Table::Table(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Result<Table> Table::Open(std::string_view location, OpenOptions options) {
  if (location.empty()) return InvalidArgument("the table's location is empty");
  auto impl = std::make_shared<Impl>(std::move(options));
  impl->loaded = DELENDA_TRY(iceberg::LoadTable(*impl->io, location));
  return Table(std::move(impl));
}

std::string_view Table::format() const { return "iceberg"; }
int32_t Table::format_version() const { return impl_->loaded.metadata.format_version; }
const std::string& Table::location() const { return impl_->loaded.metadata.location; }
const std::string& Table::metadata_path() const { return impl_->loaded.metadata_path; }
const std::string& Table::uuid() const { return impl_->loaded.metadata.table_uuid; }
std::optional<int64_t> Table::current_snapshot_id() const { return impl_->loaded.metadata.current_snapshot_id; }

Result<RowStream> Table::Scan(const ScanOptions& options) const {
  return parquet::Guarded([&]() -> Result<RowStream> {
    auto planned = DELENDA_TRY(impl_->Plan(options));
    auto stream = DELENDA_TRY(read::OpenScan(planned, impl_->io, ToReadOptions(options, impl_->options)));
    return RowStream(std::make_unique<TableRows>(std::move(planned), std::move(stream)));
  });
}

Result<CountInfo> Table::Count(const ScanOptions& options) const {
  return parquet::Guarded([&]() -> Result<CountInfo> {
    // No column is wanted but those of the filter.
    ScanOptions counted = options;
    counted.columns = std::vector<std::string>();
    counted.with_metadata = false;
    const auto planned = DELENDA_TRY(impl_->Plan(counted));
    const auto count = DELENDA_TRY(read::CountRows(planned, impl_->io, ToReadOptions(options, impl_->options)));
    return CountInfo{.rows = count.rows,
                     .files_by_metadata = count.files_by_metadata,
                     .files_read = count.files_read,
                     .files_pruned = planned->metrics.data_files_pruned};
  });
}

Result<PlanInfo> Table::Plan(const ScanOptions& options) const {
  return api::ToPlanInfo(*DELENDA_TRY(impl_->Plan(options)));
}

Result<std::string> Table::PlanJson(const ScanOptions& options) const {
  return plan::PlanToJson(*DELENDA_TRY(impl_->Plan(options)));
}

IoStats Table::Io() const {
  const io::IoCounts counts = impl_->counter->Snapshot();
  return {.requests = counts.requests(),
          .opens = counts.opens,
          .reads = counts.reads,
          .stats = counts.stats,
          .lists = counts.lists,
          .bytes_read = counts.bytes_read};
}

}  // namespace delenda
