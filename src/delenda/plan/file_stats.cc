#include "delenda/plan/file_stats.h"

#include <map>
#include <optional>
#include <string>

namespace delenda::plan {

StatsSource FileStats(const ContentFile& file) {
  return [&file](const BoundColumn& column) -> std::optional<ColumnStats> {
    if (!file.metrics) return std::nullopt;
    const auto count = [&](const std::map<int32_t, int64_t>& counts) -> std::optional<int64_t> {
      const auto found = counts.find(column.field_id);
      return found == counts.end() ? std::nullopt : std::optional(found->second);
    };
    const auto bound = [&](const std::map<int32_t, std::string>& bounds) -> std::optional<Datum> {
      const auto found = bounds.find(column.field_id);
      if (found == bounds.end()) return std::nullopt;
      return PruningBound(column.type, AsBytes(found->second));
    };
    return ColumnStats{.value_count = count(file.metrics->value_counts),
                       .null_count = count(file.metrics->null_counts),
                       .nan_count = count(file.metrics->nan_counts),
                       .lower = bound(file.metrics->lower_bounds),
                       .upper = bound(file.metrics->upper_bounds)};
  };
}

}  // namespace delenda::plan
