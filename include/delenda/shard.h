// A part of a scan, for a worker that has nothing but this part's text and access to the files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "delenda/result.h"
#include "delenda/rows.h"
#include "delenda/scan.h"
#include "delenda/table.h"

namespace delenda {

struct ShardScanOptions {
  std::optional<uint64_t> limit = {};  // at most this many rows of this shard
  bool ordered = false;                // rows in the order of the plan, then by position
  bool verify_footers = false;         // as in ScanOptions
};

// One of the texts that Table::Shards makes, or the document of Table::PlanJson, which is one shard with everything.
// Copies share everything. Thread-safe.
//
// EXAMPLE  const auto texts = table->Shards({.where = "region = 'eu'"}, 8);   // here
//          const auto shard = delenda::Shard::Parse(text);                    // on a worker, which reads no metadata
//          auto rows = shard->Scan();
class Shard {
 public:
  // NotSupported for a text of another version; Corrupt, with the JSON path, for one that lacks something or
  // contradicts itself. Of `options`, mappings apply to the files that the shard names.
  static Result<Shard> Parse(std::string_view json, OpenOptions options = {});

  // The live rows of this part. Which snapshot, columns and rows was decided when the shards were made. Errors as
  // Table::Scan.
  Result<RowStream> Scan(const ShardScanOptions& options = {}) const;
  PlanInfo Plan() const;
  // What was asked of storage since Parse.
  IoStats Io() const;

  class Impl;  // private to the library

 private:
  explicit Shard(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

// One of the texts that Table::ChangeShards makes, or the document of Table::PlanChangesJson. Copies share everything.
// Thread-safe.
class ChangeShard {
 public:
  // As Shard::Parse; NotSupported for the plan of a scan.
  static Result<ChangeShard> Parse(std::string_view json, OpenOptions options = {});

  // The raw changes of this part, as Table::Changes gives them with `raw` and ChangeUpdates::kNone: what makes updates
  // of them, or takes carried-over rows out, needs the rows of a snapshot together. Errors as Table::Changes.
  Result<RowStream> Changes(bool verify_footers = false) const;
  // What was asked of storage since Parse.
  IoStats Io() const;

  class Impl;  // private to the library

 private:
  explicit ChangeShard(std::shared_ptr<const Impl> impl);
  std::shared_ptr<const Impl> impl_;
};

}  // namespace delenda
