#include "delenda/commit/rebase.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "delenda/commit/history.h"
#include "delenda/model/partition.h"
#include "delenda/model/pruning.h"
#include "delenda/plan/file_stats.h"

namespace delenda::commit {
namespace {

using Outcome = std::variant<Changes, LookAgain>;

// May the file hold rows that the filter matches?
bool MayMatch(const ContentFile& file, const Expr& filter, const std::map<int32_t, BoundSpec>& specs) {
  const auto spec = specs.find(file.spec_id);
  if (spec == specs.end()) return true;
  const ExprRef residual = ResidualFor(filter, spec->second, *file.partition);
  return residual->op != Op::kFalse && CouldMatch(*residual, plan::FileStats(file));
}

class Rebaser {
 public:
  Rebaser(const Intent& intent, const BranchState& state) : intent_(intent), state_(state) {}

  // Null: nobody has committed since the base.
  Result<Outcome> Run(const History* history, std::shared_ptr<io::FileIO> io) {
    if (history != nullptr) {
      if (auto again = DELENDA_TRY(CheckHistory(*history))) return *std::move(again);
    }
    std::set<const plan::FileTask*> live;
    const auto add_live = [&](const ContentFile& file) {
      if (const auto* task = state_.Find(file.path)) live.insert(task);
    };
    for (const auto& wanted : intent_.deletes) add_live(wanted.file);
    for (const auto& wanted : intent_.rewritten_files) add_live(wanted.file);
    for (const auto& read : intent_.read_rows) add_live(read.file);
    const auto deleted = DELENDA_TRY(state_.LoadDeleted({live.begin(), live.end()}, std::move(io)));

    changes_.added_files = intent_.added_files;
    changes_.added_delete_files = intent_.added_delete_files;
    for (const auto& wanted : intent_.deletes_of_added)
      changes_.vectors.push_back({.data_file = wanted.file, .positions = wanted.deleted});
    for (const auto& wanted : intent_.deletes) {
      const auto* task = state_.Find(wanted.file.path);
      auto again = task == nullptr ? Gone(wanted, history)
                                   : DELENDA_TRY(Merge(wanted, *task, deleted.at(wanted.file.path), history));
      if (again) return *std::move(again);
    }
    for (const auto& wanted : intent_.rewritten_files) {
      const auto* task = state_.Find(wanted.file.path);
      if (task == nullptr) return LookAgain{fmt::format("{} was removed", wanted.file.path)};
      if (!(deleted.at(wanted.file.path) == wanted.before))
        return LookAgain{fmt::format("other rows of {} are deleted than when it was read", wanted.file.path)};
      Remove(*task);
    }
    for (const auto& read : intent_.read_rows) {
      if (state_.Find(read.file.path) == nullptr) return LookAgain{fmt::format("{} was removed", read.file.path)};
      if (read.positions.Intersects(deleted.at(read.file.path)))
        return LookAgain{fmt::format("rows of {} that were read were changed by others", read.file.path)};
    }
    for (const auto& file : intent_.removed_delete_files) {
      // One that is gone has been turned into vectors by somebody else.
      if (state_.IsLive(DeleteKey(file)) && !superseded_.contains(DeleteKey(file)))
        changes_.removed_delete_files.push_back(file);
    }
    return std::move(changes_);
  }

 private:
  Result<std::optional<LookAgain>> CheckHistory(const History& history) const {
    if (!history.is_known) return LookAgain{"the snapshot that was read is no ancestor of the branch's head any more"};
    if (auto again = CheckRemovedDeletes(history)) return again;
    // A row that the operation found deleted by a vector, which is taken away: the delete that also covers it must
    // stay.
    if (intent_.IsConversion() && history.has_restored_rows) return LookAgain{"deleted rows were brought back"};
    // The delete covers rows that this operation copies: the copy would be newer than the delete, and live on. Or rows
    // that it has read.
    const bool minds_deletes = !intent_.IsPureDelete() || !intent_.read_rows.empty();
    if (history.has_new_equality_deletes && minds_deletes && !intent_.IsConversion())
      return LookAgain{"equality deletes were committed"};
    const bool checks_filter = intent_.isolation == Isolation::kSerializable &&
                               intent_.operation != Operation::kReplace && !intent_.deletes.empty();
    if (!checks_filter && !intent_.touches_added) return std::nullopt;
    if (history.has_restored_rows) return LookAgain{"deleted rows were brought back"};
    for (const auto& file : history.added_files) {
      if (checks_filter && (!intent_.conflict_filter || MayMatch(file, *intent_.conflict_filter, state_.specs())))
        return LookAgain{fmt::format("rows that may match were added in {}", file.path)};
    }
    if (intent_.touches_added && !history.added_files.empty()) {
      // The rows of a file that is gone again may be in another one that is not among the added ones.
      if (history.has_moved_rows) return LookAgain{"rows were added, and files rewritten"};
      if (DELENDA_TRY(intent_.touches_added(history.added_files)))
        return LookAgain{"rows with the same keys were added"};
    }
    return std::nullopt;
  }

  // Compaction writes files with the sequence number of the files that it has read, so that newer equality deletes go
  // on to apply. Without the deletes their rows would come back.
  std::optional<LookAgain> CheckRemovedDeletes(const History& history) const {
    for (const auto& deletes : intent_.removed_delete_files) {
      if (deletes.content != FileContent::kEqualityDeletes) continue;
      for (const auto* files : {&history.added_files, &history.replacing_files}) {
        for (const auto& file : *files) {
          if (AppliesTo(deletes, file) &&
              (!intent_.conflict_filter || MayMatch(file, *intent_.conflict_filter, state_.specs())))
            return LookAgain{fmt::format("{}, to which {} applies, was added", file.path, deletes.path)};
        }
      }
    }
    return std::nullopt;
  }
  bool AppliesTo(const ContentFile& equality_deletes, const ContentFile& file) const {
    if (file.data_sequence_number >= equality_deletes.data_sequence_number) return false;
    const auto spec = state_.specs().find(equality_deletes.spec_id);
    const bool is_global = spec == state_.specs().end() || spec->second.spec.IsUnpartitioned();
    return is_global || (file.spec_id == equality_deletes.spec_id && *file.partition == *equality_deletes.partition);
  }

  // The data file is not live any more.
  std::optional<LookAgain> Gone(const FileDelete& wanted, const History* history) const {
    // Its deleted rows are in no other file either: the ones that hold what was left were checked.
    if (intent_.IsConversion()) return std::nullopt;
    // Whoever deleted its rows has done what this operation wants. But rows that were moved or updated live on.
    const bool is_done = intent_.IsPureDelete() && wanted.deleted.ContainsAll(wanted.before) && history != nullptr &&
                         history->is_pure && !history->has_moved_rows;
    if (is_done) return std::nullopt;
    return LookAgain{fmt::format("{} was removed", wanted.file.path)};
  }

  Result<std::optional<LookAgain>> Merge(const FileDelete& wanted, const plan::FileTask& task, const PositionSet& now,
                                         const History* history) {
    const PositionSet added = wanted.deleted.Difference(wanted.before);
    const PositionSet removed = wanted.before.Difference(wanted.deleted);
    if (!intent_.IsConversion() && added.Intersects(now.Difference(wanted.before))) {
      // An updated row lives on in its new copy: deleting the old one again would not delete it, and a second update
      // would leave two.
      const bool both_pure = intent_.IsPureDelete() && history != nullptr && history->is_pure;
      if (!both_pure) return LookAgain{fmt::format("rows of {} were changed by others", wanted.file.path)};
    }
    const PositionSet result = now.Union(added).Difference(removed);
    const bool becomes_vector = intent_.IsConversion() && !task.position_deletes.empty() && !result.empty();
    if (result == now && !becomes_vector) return std::nullopt;
    if (!removed.empty() && !task.position_deletes.empty()) {
      return ValidationFailed(
          "rows of {} can't be brought back: position delete files delete them; turn those into "
          "deletion vectors first",
          wanted.file.path);
    }
    changes_.deleted_rows += result.Difference(now).cardinality();
    changes_.restored_rows += now.Difference(result).cardinality();
    if (result.cardinality() == static_cast<uint64_t>(task.file.record_count)) {
      Remove(task);
      return std::nullopt;
    }
    Supersede(task);
    if (!result.empty()) changes_.vectors.push_back({.data_file = task.file, .positions = result});
    return std::nullopt;
  }

  void Remove(const plan::FileTask& task) {
    changes_.removed_files.push_back(task.file);
    Supersede(task);
  }
  void Supersede(const plan::FileTask& task) {
    for (auto& file : state_.Superseded(task.file.path)) {
      superseded_.insert(DeleteKey(file));
      changes_.removed_delete_files.push_back(std::move(file));
    }
  }

  const Intent& intent_;
  const BranchState& state_;
  Changes changes_;
  std::set<DeleteKey> superseded_;
};

}  // namespace

Result<Outcome> Rebase(const Intent& intent, const iceberg::TableMetadata& metadata, const BranchState& state,
                       std::shared_ptr<io::FileIO> io, Executor& executor, const Hooks& hooks) {
  const auto head_id = state.head() == nullptr ? std::nullopt : std::optional(state.head()->snapshot_id);
  std::optional<History> history;
  if (!intent.IsBlind() && head_id != intent.base_snapshot_id) {
    if (state.head() == nullptr) return LookAgain{"the branch has lost its snapshots"};
    history = DELENDA_TRY(ReadHistory(metadata, intent.base_snapshot_id, *state.head(), *io, executor, hooks));
  }
  Rebaser rebaser(intent, state);
  return rebaser.Run(history ? &*history : nullptr, std::move(io));
}

}  // namespace delenda::commit
