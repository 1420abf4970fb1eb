#include "delenda/plan/manifest_parts.h"

#include <algorithm>
#include <span>

namespace delenda::plan {
namespace {

using iceberg::ManifestBlocks;
using iceberg::ManifestFile;
using BlocksRef = std::shared_ptr<const ManifestBlocks>;

// How many of the manifests to have in memory at one time: requests to storage wait beside each other.
size_t CountAtOnce(std::span<const ManifestFile* const> manifests) {
  constexpr size_t kMostManifests = 64;
  constexpr uint64_t kMostBytes = uint64_t{32} << 20;
  constexpr uint64_t kUnknownSize = uint64_t{8} << 20;  // about what writers aim at
  size_t count = 0;
  for (uint64_t bytes = 0; count < std::min(manifests.size(), kMostManifests); ++count) {
    const uint64_t size = std::min(manifests[count]->length.value_or(kUnknownSize), kMostBytes);
    bytes += size;
    if (count > 0 && bytes > kMostBytes) break;
  }
  return count;
}

// One thing to do: a part of a manifest, or what stands behind its last one.
struct Item {
  size_t manifest = 0;
  bool is_end = false;
  ManifestBlocks::Part part;
};

class Batch {
 public:
  Batch(const ManifestParts& work, size_t first, size_t count) : work_(work), first_(first), opened_(count) {}

  Result<void> Run(Executor& executor, const CancelToken& cancel) {
    // A failure waits for its turn: a part of an earlier manifest may have one, too.
    const auto open = [&](size_t i) -> Result<void> {
      opened_[i] = work_.open(first_ + i);
      return {};
    };
    DELENDA_TRY(executor.ParallelFor(opened_.size(), open, cancel));
    std::vector<Item> items;
    for (size_t i = 0; i < opened_.size(); ++i) {
      if (*opened_[i]) {
        for (const auto& part : (**opened_[i])->Parts()) items.push_back({.manifest = i, .part = part});
      }
      items.push_back({.manifest = i, .is_end = true, .part = {}});
    }
    InOrder taking(items.size());
    const auto read = [&](size_t i) -> Result<void> {
      if (taking.failed()) return Cancelled("an earlier part of a manifest failed");
      taking.Put(i, DELENDA_TRY(Read(items[i])));
      return {};
    };
    auto done = executor.ParallelFor(items.size(), read, cancel);
    // A step runs only when all parts before it were read: its failure is the first one.
    if (taking.error()) return std::unexpected(*taking.error());
    return done;
  }

 private:
  Result<InOrder::Step> Read(const Item& item) {
    auto& opened = *opened_[item.manifest];
    const size_t manifest = first_ + item.manifest;
    if (!opened) return std::unexpected(opened.error());
    if (!item.is_end) return work_.read(manifest, *opened, item.part);
    DELENDA_TRY((*opened)->CheckEnd());
    return InOrder::Step([this, &item, manifest]() -> Result<void> {
      opened_[item.manifest].reset();  // nobody reads it any more
      work_.done(manifest);
      return {};
    });
  }

  const ManifestParts& work_;
  const size_t first_;
  std::vector<std::optional<Result<BlocksRef>>> opened_;
};

}  // namespace

void InOrder::Put(size_t index, Step step) {
  std::unique_lock lock(mutex_);
  ready_[index] = std::move(step);
  if (running_) return;
  running_ = true;
  while (!error_ && next_ < ready_.size() && ready_[next_]) {
    Step next = std::exchange(ready_[next_], nullptr);
    lock.unlock();
    Result<void> result = next();
    next = nullptr;
    lock.lock();
    if (!result) error_ = std::move(result).error();
    ++next_;
  }
  running_ = false;
}

bool InOrder::failed() {
  const std::scoped_lock lock(mutex_);
  return error_.has_value();
}

Result<void> ReadManifestParts(const ManifestParts& work, Executor& executor, const CancelToken& cancel) {
  const std::span<const ManifestFile* const> manifests(work.manifests);
  for (size_t first = 0; first < manifests.size();) {
    const size_t count = CountAtOnce(manifests.subspan(first));
    DELENDA_TRY(Batch(work, first, count).Run(executor, cancel));
    first += count;
  }
  return {};
}

}  // namespace delenda::plan
