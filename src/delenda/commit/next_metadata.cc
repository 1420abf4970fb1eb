#include "delenda/commit/next_metadata.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "delenda/iceberg/metadata_writer.h"
#include "delenda/io/location.h"

namespace delenda::commit {
namespace {

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// The metadata file as other readers of the table know it: the caller may have named its folder in another way,
// relative or by where a copy lies.
std::string PathInTable(const iceberg::TableMetadata& metadata, const std::string& path) {
  if (path.starts_with(metadata.location)) return path;
  return io::Join(io::Join(metadata.location, "metadata"), io::Basename(path));
}

// One that stays does no harm.
void DeleteOldMetadata(const iceberg::TableMetadata& before, const iceberg::TableMetadata& after, io::FileIO& io) {
  const auto wanted = after.properties.find("write.metadata.delete-after-commit.enabled");
  if (wanted == after.properties.end() || wanted->second != "true") return;
  for (const auto& entry : before.metadata_log) {
    const bool kept = std::ranges::any_of(after.metadata_log, [&](const iceberg::MetadataLogEntry& other) {
      return other.metadata_file == entry.metadata_file;
    });
    if (!kept) static_cast<void>(io.Delete(entry.metadata_file));
  }
}

}  // namespace

Result<iceberg::TableMetadata> NextMetadata(const iceberg::LoadedTable& base) {
  iceberg::TableMetadata next = base.metadata;
  next.metadata_log.push_back(
      {.timestamp_ms = base.metadata.last_updated_ms, .metadata_file = PathInTable(base.metadata, base.metadata_path)});
  const int64_t kept =
      std::max<int64_t>(1, DELENDA_TRY(NumberProperty(next.properties, "write.metadata.previous-versions-max", 100)));
  if (next.metadata_log.size() > static_cast<size_t>(kept))
    next.metadata_log.erase(next.metadata_log.begin(), next.metadata_log.end() - kept);
  // Never before what was committed already: readers choose snapshots by time.
  next.last_updated_ms = std::max(NowMs(), base.metadata.last_updated_ms);
  return next;
}

Result<std::string> PublishMetadata(const iceberg::LoadedTable& base, const iceberg::TableMetadata& next,
                                    catalog::CommitPoint& point, io::FileIO& io) {
  const std::string text = DELENDA_TRY(iceberg::TableMetadataToJson(next));
  auto published = point.Publish(base.metadata_path, text, WritesGzip(next));
  if (published) DeleteOldMetadata(base.metadata, next, io);
  return published;
}

bool WritesGzip(const iceberg::TableMetadata& metadata) {
  const auto found = metadata.properties.find("write.metadata.compression-codec");
  return found != metadata.properties.end() && (found->second == "gzip" || found->second == "GZIP");
}

Result<int64_t> NumberProperty(const std::map<std::string, std::string>& properties, const std::string& name,
                               int64_t otherwise) {
  const auto found = properties.find(name);
  if (found == properties.end()) return otherwise;
  int64_t value = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    return InvalidArgument("table property {} is '{}': expected a whole number", name, text);
  return value;
}

}  // namespace delenda::commit
