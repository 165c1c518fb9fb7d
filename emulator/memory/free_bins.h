// Free blocks of many sizes, found by best fit in constant time but for short walks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "emulator/memory/block.h"

namespace tpu::memory {

/// Segregated lists as in TLSF (Masmano et al. 2004): a bin for each eighth of a power of two of
/// the size in pages, and a bitmap of the bins that are not empty.
class FreeBins {
 public:
  static constexpr int64_t kUnit = 4096;

  void insert(BlockPool& pool, BlockId id) {
    Block& block = pool[id];
    const int bin = bin_of(block.size);
    block.list_previous = kNoBlock;
    block.list_next = heads_[bin];
    if (block.list_next != kNoBlock) pool[block.list_next].list_previous = id;
    heads_[bin] = id;
    nonempty_[bin / 64] |= uint64_t{1} << (bin % 64);
  }

  void remove(BlockPool& pool, BlockId id) {
    Block& block = pool[id];
    const int bin = bin_of(block.size);
    if (block.list_next != kNoBlock) pool[block.list_next].list_previous = block.list_previous;
    if (block.list_previous != kNoBlock) {
      pool[block.list_previous].list_next = block.list_next;
    } else {
      heads_[bin] = block.list_next;
      if (heads_[bin] == kNoBlock) nonempty_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
    }
    block.list_previous = block.list_next = kNoBlock;
  }

  /// The smallest block seen that has `size` bytes, or kNoBlock. Does not remove it. A block of
  /// another bin than the request's own is only the smallest of the first `kWalk` there.
  BlockId find(const BlockPool& pool, int64_t size) const {
    int bin = bin_of(size);
    if (BlockId id = best_in(pool, bin, size); id != kNoBlock) return id;
    bin = next_nonempty(bin + 1);
    return bin < kBins ? best_in(pool, bin, size) : kNoBlock;
  }

  /// Empties the bins; `visit(id)` for each block.
  template <class Visit>
  void drain(BlockPool& pool, Visit visit) {
    for (int bin = next_nonempty(0); bin < kBins; bin = next_nonempty(bin)) {
      while (heads_[bin] != kNoBlock) {
        const BlockId id = heads_[bin];
        remove(pool, id);
        visit(id);
      }
    }
  }

 private:
  static constexpr int kBins = 320;
  static constexpr int kWalk = 64;

  static int bin_of(int64_t size) {
    const auto units = static_cast<uint64_t>(size / kUnit);
    if (units < 8) return static_cast<int>(units);
    const int log = std::bit_width(units) - 1;  // >= 3
    return (log - 2) * 8 + static_cast<int>((units >> (log - 3)) & 7);
  }

  int next_nonempty(int bin) const {
    if (bin >= kBins) return kBins;
    size_t word = static_cast<size_t>(bin) / 64;
    uint64_t bits = nonempty_[word] & (~uint64_t{0} << (bin % 64));
    while (bits == 0) {
      if (++word == nonempty_.size()) return kBins;
      bits = nonempty_[word];
    }
    return static_cast<int>(word * 64) + std::countr_zero(bits);
  }

  BlockId best_in(const BlockPool& pool, int bin, int64_t size) const {
    BlockId best = kNoBlock;
    int64_t best_size = 0;
    int steps = 0;
    for (BlockId id = heads_[bin]; id != kNoBlock && steps < kWalk; id = pool[id].list_next) {
      const int64_t have = pool[id].size;
      ++steps;
      if (have < size || (best != kNoBlock && have >= best_size)) continue;
      best = id;
      best_size = have;
      if (have == size) break;
    }
    return best;
  }

  std::array<BlockId, kBins> heads_{};
  std::array<uint64_t, kBins / 64> nonempty_{};
};

}  // namespace tpu::memory
