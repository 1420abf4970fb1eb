// Checking a table: which rules of its format it breaks, where, and what comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "delenda/scan.h"

namespace delenda {

struct VerifyOptions {
  SnapshotChoice at = {};      // which snapshot; none: the current one
  bool all_snapshots = false;  // every snapshot that the table keeps; then `at` must be empty
  // Also open data files, delete files and deletion vectors; without it only metadata is read.
  bool deep = false;
};

// A rule that is broken. docs/guide/verify.md lists them all.
struct VerifyFinding {
  std::string check = {};  // name of the rule: "dv-unmatched", "summary-totals", ...
  bool is_error = true;    // else a warning: rows are right, something is left over or could not be looked at
  std::string place = {};  // location of the file that is wrong, or "branch x", "snapshot 1"
  std::optional<int64_t> snapshot_id = {};  // the first snapshot in which it was seen
  std::string what = {};                    // what is wrong there
  std::string effect = {};                  // which wrong result it causes
  std::string remedy = {};                  // what to do
};

struct VerifyReport {
  std::vector<VerifyFinding> findings = {};  // errors first; else in the order in which the table names the places
  // What was looked at; a file that is live in several snapshots counts once.
  uint64_t snapshots = 0;
  uint64_t manifests = 0;
  uint64_t data_files = 0;
  uint64_t deletion_vectors = 0;
  uint64_t delete_files = 0;  // other than deletion vectors

  bool HasErrors() const { return !findings.empty() && findings.front().is_error; }
};

}  // namespace delenda
