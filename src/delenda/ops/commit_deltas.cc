#include "delenda/ops/commit_deltas.h"

#include <arrow/record_batch.h>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "delenda/commit/upgrade.h"
#include "delenda/ops/changed_files.h"
#include "delenda/ops/equality_converter.h"
#include "delenda/ops/key_scan.h"
#include "delenda/ops/new_rows.h"
#include "delenda/plan/file_stats.h"
#include "delenda/plan/output_columns.h"
#include "delenda/read/equality_keys.h"
#include "delenda/read/scan_stream.h"

namespace delenda::ops {
namespace {

// Of the summary's member that a result's snapshot has.
std::string SummaryKeyOf(const DeltaResult& result) { return "delenda.delta." + result.id; }

// Files with a column that they lack read as NULL, those with one that is gone are read without it.
Result<void> CheckFits(const DeltaResult& result, const Schema& table) {
  const auto written = [&](int32_t id) { return std::ranges::find(result.schema.fields(), id, &Field::id); };
  for (const Field& field : table.fields()) {
    const auto had = written(field.id);
    const bool fits = had == result.schema.fields().end()
                          ? !field.required
                          : had->type == field.type && (had->required || !field.required);
    if (!fits) {
      return ValidationFailed(
          "the rows were written before column '{}' of the table was changed, and do not fit it any more: write them "
          "again",
          field.name);
    }
  }
  const Schema keys = DELENDA_TRY(result.schema.Select(result.key));
  for (const Field& field : keys.fields()) {
    if (table.FindById(field.id).empty())
      return ValidationFailed("key column '{}' has left the table: write the rows again with another key", field.name);
  }
  return {};
}

class DeltaCommit {
 public:
  DeltaCommit(commit::TableSession& session, std::span<const DeltaResult> results, const CommitDeltasOptions& options)
      : session_(session), options_(options) {
    for (const DeltaResult& result : results) results_.push_back(&result);
    std::ranges::stable_sort(results_, {}, &DeltaResult::order);
  }

  Result<RowChange> Run() {
    DELENDA_TRY(CheckResults());
    CutIntoParts();
    const bool falls_back = std::ranges::all_of(
        results_, [](const DeltaResult* result) { return result->fallback == DeltaFallback::kCommitEqualityDeletes; });
    if (options_.most_tries > 0) {
      auto change = RunUntilCommitted(session_, [&] { return Try(); }, options_.most_tries - 1);
      if (change || change.error().kind() != ErrorKind::kCommitConflict || !falls_back) return change;
      if (session_.hooks().log) {
        session_.hooks().log(
            LogLevel::kWarning,
            fmt::format("equality deletes are committed, to be converted later: {}", change.error().message()));
      }
    } else if (!falls_back) {
      return InvalidArgument("with no tries only equality deletes can be committed, and the fallback is to abort");
    }
    return RunUntilCommitted(session_, [&] { return TryEqualityDeletes(); });
  }

 private:
  using Outcome = Result<std::variant<RowChange, commit::LookAgain>>;

  Result<void> CheckResults() const {
    if (results_.empty()) return InvalidArgument("there is no delta to commit");
    for (const DeltaResult* result : results_) {
      if (result->table != session_.location())
        return InvalidArgument("a delta of the table {} can't be committed to {}", result->table, session_.location());
    }
    for (size_t i = 1; i < results_.size(); ++i) {
      if (results_[i]->key != results_[0]->key)
        return InvalidArgument("deltas of different keys can't be committed together");
      // Which of two events of one key is the last one would be chance.
      if (results_[i]->order == results_[i - 1]->order)
        return InvalidArgument("two deltas have the order number {}", results_[i]->order);
    }
    return {};
  }

  // Key files whose keys fit into memory together.
  void CutIntoParts() {
    uint64_t memory = 0;
    for (size_t i = 0; i < results_.size(); ++i) {
      for (const DeltaResult::KeyFile& file : results_[i]->keys) {
        memory += file.memory_needed;
        if (parts_.empty() || memory > options_.key_memory) {
          parts_.emplace_back();
          memory = file.memory_needed;
        }
        parts_.back().push_back({.file = &file.file, .result = i});
      }
    }
  }

  // The keys of a part, each with the number of the last result that has it, from 1.
  Result<std::shared_ptr<const read::EqualityKeys>> LoadPart(size_t part) const {
    std::vector<ContentFile> files;
    for (const KeyFileOf& of : parts_[part]) {
      files.push_back(*of.file);
      files.back().data_sequence_number = static_cast<int64_t>(of.result) + 1;
    }
    const plan::ScanPlan plan = DELENDA_TRY(session_.PlanOfDeletes(std::move(files)));
    std::vector<uint32_t> indexes(plan.deletes.size());
    std::iota(indexes.begin(), indexes.end(), 0U);
    return std::make_shared<const read::EqualityKeys>(DELENDA_TRY(read::EqualityKeys::Load(
        *session_.io(), plan, indexes, read::ReadOptions().equality_memory, session_.hooks().cancel)));
  }

  KeyParts Keys() {
    return {.count = parts_.size(), .load = [this](size_t part) -> Result<std::shared_ptr<const read::KeyTable>> {
              auto keys = DELENDA_TRY(LoadPart(part));
              const read::KeyTable* table = &keys->keys();
              return std::shared_ptr<const read::KeyTable>(std::move(keys), table);
            }};
  }

  // Rows of the new files whose keys have later events in other results. The files never change: once is enough.
  Result<void> FindReplaced() {
    if (replaced_) return {};
    JoinedDeletes joined;
    for (size_t part = 0; results_.size() > 1 && part < parts_.size(); ++part) {
      const auto keys = DELENDA_TRY(LoadPart(part));
      auto plan = std::make_shared<plan::ScanPlan>(DELENDA_TRY(session_.PlanOfDeletes({})));
      const std::vector<std::string> select = {"_file", "_pos"};
      plan->columns =
          DELENDA_TRY(plan::ChooseColumns({.select = select, .select_all = false}, plan->schema, plan->specs));
      for (size_t i = 0; i + 1 < results_.size(); ++i) {
        for (const ContentFile& file : results_[i]->data_files) {
          if (!keys->CouldDelete(plan::FileStats(file))) continue;
          plan::FileTask& task = plan->tasks.emplace_back();
          task.file = file;
          task.file.data_sequence_number = static_cast<int64_t>(i) + 1;
          task.residual = Expr::True();
          task.length = static_cast<uint64_t>(file.file_size);
        }
      }
      if (plan->tasks.empty()) continue;
      const auto stream = DELENDA_TRY(read::OpenScan(plan, session_.io(),
                                                     {.threads = session_.executor().threads(),
                                                      .keys = {keys, &keys->keys()},
                                                      .key_sequence_numbers = {keys, &keys->sequence_numbers()},
                                                      .hooks = session_.hooks()}));
      ChangedFiles found(*plan);
      while (const auto batch = DELENDA_TRY(stream->Next())) {
        DELENDA_TRY(found.Add(*batch, 0));
      }
      joined.Add(DELENDA_TRY(found.Deletes(session_)));
    }
    replaced_ = joined.Take();
    return {};
  }

  // New files and their vectors, which are the same in every attempt.
  Result<commit::Intent> NewRows(RowChange& change) {
    DELENDA_TRY(commit::CheckTakesDeletes(session_.format_version()));
    DELENDA_TRY(session_.CheckBranch(options_.branch));
    for (const DeltaResult* result : results_) DELENDA_TRY(CheckFits(*result, session_.schema()));
    DELENDA_TRY(FindReplaced());
    commit::Intent intent;
    intent.branch = options_.branch;
    intent.base_snapshot_id = session_.head(options_.branch);
    // Of rows that others add only those with the same keys matter, and these always.
    intent.isolation = commit::Isolation::kSnapshot;
    std::set<std::string> gone;
    for (const commit::FileDelete& one : *replaced_) {
      change.rows_added -= one.deleted.cardinality();
      if (one.deleted.cardinality() == static_cast<uint64_t>(one.file.record_count)) {
        gone.insert(one.file.path);
      } else {
        intent.deletes_of_added.push_back(one);
      }
    }
    for (const DeltaResult* result : results_) {
      change.rows_added += result->rows;
      intent.summary[SummaryKeyOf(*result)] = std::to_string(result->order);
      std::ranges::copy_if(result->data_files, std::back_inserter(intent.added_files),
                           [&](const ContentFile& file) { return !gone.contains(file.path); });
    }
    CountAdded(intent.added_files, change);
    return intent;
  }

  // The results are in a snapshot already: then it is that one.
  Result<std::optional<RowChange>> FindCommitted() const {
    std::optional<int64_t> snapshot_id;
    size_t count = 0;
    for (const DeltaResult* result : results_) {
      const auto found = session_.FindSummary(options_.branch, SummaryKeyOf(*result));
      if (!found) continue;
      ++count;
      snapshot_id = found;
    }
    if (count == 0) return std::nullopt;
    if (count < results_.size()) {
      return InvalidArgument("{} of the {} deltas are committed already (snapshot {}): leave them out", count,
                             results_.size(), *snapshot_id);
    }
    return RowChange{.snapshot_id = snapshot_id};
  }

  Outcome Try() {
    if (const auto earlier = DELENDA_TRY(FindCommitted())) return *earlier;
    RowChange change;
    commit::Intent intent = DELENDA_TRY(NewRows(change));
    const ScanKeyPositionResolver scan;
    const EqualityDeleteConverter converter(session_, options_.branch,
                                            options_.resolver != nullptr ? *options_.resolver : scan, true);
    JoinedDeletes joined;
    for (const auto& part : parts_) {
      std::vector<ContentFile> files;
      for (const KeyFileOf& of : part) files.push_back(*of.file);
      joined.Add(DELENDA_TRY(converter.Convert(files)).vectors);
    }
    intent.deletes = joined.Take();
    CountChanged(intent.deletes, change);
    change.rows_deleted = DeletedRows(intent.deletes);
    if (intent.deletes.empty() && intent.added_files.empty()) return change;
    intent.operation = intent.added_files.empty()                                  ? commit::Operation::kDelete
                       : intent.deletes.empty() && intent.deletes_of_added.empty() ? commit::Operation::kAppend
                                                                                   : commit::Operation::kOverwrite;
    AddedKeyCheck check(session_, Keys(), std::make_shared<plan::ScanPlan>(DELENDA_TRY(session_.PlanOfDeletes({}))));
    intent.touches_added = [&](const std::vector<ContentFile>& added) { return check.Touches(added); };
    return Commit(intent, change);
  }

  Outcome TryEqualityDeletes() {
    if (const auto earlier = DELENDA_TRY(FindCommitted())) return *earlier;
    RowChange change;
    commit::Intent intent = DELENDA_TRY(NewRows(change));
    intent.operation = intent.added_files.empty() ? commit::Operation::kDelete : commit::Operation::kOverwrite;
    const auto specs = session_.specs();
    const auto everywhere =
        std::ranges::find_if(specs, [](const auto& spec) { return spec.second.spec.IsUnpartitioned(); });
    for (const DeltaResult* result : results_) {
      if (everywhere != specs.end()) {
        const auto tuple = std::make_shared<const PartitionTuple>(
            PartitionTuple{.values = std::vector<Datum>(everywhere->second.spec.fields.size())});
        for (const DeltaResult::KeyFile& keys : result->keys) {
          ContentFile& file = intent.added_delete_files.emplace_back(keys.file);
          file.spec_id = everywhere->first;
          file.partition = tuple;
        }
        continue;
      }
      for (const auto& [id, spec] : specs) {
        const auto of_spec = result->deletes_of_spec.find(id);
        // Rows that lie under this spec would stay beside their new versions.
        if (of_spec == result->deletes_of_spec.end()) {
          return ValidationFailed(
              "the table has got partition spec {} since the rows were written, and there are no equality deletes for "
              "it: commit again when the table is quieter, or write the rows again",
              id);
        }
        std::ranges::copy(of_spec->second, std::back_inserter(intent.added_delete_files));
      }
    }
    change.delete_files_added = intent.added_delete_files.size();
    return Commit(intent, change);
  }

  Outcome Commit(const commit::Intent& intent, const RowChange& change) {
    write::StagedFiles published(session_.io());
    for (const auto* files : {&intent.added_files, &intent.added_delete_files}) {
      for (const ContentFile& file : *files) published.Add(file.path);
    }
    const std::vector<std::string> paths = published.paths();
    auto outcome = CommitChange(session_, intent, published, change);
    // Released also when it is not known whether the table refers to them: then they must stay, come what may.
    const bool may_belong_to_table = published.paths().empty();
    published.Release();
    if (!may_belong_to_table) return outcome;
    for (const DeltaResult* result : results_) {
      for (const std::string& path : paths) result->staged->Release(path);
    }
    return outcome;
  }

  struct KeyFileOf {
    const ContentFile* file = nullptr;
    size_t result = 0;  // index into results_
  };

  commit::TableSession& session_;
  const CommitDeltasOptions& options_;
  std::vector<const DeltaResult*> results_;  // by order
  std::vector<std::vector<KeyFileOf>> parts_;
  std::optional<std::vector<commit::FileDelete>> replaced_;
};

}  // namespace

Result<RowChange> CommitDeltas(commit::TableSession& session, std::span<const DeltaResult> results,
                               const CommitDeltasOptions& options) {
  auto change = DELENDA_TRY(DeltaCommit(session, results, options).Run());
  for (const DeltaResult& result : results) {
    // What was not published: key files, data files of which no row is left. Nobody refers to them: should this fail,
    // only storage is wasted.
    if (auto deleted = result.staged->DeleteAll(); !deleted && session.hooks().log)
      session.hooks().log(LogLevel::kWarning, "left over: " + deleted.error().ToString());
  }
  return change;
}

}  // namespace delenda::ops
