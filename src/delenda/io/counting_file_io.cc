#include "delenda/io/counting_file_io.h"

#include <array>
#include <utility>

namespace delenda::io {

// Totals are atomic, so that counting costs readers no lock; counts per path are for tests and take one.
class CountingFileIO::Ledger {
 public:
  explicit Ledger(Detail detail) : per_path_(detail == Detail::kPerPath) {}

  using Counter = uint64_t IoCounts::*;
  // In the order of totals_.
  static constexpr std::array<Counter, 9> kCounters = {
      &IoCounts::opens,  &IoCounts::opens_without_size, &IoCounts::stats,   &IoCounts::lists,
      &IoCounts::reads,  &IoCounts::bytes_read,         &IoCounts::creates, &IoCounts::bytes_written,
      &IoCounts::deletes};

  void Add(std::string_view path, Counter counter, uint64_t amount = 1) {
    for (size_t i = 0; i < kCounters.size(); ++i) {
      if (kCounters[i] == counter) totals_[i].fetch_add(amount, std::memory_order_relaxed);
    }
    if (!per_path_) return;
    std::lock_guard lock(mutex_);
    auto entry = paths_.find(path);
    if (entry == paths_.end()) entry = paths_.emplace(std::string(path), IoCounts{}).first;
    entry->second.*counter += amount;
  }

  IoCounts Totals() const {
    IoCounts counts;
    for (size_t i = 0; i < kCounters.size(); ++i) counts.*kCounters[i] = totals_[i].load(std::memory_order_relaxed);
    return counts;
  }

  std::map<std::string, IoCounts, std::less<>> PerPath() const {
    std::lock_guard lock(mutex_);
    return paths_;
  }

  IoCounts Of(std::string_view path) const {
    std::lock_guard lock(mutex_);
    const auto entry = paths_.find(path);
    return entry == paths_.end() ? IoCounts{} : entry->second;
  }

  void Reset() {
    for (auto& total : totals_) total.store(0, std::memory_order_relaxed);
    std::lock_guard lock(mutex_);
    paths_.clear();
  }

 private:
  const bool per_path_;
  std::array<std::atomic<uint64_t>, kCounters.size()> totals_{};
  mutable std::mutex mutex_;
  std::map<std::string, IoCounts, std::less<>> paths_;
};

namespace {

using CountingLedger = std::shared_ptr<CountingFileIO::Ledger>;

class CountingInputFile final : public InputFile {
 public:
  CountingInputFile(std::string asked, std::unique_ptr<InputFile> inner, CountingLedger ledger)
      : asked_(std::move(asked)), inner_(std::move(inner)), ledger_(std::move(ledger)) {}

  const std::string& path() const override { return inner_->path(); }
  Result<uint64_t> Size() override { return inner_->Size(); }
  bool SeeksAreCheap() const override { return inner_->SeeksAreCheap(); }
  Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    ledger_->Add(asked_, &IoCounts::reads);
    Result<void> read = inner_->ReadAt(offset, into);
    if (read) ledger_->Add(asked_, &IoCounts::bytes_read, into.size());
    return read;
  }

 private:
  std::string asked_;
  std::unique_ptr<InputFile> inner_;
  CountingLedger ledger_;
};

class CountingOutputFile final : public OutputFile {
 public:
  CountingOutputFile(std::string asked, std::unique_ptr<OutputFile> inner, CountingLedger ledger)
      : asked_(std::move(asked)), inner_(std::move(inner)), ledger_(std::move(ledger)) {}

  Result<void> Write(ByteView bytes) override {
    Result<void> written = inner_->Write(bytes);
    if (written) ledger_->Add(asked_, &IoCounts::bytes_written, bytes.size());
    return written;
  }
  Result<void> Close() override { return inner_->Close(); }

 private:
  std::string asked_;
  std::unique_ptr<OutputFile> inner_;
  CountingLedger ledger_;
};

}  // namespace

CountingFileIO::CountingFileIO(std::shared_ptr<FileIO> inner, Detail detail)
    : inner_(std::move(inner)), ledger_(std::make_shared<Ledger>(detail)) {}

Result<std::unique_ptr<InputFile>> CountingFileIO::Open(std::string_view path, std::optional<uint64_t> known_size) {
  ledger_->Add(path, &IoCounts::opens);
  if (!known_size) ledger_->Add(path, &IoCounts::opens_without_size);
  auto file = DELENDA_TRY(inner_->Open(path, known_size));
  return std::make_unique<CountingInputFile>(std::string(path), std::move(file), ledger_);
}

Result<FileInfo> CountingFileIO::Stat(std::string_view path) {
  ledger_->Add(path, &IoCounts::stats);
  return inner_->Stat(path);
}

Result<std::vector<FileInfo>> CountingFileIO::List(std::string_view folder) {
  ledger_->Add(folder, &IoCounts::lists);
  return inner_->List(folder);
}

Result<std::unique_ptr<OutputFile>> CountingFileIO::Create(std::string_view path) {
  ledger_->Add(path, &IoCounts::creates);
  auto file = DELENDA_TRY(inner_->Create(path));
  return std::make_unique<CountingOutputFile>(std::string(path), std::move(file), ledger_);
}

Result<void> CountingFileIO::Delete(std::string_view path) {
  ledger_->Add(path, &IoCounts::deletes);
  return inner_->Delete(path);
}

Result<void> CountingFileIO::Replace(std::string_view path, ByteView bytes) {
  ledger_->Add(path, &IoCounts::creates);
  Result<void> replaced = inner_->Replace(path, bytes);
  if (replaced) ledger_->Add(path, &IoCounts::bytes_written, bytes.size());
  return replaced;
}

IoCounts CountingFileIO::Snapshot() const { return ledger_->Totals(); }

std::map<std::string, IoCounts, std::less<>> CountingFileIO::SnapshotPerPath() const { return ledger_->PerPath(); }

IoCounts CountingFileIO::SnapshotOf(std::string_view path) const { return ledger_->Of(path); }

void CountingFileIO::Reset() { ledger_->Reset(); }

}  // namespace delenda::io
