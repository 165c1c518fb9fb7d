// Lines: an array seen along one dimension, for kernels that treat each line on its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

/// Matching lines of N arrays that agree in all dimensions but one.
template <size_t N>
class Lines {
 public:
  struct Array {
    std::span<const int64_t> shape;
    std::span<const int64_t> strides;
  };

  /// `dimension` counts from the end if negative. Arrays of rank 0 have one line of one element.
  Lines(const std::array<Array, N>& arrays, int64_t dimension) {
    const auto rank = static_cast<int64_t>(arrays[0].shape.size());
    const auto along = static_cast<size_t>(dimension < 0 ? dimension + rank : dimension);
    for (size_t d = 0; d < arrays[0].shape.size(); ++d) {
      if (d != along) shape_.push_back(arrays[0].shape[d]);
    }
    for (size_t n = 0; n < N; ++n) {
      for (size_t d = 0; d < arrays[n].shape.size(); ++d) {
        if (d != along) strides_[n].push_back(arrays[n].strides[d]);
      }
      size_[n] = rank == 0 ? 1 : arrays[n].shape[along];
      step_[n] = rank == 0 ? 0 : arrays[n].strides[along];
    }
    count_ = hlo::num_elements(shape_);
  }

  int64_t count() const { return count_; }
  int64_t size(size_t n) const { return size_[n]; }
  int64_t step(size_t n) const { return step_[n]; }
  /// A walker over lines from number `first` on; its offset(n) is where array n's line begins.
  Odometer<N> from(int64_t first) const {
    typename Odometer<N>::Strides strides;
    for (size_t n = 0; n < N; ++n) strides[n] = strides_[n];
    return Odometer<N>(shape_, strides, first);
  }

 private:
  Dims shape_;
  std::array<Dims, N> strides_;
  std::array<int64_t, N> size_{}, step_{};
  int64_t count_ = 1;
};

}  // namespace tpu::compiler::kernels
