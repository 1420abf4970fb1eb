// Tables of text for people: aligned columns, cut to the width of a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delenda/result.h"

namespace delenda {

// Takes text. An error stops the work and is returned by it.
using TextSink = std::function<Result<void>(std::string_view)>;

struct TextColumn {
  std::string name = {};
  bool right = false;     // numbers: aligned to the right, and never cut
  bool keep_end = false;  // paths: a long cell loses its beginning, not its end
};

// Writes rows of cells under a header. Widths come from the first `sample_rows` rows; a later cell that is wider is cut
// with "…". Widths are those of a terminal: wide characters of East Asian scripts count two columns, combining marks
// none. Control characters are shown as escapes, since a terminal would obey them.
//
// EXAMPLE  TextTable table({{.name = "id", .right = true}, {.name = "note"}}, {}, sink);
//          table.AddRow({"7", "seven"});
//          table.Finish();
//              id  note
//              --  -----
//               7  seven
class TextTable {
 public:
  struct Options {
    size_t width = 0;      // columns that there are; 0: no bound on the line
    size_t max_cell = 80;  // no column becomes wider, whatever the width
    size_t sample_rows = 1000;
  };

  TextTable(std::vector<TextColumn> columns, const Options& options, TextSink sink);
  TextTable(TextTable&&) noexcept;
  TextTable& operator=(TextTable&&) noexcept;
  ~TextTable();

  // As many cells as there are columns: more are dropped, missing ones are empty. Errors: those of the sink.
  Result<void> AddRow(std::vector<std::string> cells);
  // Writes what was held back. Nothing may be added after it.
  Result<void> Finish();
  // Rows so far.
  uint64_t rows() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Columns that `text` takes on a terminal.
size_t DisplayWidth(std::string_view text);

}  // namespace delenda
