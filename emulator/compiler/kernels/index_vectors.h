// The start indices of gather and scatter, turned into element offsets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Reads the index vectors of one gather or scatter. A "position" is a row-major number in the
/// index space of the indices' dimensions other than index_vector_dim.
class IndexVectors {
 public:
  /// One number of an index vector: the operand dimension it addresses.
  struct Component {
    int64_t last;    ///< the largest start: dimension size - window size
    int64_t stride;  ///< of that operand dimension
  };

  /// `index_map[c]` is the operand dimension of component c; `window` has one size an operand
  /// dimension. Batching dimensions add their own coordinate.
  IndexVectors(const ConstView& indices, int64_t index_vector_dim,
               std::span<const int64_t> index_map, std::span<const int64_t> operand_batching_dims,
               std::span<const int64_t> indices_batching_dims, std::span<const int64_t> shape,
               std::span<const int64_t> strides, std::span<const int64_t> window);

  int64_t count() const { return count_; }
  /// Positions of the innermost dimension, which lie next to each other; 1 of rank 0.
  int64_t run_length() const { return shape_.empty() ? 1 : std::max<int64_t>(shape_.back(), 1); }
  /// How far the operand's offset moves with each dimension of the positions; 0 for all but
  /// batching dimensions.
  std::span<const int64_t> batch_strides() const { return batch_strides_; }
  std::span<const int64_t> shape() const { return shape_; }
  std::span<const Component> components() const { return components_; }

  /// For positions [begin, end): where the window starts in the operand, in elements, with starts
  /// clamped into bounds.
  void clamped_offsets(int64_t begin, int64_t end, int64_t* offsets) const;
  /// The same without clamping: -1 where a start is out of bounds.
  void checked_offsets(int64_t begin, int64_t end, int64_t* offsets) const;
  /// The raw starts of position `position`, one a component, and the offset of its batch.
  int64_t starts(int64_t position, int64_t* values) const;

 private:
  template <bool kClamp, class T>
  void offsets_of(int64_t begin, int64_t end, int64_t* offsets) const;

  hlo::ElementType element_;
  const std::byte* data_;
  int64_t component_stride_ = 0;
  std::vector<Component> components_;
  hlo::Dims shape_, index_strides_, batch_strides_;
  int64_t count_ = 1;
};

}  // namespace tpu::compiler::kernels
