#include "delenda/ops/row_change.h"

#include <fmt/format.h>

namespace delenda::ops {

Result<RowChange> RunUntilCommitted(
    commit::TableSession& session, const std::function<Result<std::variant<RowChange, commit::LookAgain>>()>& attempt) {
  constexpr uint64_t kMostLooks = 50;
  for (uint64_t looked_again = 0;; ++looked_again) {
    DELENDA_TRY(session.Refresh());
    auto outcome = DELENDA_TRY(attempt());
    if (auto* change = std::get_if<RowChange>(&outcome)) {
      change->looked_again = looked_again;
      return *change;
    }
    const auto& reason = std::get<commit::LookAgain>(outcome).reason;
    if (looked_again == kMostLooks) {
      return CommitConflict(
          "others changed the rows that this operation reads in all of {} tries (the last time: {}); nothing was "
          "changed: run it again when the table is quieter",
          looked_again + 1, reason);
    }
    if (session.hooks().log) session.hooks().log(LogLevel::kInfo, fmt::format("looking again: {}", reason));
  }
}

}  // namespace delenda::ops
