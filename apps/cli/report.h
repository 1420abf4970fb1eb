// What is said on standard error, and how the program ends.
#pragma once

#include <delenda/result.h>
#include <delenda/rows.h>
#include <delenda/scan.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace delenda::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitBadData = 1;       // broken data, a failed check, or a fault of the program
inline constexpr int kExitUsage = 2;         // a wrong option, or a name that the table does not know
inline constexpr int kExitConflict = 3;      // other writers won
inline constexpr int kExitStorage = 4;       // missing files, refused access, failed reads or writes
inline constexpr int kExitNotSupported = 5;  // valid, but not for this version
inline constexpr int kExitCancelled = 130;   // Ctrl-C

// A NotFound of a file is storage's; one of a snapshot, branch, tag or column is the caller's.
int ExitCode(const Error& error);

enum class Phase : uint8_t { kOpen, kWork };

// As text ("error: corrupt: …", the context below it, a hint if there is one) or as one line of JSON. `moved`: the
// mapping "FROM=TO" that would help if the table was copied from where its metadata says it is; empty if unknown.
std::string ErrorText(const Error& error, Phase phase, bool json, std::string_view moved = {});

// What --stats prints.
struct Stats {
  std::optional<ScanStats> scan;
  bool is_changes = false;  // `scan` is that of changes
  std::optional<CountInfo> count;
  IoStats io;
  double seconds = 0;

  void Add(const IoStats& more);
};
std::string StatsText(const Stats& stats, bool json);

}  // namespace delenda::cli
