// The Avro schemas of manifests and manifest lists (Iceberg spec, "Manifests", "Manifest Lists", "Appendix A: Avro").
#pragma once

#include <cstdint>
#include <string>

#include "delenda/base/result.h"
#include "delenda/model/partition.h"

namespace delenda::iceberg {

// The schema of manifest_entry for format version 2 or 3, character by character as the reference implementation writes
// it, but for names of partition fields outside ASCII (see AvroName). The values of a row follow in the order of
// manifest_writer.cc. NotSupported: a partition value's type has no Avro form.
Result<std::string> ManifestEntrySchema(int32_t format_version, const BoundSpec& spec);

// The schema of manifest_file, likewise.
std::string ManifestFileSchema(int32_t format_version);

// How many bytes a decimal of this precision takes as an Avro fixed.
int DecimalBytes(int precision);

// `name` if it is a valid Avro name, else one made of it: "a b" becomes "a_x20b", "9x" "_9x". The reference
// implementation keeps letters outside ASCII, which the Avro specification does not allow; here they are escaped too
// (by UTF-16 code unit). Fields are found by id, and "iceberg-field-name" keeps the name itself.
std::string AvroName(std::string_view name);

}  // namespace delenda::iceberg
