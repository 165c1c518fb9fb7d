// sort (specification, section "sort"), and the stable key sort that other kernels use too.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Any number of operands, sorted together along `dimension`. Always stable. A comparator that
/// recognise_region knows sorts integer keys; others are called.
void sort(const KernelCall& call);

/// Sorts lines of unsigned keys, one after the other, in buffers that it keeps. `Key` is uint8_t,
/// uint16_t, uint32_t or uint64_t.
template <class Key>
class KeySorter {
 public:
  KeySorter();
  ~KeySorter();
  KeySorter(const KeySorter&) = delete;
  KeySorter& operator=(const KeySorter&) = delete;

  /// Fills `permutation` with the numbers 0 .. n - 1, n < 2^32, so that keys ascend, equal keys in
  /// their original order.
  void sort(std::span<const Key> keys, std::span<uint32_t> permutation);
  /// The same for the permutation.size() smallest keys only.
  void sort_smallest(std::span<const Key> keys, std::span<uint32_t> permutation);
  /// Entry `rank` of the permutation alone.
  uint32_t select(std::span<const Key> keys, size_t rank);

 private:
  struct Buffers;
  void load(std::span<const Key> keys);
  std::unique_ptr<Buffers> buffers_;
};

extern template class KeySorter<uint8_t>;
extern template class KeySorter<uint16_t>;
extern template class KeySorter<uint32_t>;
extern template class KeySorter<uint64_t>;

/// KeySorter::sort of one line.
template <class Key>
void sort_permutation(std::span<const Key> keys, std::span<uint32_t> permutation) {
  KeySorter<Key>().sort(keys, permutation);
}

}  // namespace tpu::compiler::kernels
