#include "delenda/model/finding.h"

#include <algorithm>

namespace delenda {

Result<void> AddAsFinding(Error error, const Check& check, std::string place, Findings& findings) {
  if (error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kNotFound)
    return std::unexpected(std::move(error));
  std::string what = error.message();
  std::string more;
  for (const auto& [key, value] : error.context()) {
    if (value != place) more += fmt::format("{}{}: {}", more.empty() ? "" : "; ", key, value);
  }
  if (!more.empty()) what += fmt::format(" ({})", more);
  findings.push_back({.check = error.kind() == ErrorKind::kNotFound ? &checks::kFileMissing : &check,
                      .place = std::move(place),
                      .what = std::move(what)});
  return {};
}

namespace checks {
namespace {

constexpr Severity kIsError = Severity::kError;
constexpr Severity kIsWarning = Severity::kWarning;
constexpr std::string_view kRestore = "restore the file, or go back to a snapshot that does not need it";
constexpr std::string_view kRollBack =
    "roll the branch back to a snapshot that is whole, and repeat what came after it";
constexpr std::string_view kFixMetadata = "write a corrected metadata file, or restore an earlier one";
constexpr std::string_view kRewriteManifests = "rewrite the manifests";

}  // namespace

// The metadata file.
const Check kRefUnknownSnapshot{"ref-unknown-snapshot", kIsError, "the branch or tag can't be read or written",
                                "drop the branch or tag, or restore a metadata file that has the snapshot"};
const Check kSnapshotTwice{"snapshot-twice", kIsError, "engines read different rows for the same snapshot",
                           kFixMetadata};
const Check kSequenceOrder{"sequence-order", kIsError,
                           "deletes hit rows that came after them, or miss rows that came before", kRollBack};
const Check kSequenceLast{"sequence-last", kIsError,
                          "the next commit gets a number that is taken: its deletes miss rows", kFixMetadata};
const Check kParentLoop{"parent-loop", kIsError, "history and changes of the table have no end", kFixMetadata};
const Check kSchemaUnknown{"schema-unknown", kIsWarning, "the snapshot is read with the current schema, not its own",
                           "restore a metadata file that has the schema"};
const Check kColumnIdLast{"column-id-last", kIsError, "a new column gets the id of another one and shows its values",
                          kFixMetadata};
const Check kPartitionIdLast{"partition-id-last", kIsError,
                             "a new partition field gets the id of another one: files are pruned wrongly",
                             kFixMetadata};
const Check kRowIdNext{"row-id-next", kIsError, "new rows get row ids that rows have already", kFixMetadata};
const Check kRowIdSnapshot{"row-id-snapshot", kIsError, "rows of different commits have the same row id", kRollBack};
const Check kRowIdManifest{"row-id-manifest", kIsError, "rows have no row id: changes can't be paired",
                           "commit again with a writer that gives row ids"};

// Manifest lists and manifests.
const Check kManifestList{"manifest-list", kIsError, "the snapshot can't be read", kRestore};
const Check kManifest{"manifest", kIsError, "the snapshot can't be read, or is read without these files", kRestore};
const Check kFileMissing{"file-missing", kIsError, "reads fail, or rows or deletes are missing", kRestore};
const Check kManifestTwice{"manifest-twice", kIsError, "its rows are read twice, or its deletes refused", kRollBack};
const Check kManifestCounts{"manifest-counts", kIsError, "readers skip the manifest, or count rows wrongly",
                            kRewriteManifests};
const Check kManifestSequence{"manifest-sequence", kIsError,
                              "deletes are skipped for files that they apply to, or hit newer rows", kRewriteManifests};
const Check kPartitionSummary{"partition-summary", kIsError,
                              "a filter skips the manifest although rows of it match, or deletes of it apply",
                              kRewriteManifests};
const Check kEntrySequence{"entry-sequence", kIsError,
                           "the file counts as newer than it is: older deletes no longer apply to it",
                           kRewriteManifests};
const Check kDataFileTwice{"data-file-twice", kIsError, "each row of the file is read twice", kRollBack};
const Check kFileFormat{"file-format", kIsError, "no reader can read the file", "rewrite it with a known format"};

// The snapshot's summary.
const Check kSummaryTotals{"summary-totals", kIsError,
                           "counts that engines take from the summary are wrong, and stay so in later snapshots",
                           "rewrite the summary with the next commit of a writer that counts anew"};
const Check kSummaryChanges{"summary-changes", kIsError, "reports of what the commit changed are wrong",
                            "nothing needs to be done for readers"};

// Which deletes apply.
const Check kDvFields{"dv-fields", kIsError, "it can't be applied: deleted rows come back, or reads fail", kRollBack};
const Check kDvRange{"dv-range", kIsError, "it can't be read: deleted rows come back, or reads fail", kRollBack};
const Check kDvTwice{"dv-twice", kIsError, "which rows are deleted depends on the vector that a reader finds first",
                     "delete again from the data file, so that one vector holds all positions"};
const Check kDvUnmatched{"dv-unmatched", kIsError, "rows that were deleted come back, or reads fail",
                         "look at the rows with scan --allow-dangling-dvs; delete them again if they are to go"};
const Check kDvFormatVersion{"dv-format-version", kIsError, "readers of this format version return the deleted rows",
                             "run delenda upgrade --to 3"};
const Check kDvPathSpelling{"dv-path-spelling", kIsWarning,
                            "readers that compare paths exactly return the deleted rows",
                            "rewrite the deletes of the file"};
const Check kDvEmpty{"dv-empty", kIsWarning, "a file is opened for nothing", "drop it with the next delete"};
const Check kEqualityIds{"equality-ids", kIsError, "it deletes every row, or none", kRollBack};
const Check kDeletesUnused{"deletes-unused", kIsWarning, "it is read and deletes nothing",
                           "rewrite the table's delete files"};
const Check kDeletesSuperseded{"deletes-superseded", kIsWarning,
                               "it is read although the deletion vector holds its positions",
                               "remove it with the next commit to the data file"};

// Deletion vectors, read (--deep).
const Check kDvBytes{"dv-bytes", kIsError, "reads of the data file fail, or deleted rows come back", kRestore};
const Check kDvCardinality{"dv-cardinality", kIsError, "counts from metadata are wrong; reads fail", kRollBack};
const Check kDvPosition{"dv-position", kIsError, "the vector belongs to another file: wrong rows are deleted",
                        kRollBack};
const Check kPuffinFooter{"puffin-footer", kIsError,
                          "readers that go by the footer delete other rows than those that go by the manifest",
                          kRollBack};
const Check kDvLostBits{"dv-lost-bits", kIsWarning, "rows that were deleted are back",
                        "fine for an undelete or a rollback; else delete them again"};
const Check kReplacedUnread{"dv-replaced-unread", kIsWarning,
                            "whether rows were lost can't be told; the parent snapshot can't be read", kRestore};

// Files, their footers read (--deep).
const Check kFileSize{"file-size", kIsError, "readers look for the footer at the wrong place and fail", kRestore};
const Check kFileFooter{"file-footer", kIsError, "reads of the file fail", kRestore};
const Check kFileRowCount{"file-row-count", kIsError, "counts and row ids are wrong; reads fail", kRestore};
const Check kFileSchema{"file-schema", kIsError, "columns can't be read, or are read as NULL", "rewrite the file"};
const Check kMetricsCounts{"metrics-counts", kIsError, "filters on NULL lose rows or the file is not pruned",
                           "rewrite the file"};
const Check kMetricsBounds{"metrics-bounds", kIsError, "filters skip the file although rows of it match",
                           "rewrite the file"};
const Check kFileUnchecked{"file-unchecked", kIsWarning, "nothing is known about its content",
                           "check it with an engine that reads its format"};

// Row lineage, read (--deep).
const Check kRowIdTwice{"row-id-twice", kIsError, "changes of one row are reported for another", kRollBack};
const Check kRowIdRange{"row-id-range", kIsError, "a later row will get the same row id", kRollBack};
const Check kRowIdMissing{"row-id-missing", kIsWarning, "changes of these rows can't be paired",
                          "rewrite the file, which gives its rows ids"};
const Check kLastUpdated{"row-last-updated", kIsError, "the row seems to be changed by a later commit", kRollBack};
const Check kRowsUnread{"rows-unread", kIsError, "scans fail in the same way", "see the other findings"};

namespace {

constexpr const Check* kAll[] = {&kRefUnknownSnapshot,
                                 &kSnapshotTwice,
                                 &kSequenceOrder,
                                 &kSequenceLast,
                                 &kParentLoop,
                                 &kSchemaUnknown,
                                 &kColumnIdLast,
                                 &kPartitionIdLast,
                                 &kRowIdNext,
                                 &kRowIdSnapshot,
                                 &kRowIdManifest,
                                 &kManifestList,
                                 &kManifest,
                                 &kFileMissing,
                                 &kManifestTwice,
                                 &kManifestCounts,
                                 &kManifestSequence,
                                 &kPartitionSummary,
                                 &kEntrySequence,
                                 &kDataFileTwice,
                                 &kFileFormat,
                                 &kSummaryTotals,
                                 &kSummaryChanges,
                                 &kDvFields,
                                 &kDvRange,
                                 &kDvTwice,
                                 &kDvUnmatched,
                                 &kDvFormatVersion,
                                 &kDvPathSpelling,
                                 &kDvEmpty,
                                 &kEqualityIds,
                                 &kDeletesUnused,
                                 &kDeletesSuperseded,
                                 &kDvBytes,
                                 &kDvCardinality,
                                 &kDvPosition,
                                 &kPuffinFooter,
                                 &kDvLostBits,
                                 &kReplacedUnread,
                                 &kFileSize,
                                 &kFileFooter,
                                 &kFileRowCount,
                                 &kFileSchema,
                                 &kMetricsCounts,
                                 &kMetricsBounds,
                                 &kFileUnchecked,
                                 &kRowIdTwice,
                                 &kRowIdRange,
                                 &kRowIdMissing,
                                 &kLastUpdated,
                                 &kRowsUnread};

}  // namespace

std::span<const Check* const> All() { return kAll; }

}  // namespace checks
}  // namespace delenda
