#include "backend/eager/program_cache.h"

#include <array>

namespace torch_tpu::eager {
namespace {

// Each thread remembers the last program of each hash slot: a training loop finds its programs
// here without taking the lock. 512 pointers are half of what stays in a first-level cache.
thread_local std::array<std::pair<uint64_t, Program*>, 512> recent{};

}  // namespace

ProgramCache& ProgramCache::instance() {
  static auto* cache = new ProgramCache;  // queues may still run programs while the process exits
  return *cache;
}

Program* ProgramCache::find(const CallKey& key) {
  requests_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t hash = key.hash();
  auto& slot = recent[hash % recent.size()];
  if (slot.first == hash && slot.second && key.equals(slot.second->key)) return slot.second;
  std::lock_guard lock(mutex_);
  const auto [begin, end] = programs_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (key.equals(at->second->key)) {
      slot = {hash, at->second.get()};
      return at->second.get();
    }
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

Program* ProgramCache::insert(const CallKey& key, std::unique_ptr<Program> program) {
  const uint64_t hash = key.hash();
  std::lock_guard lock(mutex_);
  const auto [begin, end] = programs_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (key.equals(at->second->key)) return at->second.get();
  }
  const auto words = key.words();
  program->key.assign(words.begin(), words.end());
  return programs_.emplace(hash, std::move(program))->second.get();
}

CacheStats ProgramCache::stats() const {
  std::lock_guard lock(mutex_);
  const int64_t requests = requests_, misses = misses_;
  return {requests, requests - misses, static_cast<int64_t>(programs_.size())};
}

}  // namespace torch_tpu::eager
