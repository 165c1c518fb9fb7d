// Padding by what the tensor itself holds: mirrored at the border, or the border repeated.
#include <algorithm>

#include "backend/aten/line_map.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

enum class Border : uint8_t { kReflection, kReplication };

/// Which element of a line of `size` each of the padded positions shows. Negative padding crops.
LineMap padded_line(Border border, int64_t size, int64_t low, int64_t high) {
  Dims indices;
  for (int64_t o = 0; o < size + low + high; ++o) {
    const int64_t i = o - low;
    if (border == Border::kReplication) {
      indices.push_back(std::clamp<int64_t>(i, 0, size - 1));
    } else {
      indices.push_back(i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i);
    }
  }
  return LineMap::selecting(size, indices);
}

/// One map a spatial dimension, the first one first. `padding` lists pairs from the last dimension
/// backwards.
std::vector<LineMap> read_maps(Lowering& op, Border border, int64_t spatial) {
  const Tensor self = op.tensor("self");
  const Dims padding = op.integers("padding");
  TORCH_CHECK(static_cast<int64_t>(padding.size()) == 2 * spatial,
              "padding size is expected to be ", 2 * spatial);
  bool valid = self.dim() == spatial + 1 || self.dim() == spatial + 2;
  for (int64_t d = self.dim() == spatial + 2 ? 1 : 0; valid && d < self.dim(); ++d) {
    valid = self.size(d) != 0;
  }
  TORCH_CHECK(valid, "Expected ", spatial + 1, "D or ", spatial + 2,
              "D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
              "input, but got: ",
              c10::IntArrayRef(self.shape()));
  std::vector<LineMap> maps;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t dim = self.dim() - spatial + i, size = self.size(dim);
    const int64_t low = padding[2 * (spatial - 1 - i)], high = padding[2 * (spatial - 1 - i) + 1];
    TORCH_CHECK(border == Border::kReplication || (low < size && high < size), "Argument #",
                2 * (spatial + 1 - i),
                ": Padding size should be less than the "
                "corresponding input dimension, but got: padding (",
                low, ", ", high, ") at dimension ", dim, " of input ",
                c10::IntArrayRef(self.shape()));
    TORCH_CHECK(size + low + high >= 1, "input (size ", size, " in dimension ", dim,
                ") is too small. Calculated output size: ", size + low + high);
    maps.push_back(padded_line(border, size, low, high));
  }
  return maps;
}

LowerFunction pad(Border border, int64_t spatial) {
  return [=](Lowering& op) {
    const Tensor self = op.tensor("self");
    const std::vector<LineMap> maps = read_maps(op, border, spatial);
    Value* x = self.value;
    for (int64_t i = spatial; i-- > 0;) x = maps[i].apply(op, x, self.dim() - spatial + i);
    op.result(x, ResultLayout::kFirstOperand, {self});
  };
}

LowerFunction pad_backward(Border border, int64_t spatial) {
  return [=](Lowering& op) {
    const Tensor self = op.tensor("self"), grad = op.tensor("grad_output");
    const std::vector<LineMap> maps = read_maps(op, border, spatial);
    Value* g = widened(op, grad);
    for (int64_t i = 0; i < spatial; ++i) {
      const int64_t dim = self.dim() - spatial + i;
      TORCH_CHECK(grad.dim() == self.dim() && grad.size(dim) == maps[i].out(),
                  "grad_output size unexpected in dimension ", dim, ". Expected: ", maps[i].out(),
                  ", Got: ", c10::IntArrayRef(grad.shape()));
      g = maps[i].transposed().apply(op, g, dim);
    }
    op.result(op.convert(g, self.dtype), ResultLayout::kFirstOperand, {self});
  };
}

}  // namespace

void add_padding(Table& table) {
  using enum Border;
  const Table rows = {
      {"reflection_pad1d", pad(kReflection, 1)},
      {"reflection_pad2d", pad(kReflection, 2)},
      {"reflection_pad3d", pad(kReflection, 3)},
      {"reflection_pad1d_backward", pad_backward(kReflection, 1)},
      {"reflection_pad2d_backward", pad_backward(kReflection, 2)},
      {"reflection_pad3d_backward", pad_backward(kReflection, 3)},
      {"replication_pad1d", pad(kReplication, 1)},
      {"replication_pad2d", pad(kReplication, 2)},
      {"replication_pad3d", pad(kReplication, 3)},
      {"replication_pad1d_backward", pad_backward(kReplication, 1)},
      {"replication_pad2d_backward", pad_backward(kReplication, 2)},
      {"replication_pad3d_backward", pad_backward(kReplication, 3)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
