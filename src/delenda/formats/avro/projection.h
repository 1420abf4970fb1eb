// Which fields of an Avro file are decoded. All others are stepped over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "delenda/formats/avro/schema.h"

namespace delenda::avro {

// A wanted field and what is wanted inside it.
//
// It is found in the writer's record by `id`; by `name` only if `id` is kNoId or if the writer gave none of the
// record's fields an id. The fields of a list's element record, of a key-value array's record and of a map (key, value)
// are named directly below the list: Wanted{125, "lower_bounds", {{126, "key"}, {127, "value"}}}.
//
// Without `fields` everything inside it is wanted: Wanted{102, "partition"} is the partition tuple, whatever its
// fields.
//
// `only_keys` narrows a map of numbers to numbers or bytes (the per-column metrics of a manifest): pairs with other
// keys are stepped over. Empty: all pairs. A map of other types keeps all of its pairs.
struct Wanted {
  int32_t id = kNoId;
  std::string name;
  std::vector<Wanted> fields = {};
  std::vector<int32_t> only_keys = {};
};

struct Projection {
  std::vector<Wanted> fields;  // of the root record; none: rows are only counted
  bool everything = false;     // all fields of the writer's schema; `fields` is not looked at

  static Projection Everything() { return {.fields = {}, .everything = true}; }
};

}  // namespace delenda::avro
