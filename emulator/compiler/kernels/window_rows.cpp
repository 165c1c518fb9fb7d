#include "emulator/compiler/kernels/window_rows.h"

#include <algorithm>
#include <numeric>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

// The last dimension, unless it is short and another is long. The choice never changes an
// output's own order.
size_t choose_row(std::span<const int64_t> shape) {
  size_t chosen = shape.size() - 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[chosen] < 16 && shape[d] > 2 * shape[chosen]) chosen = d;
  }
  return chosen;
}

}  // namespace

WindowRows::WindowRows(const Window& window, std::span<const int64_t> operand_shape,
                       std::span<const int64_t> result_shape, bool padding)
    : window_(window),
      operand_shape_(operand_shape),
      padding_(padding),
      row_(choose_row(result_shape)),
      length_(result_shape[row_]) {
  for (size_t d = 0; d < result_shape.size(); ++d) {
    if (d == row_) continue;
    outer_dims_.push_back(d);
    outer_shape_.push_back(result_shape[d]);
  }
}

void WindowRows::for_each_row(const std::function<void(const Dims&)>& body) const {
  const int64_t work = hlo::num_elements(window_.size) * length_;
  const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(work, 1));
  parallel_for(hlo::num_elements(outer_shape_), grain, [&](int64_t begin, int64_t end) {
    Dims outer = index_at(outer_shape_, begin);
    for (int64_t i = begin; i < end; ++i, step_index(outer, outer_shape_)) body(outer);
  });
}

int64_t WindowRows::row_offset(const Dims& outer, std::span<const int64_t> strides) const {
  int64_t offset = 0;
  for (size_t i = 0; i < outer_dims_.size(); ++i) offset += outer[i] * strides[outer_dims_[i]];
  return offset;
}

void WindowRows::for_each_tap(const Dims& outer, const VisitTap& visit) const {
  const int64_t taps = hlo::num_elements(window_.size);
  Dims position(window_.size.size(), 0);
  Dims tap(window_.size.size(), 0);
  for (int64_t t = 0; t < taps; ++t, step_index(tap, window_.size)) {
    if (find_position(outer, tap, position)) {
      visit_row(tap[row_], position, visit);
    } else if (padding_) {
      visit({0, 1, length_, nullptr, 0});
    }
  }
}

// False if the tap is no element, whatever its place in the row.
bool WindowRows::find_position(const Dims& outer, const Dims& tap, Dims& position) const {
  for (size_t i = 0; i < outer_dims_.size(); ++i) {
    const size_t d = outer_dims_[i];
    position[d] = window_.position(d, outer[i], tap[d], operand_shape_[d]);
    if (position[d] < 0) return false;
  }
  return true;
}

// Tap k of the row's dimension. Output o sees dilated position o * stride + shift; of the dilated
// positions every `base`-th is an element, so the outputs that see one are `step` apart.
void WindowRows::visit_row(int64_t k, Dims& position, const VisitTap& visit) const {
  const int64_t stride = window_.stride[row_], base = window_.base_dilation[row_];
  const int64_t shift = k * window_.dilation[row_] - window_.low[row_];
  const int64_t size = operand_shape_[row_];
  const int64_t step = base / std::gcd(stride, base);
  for (int64_t residue = 0; residue < std::min(step, length_); ++residue) {
    const int64_t outputs = (length_ - residue + step - 1) / step;
    const int64_t dilated = residue * stride + shift;
    int64_t first = 0, end = 0;
    if (dilated % base == 0) {
      // Element of output residue + j * step: at + j * move, within [0, size).
      const int64_t at = dilated / base, move = step * stride / base;
      first = std::clamp<int64_t>(at < 0 ? (-at + move - 1) / move : 0, 0, outputs);
      end = at >= size ? first : std::clamp((size - at + move - 1) / move, first, outputs);
      position[row_] = at + first * move;
      if (end > first) {
        visit({residue + first * step, step, end - first, &position, move});
      }
    }
    if (!padding_) continue;
    if (first > 0) visit({residue, step, first, nullptr, 0});
    if (end < outputs) visit({residue + end * step, step, outputs - end, nullptr, 0});
  }
}

}  // namespace tpu::compiler::kernels
