#include "cli/row_output.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/output_file.h"

namespace delenda::cli {

Result<void> WriteToOutput(Session& session, RowStream& rows) {
  const std::string& path = session.arguments.output;
  const bool to_terminal = path.empty() && session.out.IsTerminal();
  WriteRowsOptions options = {.format = RowFormat::kJsonLines, .width = to_terminal ? session.out.Width() : 0};
  switch (session.Format(OutputFormat::kLines)) {
    case OutputFormat::kTable: options.format = RowFormat::kTable; break;
    case OutputFormat::kCsv: options.format = RowFormat::kCsv; break;
    case OutputFormat::kArrow: options.format = path.empty() ? RowFormat::kArrowStream : RowFormat::kArrowFile; break;
    case OutputFormat::kParquet: options.format = RowFormat::kParquet; break;
    case OutputFormat::kDebezium: options.format = RowFormat::kDebezium; break;
    case OutputFormat::kLines:
    case OutputFormat::kDocument: break;
  }
  if (to_terminal && (options.format == RowFormat::kArrowStream || options.format == RowFormat::kParquet)) {
    return std::unexpected(
        Error(ErrorKind::kInvalidArgument, "a terminal cannot show this format: use -o FILE, or redirect the output"));
  }
  const auto sink = [&](std::string_view text) -> Result<void> {
    if (to_terminal) session.progress.Clear();
    return session.out.Write(text);
  };
  std::optional<OutputFile> file;
  if (!path.empty()) {
    auto created = OutputFile::Create(path, session.arguments.overwrite, session.cancel);
    if (!created) return std::unexpected(std::move(created).error());
    file.emplace(*std::move(created));
  }
  const auto to_file = [&](std::string_view bytes) { return file->Write(bytes); };
  const auto written = file ? WriteRows(rows, options, to_file) : WriteRows(rows, options, sink);
  session.stats.scan = rows.stats();
  if (!written) return std::unexpected(written.error());
  return file ? file->Finish() : Result<void>();
}

}  // namespace delenda::cli
