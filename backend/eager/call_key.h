// The structural key of one operator call: what a compiled program depends on, and nothing else.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace torch_tpu::eager {

/// Words appended one after the other; short keys, which almost all are, need no allocation.
class CallKey {
 public:
  void push(uint64_t word) {
    if (size_ < kInline) {
      inline_[size_++] = word;
    } else {
      spill(word);
    }
  }
  void push_all(std::span<const int64_t> words) {
    for (int64_t word : words) push(static_cast<uint64_t>(word));
  }

  std::span<const uint64_t> words() const {
    return spilled_.empty() ? std::span(inline_.data(), size_) : std::span(spilled_);
  }

  /// Multiplies and folds word by word; equality is always checked on the words themselves.
  uint64_t hash() const {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (uint64_t word : words()) {
      h = (h ^ word) * 0xff51afd7ed558ccdu;
      h ^= h >> 32;
    }
    return h;
  }

  bool equals(std::span<const uint64_t> other) const {
    const auto mine = words();
    return mine.size() == other.size() &&
           std::memcmp(mine.data(), other.data(), mine.size_bytes()) == 0;
  }

 private:
  static constexpr size_t kInline = 64;
  void spill(uint64_t word) {
    if (spilled_.empty()) spilled_.assign(inline_.begin(), inline_.end());
    spilled_.push_back(word);
    ++size_;
  }

  std::array<uint64_t, kInline> inline_;
  std::vector<uint64_t> spilled_;
  size_t size_ = 0;
};

}  // namespace torch_tpu::eager
