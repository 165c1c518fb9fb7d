// Convolution, transposed convolution, and their gradients: all are StableHLO convolutions.
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

void convolution(Lowering& op) {
  const Tensor input = op.tensor("input"), weight = op.tensor("weight");
  check_dtypes(input, weight);
  const Geometry g = read_geometry(op, input.dim());
  Value* y;
  if (g.transposed) {
    const Dims extra = spread(op.integers("output_padding"), g.spatial());
    Dims target;
    for (size_t i = 0; i < g.spatial(); ++i) {
      target.push_back((input.size(i + 2) - 1) * g.stride[i] - 2 * g.padding[i] +
                       g.dilation[i] * (weight.size(i + 2) - 1) + extra[i] + 1);
    }
    y = adjoint(op, input.value, weight.value, g, target, input.dtype);
  } else {
    y = forward(op, input.value, weight.value, g, input.dtype);
  }
  if (const auto bias = op.optional_tensor("bias")) {
    Value* channels = op.convert(*bias, compute_type(input.dtype));
    y = op.b.add(y, op.b.broadcast_in_dim(channels, y->type.shape, {1}));
  }
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

}  // namespace

void add_convolution(Table& table) {
  const Table rows = {
      {"convolution_overrideable", convolution},
      {"convolution_backward_overrideable", convolution_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
