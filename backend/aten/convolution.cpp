// Convolution, transposed convolution, and their gradients: all are StableHLO convolutions.
#include <algorithm>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::ConvDimensionNumbers;
using tpu::hlo::OpKind;
using Window = Builder::ConvolutionWindow;

/// The geometry arguments, one entry a spatial dimension.
struct Geometry {
  Dims stride, padding, dilation;
  int64_t groups;
  bool transposed;
  size_t spatial() const { return stride.size(); }
};

/// A list of one number stands for all spatial dimensions.
Dims spread(Dims values, size_t count) {
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

Geometry read_geometry(Lowering& op, int64_t rank) {
  const auto spatial = static_cast<size_t>(rank - 2);
  return {spread(op.integers("stride"), spatial), spread(op.integers("padding"), spatial),
          spread(op.integers("dilation"), spatial), op.integer("groups"), op.boolean("transposed")};
}

Dims spatial_dims(size_t count) {
  Dims dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(static_cast<int64_t>(i) + 2);
  return dims;
}

Window plain_window(size_t spatial) {
  Window w;
  w.window_strides = w.lhs_dilation = w.rhs_dilation = Dims(spatial, 1);
  w.padding = {static_cast<int64_t>(spatial), 2, Dims(2 * spatial, 0)};
  w.window_reversal.assign(spatial, false);
  return w;
}

/// [N, C, spatial] * [O, C / groups, spatial] -> [N, O, spatial]
ConvDimensionNumbers forward_numbers(size_t spatial) {
  ConvDimensionNumbers n;  // batch 0 and feature 1 of input and output; kernel output 0, input 1
  n.input_spatial_dimensions = n.kernel_spatial_dimensions = n.output_spatial_dimensions =
      spatial_dims(spatial);
  return n;
}

Value* convolve(Lowering& op, Value* lhs, Value* rhs, const Window& window,
                const ConvDimensionNumbers& numbers, DType dtype) {
  return op.b.convolution(lhs, rhs, window, numbers, to_element(compute_type(dtype)),
                          op.matmul_precision());
}

Value* forward(Lowering& op, Value* x, Value* weight, const Geometry& g, DType dtype) {
  Window w = plain_window(g.spatial());
  w.window_strides = g.stride;
  w.rhs_dilation = g.dilation;
  w.feature_group_count = g.groups;
  for (size_t i = 0; i < g.spatial(); ++i) {
    w.padding.values[2 * i] = w.padding.values[2 * i + 1] = g.padding[i];
  }
  return convolve(op, x, weight, w, forward_numbers(g.spatial()), dtype);
}

/// [I, O / groups, spatial] -> [I / groups, O, spatial]: the groups move from the input to the
/// output side of the kernel.
Value* regroup(Builder& b, Value* weight, int64_t groups) {
  if (groups == 1) return weight;
  const Dims& shape = weight->type.shape;
  Dims split = {groups, shape[0] / groups};
  split.insert(split.end(), shape.begin() + 1, shape.end());
  Dims order = iota_dims(static_cast<int64_t>(split.size()));
  std::swap(order[0], order[1]);
  Dims merged = shape;
  merged[0] = shape[0] / groups;
  merged[1] = shape[1] * groups;
  return b.reshape(b.transpose(b.reshape(weight, split), order), merged);
}

/// The map adjoint to `forward`: spreads each element of `x` over the window it came from. The
/// result's spatial sizes are `target`.
Value* adjoint(Lowering& op, Value* x, Value* weight, const Geometry& g, const Dims& target,
               DType dtype) {
  Window w = plain_window(g.spatial());
  w.lhs_dilation = g.stride;
  w.rhs_dilation = g.dilation;
  w.feature_group_count = g.groups;
  w.window_reversal.assign(g.spatial(), true);
  for (size_t i = 0; i < g.spatial(); ++i) {
    const int64_t reach = g.dilation[i] * (weight->type.shape[i + 2] - 1);
    const int64_t low = reach - g.padding[i];
    const int64_t dilated = (x->type.shape[i + 2] - 1) * g.stride[i] + 1;
    w.padding.values[2 * i] = low;
    w.padding.values[2 * i + 1] = target[i] + reach - dilated - low;
  }
  ConvDimensionNumbers n = forward_numbers(g.spatial());
  std::swap(n.kernel_input_feature_dimension, n.kernel_output_feature_dimension);
  return convolve(op, x, regroup(op.b, weight, g.groups), w, n, dtype);
}

/// d weight of `y = forward(x)`: batch and features change places, so that the contraction runs
/// over output positions and the batch. `kernel` are the weight's spatial sizes.
Value* weight_gradient(Lowering& op, Value* x, Value* grad, const Geometry& g, const Dims& kernel,
                       DType dtype) {
  Window w = plain_window(g.spatial());
  w.window_strides = g.dilation;
  w.rhs_dilation = g.stride;
  w.batch_group_count = g.groups;
  for (size_t i = 0; i < g.spatial(); ++i) {
    const int64_t extent = (grad->type.shape[i + 2] - 1) * g.stride[i] + 1;
    w.padding.values[2 * i] = g.padding[i];
    w.padding.values[2 * i + 1] =
        (kernel[i] - 1) * g.dilation[i] + extent - x->type.shape[i + 2] - g.padding[i];
  }
  ConvDimensionNumbers n = forward_numbers(g.spatial());
  n.input_batch_dimension = 1;
  n.input_feature_dimension = 0;
  n.kernel_input_feature_dimension = 0;
  n.kernel_output_feature_dimension = 1;
  n.output_batch_dimension = 1;
  n.output_feature_dimension = 0;
  return convolve(op, x, grad, w, n, dtype);
}

Dims spatial_sizes(const Dims& shape) {
  return {shape.begin() + 2, shape.end()};
}

void check_dtypes(const Tensor& input, const Tensor& weight) {
  TORCH_CHECK(input.dtype == weight.dtype, "Input type (", c10::toString(input.dtype),
              ") and weight type (", c10::toString(weight.dtype), ") should be the same");
}

/// The convolution of [N, C, spatial] with the bias added, in the compute type.
Value* convolved(Lowering& op, Value* x, Value* weight, const Geometry& g, DType dtype) {
  Value* y;
  if (g.transposed) {
    const Dims extra = spread(op.integers("output_padding"), g.spatial());
    Dims target;
    for (size_t i = 0; i < g.spatial(); ++i) {
      target.push_back((x->type.shape[i + 2] - 1) * g.stride[i] - 2 * g.padding[i] +
                       g.dilation[i] * (weight->type.shape[i + 2] - 1) + extra[i] + 1);
    }
    y = adjoint(op, x, weight, g, target, dtype);
  } else {
    y = forward(op, x, weight, g, dtype);
  }
  const auto bias = op.optional_tensor("bias");
  if (!bias) return y;
  Value* channels = op.convert(*bias, compute_type(dtype));
  return op.b.add(y, op.b.broadcast_in_dim(channels, y->type.shape, {1}));
}

void convolution(Lowering& op) {
  const Tensor input = op.tensor("input"), weight = op.tensor("weight");
  check_dtypes(input, weight);
  const Geometry g = read_geometry(op, input.dim());
  Value* y = convolved(op, input.value, weight.value, g, input.dtype);
  op.result(op.convert(y, input.dtype), ResultLayout::kFirstOperand, {input});
}

void convolution_backward(Lowering& op) {
  const Tensor grad = op.tensor("grad_output"), input = op.tensor("input"),
               weight = op.tensor("weight");
  check_dtypes(input, weight);
  const Geometry g = read_geometry(op, input.dim());
  const std::vector<bool> wanted = op.booleans("output_mask");
  const DType dtype = input.dtype;
  if (wanted[0]) {
    // Output padding of a stride or more is more than any input reaches.
    Value* dx = g.transposed
                    ? crop(op.b, forward(op, grad.value, weight.value, g, dtype), input.shape())
                    : adjoint(op, grad.value, weight.value, g, spatial_sizes(input.shape()), dtype);
    op.result(op.convert(dx, dtype), ResultLayout::kFirstOperand, {input});
  } else {
    op.undefined_result();
  }
  if (wanted[1]) {
    const Dims kernel = spatial_sizes(weight.shape());
    // The transposed convolution is the adjoint, so its input plays the gradient's part.
    Value* dw = g.transposed ? weight_gradient(op, grad.value, input.value, g, kernel, dtype)
                             : weight_gradient(op, input.value, grad.value, g, kernel, dtype);
    op.result(op.convert(dw, dtype), ResultLayout::kFirstOperand, {weight});
  } else {
    op.undefined_result();
  }
  if (wanted[2]) {
    Dims dims = iota_dims(grad.dim());
    dims.erase(dims.begin() + 1);
    op.result(op.convert(op.reduce(widened(op, grad), OpKind::kAdd, dims, false), dtype));
  } else {
    op.undefined_result();
  }
}

/// The operands of a convolution under one of the names that PyTorch's CPU has for it: `self` may
/// lack the batch, the weight may be a matrix.
struct PlainConvolution {
  Tensor self;
  Value *x, *weight;
  Geometry g;
};

PlainConvolution read_plain(Lowering& op, bool transposed) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), weight = op.tensor("weight");
  check_dtypes(self, weight);
  const Dims kernel = op.integers("kernel_size");
  const size_t spatial = kernel.size();
  TORCH_CHECK(self.shape().size() == spatial + 1 || self.shape().size() == spatial + 2, "Expected ",
              spatial + 1, "D or ", spatial + 2, "D (batch mode) tensor for input, but got ",
              c10::IntArrayRef(self.shape()));
  const Dims dilation =
      op.has("dilation") ? spread(op.integers("dilation"), spatial) : Dims(spatial, 1);
  Dims x = self.shape(),
       w = {weight.size(0), weight.numel() / std::max<int64_t>(weight.size(0), 1)};
  if (x.size() == spatial + 1) x.insert(x.begin(), 1);
  for (int64_t size : kernel) w[1] /= size;
  w.insert(w.end(), kernel.begin(), kernel.end());
  return {self,
          b.reshape(self.value, x),
          b.reshape(weight.value, w),
          {spread(op.integers("stride"), spatial), spread(op.integers("padding"), spatial),
           dilation, 1, transposed}};
}

LowerFunction plain_convolution(bool transposed) {
  return [transposed](Lowering& op) {
    const PlainConvolution c = read_plain(op, transposed);
    Value* y = convolved(op, c.x, c.weight, c.g, c.self.dtype);
    Dims shape = y->type.shape;
    if (c.self.dim() < c.x->type.rank()) shape.erase(shape.begin());
    op.result(op.convert(op.b.reshape(y, shape), c.self.dtype), ResultLayout::kFirstOperand,
              {c.self});
  };
}

void plain_convolution_backward(Lowering& op) {
  Builder& b = op.b;
  const PlainConvolution c = read_plain(op, /*transposed=*/false);
  const Tensor grad = op.tensor("grad_output"), weight = op.tensor("weight");
  const std::vector<bool> wanted =
      op.has("output_mask") ? op.booleans("output_mask") : std::vector<bool>(3, true);
  Dims grad_shape = grad.shape();
  if (grad.dim() < c.x->type.rank()) grad_shape.insert(grad_shape.begin(), 1);
  Value* g = b.reshape(grad.value, grad_shape);
  const DType dtype = c.self.dtype;
  const auto give = [&](bool asked, auto&& value, const Dims& shape) {
    asked ? op.result(b.reshape(op.convert(value(), dtype), shape)) : op.undefined_result();
  };
  give(
      wanted[0],
      [&] { return adjoint(op, g, c.weight, c.g, spatial_sizes(c.x->type.shape), dtype); },
      c.self.shape());
  give(
      wanted[1],
      [&] { return weight_gradient(op, c.x, g, c.g, spatial_sizes(c.weight->type.shape), dtype); },
      weight.shape());
  Dims dims = iota_dims(g->type.rank());
  dims.erase(dims.begin() + 1);
  give(wanted[2],
       [&] { return op.reduce(op.convert(g, compute_type(dtype)), OpKind::kAdd, dims, false); },
       {weight.size(0)});
}

}  // namespace

void add_convolution(Table& table) {
  const Table rows = {
      {"_slow_conv2d_forward", plain_convolution(/*transposed=*/false)},
      {"_slow_conv2d_backward.output_mask", plain_convolution_backward},
      {"_slow_conv2d_backward.grad_input", plain_convolution_backward},
      {"slow_conv3d_forward", plain_convolution(false)},
      {"slow_conv_dilated2d", plain_convolution(false)},
      {"slow_conv_dilated3d", plain_convolution(false)},
      {"slow_conv_transpose2d", plain_convolution(true)},
      {"slow_conv_transpose3d", plain_convolution(true)},
      {"convolution_overrideable", convolution},
      {"convolution_backward_overrideable", convolution_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
