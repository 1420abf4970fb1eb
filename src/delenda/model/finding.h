// What checking a table finds: which rule is broken, where, and what comes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "delenda/base/result.h"

namespace delenda {

enum class Severity : uint8_t {
  kWarning,  // rows are right; something is left over, or could not be looked at
  kError,    // a reader or the next writer gives wrong rows, or fails
};

// A rule of the table formats that a table can break.
struct Check {
  std::string_view id;
  Severity severity = Severity::kError;
  std::string_view effect;  // what goes wrong
  std::string_view remedy;  // what to do
};

// One breach of a rule.
struct Finding {
  const Check* check = nullptr;  // one of checks::
  std::string place;             // location of the file that is wrong, or "branch x", "snapshot 1"
  std::string what;
  std::optional<int64_t> snapshot_id = std::nullopt;  // where it was seen
};

using Findings = std::vector<Finding>;

// Turns an error of reading a file into a finding: Corrupt into one of `check`, NotFound of a file into file-missing.
// Other errors (storage, cancellation, what is not supported) say nothing about the table and are given back.
Result<void> AddAsFinding(Error error, const Check& check, std::string place, Findings& findings);

// Every rule, grouped by what it is about.
namespace checks {
extern const Check kRefUnknownSnapshot, kSnapshotTwice, kSequenceOrder, kSequenceLast, kParentLoop, kSchemaUnknown,
    kColumnIdLast, kPartitionIdLast, kRowIdNext, kRowIdSnapshot, kRowIdManifest;
extern const Check kManifestList, kManifest, kFileMissing, kManifestTwice, kManifestCounts, kManifestSequence,
    kPartitionSummary, kEntrySequence, kDataFileTwice, kFileFormat;
extern const Check kSummaryTotals, kSummaryChanges;
extern const Check kDvFields, kDvRange, kDvTwice, kDvUnmatched, kDvFormatVersion, kDvPathSpelling, kDvEmpty,
    kEqualityIds, kDeletesUnused, kDeletesSuperseded;
extern const Check kDvBytes, kDvCardinality, kDvPosition, kPuffinFooter, kDvLostBits, kReplacedUnread;
extern const Check kFileSize, kFileFooter, kFileRowCount, kFileSchema, kMetricsCounts, kMetricsBounds, kFileUnchecked;
extern const Check kRowIdTwice, kRowIdRange, kRowIdMissing, kLastUpdated, kRowsUnread;

std::span<const Check* const> All();
}  // namespace checks

}  // namespace delenda
