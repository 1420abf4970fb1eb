// Events by key, written and committed to copies of fixture tables.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "delenda/ops/append_rows.h"
#include "delenda/ops/commit_deltas.h"
#include "delenda/ops/delta_writer.h"
#include "delenda/ops/source_files.h"
#include "delenda/write/row_source.h"
#include "unit/ops/table_copy.h"

namespace delenda::ops::testing {

// Events as JSON, one batch for each `batch_rows` of them.
inline Result<void> WriteEvents(DeltaWriter& writer, TableCopy& table, const Schema& schema,
                                std::vector<std::string> key, const std::vector<Json>& events,
                                int64_t batch_rows = 1000) {
  std::string lines;
  for (const Json& event : events) lines += event.dump() + "\n";
  const auto path = table.Put("events.jsonl", lines);
  const auto files = io::MakeLocalFileIO();
  const auto rows = DELENDA_TRY(SchemaOfKeyedRows(schema, key, {Field{.name = "op", .type = TypeKind::kString}}));
  const auto source = DELENDA_TRY(write::RowSource::Open(
      *files, path, {.format = write::RowFormat::kJsonLines, .batch_rows = batch_rows, .table = rows}));
  while (const auto batch = DELENDA_TRY(source->Next())) DELENDA_TRY(writer.Write(*batch));
  return {};
}

inline Result<DeltaResult> WriteDelta(const commit::TableSession& session, TableCopy& table,
                                      const std::vector<Json>& events, DeltaWriterOptions options) {
  auto writer = DELENDA_TRY(DeltaWriter::Make(session, options));
  DELENDA_TRY(WriteEvents(writer, table, session.schema(), options.key, events));
  return writer.Finish();
}

// What the events do to rows that lie in a list.
inline void ApplyEvents(std::vector<Json>& rows, const std::vector<Json>& events, const std::vector<std::string>& key) {
  for (Json event : events) {
    std::erase_if(rows, [&](const Json& row) {
      return std::ranges::all_of(key, [&](const std::string& name) { return row[name] == event[name]; });
    });
    const bool is_delete = event["op"] == "d";
    event.erase("op");
    if (!is_delete) rows.push_back(event);
  }
}

inline size_t EqualityDeletesOf(TableCopy& table) {
  const auto files = table.Session().LiveDeletes("main").value();
  return static_cast<size_t>(std::ranges::count(files, FileContent::kEqualityDeletes, &ContentFile::content));
}

// cl_basic: not partitioned; columns id, p and v.
inline Json PlainEvent(const char* op, int64_t id, const std::string& v = "") {
  return {{"id", id}, {"p", "p0"}, {"v", v}, {"op", op}};
}

// mor_dv_partitioned: ids from 1 on; (1, us), (2, ap), (3, eu) are there. Partitioned by region.
class DeltaTable : public ::testing::Test {
 protected:
  static Json Event(const char* op, Json id, const std::string& s = "", const char* region = "eu") {
    return {{"id", std::move(id)}, {"region", region}, {"s", s}, {"op", op}};
  }
  Result<DeltaResult> Delta(const commit::TableSession& session, const std::vector<Json>& events, uint64_t order = 0,
                            std::vector<std::string> key = {"id"}, DeltaFallback fallback = DeltaFallback::kAbort) {
    auto writer = DELENDA_TRY(DeltaWriter::Make(session, {.key = key, .order = order, .fallback = fallback}));
    DELENDA_TRY(WriteEvents(writer, table_, session.schema(), key, events));
    return writer.Finish();
  }
  std::vector<Json> Values(int64_t id) {
    std::vector<Json> values;
    for (const Json& row : table_.Rows({.select = {"id", "s"}, .select_all = false})) {
      if (row["id"] == id) values.push_back(row["s"]);
    }
    return values;
  }
  Result<RowChange> Append(const std::string& csv) {
    auto session = table_.Session();
    return AppendRows(session, *io::MakeLocalFileIO(), {.files = {table_.Put("meanwhile.csv", csv)}});
  }
  // Data files that lie in the table's folder: those of keys among them.
  size_t FilesInData() {
    const auto files = table_.Files();
    return static_cast<size_t>(
        std::ranges::count_if(files, [](const std::string& name) { return name.ends_with(".parquet"); }));
  }

  TableCopy table_{"mor_dv_partitioned"};
};

}  // namespace delenda::ops::testing
