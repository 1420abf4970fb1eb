#include "delenda/ops/verify_files.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "delenda/read/data_file_check.h"
#include "delenda/read/vector_check.h"

namespace delenda::ops {
namespace {

// `body(i)` for each of `count` items, in parallel; the findings in the order of the items.
Result<Findings> CollectFindings(const VerifyContext& context, std::string_view stage, size_t count,
                                 const std::function<Result<Findings>(size_t)>& body) {
  std::vector<Findings> found(count);
  std::atomic<uint64_t> done = 0;
  DELENDA_TRY(context.executor.ParallelFor(
      count,
      [&](size_t i) -> Result<void> {
        found[i] = DELENDA_TRY(body(i));
        const uint64_t now = done.fetch_add(1, std::memory_order_relaxed) + 1;
        if (context.hooks.progress) context.hooks.progress({.stage = stage, .done = now, .total = count});
        return {};
      },
      context.hooks.cancel));
  Findings all;
  for (auto& findings : found) std::ranges::move(findings, std::back_inserter(all));
  return all;
}

bool IsWholeVector(const ContentFile& file) {
  return file.IsDeletionVector() && file.referenced_data_file && file.content_offset && file.content_size &&
         *file.content_offset >= 0 && *file.content_size >= 0 &&
         *file.content_size <= file.file_size - *file.content_offset;
}

std::string VectorIdentity(const ContentFile& vector) {
  return fmt::format("{}:{}:{}", *vector.content_offset, *vector.content_size, vector.path);
}

}  // namespace

Result<Findings> VerifyVectors(const VerifyContext& context, const std::vector<ContentFile>& data,
                               const std::vector<ContentFile>& deletes,
                               const std::vector<std::optional<size_t>>& targets, std::set<std::string>& done) {
  std::map<std::string, std::vector<read::VectorToCheck>> containers;
  for (size_t i = 0; i < deletes.size(); ++i) {
    if (!IsWholeVector(deletes[i])) continue;
    const ContentFile* target = targets[i] ? &data[*targets[i]] : nullptr;
    // All that the bytes are compared with: manifests of two snapshots may say different things of one blob.
    std::string compared =
        fmt::format("{}:{}:{}:{}:{}", VectorIdentity(deletes[i]), deletes[i].file_size, deletes[i].record_count,
                    target != nullptr ? target->record_count : -1, *deletes[i].referenced_data_file);
    if (!done.insert(std::move(compared)).second) continue;
    containers[deletes[i].path].push_back({.vector = &deletes[i], .data_file = target});
  }
  std::vector<const std::pair<const std::string, std::vector<read::VectorToCheck>>*> list;
  for (const auto& container : containers) list.push_back(&container);
  return CollectFindings(context, "deletion vectors", list.size(), [&](size_t i) {
    return read::CheckVectors(context.io, list[i]->first, list[i]->second, context.hooks.cancel);
  });
}

Result<Findings> VerifyReplacedVectors(const VerifyContext& context, const std::vector<ContentFile>& data,
                                       const std::vector<ContentFile>& deletes,
                                       const std::vector<ContentFile>& replaced) {
  std::unordered_map<std::string_view, const ContentFile*> live, now;
  for (const auto& file : data) live.emplace(file.path, &file);
  for (const auto& file : deletes) {
    if (IsWholeVector(file)) now.emplace(*file.referenced_data_file, &file);
  }
  std::vector<const ContentFile*> changed;
  for (const auto& before : replaced) {
    if (!IsWholeVector(before) || !live.contains(*before.referenced_data_file)) continue;
    const auto after = now.find(*before.referenced_data_file);
    // The same vector in a rewritten manifest.
    if (after != now.end() && VectorIdentity(*after->second) == VectorIdentity(before)) continue;
    changed.push_back(&before);
  }
  return CollectFindings(context, "replaced vectors", changed.size(), [&](size_t i) -> Result<Findings> {
    const ContentFile& before = *changed[i];
    const std::string& path = *before.referenced_data_file;
    Findings findings;
    const auto old = read::ReadVector(context.io, before);
    if (!old) {
      if (old.error().kind() != ErrorKind::kCorrupt && old.error().kind() != ErrorKind::kNotFound)
        return std::unexpected(old.error());
      findings.push_back({.check = &checks::kReplacedUnread, .place = before.path, .what = old.error().message()});
      return findings;
    }
    PositionSet lost = *old;
    if (const auto after = now.find(path); after != now.end()) {
      const auto positions = read::ReadVector(context.io, *after->second);
      // What is wrong with it is a finding of its own.
      if (!positions) {
        if (positions.error().kind() == ErrorKind::kCorrupt || positions.error().kind() == ErrorKind::kNotFound)
          return findings;
        return std::unexpected(positions.error());
      }
      lost = old->Difference(*positions);
    }
    if (lost.empty()) return findings;
    findings.push_back({.check = &checks::kDvLostBits,
                        .place = path,
                        .what = fmt::format("{} deleted row{} of the parent snapshot {} no longer deleted, position {} "
                                            "the first",
                                            lost.cardinality(), lost.cardinality() == 1 ? "" : "s",
                                            lost.cardinality() == 1 ? "is" : "are", *lost.Min())});
    return findings;
  });
}

Result<Findings> VerifyFiles(const VerifyContext& context, const std::vector<const ContentFile*>& files,
                             const Schema& schema, const std::map<int32_t, BoundSpec>& specs) {
  return CollectFindings(context, "files", files.size(), [&](size_t i) {
    return read::CheckDataFile(context.io, *files[i], schema, specs, context.names);
  });
}

}  // namespace delenda::ops
