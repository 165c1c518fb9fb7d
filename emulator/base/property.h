// Property-based tests: random cases from a printed seed, and a failing case made small.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace tpu::testing {

/// The seed of this run: TPU_TEST_SEED if set, otherwise a fixed one, so that a run repeats.
inline uint64_t seed() {
  const char* text = std::getenv("TPU_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20240607;
}

/// Where a case takes its numbers from. What was drawn is remembered, so that the same case, or a
/// smaller one, can be played again.
class Choices {
 public:
  explicit Choices(uint64_t seed) : generator_(seed) {}
  explicit Choices(std::vector<int64_t> replay) : replay_(std::move(replay)), replaying_(true) {}

  /// A number in [low, high], `low` being the simplest.
  int64_t in(int64_t low, int64_t high) {
    int64_t offset = 0;
    if (!replaying_) {
      offset = std::uniform_int_distribution<int64_t>(0, high - low)(generator_);
    } else if (drawn_.size() < replay_.size()) {
      offset = std::min(replay_[drawn_.size()], high - low);
    }
    drawn_.push_back(offset);
    return low + offset;
  }
  bool coin() { return in(0, 1) == 1; }

  const std::vector<int64_t>& drawn() const { return drawn_; }

 private:
  std::mt19937_64 generator_;
  std::vector<int64_t> replay_, drawn_;
  bool replaying_ = false;
};

/// Empty if the property holds for the case that `choices` makes, otherwise what is wrong.
using Property = std::function<std::string(Choices& choices)>;

/// Lowers one drawn number after the other as long as the property still fails.
inline std::vector<int64_t> shrink(std::vector<int64_t> failing, const Property& property) {
  const auto fails = [&](std::vector<int64_t>& candidate) {
    Choices choices(candidate);
    if (property(choices).empty()) return false;
    candidate = choices.drawn();
    return true;
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < failing.size(); ++i) {
      for (int64_t value : {int64_t{0}, failing[i] / 2, failing[i] - 1}) {
        if (value < 0 || value >= failing[i]) continue;
        std::vector<int64_t> candidate = failing;
        candidate[i] = value;
        if (!fails(candidate)) continue;
        failing = std::move(candidate);
        smaller = true;
        break;
      }
      if (i >= failing.size()) break;
    }
  }
  return failing;
}

/// Tries `cases` random cases; reports the first failure, made small, with the seed.
inline void check_property(int cases, const Property& property) {
  for (int i = 0; i < cases; ++i) {
    Choices choices(seed() + static_cast<uint64_t>(i));
    if (property(choices).empty()) continue;
    Choices small(shrink(choices.drawn(), property));
    const std::string problem = property(small);
    ADD_FAILURE() << problem << "\n(case " << i << ", TPU_TEST_SEED=" << seed() << ", draws "
                  << ::testing::PrintToString(small.drawn()) << ")";
    return;
  }
}

}  // namespace tpu::testing
