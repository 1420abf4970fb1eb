// Commits the events of several writers as one snapshot: commit_deltas TABLE KEY[,KEY...] EVENTS.jsonl...
//
// Each file is the work of one writer, the events of later files come later; column op holds c, r, u or d. Prints what
// was done as the program's --json does.
#include <arrow/record_batch.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/catalog/commit_point.h"
#include "delenda/commit/table_session.h"
#include "delenda/io/file_io.h"
#include "delenda/ops/commit_deltas.h"
#include "delenda/ops/delta_writer.h"
#include "delenda/ops/source_files.h"
#include "delenda/write/row_source.h"

namespace delenda {
namespace {

Result<ops::DeltaResult> Written(const commit::TableSession& session, std::vector<std::string> key, uint64_t order,
                                 const std::string& path) {
  auto writer = DELENDA_TRY(ops::DeltaWriter::Make(session, {.key = key, .order = order}));
  const auto rows =
      DELENDA_TRY(ops::SchemaOfKeyedRows(session.schema(), key, {Field{.name = "op", .type = TypeKind::kString}}));
  const auto source = DELENDA_TRY(write::RowSource::Open(
      *session.io(), path, {.format = write::RowFormat::kJsonLines, .batch_rows = 1000, .table = rows}));
  while (const auto batch = DELENDA_TRY(source->Next())) DELENDA_TRY(writer.Write(*batch));
  return writer.Finish();
}

Result<ops::RowChange> Run(const std::string& table, const std::string& keys, const std::vector<std::string>& files) {
  std::vector<std::string> key;
  for (size_t begin = 0; begin <= keys.size();) {
    const size_t end = std::min(keys.find(',', begin), keys.size());
    key.push_back(keys.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto io = io::MakeLocalFileIO();
  Executor executor(2);
  std::shared_ptr<catalog::CommitPoint> point = catalog::MakeFolderCommitPoint(io, table);
  auto session = DELENDA_TRY(commit::TableSession::Open(io, std::move(point), executor, {}));
  std::vector<ops::DeltaResult> results;
  for (const std::string& file : files) results.push_back(DELENDA_TRY(Written(session, key, results.size(), file)));
  return ops::CommitDeltas(session, results, {});
}

}  // namespace
}  // namespace delenda

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: commit_deltas TABLE KEY[,KEY...] EVENTS.jsonl...\n", stderr);
    return 2;
  }
  const auto change = delenda::Run(argv[1], argv[2], std::vector<std::string>(argv + 3, argv + argc));
  if (!change) {
    fmt::print(stderr, "{}\n", change.error().ToString());
    return 1;
  }
  fmt::print(R"({{"snapshot-id": {}, "rows-added": {}, "rows-deleted": {}, "rows-updated": {}}})"
             "\n",
             change->snapshot_id.value_or(0), change->rows_added, change->rows_deleted, change->rows_updated);
  return 0;
}
