// Reading the entries of many manifests on several threads. Manifests may be few and large, or many and small: what the
// threads share out are parts of manifests, of whatever manifest.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "delenda/base/executor.h"
#include "delenda/base/result.h"
#include "delenda/iceberg/manifest_blocks.h"

namespace delenda::plan {

// What threads keep from one piece of work to the next: as many are made as are in use at one time.
template <typename T>
class IdlePool {
 public:
  // nullptr: none is idle.
  std::unique_ptr<T> Take() {
    const std::scoped_lock lock(mutex_);
    if (idle_.empty()) return nullptr;
    std::unique_ptr<T> taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  void Give(std::unique_ptr<T> idle) {
    const std::scoped_lock lock(mutex_);
    idle_.push_back(std::move(idle));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

// Steps that become ready in any order and are run in theirs: by one thread at a time, without making others wait.
class InOrder {
 public:
  using Step = std::move_only_function<Result<void>()>;

  explicit InOrder(size_t count) : ready_(count) {}

  // Step `index` is ready. Runs what can be run: steps before which all have been run. After the first failure none is.
  void Put(size_t index, Step step);
  bool failed();
  // The failure, when all threads are done.
  const std::optional<Error>& error() const { return error_; }

 private:
  std::mutex mutex_;
  std::vector<Step> ready_;
  size_t next_ = 0;
  bool running_ = false;
  std::optional<Error> error_;
};

struct ManifestParts {
  const std::vector<const iceberg::ManifestFile*>& manifests;
  // Opens one of them; from several threads at a time.
  std::function<Result<std::shared_ptr<const iceberg::ManifestBlocks>>(size_t)> open;
  // Decodes a part of a manifest; from several threads at a time. What it returns takes the result over: those steps
  // run in the order of manifests and parts, never two at a time.
  std::function<Result<InOrder::Step>(size_t, const std::shared_ptr<const iceberg::ManifestBlocks>&,
                                      iceberg::ManifestBlocks::Part)>
      read;
  // All parts of a manifest have been taken over; in order.
  std::function<void(size_t)> done;
};

// Reads all parts of all manifests, each once. Few manifests are in memory at one time.
//
// Fails with the error of the first part, in the order of manifests and parts, that has one (opening stands before a
// manifest's first part, ManifestBlocks::CheckEnd behind its last one): the same one on any number of threads.
Result<void> ReadManifestParts(const ManifestParts& work, Executor& executor, const CancelToken& cancel);

}  // namespace delenda::plan
