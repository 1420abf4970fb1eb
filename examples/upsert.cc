// Brings a table up to date from a file of changes: upsert TABLE FILE KEY[,KEY...] [DELETE_WHEN]
//
// For instance, with the files of examples/orders:  upsert orders tuesday.jsonl id "op = 'd'"
#include <delenda/write.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace {

int Fail(const delenda::Error& error) {
  std::fprintf(stderr, "%s\n", error.ToString().c_str());
  // The one error after which the table may have been changed: its text says what to look for.
  return error.kind() == delenda::ErrorKind::kCommitStateUnknown ? 3 : 1;
}

std::vector<std::string> Names(std::string_view list) {
  std::vector<std::string> names;
  for (size_t comma = 0; comma != std::string_view::npos;) {
    comma = list.find(',');
    names.emplace_back(list.substr(0, comma));
    if (comma != std::string_view::npos) list.remove_prefix(comma + 1);
  }
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    std::fprintf(stderr, "usage: upsert TABLE FILE KEY[,KEY...] [DELETE_WHEN]\n");
    return 2;
  }
  auto table = delenda::WritableTable::Open(argv[1]);
  if (!table) return Fail(table.error());

  delenda::UpsertRequest request;
  request.rows.files = {argv[2]};
  request.rows.key = Names(argv[3]);
  if (argc > 4) request.delete_when = argv[4];
  // Others may write to the table at the same time: Upsert tries again until its result is that of running after them.
  const auto report = table->Upsert(request);
  if (!report) return Fail(report.error());

  std::printf("%" PRIu64 " rows inserted, %" PRIu64 " updated, %" PRIu64 " deleted\n", report->rows_added,
              report->rows_updated, report->rows_deleted);
  if (report->snapshot_id) std::printf("snapshot %" PRId64 "\n", *report->snapshot_id);
  return 0;
}
