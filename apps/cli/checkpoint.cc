#include "cli/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/input.h"
#include "cli/output_file.h"

namespace delenda::cli {
namespace {

using Object = nlohmann::ordered_json;

Error About(const std::string& path, ErrorKind kind, std::string message) {
  Error error(kind, std::move(message));
  error.Add("checkpoint", path);
  return error;
}

Result<void> Replace(const std::string& path, std::string_view text) {
  auto file = OutputFile::Create(path, /*overwrite=*/true, CancelToken());
  if (!file) return std::unexpected(std::move(file).error());
  if (auto written = file->Write(text); !written) return written;
  if (auto finished = file->Finish(); !finished) return finished;
  // The new name is durable with its folder.
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return {};  // a folder that may not be read
  ::fsync(descriptor);
  ::close(descriptor);
  return {};
}

}  // namespace

Result<std::optional<Checkpoint>> Checkpoint::Read(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return std::unexpected(About(path, ErrorKind::kIo, fmt::format("it can't be read: {}", std::strerror(errno))));
  }
  const auto text = ReadText(path);
  if (!text) return std::unexpected(text.error());
  const Object json = Object::parse(*text, nullptr, /*allow_exceptions=*/false);
  const auto corrupt = [&] {
    return std::unexpected(About(path, ErrorKind::kCorrupt, "the file is no checkpoint of changes --follow"));
  };
  if (!json.is_object() || !json.contains("version") || !json["version"].is_number_integer()) return corrupt();
  if (json["version"] != 1) {
    return std::unexpected(
        About(path, ErrorKind::kNotSupported, "the checkpoint was written by a later version of delenda"));
  }
  const auto text_of = [&](const char* name) { return json.contains(name) && json[name].is_string(); };
  if (!text_of("table-uuid") || !text_of("branch") || !json.contains("snapshot-id") || !json.contains("next-ordinal"))
    return corrupt();
  Checkpoint checkpoint;
  checkpoint.table_uuid = json["table-uuid"];
  checkpoint.branch = json["branch"];
  const Object& snapshot = json["snapshot-id"];
  if (snapshot.is_number_integer())
    checkpoint.snapshot_id = snapshot.get<int64_t>();
  else if (!snapshot.is_null())
    return corrupt();
  const Object& ordinal = json["next-ordinal"];
  if (!ordinal.is_number_unsigned() || ordinal.get<uint64_t>() > std::numeric_limits<int32_t>::max()) return corrupt();
  checkpoint.next_ordinal = ordinal.get<int32_t>();
  if (json.contains("output")) {
    const Object& output = json["output"];
    OutputPosition position;
    for (const auto& [name, value] : {std::pair("device", &position.device), std::pair("inode", &position.inode),
                                      std::pair("bytes", &position.bytes)}) {
      if (!output.is_object() || !output.contains(name) || !output[name].is_number_unsigned()) return corrupt();
      *value = output[name];
    }
    checkpoint.output = position;
  }
  return checkpoint;
}

Result<void> Checkpoint::Write(const std::string& path) const {
  Object json = {{"version", 1}, {"table-uuid", table_uuid}, {"branch", branch}, {"snapshot-id", nullptr}};
  if (snapshot_id) json["snapshot-id"] = *snapshot_id;
  json["next-ordinal"] = static_cast<uint64_t>(next_ordinal);
  if (output) json["output"] = {{"device", output->device}, {"inode", output->inode}, {"bytes", output->bytes}};
  auto written = Replace(path, json.dump(1, ' ', false, Object::error_handler_t::replace) + "\n");
  if (!written) written.error().Add("checkpoint", path);
  return written;
}

}  // namespace delenda::cli
