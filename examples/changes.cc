// Keeps counts of what happened to a table's rows: changes TABLE [FROM [TO]] [OLD=NEW]
//
// Two looks at the same range. The plan says which files the snapshots touched, and how, from metadata alone; the rows
// say what changed. A consumer that applies changes elsewhere has the same two switches.
#include <delenda/changes.h>
#include <delenda/table.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

int Fail(const delenda::Error& error) {
  std::fprintf(stderr, "%s\n", error.ToString().c_str());
  return 1;
}

// What a task stands for. A compiler that warns of missing cases tells when a kind is added.
const char* Meaning(delenda::ChangeTaskInfo::Kind kind) {
  using Kind = delenda::ChangeTaskInfo::Kind;
  switch (kind) {
    case Kind::kAddedRows: return "a new file: its rows are inserted";
    case Kind::kDeletedDataFile: return "a file that left: its rows are deleted";
    case Kind::kDeletedRows: return "a file that stays: some rows are deleted";
    case Kind::kRestoredRows: return "a file that stays: some rows come back";
  }
  return "?";
}

enum class Type { kInsert, kDelete, kUpdateBefore, kUpdateAfter };

std::optional<Type> TypeOf(std::string_view text) {
  if (text == "INSERT") return Type::kInsert;
  if (text == "DELETE") return Type::kDelete;
  if (text == "UPDATE_BEFORE") return Type::kUpdateBefore;
  if (text == "UPDATE_AFTER") return Type::kUpdateAfter;
  return std::nullopt;
}

struct Counts {
  uint64_t inserted = 0, deleted = 0, updated = 0;
};

// Text `row` of an Arrow string column: the C data interface has a buffer of 32-bit offsets and one of bytes.
std::string_view Text(const ArrowArray& column, int64_t row) {
  const auto* offsets = static_cast<const int32_t*>(column.buffers[1]) + column.offset + row;
  return {static_cast<const char*>(column.buffers[2]) + offsets[0], static_cast<size_t>(offsets[1] - offsets[0])};
}

int64_t Long(const ArrowArray& column, int64_t row) {
  return static_cast<const int64_t*>(column.buffers[1])[column.offset + row];
}

delenda::SnapshotChoice Choice(const char* text) {
  char* end = nullptr;
  const int64_t id = std::strtoll(text, &end, 10);
  if (*end == '\0') return {.snapshot_id = id};
  return {.ref = text};
}

// By snapshot, oldest first.
delenda::Result<std::vector<std::pair<int64_t, Counts>>> Count(delenda::RowStream rows) {
  ArrowSchema schema;
  if (auto got = rows.GetSchema(&schema); !got) return std::unexpected(got.error());
  int64_t type_at = -1, snapshot_at = -1;
  for (int64_t i = 0; i < schema.n_children; ++i) {
    if (std::strcmp(schema.children[i]->name, "_change_type") == 0) type_at = i;
    if (std::strcmp(schema.children[i]->name, "_commit_snapshot_id") == 0) snapshot_at = i;
  }
  schema.release(&schema);

  std::vector<std::pair<int64_t, Counts>> counts;
  ArrowArray batch;
  for (;;) {
    const auto more = rows.Next(&batch);
    if (!more) return std::unexpected(more.error());
    if (!*more) return counts;
    for (int64_t row = 0; row < batch.length; ++row) {
      const int64_t snapshot = Long(*batch.children[snapshot_at], row);
      if (counts.empty() || counts.back().first != snapshot) counts.emplace_back(snapshot, Counts());
      Counts& of_snapshot = counts.back().second;
      const auto type = TypeOf(Text(*batch.children[type_at], row));
      if (!type) return std::unexpected(delenda::Error(delenda::ErrorKind::kInternal, "an unknown type of change"));
      switch (*type) {
        case Type::kInsert: ++of_snapshot.inserted; break;
        case Type::kDelete: ++of_snapshot.deleted; break;
        case Type::kUpdateBefore: break;  // the old image; the new one follows at once
        case Type::kUpdateAfter: ++of_snapshot.updated; break;
      }
    }
    batch.release(&batch);
  }
}

}  // namespace

int main(int argc, char** argv) {
  delenda::OpenOptions options;
  if (argc > 1 && std::strchr(argv[argc - 1], '=') != nullptr) {
    auto mapping = delenda::ParseLocationMapping(argv[--argc]);
    if (!mapping) return Fail(mapping.error());
    options.mappings.push_back(*std::move(mapping));
  }
  if (argc < 2 || argc > 4) {
    std::fprintf(stderr, "usage: changes TABLE [FROM [TO]] [OLD=NEW]\n");
    return 2;
  }
  const auto table = delenda::Table::Open(argv[1], std::move(options));
  if (!table) return Fail(table.error());

  delenda::ChangeReadOptions changes;
  changes.range.columns.emplace();  // no column of the table: counting needs those of changes only
  if (argc > 2) changes.range.from = Choice(argv[2]);
  if (argc > 3) changes.range.to = Choice(argv[3]);

  const auto plan = table->PlanChanges(changes.range);
  if (!plan) return Fail(plan.error());
  for (const auto& task : plan->tasks) {
    std::printf("snapshot %" PRId64 ": %s (%" PRIu64 " rows at most)\n", task.commit_snapshot_id, Meaning(task.kind),
                task.estimated_rows);
  }

  auto rows = table->Changes(changes);
  if (!rows) return Fail(rows.error());
  const auto counts = Count(*std::move(rows));
  if (!counts) return Fail(counts.error());
  for (const auto& [snapshot, count] : *counts) {
    std::printf("snapshot %" PRId64 ": %" PRIu64 " inserted, %" PRIu64 " deleted, %" PRIu64 " updated\n", snapshot,
                count.inserted, count.deleted, count.updated);
  }
  return 0;
}
