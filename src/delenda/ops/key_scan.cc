#include "delenda/ops/key_scan.h"

#include <arrow/record_batch.h>

#include <utility>

#include "delenda/model/expression.h"
#include "delenda/model/sorted_keys.h"
#include "delenda/plan/file_stats.h"
#include "delenda/plan/shard.h"

namespace delenda::ops {
namespace {

// The table, as long as the rows that it belongs to.
std::shared_ptr<const read::KeyTable> TableOf(const std::shared_ptr<const KeyedRows>& rows) {
  return {rows, &rows->keys};
}

}  // namespace

Result<void> CheckColumnsStayed(const KeyedSource& source, const commit::TableSession& session) {
  if (source.Fits(session.schema())) return {};
  return CommitConflict(
      "the table's columns were changed while the rows were read or looked for; nothing was changed: run it again");
}

Result<KeyScan> KeyScan::Start(const commit::TableSession& session, const std::string& branch,
                               std::shared_ptr<const KeyedRows> keys, const std::vector<std::string>& key,
                               KeyScanColumns columns, std::vector<std::string> metadata) {
  KeyScan scan;
  scan.schema_ = columns == KeyScanColumns::kAll ? session.schema() : DELENDA_TRY(session.schema().Select(key));
  std::vector<std::string> select;
  for (const Field& field : scan.schema_.fields()) select.push_back(field.name);
  for (std::string& name : metadata) select.push_back(std::move(name));
  scan.plan_ = DELENDA_TRY(
      session.Plan(branch, {.select = std::move(select), .select_all = false, .keys = keys->keys.sorted()}));
  scan.stream_ = DELENDA_TRY(
      read::OpenScan(scan.plan_, session.io(),
                     {.threads = session.executor().threads(), .keys = TableOf(keys), .hooks = session.hooks()}));
  scan.keys_ = std::move(keys);
  return scan;
}

Result<KeyScan::Batch> KeyScan::Next() {
  auto rows = DELENDA_TRY(stream_->Next());
  if (rows == nullptr) return Batch();
  const auto columns = DELENDA_TRY(keys_->keys.ColumnsOf(schema_, *rows));
  auto numbers = DELENDA_TRY(keys_->keys.Find(columns, rows->num_rows()));
  return Batch{.rows = std::move(rows), .numbers = std::move(numbers)};
}

KeyParts KeyParts::Of(KeyedSource& source) {
  return {.count = source.parts(), .load = [&source](size_t part) -> Result<std::shared_ptr<const read::KeyTable>> {
            return TableOf(DELENDA_TRY(source.Part(part)));
          }};
}

AddedKeyCheck::AddedKeyCheck(const commit::TableSession& session, KeyParts keys,
                             std::shared_ptr<const plan::ScanPlan> plan)
    : session_(session), keys_(std::move(keys)), plan_(std::move(plan)) {}

Result<bool> AddedKeyCheck::Touches(const std::vector<ContentFile>& added) {
  std::vector<const ContentFile*> unknown;
  for (const ContentFile& file : added) {
    if (!known_.contains(file.path)) unknown.push_back(&file);
  }
  for (size_t part = 0; part < keys_.count && !unknown.empty(); ++part) {
    auto holds = HoldsKeys(unknown, DELENDA_TRY(keys_.load(part)));
    // Gone again, or written under a schema that this plan does not know: what it held is for the next evaluation to
    // find out.
    if (!holds && (holds.error().kind() == ErrorKind::kNotFound || holds.error().kind() == ErrorKind::kCorrupt))
      return true;
    if (DELENDA_TRY(std::move(holds))) return true;
  }
  for (const ContentFile* file : unknown) known_.insert(file->path);
  return false;
}

Result<bool> AddedKeyCheck::HoldsKeys(const std::vector<const ContentFile*>& files,
                                      std::shared_ptr<const read::KeyTable> keys) const {
  const auto sorted = keys->sorted();
  std::vector<plan::FileTask> tasks;
  for (const ContentFile* file : files) {
    const auto spec = plan_->specs.find(file->spec_id);
    // A partition value may stand for a key column: without the spec it would read as NULL, and the key be missed.
    if (spec == plan_->specs.end()) return true;
    if (!sorted->InPartitionsOf(spec->second).CouldBeIn(*file->partition)) continue;
    if (!sorted->CouldHold(plan::FileStats(*file))) continue;
    plan::FileTask& task = tasks.emplace_back();
    task.file = *file;
    task.residual = Expr::True();
    task.length = static_cast<uint64_t>(file->file_size);
  }
  if (tasks.empty()) return false;
  auto plan = std::make_shared<plan::ScanPlan>(DELENDA_TRY(plan::PlanOf(*plan_, std::move(tasks))));
  plan->columns.clear();
  plan->filter = Expr::True();
  const auto stream =
      DELENDA_TRY(read::OpenScan(std::move(plan), session_.io(),
                                 {.threads = session_.executor().threads(), .keys = keys, .hooks = session_.hooks()}));
  const auto first = DELENDA_TRY(stream->Next());
  return first != nullptr;
}

}  // namespace delenda::ops
