// The declared order of sorting by a comparator.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tpu {

/// A stable merge sort, bottom up: an element of the right run comes first only if it is less than
/// the left's. Spelled out, and not std::stable_sort, because a comparator may be inconsistent (NaN
/// under a plain LT); then the algorithm decides the result, and must be the same on every host.
template <class T, class Less>
void merge_sort(std::vector<T>& items, Less less) {
  const size_t count = items.size();
  std::vector<T> merged;
  merged.reserve(count);
  for (size_t width = 1; width < count; width *= 2) {
    merged.clear();
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      const size_t middle = std::min(begin + width, count);
      const size_t end = std::min(begin + 2 * width, count);
      size_t left = begin, right = middle;
      while (left < middle || right < end) {
        const bool take_right = left == middle || (right < end && less(items[right], items[left]));
        merged.push_back(items[take_right ? right++ : left++]);
      }
    }
    items.swap(merged);
  }
}

}  // namespace tpu
