// What an operation wants of a table, said so that it can be tried again on whatever the table has become meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/base/result.h"
#include "delenda/formats/positions/position_set.h"
#include "delenda/model/content_file.h"
#include "delenda/model/expression.h"

namespace delenda::commit {

// The positions that shall be deleted in one data file.
struct FileDelete {
  ContentFile file;     // as it was at the base snapshot
  PositionSet before;   // B: deleted at the base, by its vector and by position delete files
  PositionSet deleted;  // L: what shall be deleted afterwards; `before` without members of `deleted`: an undelete
};

// A data file that was read and is replaced by others.
struct RewrittenFile {
  ContentFile file;
  PositionSet before;  // its deleted positions when it was read
};

// Rows of a data file that were read, and stay.
struct ReadRows {
  ContentFile file;
  PositionSet positions;
};

// From the table's properties write.{delete,update,merge}.isolation-level.
enum class Isolation : uint8_t {
  kSnapshot,      // only what happened to the files that the operation touches matters
  kSerializable,  // and whether rows were added that it would have touched
};

// What a snapshot is to its readers (spec, "Snapshots", field `operation`).
enum class Operation : uint8_t {
  kAppend,     // adds rows
  kDelete,     // removes rows
  kOverwrite,  // both
  kReplace,    // neither: the same rows in other files
};
std::string_view OperationName(Operation operation);

// EXAMPLE  "delete where id = 7" read snapshot 12 and found row 3 of a.parquet, where row 1 was deleted already:
//          {base 12, deletes {{a.parquet, before {1}, deleted {1, 3}}}}. Someone else commits snapshot 13, which
//          deletes row 5 of the same file. Both commits are pure deletes, so they merge: snapshot 14 has vector {1, 3,
//          5}. Had snapshot 13 updated row 3 (deleted it here, with a new copy in b.parquet), the new copy might have
//          id 7 too: the operation is asked to look again on snapshot 13.
struct Intent {
  Operation operation = Operation::kAppend;
  std::string branch = "main";
  // What the operation read; not set: the branch had no snapshot. Not looked at by plain appends.
  std::optional<int64_t> base_snapshot_id;

  std::vector<ContentFile> added_files;
  // Rows of `added_files` that are deleted from the beginning, not all of any file: a later part of the same work has
  // replaced them.
  std::vector<FileDelete> deletes_of_added;
  // Equality delete files that are new: they delete the rows of all data files that are there at the commit, whatever
  // these are by then, and none of `added_files`.
  std::vector<ContentFile> added_delete_files;
  // Rows that go. Where every row of a file is deleted, the file itself is dropped.
  std::vector<FileDelete> deletes;
  // Data files whose live rows were written anew, into `added_files`. If more of their rows are deleted by now, the
  // operation is asked to look again: what it wrote would bring them back.
  std::vector<RewrittenFile> rewritten_files;
  // What is done hangs on these rows. If others have deleted one of them since (an update deletes the old row), the
  // operation is asked to look again.
  std::vector<ReadRows> read_rows;
  // Whose work is done otherwise: turned into vectors. An equality delete file goes only if every data file that it
  // applies to was looked at; where files with an older sequence number were added since the base, the operation is
  // asked to look again.
  std::vector<ContentFile> removed_delete_files;

  Isolation isolation = Isolation::kSerializable;
  // The rows that the operation looked at. Serializable operations look again if a data file that was added since may
  // hold such rows. Null: every row.
  ExprRef conflict_filter;
  // For operations that must not miss rows at any isolation (an upsert's keys): says whether any of these data files,
  // added since the base, holds rows that the operation would have touched.
  std::function<Result<bool>(const std::vector<ContentFile>&)> touches_added = nullptr;

  std::map<std::string, std::string> summary = {};  // members for the snapshot's summary, beside those that every has

  // Deletes rows and does nothing else: a row that someone else deleted meanwhile is just as well deleted.
  bool IsPureDelete() const { return operation == Operation::kDelete && added_files.empty(); }
  // Only turns deletes into others: its rows were deleted before, and stay so whoever else deletes or moves them.
  bool IsConversion() const {
    return operation == Operation::kReplace && added_files.empty() && rewritten_files.empty();
  }
  // Appends, and equality deletes with the rows that take the place of what they delete, read nothing: they fit every
  // state of the table.
  bool IsBlind() const {
    return (operation == Operation::kAppend || !added_delete_files.empty()) && deletes.empty() &&
           rewritten_files.empty() && removed_delete_files.empty() && read_rows.empty() && !touches_added;
  }
};

}  // namespace delenda::commit
