// Rows on their way into new data files of a table.
#pragma once

#include <memory>

#include "delenda/base/result.h"
#include "delenda/commit/table_session.h"
#include "delenda/ops/row_change.h"
#include "delenda/write/data_file_writer.h"
#include "delenda/write/staged_files.h"

namespace delenda::ops {

// Where new data files of the table go: its default spec and its properties. `row_lineage`: the batches have _row_id
// and _last_updated_sequence_number behind the table's columns.
Result<write::WriteTarget> NewFiles(const commit::TableSession& session, std::shared_ptr<write::StagedFiles> staged,
                                    bool row_lineage);

// Counts the files that were written.
void CountAdded(const std::vector<ContentFile>& files, RowChange& change);

}  // namespace delenda::ops
