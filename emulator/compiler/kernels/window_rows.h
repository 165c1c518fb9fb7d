// Walks the windows of a row of outputs together: tap by tap, with the row's outputs in a vector.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "emulator/compiler/kernels/window.h"

namespace tpu::compiler::kernels {

/// What one tap (a position in the window) brings to some of a row's outputs: outputs `first`,
/// `first + step`, ..., `count` of them, each one element of the operand. The first's element is
/// at operand index `position`; the others follow `position_step` apart along the row's dimension.
/// A null `position` means padding or a hole between dilated elements: they stand for init.
struct TapRun {
  int64_t first, step, count;
  const Dims* position;
  int64_t position_step;
};

/// The rows of a window op's result. An output sees its taps in ascending row-major order; the
/// outputs of a row take each tap together.
class WindowRows {
 public:
  using VisitTap = std::function<void(const TapRun& run)>;

  /// The result's rank must be 1 or more. Without `padding`, taps that stand for init are left out.
  /// The arguments must outlive this object.
  WindowRows(const Window& window, std::span<const int64_t> operand_shape,
             std::span<const int64_t> result_shape, bool padding);

  size_t row_dimension() const { return row_; }
  int64_t length() const { return length_; }

  /// On all threads: `body(outer)` for every row; `outer` is the result's index without the row's
  /// dimension.
  void for_each_row(const std::function<void(const Dims& outer)>& body) const;

  /// The offset of a row's first element in an array of the result's rank.
  int64_t row_offset(const Dims& outer, std::span<const int64_t> strides) const;

  /// Calls `visit` for all taps of a row, in order.
  void for_each_tap(const Dims& outer, const VisitTap& visit) const;

 private:
  bool find_position(const Dims& outer, const Dims& tap, Dims& position) const;
  void visit_row(int64_t k, Dims& position, const VisitTap& visit) const;

  const Window& window_;
  std::span<const int64_t> operand_shape_;
  bool padding_;
  size_t row_;
  int64_t length_;
  std::vector<size_t> outer_dims_;
  Dims outer_shape_;
};

/// The offset of an index in an array with these strides.
inline int64_t offset_of(const Dims& index, std::span<const int64_t> strides) {
  int64_t offset = 0;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * strides[d];
  return offset;
}

}  // namespace tpu::compiler::kernels
