// Checks of deletion vectors by reading them: their bytes, and the footer of their Puffin file.
#pragma once

#include <span>
#include <string>

#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/model/content_file.h"
#include "delenda/model/finding.h"

namespace delenda::read {

struct VectorToCheck {
  const ContentFile* vector = nullptr;  // whole: referenced data file, offset and size lie within the stated file size
  const ContentFile* data_file = nullptr;  // that it applies to; null: none
};

// All vectors of one Puffin file: its real size, each blob (length, magic, CRC, structure), cardinality against the
// manifest's record count, positions against the rows of the data file, and the footer's entry for each blob against
// the manifest's. Vectors are decoded one at a time; blobs that lie close together are read in one request.
// Errors: storage and cancellation only.
Result<Findings> CheckVectors(io::FileIO& io, const std::string& path, std::span<const VectorToCheck> vectors,
                              const CancelToken& cancel);

// Decodes one vector; Corrupt for whatever is wrong with it.
Result<PositionSet> ReadVector(io::FileIO& io, const ContentFile& vector);

}  // namespace delenda::read
