// Shards as workers get them: no input may crash the reader, and what it accepts must be the same when it is written
// and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "delenda/plan/plan_json.h"
#include "delenda/plan/shard.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace delenda;
  const auto plan = plan::PlanFromJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!plan) return 0;
  // What a reader relies on.
  for (const auto& task : plan->tasks) {
    if (!task.file.partition || !task.residual || (task.dv && *task.dv >= plan->deletes.size())) std::abort();
    if (plan->specs.at(task.file.spec_id).spec.fields.size() != task.file.partition->values.size()) std::abort();
  }
  const auto written = plan::PlanToJson(*plan, json::Writer::Style::kCompact);
  if (!written) {
    // A default that has no JSON form, a filter that grew beyond the parser's bounds: refused, never changed.
    if (written.error().kind() == ErrorKind::kNotSupported || written.error().kind() == ErrorKind::kInvalidArgument)
      return 0;
    std::abort();
  }
  const auto again = plan::PlanFromJson(*written);
  if (!again || plan::PlanToJson(*again, json::Writer::Style::kCompact) != *written) std::abort();
  const auto shards = plan::SplitPlan(*again, 2);
  if (!shards || (*shards)[0].tasks.size() + (*shards)[1].tasks.size() != plan->tasks.size()) std::abort();
  return 0;
}
