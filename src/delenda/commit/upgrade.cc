#include "delenda/commit/upgrade.h"

#include "delenda/base/uuid.h"
#include "delenda/commit/next_metadata.h"
#include "delenda/iceberg/metadata_writer.h"

namespace delenda::commit {
namespace {

Result<iceberg::LoadedTable> LoadCurrent(const CommitContext& context) {
  return iceberg::LoadTable(*context.io, DELENDA_TRY(context.point->Current()));
}

}  // namespace

Result<iceberg::TableMetadata> UpgradedMetadata(const iceberg::LoadedTable& base, int32_t version) {
  iceberg::TableMetadata next = DELENDA_TRY(NextMetadata(base));
  if (next.format_version == 1) {
    if (next.table_uuid.empty()) next.table_uuid = RandomUuid();
    // Texts of version 1 lack ids that readers of later versions ask for.
    next.as_read.specs.clear();
  }
  next.format_version = version;
  // Row ids begin here. Snapshots of before keep none: their manifests have no first row id.
  if (version >= 3) next.next_row_id = next.next_row_id.value_or(0);
  return next;
}

Result<Upgraded> UpgradeTable(int32_t version, bool dry_run, const CommitContext& context) {
  if (version != 2 && version != 3) return InvalidArgument("there is no upgrade to format version {}: 3 or 2", version);
  std::optional<Upgraded> begun;
  std::optional<Error> lost;
  for (Attempts attempts;;) {
    if (context.hooks.cancel.cancelled()) return Cancelled("the upgrade was cancelled; nothing was changed");
    const auto now = LoadCurrent(context);
    if (!now && lost) {
      return CommitStateUnknown(
          "whether the table was upgraded is not known ({}), and it can't be read ({}): look before you run this again",
          lost->ToString(), now.error().ToString());
    }
    if (!now) return std::unexpected(now.error());
    const iceberg::LoadedTable& loaded = *now;
    const int32_t has = loaded.metadata.format_version;
    if (has > version)
      return InvalidArgument("the table has format version {}: it can't be brought back to {}", has, version);
    // A lost answer, or another writer who did the same: it is done either way.
    if (!begun) begun = Upgraded{.from = has, .metadata_path = {}};
    begun->metadata_path = loaded.metadata_path;
    begun->attempts = attempts.count();
    if (has == version) return *begun;
    const auto next = DELENDA_TRY(UpgradedMetadata(loaded, version));
    if (dry_run) {
      DELENDA_TRY(iceberg::TableMetadataToJson(next));
      return *begun;
    }
    const auto published = PublishMetadata(loaded, next, *context.point, *context.io);
    if (published) {
      begun->metadata_path = *published;
      return *begun;
    }
    // Either way the table tells, when it is read again: an upgrade that is done needs no second one.
    if (published.error().kind() != ErrorKind::kCommitConflict &&
        published.error().kind() != ErrorKind::kCommitStateUnknown)
      return std::unexpected(published.error());
    if (published.error().kind() == ErrorKind::kCommitStateUnknown) lost = published.error();
    const auto policy = DELENDA_TRY(RetryPolicy::From(loaded.metadata.properties));
    DELENDA_TRY(attempts.Next(policy, published.error().message(), context.hooks));
  }
}

Result<void> CheckTakesAppends(int32_t format_version) {
  if (format_version >= 2) return {};
  return NotSupported("tables of format version {} can't be written: run delenda upgrade --to 3 first", format_version);
}

Result<void> CheckTakesDeletes(int32_t format_version) {
  if (format_version >= 3) return {};
  return NotSupported("deletion vectors need format version 3, the table has {}: run delenda upgrade --to 3 first",
                      format_version);
}

}  // namespace delenda::commit
