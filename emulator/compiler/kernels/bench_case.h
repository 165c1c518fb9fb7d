// Dense operands and results for benchmarks of kernels.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <random>
#include <vector>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Collects the arrays of one call and runs it again and again.
class BenchCase {
 public:
  /// Random bits; floats are small fractions.
  void operand(hlo::ElementType element, const hlo::Dims& shape) {
    add(element, shape);
    std::mt19937_64 random(arrays_.size());
    auto* bytes = reinterpret_cast<std::byte*>(arrays_.back().words.data());
    const int64_t n = hlo::num_elements(shape);
    for (int64_t i = 0; i < n; ++i) {
      if (element == hlo::ElementType::kF32) {
        const float value = static_cast<float>(random() >> 40) * 0x1p-23f - 1.0f;
        std::memcpy(bytes + 4 * i, &value, 4);
      } else {
        const uint64_t bits = random();
        const auto width = hlo::byte_width(element);
        std::memcpy(bytes + width * i, &bits, static_cast<size_t>(width < 8 ? width : 8));
      }
    }
    operands_.push_back(const_view());
  }
  /// i64 numbers in [0, limit).
  void indices(const hlo::Dims& shape, int64_t limit) {
    add(hlo::ElementType::kSI64, shape);
    std::mt19937_64 random(arrays_.size());
    for (uint64_t& word : arrays_.back().words) word = random() % static_cast<uint64_t>(limit);
    operands_.push_back(const_view());
  }
  void result(hlo::ElementType element, const hlo::Dims& shape) {
    add(element, shape);
    const ConstView view = const_view();
    results_.push_back({view.element, view.shape, view.strides,
                        reinterpret_cast<std::byte*>(arrays_.back().words.data())});
  }
  /// A result in the memory of operand 0.
  void aliased_result() {
    const ConstView& first = operands_[0];
    results_.push_back({first.element, first.shape, first.strides,
                        reinterpret_cast<std::byte*>(arrays_[0].words.data())});
  }
  void region(const RegionPattern& pattern) {
    patterns_.push_back(pattern);
    regions_.push_back(nullptr);
  }
  void region(hlo::OpKind op) {
    RegionPattern pattern;
    pattern.kind = RegionPattern::Kind::kBinary;
    pattern.op = op;
    region(pattern);
  }

  void run(benchmark::State& state, Kernel kernel, hlo::OpKind kind,
           const hlo::Attributes& attributes) {
    const KernelCall call{kind, attributes, operands_, results_, regions_, {}, 128, patterns_};
    for (auto _ : state) {
      kernel(call);
      benchmark::ClobberMemory();
    }
    int64_t bytes = 0;
    for (const Array& array : arrays_) {
      bytes += hlo::num_elements(array.shape) * hlo::byte_width(array.element);
    }
    state.SetBytesProcessed(state.iterations() * bytes);
  }

 private:
  struct Array {
    hlo::ElementType element;
    hlo::Dims shape, strides;
    std::vector<uint64_t> words;
  };

  void add(hlo::ElementType element, const hlo::Dims& shape) {
    const int64_t bytes = hlo::num_elements(shape) * hlo::byte_width(element);
    arrays_.push_back({element, shape, hlo::row_major_strides(shape),
                       std::vector<uint64_t>(static_cast<size_t>(bytes + 7) / 8)});
  }
  ConstView const_view() const {
    const Array& array = arrays_.back();
    return {array.element, array.shape, array.strides,
            reinterpret_cast<const std::byte*>(array.words.data())};
  }

  std::deque<Array> arrays_;  // views point into it
  std::vector<ConstView> operands_;
  std::vector<View> results_;
  std::vector<RegionFunction> regions_;
  std::vector<RegionPattern> patterns_;
};

}  // namespace tpu::compiler::kernels
