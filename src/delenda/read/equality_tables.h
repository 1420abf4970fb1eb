// Which equality delete files share a table of keys, and until when the table is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "delenda/base/once.h"
#include "delenda/base/result.h"
#include "delenda/hooks.h"
#include "delenda/io/file_io.h"
#include "delenda/plan/scan_task.h"
#include "delenda/read/equality_keys.h"

namespace delenda::read {

// Tables of keys, each loaded when its first user asks for it and let go when its last user is done. Group and Expect
// come first, on one thread; the rest is thread-safe. `plan` must outlive it.
class EqualityTables {
 public:
  EqualityTables(const plan::ScanPlan& plan, std::shared_ptr<io::FileIO> io, uint64_t memory_budget,
                 CancelToken cancel);

  // Delete files (indexes into the plan) that are live at the same time, by the table that holds their keys: those of
  // one layout that hold for the same rows share one, where a key counts with its highest sequence number. Files that
  // are not live together must not come in one call: a key of the later one would delete rows of an earlier state.
  // Calls that give the same group of files get the same table.
  std::map<uint32_t, size_t> Group(const std::set<uint32_t>& deletes);

  // One more user, who will call Done.
  void Expect(size_t table) { ++tables_[table].pending; }
  Result<std::shared_ptr<const EqualityKeys>> Get(size_t table);
  void Done(size_t table);

 private:
  struct Table {
    std::vector<uint32_t> files;  // indexes into the plan's deletes, ascending
    size_t pending = 0;
    std::shared_ptr<OnceResult<EqualityKeys>> keys = std::make_shared<OnceResult<EqualityKeys>>();
  };

  bool IsGlobal(const ContentFile& deletes) const;

  const plan::ScanPlan& plan_;
  std::shared_ptr<io::FileIO> io_;
  uint64_t memory_budget_;
  CancelToken cancel_;
  std::vector<Table> tables_;
  std::map<std::vector<uint32_t>, size_t> known_;
  std::mutex mutex_;  // of `pending` and the shared pointers beside it
};

}  // namespace delenda::read
