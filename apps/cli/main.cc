#include <delenda/shard.h>
#include <delenda/table.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/report.h"
#include "cli/session.h"

namespace delenda::cli {
namespace {

// A signal handler sees globals only.
std::atomic<const CancelToken*> token_of_handler = nullptr;

void OnInterrupt(int) {
  if (const CancelToken* token = token_of_handler.load()) token->Cancel();
}

// The first Ctrl-C asks the work to stop; the handler is gone then, so that a second one ends the program at once.
void CancelOnInterrupt(const CancelToken& token) {
  token_of_handler.store(&token);
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A reader that goes away is an error of the write, which ends the program quietly.
  std::signal(SIGPIPE, SIG_IGN);
}

template <typename AnyShard>
Result<AnyShard> ReadShard(const std::string& path, const OpenOptions& options) {
  auto text = ReadText(path);
  if (!text) return std::unexpected(std::move(text).error());
  auto shard = AnyShard::Parse(*text, options);
  if (!shard) shard.error().Add("file", path);
  return shard;
}

Result<void> RunCommand(Session& session) {
  switch (session.arguments.command) {
    case Command::kScan: return RunScan(session);
    case Command::kCount: return RunCount(session);
    case Command::kPlan: return RunPlan(session);
    case Command::kChanges: return session.arguments.follow ? RunFollow(session) : RunChanges(session);
    case Command::kInspect: return RunInspect(session);
    case Command::kVerify: return RunVerify(session);
    case Command::kCreate: return RunCreate(session);
    case Command::kUpgrade: return RunUpgrade(session);
    case Command::kDelete:
    case Command::kAppend:
    case Command::kUpdate:
    case Command::kUpsert:
    case Command::kMerge:
    case Command::kConvert: break;
  }
  return RunWrite(session);
}

int Run(const Arguments& arguments) {
  const auto start = std::chrono::steady_clock::now();
  OpenOptions options;
  const CancelToken cancel = options.hooks.cancel;
  CancelOnInterrupt(cancel);
  Output out(STDOUT_FILENO, cancel), error_output(STDERR_FILENO);
  ProgressBar progress(error_output, !arguments.quiet);

  options.mappings = arguments.mappings;
  options.config = arguments.config;
  options.threads = arguments.threads;
  options.hooks.progress = [&progress](const Progress& state) { progress.Show(state); };
  options.hooks.log = [&](LogLevel level, std::string_view line) {
    if (level < LogLevel::kWarning || arguments.quiet) return;
    progress.Clear();
    static_cast<void>(error_output.Write(fmt::format("warning: {}\n", line)));
  };
  std::string moved;
  const auto fail = [&](const Error& error, Phase phase) {
    progress.Clear();
    if (out.closed()) return kExitStorage;
    static_cast<void>(error_output.Write(ErrorText(error, phase, arguments.json, moved)));
    return phase == Phase::kOpen && error.kind() == ErrorKind::kNotFound ? kExitStorage : ExitCode(error);
  };

  std::optional<Table> table;
  std::optional<WritableTable> writable;
  std::optional<Shard> shard;
  std::optional<ChangeShard> change_shard;
  if (!arguments.shard.empty() && arguments.command == Command::kChanges) {
    auto read = ReadShard<ChangeShard>(arguments.shard, options);
    if (!read) return fail(read.error(), Phase::kWork);
    change_shard = *std::move(read);
  } else if (!arguments.shard.empty()) {
    auto read = ReadShard<Shard>(arguments.shard, options);
    if (!read) return fail(read.error(), Phase::kWork);
    shard = *std::move(read);
  } else if (arguments.ChangesTable()) {
    auto opened = WritableTable::Open(arguments.table, options);
    if (!opened) return fail(opened.error(), Phase::kOpen);
    writable = *std::move(opened);
  } else if (arguments.command != Command::kCreate) {
    auto opened = Table::Open(arguments.table, options);
    if (!opened) return fail(opened.error(), Phase::kOpen);
    table = *std::move(opened);
  }
  std::error_code error;
  if ((table || writable) && arguments.mappings.empty() && std::filesystem::is_directory(arguments.table, error))
    moved = fmt::format("{}={}", table ? table->location() : writable->location(), arguments.table);
  Stats stats;
  Session session{.arguments = arguments,
                  .out = out,
                  .progress = progress,
                  .cancel = cancel,
                  .open = options,
                  .table = table ? &*table : nullptr,
                  .writable = writable ? &*writable : nullptr,
                  .shard = shard ? &*shard : nullptr,
                  .change_shard = change_shard ? &*change_shard : nullptr,
                  .stats = stats};
  const auto done = RunCommand(session);
  progress.Clear();
  if (arguments.stats) {
    if (table) stats.Add(table->Io());
    if (writable) stats.Add(writable->Io());
    if (shard) stats.Add(shard->Io());
    if (change_shard) stats.Add(change_shard->Io());
    stats.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    static_cast<void>(error_output.Write(StatsText(stats, arguments.json)));
  }
  return done ? session.exit_code : fail(done.error(), Phase::kWork);
}

}  // namespace
}  // namespace delenda::cli

int main(int argc, char** argv) {
  try {
    const auto parsed = delenda::cli::ParseArguments(argc, argv);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    return delenda::cli::Run(std::get<delenda::cli::Arguments>(parsed));
  } catch (const std::exception& e) {
    fmt::print(stderr, "error: internal: {}\n", e.what());
    return delenda::cli::kExitBadData;
  }
}
