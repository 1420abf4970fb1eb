#include <delenda/changes.h>
#include <delenda/rows.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "cli/append_file.h"
#include "cli/checkpoint.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

// What new snapshots there are, seen from one that is known.
struct News {
  std::optional<int64_t> head;
  int32_t changelog_snapshots = 0;  // behind the known one, without those that only rearranged rows
};

Error ValidationFailure(std::string message) { return Error(ErrorKind::kValidationFailed, std::move(message)); }

Result<std::optional<int64_t>> HeadOf(const Table& table, const std::optional<std::string>& branch) {
  if (!branch) return table.current_snapshot_id();
  for (const RefInfo& ref : table.Refs()) {
    if (ref.name == *branch) return ref.snapshot_id;
  }
  return std::unexpected(Error(ErrorKind::kNotFound, fmt::format("there is no branch '{}'", *branch)));
}

// Walks from the head back to `known`. A snapshot that has expired is still known by its child.
Result<News> NewsSince(const Table& table, std::optional<int64_t> head, std::optional<int64_t> known) {
  std::map<int64_t, SnapshotInfo> snapshots;
  for (SnapshotInfo& snapshot : table.Snapshots()) snapshots.emplace(snapshot.snapshot_id, std::move(snapshot));
  News news{.head = head};
  std::optional<int64_t> at = head;
  while (at && at != known) {
    const auto found = snapshots.find(*at);
    if (found == snapshots.end()) break;
    if (found->second.operation != "replace") ++news.changelog_snapshots;
    at = found->second.parent_id;
  }
  if (at == known) return news;
  if (!known) {
    return std::unexpected(ValidationFailure(fmt::format(
        "the table's first snapshots have expired, {} among them: their changes can't be told any more; begin later, "
        "with --from",
        *at)));
  }
  if (snapshots.contains(*known)) {
    return std::unexpected(ValidationFailure(
        fmt::format("snapshot {}, whose changes were told last, is no ancestor of {} any more: the table was rolled "
                    "back, or its branch replaced; begin anew, without the checkpoint, with --from",
                    *known, head ? fmt::format("snapshot {}", *head) : "the empty table")));
  }
  return std::unexpected(ValidationFailure(
      fmt::format("snapshot {}, whose changes were told last, has expired, and with it changes that followed: begin "
                  "anew, without the checkpoint, with --from one of the snapshots that the table still has",
                  *known)));
}

class Follower {
 public:
  explicit Follower(Session& session)
      : session_(session), follow_(*session.arguments.follow), options_(session.arguments.changes) {}

  Result<void> Run() {
    const Table* table = session_.table;
    if (auto begun = Begin(*table); !begun) return begun;
    std::optional<Table> reopened;
    for (;;) {
      const auto told = TellNews(*table);
      if (!told) return std::unexpected(told.error());
      if (!*told) {
        if (follow_.until_idle) return {};
        Wait();
      }
      if (session_.cancel.cancelled()) return {};
      auto opened = Table::Open(session_.arguments.table, session_.open);
      if (!opened) return std::unexpected(std::move(opened).error());
      reopened.emplace(*std::move(opened));
      table = &*reopened;
      if (table->uuid() != state_.table_uuid)
        return std::unexpected(ValidationFailure("another table took the place of the one that was followed"));
    }
  }

  // What is in the output, but not in the checkpoint, is no snapshot's whole change.
  Result<void> CutBack() { return file_ ? file_->CutBack() : Result<void>(); }

 private:
  Result<void> Begin(const Table& table) {
    std::optional<Checkpoint> earlier;
    if (!follow_.checkpoint.empty()) {
      auto read = Checkpoint::Read(follow_.checkpoint);
      if (!read) return std::unexpected(std::move(read).error());
      earlier = *std::move(read);
    }
    state_.table_uuid = table.uuid();
    state_.branch = options_.range.branch.value_or("");
    if (earlier) {
      const auto refuse = [&](const char* message) {
        Error error = ValidationFailure(message);
        error.Add("checkpoint", follow_.checkpoint);
        return std::unexpected(std::move(error));
      };
      if (earlier->table_uuid != state_.table_uuid) return refuse("the checkpoint is of another table");
      if (earlier->branch != state_.branch) return refuse("the checkpoint is of another branch");
      state_ = *earlier;
    } else if (auto from = FromSnapshot(table); from) {
      state_.snapshot_id = *from;
    } else {
      return std::unexpected(std::move(from).error());
    }
    if (session_.arguments.output.empty()) return Save();
    auto opened = AppendFile::Open(session_.arguments.output, earlier ? earlier->output : std::nullopt,
                                   session_.arguments.overwrite, session_.cancel);
    if (!opened) return std::unexpected(std::move(opened).error());
    file_.emplace(*std::move(opened));
    header_ = file_->empty();
    return Save();
  }

  // The snapshot that the changes begin behind.
  Result<std::optional<int64_t>> FromSnapshot(const Table& table) const {
    const SnapshotChoice& from = options_.range.from;
    std::optional<int64_t> id = from.snapshot_id;
    if (from.ref) {
      const auto head = HeadOf(table, from.ref);
      if (!head) return head;
      id = *head;
    } else if (from.as_of_ms) {
      for (const HistoryEntry& entry : table.History()) {
        if (entry.timestamp_ms <= *from.as_of_ms) id = entry.snapshot_id;
      }
    }
    if (!id || !options_.range.from_inclusive) return id;
    for (const SnapshotInfo& snapshot : table.Snapshots()) {
      if (snapshot.snapshot_id == *id) return snapshot.parent_id;
    }
    return std::unexpected(Error(ErrorKind::kNotFound, fmt::format("the table has no snapshot {}", *id)));
  }

  // True: something was new.
  Result<bool> TellNews(const Table& table) {
    const auto head = HeadOf(table, options_.range.branch);
    if (!head) return std::unexpected(head.error());
    if (*head == state_.snapshot_id) return false;
    const auto news = NewsSince(table, *head, state_.snapshot_id);
    if (!news) return std::unexpected(news.error());
    ChangeReadOptions options = options_;
    options.range.from = {.snapshot_id = state_.snapshot_id};
    options.range.from_inclusive = false;
    options.range.to = {.snapshot_id = news->head};
    options.first_ordinal = state_.next_ordinal;
    const int32_t next = state_.next_ordinal + news->changelog_snapshots;
    const auto snapshots = table.ChangesBySnapshot(options);
    if (!snapshots) return std::unexpected(snapshots.error());
    for (const SnapshotChanges& changes : *snapshots) {
      if (auto told = Tell(changes); !told) return std::unexpected(std::move(told).error());
      state_.snapshot_id = changes.snapshot_id();
      state_.next_ordinal = changes.ordinal() + 1;
      if (auto saved = Save(); !saved) return std::unexpected(std::move(saved).error());
    }
    // Snapshots without a changed row count too.
    state_.snapshot_id = news->head;
    state_.next_ordinal = next;
    if (auto saved = Save(); !saved) return std::unexpected(std::move(saved).error());
    if (&table != session_.table) session_.stats.Add(table.Io());
    return true;
  }

  Result<void> Tell(const SnapshotChanges& changes) {
    auto rows = changes.Read();
    if (!rows) return std::unexpected(std::move(rows).error());
    const auto sink = [&](std::string_view text) -> Result<void> {
      if (file_) return file_->Write(text);
      if (session_.out.IsTerminal()) session_.progress.Clear();
      return session_.out.Write(text);
    };
    RowFormat format = RowFormat::kJsonLines;
    if (session_.arguments.format == OutputFormat::kCsv) format = RowFormat::kCsv;
    if (session_.arguments.format == OutputFormat::kDebezium) format = RowFormat::kDebezium;
    const auto written = WriteRows(*rows, {.format = format, .header = header_}, sink);
    if (!written) return std::unexpected(written.error());
    header_ = false;
    return {};
  }

  // First the output, then the checkpoint: a crash in between repeats a snapshot, the other way round would lose one.
  Result<void> Save() {
    if (file_) {
      const auto position = file_->Store();
      if (!position) return std::unexpected(position.error());
      state_.output = *position;
    } else if (auto synced = session_.out.Sync(); !synced) {
      return synced;
    }
    return follow_.checkpoint.empty() ? Result<void>() : state_.Write(follow_.checkpoint);
  }

  void Wait() const {
    const auto end = std::chrono::steady_clock::now() + follow_.poll;
    while (!session_.cancel.cancelled()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left <= left.zero()) return;
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(left, std::chrono::milliseconds(50)));
    }
  }

  Session& session_;
  const Follow& follow_;
  const ChangeReadOptions& options_;
  Checkpoint state_;
  std::optional<AppendFile> file_;
  bool header_ = true;
};

}  // namespace

Result<void> RunFollow(Session& session) {
  Follower follower(session);
  auto done = follower.Run();
  // Ctrl-C is how this ends.
  if (!done && done.error().kind() == ErrorKind::kCancelled && session.cancel.cancelled()) done = {};
  auto cut = follower.CutBack();
  return done ? cut : done;
}

}  // namespace delenda::cli
