// Table metadata JSON: no input may crash the parser, and what it accepts must be safe to look at.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "delenda/iceberg/table_metadata.h"
#include "delenda/model/partition.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace delenda;
  const auto metadata = iceberg::TableMetadata::Parse(std::as_bytes(std::span(data, size)));
  if (!metadata) return 0;
  // The invariants that the planner relies on.
  if (metadata->FindSchema(metadata->current_schema_id) == nullptr) std::abort();
  if (metadata->FindSpec(metadata->default_spec_id) == nullptr) std::abort();
  const auto selected = iceberg::SelectSnapshot(*metadata, {});
  if (!selected || (metadata->current_snapshot_id && selected->snapshot == nullptr)) std::abort();
  for (const auto& spec : metadata->specs) {
    const BoundSpec bound = BoundSpec::Make(spec, metadata->CurrentSchema());
    if (bound.source_types.size() != spec.fields.size() || bound.result_types.size() != spec.fields.size())
      std::abort();
  }
  for (const auto& [name, ref] : metadata->refs) (void)iceberg::SelectSnapshot(*metadata, {.ref = name});
  return 0;
}
