// Average pooling and its gradients.
#include <algorithm>

#include "backend/aten/line_map.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/pooling.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// How many elements each window of an axis divides by.
std::vector<int64_t> window_lengths(const PoolAxis& axis, bool count_padding) {
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < axis.out; ++i) {
    int64_t start = i * axis.stride - axis.padding;
    int64_t end = std::min(start + axis.kernel, axis.size + axis.padding);
    if (!count_padding) {
      start = std::max<int64_t>(start, 0);
      end = std::min(end, axis.size);
    }
    lengths.push_back(end - start);
  }
  return lengths;
}

/// The number that each mean divides by, as [1, outputs...].
Value* divisors(Lowering& op, const std::vector<PoolAxis>& axes, ElementType type) {
  Builder& b = op.b;
  Dims shape = {1};
  for (const PoolAxis& axis : axes) shape.push_back(axis.out);
  if (op.has("divisor_override")) {
    const auto divisor = static_cast<double>(op.integer("divisor_override"));
    TORCH_CHECK(divisor != 0, "divisor must be not zero");
    return b.splat({type, shape}, divisor);
  }
  const bool count_padding = op.boolean("count_include_pad");
  Value* product = nullptr;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto lengths = window_lengths(axes[i], count_padding);
    Value* line = b.constant(tpu::hlo::from_ints(type, {axes[i].out}, lengths));
    Value* spread = b.broadcast_in_dim(line, shape, {static_cast<int64_t>(i) + 1});
    product = product ? b.multiply(product, spread) : spread;
  }
  return product;
}

/// `x` over the divisors, which all planes share.
Value* divided(Lowering& op, const std::vector<PoolAxis>& axes, Value* x) {
  Value* counts = divisors(op, axes, x->type.element);
  return op.b.divide(x, op.b.broadcast_in_dim(counts, x->type.shape, iota_dims(x->type.rank())));
}

LowerFunction average_pool(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self");
    const Image image = read_image(op, self, spatial);
    const auto axes = read_axes(op, image);
    Value* x = op.convert(image.x, compute_type(self.dtype));
    Value* zero = b.constant(x->type.element, 0.0);
    Value* sums =
        b.reduce_window({x}, {zero}, pooling_window(axes), Builder::combiner(OpKind::kAdd))[0];
    Value* y = b.reshape(divided(op, axes, sums), image.with_leading(output_sizes(axes)));
    op.result(op.convert(y, self.dtype), ResultLayout::kFirstOperand, {self});
  };
}

// Spreads each gradient evenly over its window: a sum over the windows that cover a pixel.
LowerFunction average_pool_backward(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self"), grad = op.tensor("grad_output");
    const Image image = read_image(op, self, spatial);
    const auto axes = read_axes(op, image);
    Dims shape = {image.planes()};
    Builder::Window window{
        {1}, Dims(spatial + 1, 1), {1}, Dims(spatial + 1, 1), {spatial + 1, 2, {0, 0}}};
    for (const PoolAxis& axis : axes) {
      shape.push_back(axis.out);
      window.dimensions.push_back(axis.kernel);
      window.base_dilations.push_back(axis.stride);
      window.padding.values.push_back(axis.kernel - 1 - axis.padding);
      window.padding.values.push_back(axis.size - 1 + axis.padding - (axis.out - 1) * axis.stride);
    }
    TORCH_CHECK(grad.shape() == image.with_leading(output_sizes(axes)),
                "Expected grad_output to have the shape of the output, ",
                c10::IntArrayRef(image.with_leading(output_sizes(axes))), ", but got ",
                c10::IntArrayRef(grad.shape()));
    Value* g = divided(op, axes, b.reshape(widened(op, grad), shape));
    Value* zero = b.constant(g->type.element, 0.0);
    Value* dx = b.reduce_window({g}, {zero}, window, Builder::combiner(OpKind::kAdd))[0];
    op.result(op.convert(b.reshape(dx, self.shape()), self.dtype), ResultLayout::kFirstOperand,
              {self});
  };
}

/// The means of the adaptive bins along one dimension.
LineMap bin_means(int64_t size, int64_t out) {
  std::vector<std::vector<Tap>> rows;
  for (int64_t i = 0; i < out; ++i) {
    const Bin bin = adaptive_bin(i, size, out);
    std::vector<Tap> taps;
    for (int64_t j = bin.begin; j < bin.end; ++j) {
      taps.push_back({j, 1.0 / static_cast<double>(bin.end - bin.begin)});
    }
    rows.push_back(std::move(taps));
  }
  return {size, std::move(rows)};
}

/// Equal bins: every dimension is split in two, and one of each pair averaged away.
Value* means_of_equal_bins(Lowering& op, Value* x, const Dims& out) {
  Dims split = {x->type.shape[0]}, averaged;
  for (size_t i = 0; i < out.size(); ++i) {
    split.push_back(out[i]);
    averaged.push_back(static_cast<int64_t>(split.size()));
    split.push_back(x->type.shape[i + 1] / out[i]);
  }
  return mean_keepdim(op, op.b.reshape(x, split), averaged);
}

bool equal_bins(const Dims& sizes, const Dims& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == 0 || sizes[i] == 0 || sizes[i] % out[i] != 0) return false;
  }
  return true;
}

LowerFunction adaptive_average_pool(int64_t spatial) {
  return [spatial](Lowering& op) {
    const Tensor self = op.tensor("self");
    Dims out = op.integers("output_size");
    out.resize(spatial, out.at(0));
    for (int64_t d = self.dim() - spatial; d < self.dim(); ++d) {
      TORCH_CHECK(self.size(d) > 0, "adaptive_avg_pool", spatial,
                  "d(): Expected input to have "
                  "non-zero size for non-batch dimensions, but input has sizes ",
                  c10::IntArrayRef(self.shape()), " with dimension ", d, " being empty");
    }
    const Image image = read_image(op, self, spatial);
    Value* y = op.convert(image.x, compute_type(self.dtype));
    if (equal_bins(image.sizes, out)) {
      y = means_of_equal_bins(op, y, out);
    } else {
      for (int64_t i = spatial; i-- > 0;) {
        y = bin_means(image.sizes[i], out[i]).apply(op, y, i + 1);
      }
    }
    op.result(op.convert(op.b.reshape(y, image.with_leading(out)), self.dtype),
              ResultLayout::kFirstOperand, {self});
  };
}

LowerFunction adaptive_average_pool_backward(int64_t spatial) {
  return [spatial](Lowering& op) {
    const Tensor self = op.tensor("self");
    Tensor grad = op.tensor("grad_output");
    grad.value = widened(op, grad);
    const Image image = read_image(op, self, spatial), gradient = read_image(op, grad, spatial);
    TORCH_CHECK(gradient.leading == image.leading,
                "adaptive pooling: gradient and input differ in batch or channels: ",
                c10::IntArrayRef(grad.shape()), " and ", c10::IntArrayRef(self.shape()));
    Value* dx = gradient.x;
    for (int64_t i = 0; i < spatial; ++i) {
      dx = bin_means(image.sizes[i], gradient.sizes[i]).transposed().apply(op, dx, i + 1);
    }
    op.result(op.convert(op.b.reshape(dx, self.shape()), self.dtype), ResultLayout::kFirstOperand,
              {self});
  };
}

}  // namespace

void add_average_pooling(Table& table) {
  const Table rows = {
      {"avg_pool2d", average_pool(2)},
      {"avg_pool3d", average_pool(3)},
      {"avg_pool2d_backward", average_pool_backward(2)},
      {"avg_pool3d_backward", average_pool_backward(3)},
      {"_adaptive_avg_pool2d", adaptive_average_pool(2)},
      {"_adaptive_avg_pool3d", adaptive_average_pool(3)},
      {"adaptive_avg_pool2d.out", adaptive_average_pool(2)},
      {"adaptive_avg_pool3d.out", adaptive_average_pool(3)},
      {"_adaptive_avg_pool2d_backward", adaptive_average_pool_backward(2)},
      {"_adaptive_avg_pool3d_backward", adaptive_average_pool_backward(3)},
      {"adaptive_avg_pool3d_backward.grad_input", adaptive_average_pool_backward(3)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
