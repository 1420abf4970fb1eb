// Shards of changes as workers get them: no input may crash the reader, and what it accepts must be the same when it is
// written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "delenda/plan/change_plan_json.h"
#include "delenda/plan/shard.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace delenda;
  const auto plan = plan::ChangePlanFromJson(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!plan) return 0;
  // What a reader relies on.
  for (const auto& task : plan->tasks) {
    if (!task.file.partition || !task.residual) std::abort();
    if (plan->specs.at(task.file.spec_id).spec.fields.size() != task.file.partition->values.size()) std::abort();
    for (const auto* state : {&task.before, &task.after}) {
      if (state->dv && *state->dv >= plan->deletes.size()) std::abort();
      for (const auto* indexes : {&state->position_deletes, &state->equality_deletes}) {
        for (const uint32_t index : *indexes) {
          if (index >= plan->deletes.size()) std::abort();
        }
      }
    }
  }
  const auto written = plan::ChangePlanToJson(*plan, json::Writer::Style::kCompact);
  if (!written) {
    // A default that has no JSON form, a filter that grew beyond the parser's bounds: refused, never changed.
    if (written.error().kind() == ErrorKind::kNotSupported || written.error().kind() == ErrorKind::kInvalidArgument)
      return 0;
    std::abort();
  }
  const auto again = plan::ChangePlanFromJson(*written);
  if (!again || plan::ChangePlanToJson(*again, json::Writer::Style::kCompact) != *written) std::abort();
  const auto shards = plan::SplitChanges(*again, 2);
  if (!shards || (*shards)[0].tasks.size() + (*shards)[1].tasks.size() != plan->tasks.size()) std::abort();
  return 0;
}
