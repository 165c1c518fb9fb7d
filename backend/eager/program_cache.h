// The in-process tier of the compile cache: from call keys to programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backend/eager/call_key.h"
#include "backend/eager/program.h"

namespace torch_tpu::eager {

struct CacheStats {
  int64_t requests = 0, hits = 0, programs = 0;
};

/// Programs are never dropped while the process runs, so a pointer stays good in queues.
class ProgramCache {
 public:
  /// The process's cache.
  static ProgramCache& instance();

  /// Null on a miss.
  Program* find(const CallKey& key);
  /// Adds `program` under `key`; if another thread was first, its program is returned instead.
  Program* insert(const CallKey& key, std::unique_ptr<Program> program);

  CacheStats stats() const;
  /// Calls `visit` for each program, in no particular order.
  template <class F>
  void for_each(F&& visit) {
    std::lock_guard lock(mutex_);
    for (auto& [hash, program] : programs_) visit(*program);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_multimap<uint64_t, std::unique_ptr<Program>> programs_;
  std::atomic<int64_t> requests_{0}, misses_{0};
};

}  // namespace torch_tpu::eager
