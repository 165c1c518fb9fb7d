// A stable sort of unsigned keys: least significant digit first (radix), or by comparison if few.
#include <algorithm>
#include <array>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/sort.h"

namespace tpu::compiler::kernels {
namespace {

// A key and where it came from. Keys up to 32 bits share one word with the number, so that plain
// integer comparison is stable.
struct Packed {
  uint64_t word;
  Packed() = default;
  Packed(uint32_t key, uint32_t number) : word(uint64_t{key} << 32 | number) {}
  uint64_t key() const { return word >> 32; }
  uint32_t number() const { return static_cast<uint32_t>(word); }
  bool operator<(const Packed& other) const { return word < other.word; }
};

struct Pair {
  uint64_t word;
  uint32_t index;
  Pair() = default;
  Pair(uint64_t key, uint32_t number) : word(key), index(number) {}
  uint64_t key() const { return word; }
  uint32_t number() const { return index; }
  bool operator<(const Pair& other) const {
    return word != other.word ? word < other.word : index < other.index;
  }
};

constexpr size_t kRadixFrom = 512;         // shorter rows sort by comparison
constexpr size_t kParallelFrom = 1 << 16;  // longer rows are cut in parts, sorted, merged
constexpr int kDigits = 256;

// Sorts `items` by `bytes` key digits, using `other` as the second buffer. The result is in
// `items`.
template <class Item>
void radix_sort(std::span<Item> items, std::span<Item> other, int bytes) {
  std::vector<std::array<uint32_t, kDigits>> counts(static_cast<size_t>(bytes));
  for (auto& row : counts) row.fill(0);
  for (const Item& item : items) {
    for (int b = 0; b < bytes; ++b) ++counts[static_cast<size_t>(b)][item.key() >> (8 * b) & 255];
  }
  Item* from = items.data();
  Item* to = other.data();
  for (int b = 0; b < bytes; ++b) {
    auto& count = counts[static_cast<size_t>(b)];
    if (count[from[0].key() >> (8 * b) & 255] == items.size()) continue;  // all digits equal
    uint32_t sum = 0;
    for (uint32_t& c : count) sum += std::exchange(c, sum);
    for (size_t i = 0; i < items.size(); ++i) {
      to[count[from[i].key() >> (8 * b) & 255]++] = from[i];
    }
    std::swap(from, to);
  }
  if (from != items.data()) std::copy(from, from + items.size(), items.data());
}

// Sorts parts on all threads and merges neighbours until one is left. Items are distinct, so how
// they were cut leaves no trace.
template <class Item>
void sort_items(std::vector<Item>& items, std::vector<Item>& other, int bytes) {
  other.resize(items.size());
  const auto n = static_cast<int64_t>(items.size());
  int64_t parts = 1;
  while (items.size() >= kParallelFrom && parts < num_threads() && parts < 64) parts *= 2;
  const auto bound = [&](int64_t part) { return n * part / parts; };
  parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      const auto first = static_cast<size_t>(bound(p));
      const auto size = static_cast<size_t>(bound(p + 1)) - first;
      radix_sort(std::span(items).subspan(first, size), std::span(other).subspan(first, size),
                 bytes);
    }
  });
  for (int64_t step = 1; step < parts; step *= 2) {
    parallel_for(parts / (2 * step), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = bound(2 * p * step), middle = bound((2 * p + 1) * step);
        const int64_t last = bound((2 * p + 2) * step);
        std::merge(items.begin() + first, items.begin() + middle, items.begin() + middle,
                   items.begin() + last, other.begin() + first);
      }
    });
    items.swap(other);
  }
}

}  // namespace

// The type of item that holds a key.
template <class Key>
using ItemOf = std::conditional_t<sizeof(Key) == 8, Pair, Packed>;

template <class Key>
struct KeySorter<Key>::Buffers {
  std::vector<ItemOf<Key>> items, other;
};

template <class Key>
KeySorter<Key>::KeySorter() : buffers_(std::make_unique<Buffers>()) {}

template <class Key>
KeySorter<Key>::~KeySorter() = default;

template <class Key>
void KeySorter<Key>::load(std::span<const Key> keys) {
  auto& items = buffers_->items;
  items.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    items[i] = ItemOf<Key>(keys[i], static_cast<uint32_t>(i));
  }
}

template <class Key>
void KeySorter<Key>::sort(std::span<const Key> keys, std::span<uint32_t> permutation) {
  load(keys);
  auto& items = buffers_->items;
  if (items.size() < kRadixFrom) {
    std::sort(items.begin(), items.end());
  } else {
    sort_items(items, buffers_->other, static_cast<int>(sizeof(Key)));
  }
  for (size_t i = 0; i < keys.size(); ++i) permutation[i] = items[i].number();
}

template <class Key>
void KeySorter<Key>::sort_smallest(std::span<const Key> keys, std::span<uint32_t> permutation) {
  if (permutation.size() > keys.size() / 8) {
    std::vector<uint32_t> all(keys.size());
    sort(keys, all);
    std::copy_n(all.begin(), permutation.size(), permutation.begin());
    return;
  }
  // A heap of the smallest so far. Most keys are compared with its largest and passed by; a key
  // equal to it comes later and does not replace it.
  const size_t k = permutation.size();
  if (k == 0) return;
  load(keys.first(k));
  auto& items = buffers_->items;
  std::make_heap(items.begin(), items.end());
  for (size_t i = k; i < keys.size(); ++i) {
    if (keys[i] >= items.front().key()) continue;
    std::pop_heap(items.begin(), items.end());
    items.back() = ItemOf<Key>(keys[i], static_cast<uint32_t>(i));
    std::push_heap(items.begin(), items.end());
  }
  std::sort_heap(items.begin(), items.end());
  for (size_t i = 0; i < k; ++i) permutation[i] = items[i].number();
}

template <class Key>
uint32_t KeySorter<Key>::select(std::span<const Key> keys, size_t rank) {
  load(keys);
  auto& items = buffers_->items;
  const auto at = items.begin() + static_cast<ptrdiff_t>(rank);
  std::nth_element(items.begin(), at, items.end());
  return at->number();
}

template class KeySorter<uint8_t>;
template class KeySorter<uint16_t>;
template class KeySorter<uint32_t>;
template class KeySorter<uint64_t>;

}  // namespace tpu::compiler::kernels
