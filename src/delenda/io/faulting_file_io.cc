#include "delenda/io/faulting_file_io.h"

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace delenda::io {

// The faults, shared with open files, and how often each was met.
class FaultingFileIO::Script {
 public:
  // What one operation must suffer.
  struct Verdict {
    std::optional<Error> before;
    std::optional<Error> after;
    std::optional<uint64_t> size;  // the file pretends to end here
    std::vector<FlipByte> flips;
  };

  void Add(Fault fault) {
    std::lock_guard lock(mutex_);
    faults_.push_back({std::move(fault), 0});
  }

  void Clear() {
    std::lock_guard lock(mutex_);
    faults_.clear();
  }

  uint64_t operations() const {
    std::lock_guard lock(mutex_);
    return operations_;
  }

  Verdict Judge(Operation operation, std::string_view path) {
    Verdict verdict;
    std::chrono::milliseconds delay{0};
    {
      std::lock_guard lock(mutex_);
      ++operations_;
      for (Met& met : faults_) {
        const Fault& fault = met.fault;
        if (!Concerns(fault, operation, path)) continue;
        const uint64_t before = met.count++;
        if (before < fault.skip || before - fault.skip >= fault.times) continue;
        if (const auto* fail = std::get_if<FailWith>(&fault.effect)) {
          Error error(fail->kind, fail->message);
          error.Add("file", path);
          (fail->after_the_fact ? verdict.after : verdict.before) = std::move(error);
        } else if (const auto* truncate = std::get_if<TruncateTo>(&fault.effect)) {
          verdict.size = std::min(truncate->size, verdict.size.value_or(truncate->size));
        } else if (const auto* flip = std::get_if<FlipByte>(&fault.effect)) {
          verdict.flips.push_back(*flip);
        } else {
          delay += std::get<Delay>(fault.effect).time;
        }
      }
    }
    // Outside of the lock: a delay must hold up this operation only.
    if (delay.count() > 0) std::this_thread::sleep_for(delay);
    return verdict;
  }

  // One operation that returns T, under its verdict.
  template <typename T, typename Act>
  Result<T> Run(Operation operation, std::string_view path, Act act) {
    Verdict verdict = Judge(operation, path);
    if (verdict.before) return std::unexpected(*std::move(verdict.before));
    Result<T> outcome = act(verdict);
    if (outcome && verdict.after) return std::unexpected(*std::move(verdict.after));
    return outcome;
  }

 private:
  struct Met {
    Fault fault;
    uint64_t count = 0;
  };

  static bool Concerns(const Fault& fault, Operation operation, std::string_view path) {
    if (fault.operation && *fault.operation != operation) return false;
    if (!fault.path_contains.empty() && path.find(fault.path_contains) == std::string_view::npos) return false;
    const bool reads = operation == Operation::kRead;
    if (std::holds_alternative<FlipByte>(fault.effect)) return reads;
    if (std::holds_alternative<TruncateTo>(fault.effect)) {
      return reads || operation == Operation::kSize || operation == Operation::kStat;
    }
    return true;
  }

  mutable std::mutex mutex_;
  std::vector<Met> faults_;
  uint64_t operations_ = 0;
};

namespace {

using FaultScript = std::shared_ptr<FaultingFileIO::Script>;
using FaultVerdict = FaultingFileIO::Script::Verdict;

class FaultingInputFile final : public InputFile {
 public:
  FaultingInputFile(std::unique_ptr<InputFile> inner, bool size_known, FaultScript script)
      : inner_(std::move(inner)), size_known_(size_known), script_(std::move(script)) {}

  const std::string& path() const override { return inner_->path(); }
  bool SeeksAreCheap() const override { return inner_->SeeksAreCheap(); }

  Result<uint64_t> Size() override {
    return script_->Run<uint64_t>(Operation::kSize, path(), [&](const FaultVerdict& verdict) -> Result<uint64_t> {
      const uint64_t size = DELENDA_TRY(inner_->Size());
      // A size that the caller brought along is not asked for again: metadata does not know that the file was
      // shortened.
      return size_known_ ? size : std::min(size, verdict.size.value_or(size));
    });
  }

  Result<void> ReadAt(uint64_t offset, std::span<std::byte> into) override {
    return script_->Run<void>(Operation::kRead, path(), [&](const FaultVerdict& verdict) -> Result<void> {
      if (verdict.size && (offset > *verdict.size || into.size() > *verdict.size - offset)) {
        return WithContext(Result<void>(Corrupt("file ends at byte {}: needed {} bytes at byte {}", *verdict.size,
                                                into.size(), offset)),
                           "file", path());
      }
      DELENDA_TRY(inner_->ReadAt(offset, into));
      for (const FlipByte& flip : verdict.flips) {
        if (flip.offset >= offset && flip.offset - offset < into.size()) {
          into[static_cast<size_t>(flip.offset - offset)] ^= std::byte{flip.mask};
        }
      }
      return {};
    });
  }

 private:
  std::unique_ptr<InputFile> inner_;
  bool size_known_;
  FaultScript script_;
};

class FaultingOutputFile final : public OutputFile {
 public:
  FaultingOutputFile(std::string path, std::unique_ptr<OutputFile> inner, FaultScript script)
      : path_(std::move(path)), inner_(std::move(inner)), script_(std::move(script)) {}

  Result<void> Write(ByteView bytes) override {
    return script_->Run<void>(Operation::kWrite, path_, [&](const FaultVerdict&) { return inner_->Write(bytes); });
  }
  Result<void> Close() override {
    return script_->Run<void>(Operation::kClose, path_, [&](const FaultVerdict&) { return inner_->Close(); });
  }

 private:
  std::string path_;
  std::unique_ptr<OutputFile> inner_;
  FaultScript script_;
};

}  // namespace

FaultingFileIO::FaultingFileIO(std::shared_ptr<FileIO> inner)
    : inner_(std::move(inner)), script_(std::make_shared<Script>()) {}

void FaultingFileIO::Add(Fault fault) { script_->Add(std::move(fault)); }

void FaultingFileIO::Clear() { script_->Clear(); }

uint64_t FaultingFileIO::operations() const { return script_->operations(); }

Result<std::unique_ptr<InputFile>> FaultingFileIO::Open(std::string_view path, std::optional<uint64_t> known_size) {
  using Opened = std::unique_ptr<InputFile>;
  return script_->Run<Opened>(Operation::kOpen, path, [&](const FaultVerdict&) -> Result<Opened> {
    return std::make_unique<FaultingInputFile>(DELENDA_TRY(inner_->Open(path, known_size)), known_size.has_value(),
                                               script_);
  });
}

Result<FileInfo> FaultingFileIO::Stat(std::string_view path) {
  return script_->Run<FileInfo>(Operation::kStat, path, [&](const FaultVerdict& verdict) -> Result<FileInfo> {
    FileInfo info = DELENDA_TRY(inner_->Stat(path));
    info.size = std::min(info.size, verdict.size.value_or(info.size));
    return info;
  });
}

Result<std::vector<FileInfo>> FaultingFileIO::List(std::string_view folder) {
  using Listed = std::vector<FileInfo>;
  return script_->Run<Listed>(Operation::kList, folder, [&](const FaultVerdict&) { return inner_->List(folder); });
}

Result<std::unique_ptr<OutputFile>> FaultingFileIO::Create(std::string_view path) {
  using Created = std::unique_ptr<OutputFile>;
  return script_->Run<Created>(Operation::kCreate, path, [&](const FaultVerdict&) -> Result<Created> {
    return std::make_unique<FaultingOutputFile>(std::string(path), DELENDA_TRY(inner_->Create(path)), script_);
  });
}

Result<void> FaultingFileIO::Delete(std::string_view path) {
  return script_->Run<void>(Operation::kDelete, path, [&](const FaultVerdict&) { return inner_->Delete(path); });
}

Result<void> FaultingFileIO::Replace(std::string_view path, ByteView bytes) {
  return script_->Run<void>(Operation::kReplace, path,
                            [&](const FaultVerdict&) { return inner_->Replace(path, bytes); });
}

}  // namespace delenda::io
