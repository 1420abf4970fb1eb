// Changes as the envelopes that consumers of Debezium know.
#pragma once

#include <cstdint>

#include "delenda/api/row_stream_impl.h"
#include "delenda/base/result.h"
#include "delenda/text_table.h"

namespace delenda::api {

// RowFormat::kDebezium: writes what is left of a stream of changes and returns the number of envelopes.
// InvalidArgument: the rows are no changes in Iceberg's dialect. ValidationFailed: an update lacks one of its images.
Result<uint64_t> WriteDebezium(RowStream::Impl& rows, const TextSink& sink);

}  // namespace delenda::api
