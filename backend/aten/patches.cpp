// Sliding windows as columns of a matrix, their sum back into an image, and other regroupings.
#include <array>

#include "backend/aten/line_map.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// One spatial dimension under a sliding window.
struct Axis {
  int64_t size, kernel, dilation, padding, stride;
  int64_t windows() const {
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
  }
  /// From a line to [kernel * windows]: element k of every window, then element k + 1. Nothing
  /// where the padding is.
  LineMap patches() const {
    std::vector<std::vector<Tap>> rows;
    for (int64_t k = 0; k < kernel; ++k) {
      for (int64_t w = 0; w < windows(); ++w) {
        const int64_t at = w * stride - padding + k * dilation;
        rows.push_back(at >= 0 && at < size ? std::vector<Tap>{{at, 1.0}} : std::vector<Tap>{});
      }
    }
    return {size, std::move(rows)};
  }
};

std::array<Axis, 2> read_axes(Lowering& op, int64_t height, int64_t width) {
  const auto pair = [&](std::string_view name, int64_t least) {
    const Dims v = op.integers(name);
    TORCH_CHECK(v.size() == 2, "It is expected ", name, " equals to 2, but got size ", v.size());
    TORCH_CHECK(v[0] >= least && v[1] >= least, name, " should be ",
                least > 0 ? "greater than zero" : "non-negative", ", but got ", v[0], " and ",
                v[1]);
    return v;
  };
  const Dims kernel = pair("kernel_size", 1), dilation = pair("dilation", 1),
             padding = pair("padding", 0), stride = pair("stride", 1);
  const auto axis = [&](int i, int64_t size) {
    return Axis{size, kernel[i], dilation[i], padding[i], stride[i]};
  };
  return {axis(0, height), axis(1, width)};
}

// [N, C, H, W] becomes [N, C kh kw, windows]; the batch may be missing.
void image_to_columns(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t rank = self.dim();
  TORCH_CHECK((rank == 3 && self.size(0) != 0) || (rank == 4 && self.size(1) != 0),
              "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
              "dimensions for input, but got: ",
              c10::IntArrayRef(self.shape()));
  const auto [h, w] = read_axes(op, self.size(rank - 2), self.size(rank - 1));
  TORCH_CHECK(h.windows() >= 1 && w.windows() >= 1, "Given input with spatial size (", h.size, ", ",
              w.size, "), calculated shape of the array of sliding blocks as (", h.windows(), ", ",
              w.windows(), "), but its components must be at least one.");
  const int64_t channels = self.size(rank - 3), batch = rank == 4 ? self.size(0) : 1;
  Value* x = b.reshape(self.value, {batch, channels, h.size, w.size});
  x = h.patches().apply(op, w.patches().apply(op, x, 3), 2);
  x = b.reshape(x, {batch, channels, h.kernel, h.windows(), w.kernel, w.windows()});
  x = b.transpose(x, {0, 1, 2, 4, 3, 5});
  Dims shape = {channels * h.kernel * w.kernel, h.windows() * w.windows()};
  if (rank == 4) shape.insert(shape.begin(), batch);
  op.result(b.reshape(x, shape));
}

// The adjoint: every element goes back to its place in the image; where windows overlap, they add.
void columns_to_image(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t rank = self.dim();
  const Dims out = op.integers("output_size");
  TORCH_CHECK(out.size() == 2, "It is expected output_size equals to 2, but got size ", out.size());
  const auto [h, w] = read_axes(op, out[0], out[1]);
  TORCH_CHECK((rank == 2 && self.size(0) != 0 && self.size(1) != 0) ||
                  (rank == 3 && self.size(1) != 0 && self.size(2) != 0),
              "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
              "non-zero dimensions for input, but got: ",
              c10::IntArrayRef(self.shape()));
  const int64_t rows = self.size(rank - 2), columns = self.size(rank - 1);
  TORCH_CHECK(rows % (h.kernel * w.kernel) == 0,
              "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
              "but got input.size(1)=",
              rows, " and kernel_size=(", h.kernel, ", ", w.kernel, ").");
  TORCH_CHECK(columns == h.windows() * w.windows(), "Given output_size=(", out[0], ", ", out[1],
              "), kernel_size=(", h.kernel, ", ", w.kernel,
              "), expected size of input's dimension "
              "2 to match the calculated number of sliding blocks ",
              h.windows(), " * ", w.windows(), " = ", h.windows() * w.windows(),
              ", but got input.size(2)=", columns, ".");
  const int64_t batch = rank == 3 ? self.size(0) : 1, channels = rows / (h.kernel * w.kernel);
  Value* x =
      b.reshape(widened(op, self), {batch, channels, h.kernel, w.kernel, h.windows(), w.windows()});
  x = b.reshape(b.transpose(x, {0, 1, 2, 4, 3, 5}),
                {batch, channels, h.kernel * h.windows(), w.kernel * w.windows()});
  x = w.patches().transposed().apply(op, h.patches().transposed().apply(op, x, 2), 3);
  Dims shape = {channels, out[0], out[1]};
  if (rank == 3) shape.insert(shape.begin(), batch);
  op.result(op.convert(b.reshape(x, shape), self.dtype));
}

// The adjoint of Tensor.unfold: windows [..., n, ..., size] add up to a line of the input.
void unfold_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad_in");
  const Dims input = op.integers("input_sizes");
  const auto rank = static_cast<int64_t>(input.size());
  if (rank == 0) return op.result(b.reshape(grad.value, {}));
  const int64_t dim = wrap_dim(op.integer("dim"), rank), size = op.integer("size"),
                step = op.integer("step"), windows = grad.size(dim);
  Dims order = iota_dims(rank + 1);
  order.pop_back();
  order.insert(order.begin() + dim + 1, rank);
  Dims flat = input;
  flat[dim] = windows * size;
  Value* x = b.reshape(b.transpose(widened(op, grad), order), flat);
  Dims indices;
  for (int64_t w = 0; w < windows; ++w) {
    for (int64_t k = 0; k < size; ++k) indices.push_back(w * step + k);
  }
  x = LineMap::selecting(input[dim], indices).transposed().apply(op, x, dim);
  op.result(op.convert(x, grad.dtype));
}

// [N, g c, ...]: channel i of group j becomes channel i g + j.
void channel_shuffle(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t groups = op.integer("groups");
  TORCH_CHECK(self.dim() > 2,
              "channel_shuffle expects input with > 2 dims, but got input with "
              "sizes ",
              c10::IntArrayRef(self.shape()));
  TORCH_CHECK(groups > 0,
              "Number of groups to divide channels in must be positive. Value of "
              "groups:",
              groups);
  TORCH_CHECK(self.size(1) % groups == 0, "Number of channels must be divisible by groups. Got ",
              self.size(1), " channels and ", groups, " groups.");
  Dims split = self.shape();
  split[1] /= groups;
  split.insert(split.begin() + 1, groups);
  Dims order = iota_dims(self.dim() + 1);
  std::swap(order[1], order[2]);
  op.result(b.reshape(b.transpose(b.reshape(self.value, split), order), self.shape()),
            ResultLayout::kFirstOperand, {self});
}

}  // namespace

void add_patches(Table& table) {
  const Table rows = {
      {"im2col", image_to_columns},
      {"col2im", columns_to_image},
      {"unfold_backward", unfold_backward},
      {"channel_shuffle", channel_shuffle},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
