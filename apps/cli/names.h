// Texts of the command line that stand for something: lists of names, points in time.
#pragma once

#include <delenda/result.h>
#include <delenda/scan.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace delenda::cli {

// "a,b" → a, b. Names with commas, quotes or blanks at their ends are quoted: "x,y" or `x,y`; a doubled quote stands
// for one. InvalidArgument for an empty name or a quote that does not end.
Result<std::vector<std::string>> SplitNames(std::string_view text);

// "a = b || 'x'" → a, b || 'x', cut at the first '='; names with '=' are quoted as above. InvalidArgument: no '=', or
// nothing on one side.
Result<std::pair<std::string, std::string>> ParseAssignment(std::string_view text);

// Milliseconds since 1970-01-01 UTC of "2024-02-29", "2024-02-29T12:30:00", "2024-02-29 12:30:00.250+02:00" or of a
// whole number, which is taken as such milliseconds. Without an offset the time is UTC.
Result<int64_t> ParseTime(std::string_view text);

// "500ms", "5s", "1m" or "2h": a whole number and a unit, more than nothing.
Result<std::chrono::milliseconds> ParseDuration(std::string_view text);

// One end of a range of changes: digits are the id of a snapshot, "@" and a time (as above) what was current then,
// everything else the name of a branch or tag. InvalidArgument for empty text, an id beyond 64 bits, or no time.
Result<SnapshotChoice> ParseSnapshot(std::string_view text);

// "2024-02-29T12:30:00.250Z"
std::string TimeText(int64_t milliseconds);

}  // namespace delenda::cli
