// A source of random choices for tests: the same on every platform, unlike std's distributions. For
// that, no expression draws twice: the order of a call's arguments is the compiler's choice.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace tpu::hlo::testing {

class Rng {
 public:
  explicit Rng(uint64_t seed) : engine_(seed) {}

  uint64_t bits() { return engine_(); }
  /// A number in [0, limit); `limit` is 1 or more.
  int64_t below(int64_t limit) {
    return static_cast<int64_t>(bits() % static_cast<uint64_t>(limit));
  }
  /// A number in [low, high].
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  /// True once in `n` times on average.
  bool one_in(int64_t n) { return below(n) == 0; }
  bool coin() { return one_in(2); }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<size_t>(below(static_cast<int64_t>(choices.size())))];
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(static_cast<int64_t>(choices.size()))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace tpu::hlo::testing
