#include "delenda/ops/new_rows.h"

#include <utility>

namespace delenda::ops {

Result<write::WriteTarget> NewFiles(const commit::TableSession& session, std::shared_ptr<write::StagedFiles> staged,
                                    bool row_lineage) {
  write::WriteTarget target;
  target.io = session.io();
  target.table_location = session.location();
  target.schema = session.schema();
  target.spec = session.default_spec();
  target.properties = DELENDA_TRY(write::WriteProperties::Parse(session.properties(), session.schema()));
  target.staged = std::move(staged);
  target.executor = &session.executor();
  target.row_lineage = row_lineage;
  return target;
}

void CountAdded(const std::vector<ContentFile>& files, RowChange& change) {
  for (const auto& file : files) {
    ++change.files_added;
    change.bytes_added += static_cast<uint64_t>(file.file_size);
  }
}

}  // namespace delenda::ops
