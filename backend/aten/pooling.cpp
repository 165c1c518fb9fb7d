// Max and average pooling, and their gradients.
#include <algorithm>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;
using tpu::hlo::ScatterDimensionNumbers;

/// The pooled image as [planes, H, W], whatever came before the last two dimensions.
struct Image {
  Value* x;
  Dims leading;  ///< the sizes in front of H and W
  int64_t height, width;
};

Image read_image(Lowering& op, const Tensor& input) {
  TORCH_CHECK(input.dim() == 3 || input.dim() == 4,
              "pooling: Expected 3D or 4D (batch mode) tensor, but got input of size: ",
              c10::IntArrayRef(input.shape()));
  Image image{nullptr,
              {input.shape().begin(), input.shape().end() - 2},
              input.size(input.dim() - 2),
              input.size(input.dim() - 1)};
  const int64_t planes = count_of(input.shape(), iota_dims(input.dim() - 2));
  image.x = op.b.reshape(input.value, {planes, image.height, image.width});
  return image;
}

Dims with_leading(const Image& image, int64_t height, int64_t width) {
  Dims shape = image.leading;
  shape.push_back(height);
  shape.push_back(width);
  return shape;
}

/// One of two spatial dimensions.
struct Axis {
  int64_t size, kernel, stride, padding, dilation, out;
  /// Padding at the end, so that `out` windows fit (more than `padding` under ceil_mode, and less,
  /// even negative, where the last elements are in no window).
  int64_t high() const { return (out - 1) * stride + dilation * (kernel - 1) + 1 - size - padding; }
};

int64_t pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil_mode) {
  TORCH_CHECK(stride > 0, "stride should not be zero");
  TORCH_CHECK(padding >= 0 && padding <= (dilation * (kernel - 1) + 1) / 2,
              "pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel, " and dilation=", dilation);
  const int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t out = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // The last window must start inside the image or its left padding.
  if (ceil_mode && (out - 1) * stride >= size + padding) --out;
  TORCH_CHECK(span >= 0 && out >= 1, "Given input size: ", size,
              ". Calculated output size is too small");
  return out;
}

std::pair<Axis, Axis> read_axes(Lowering& op, const Image& image) {
  const auto pair = [&](std::string_view name, const Dims& fallback) {
    Dims v = op.has(name) ? op.integers(name) : fallback;
    if (v.empty()) v = fallback;
    if (v.size() == 1) v.push_back(v[0]);
    return v;
  };
  const Dims kernel = pair("kernel_size", {1, 1}), stride = pair("stride", kernel),
             padding = pair("padding", {0, 0}), dilation = pair("dilation", {1, 1});
  const bool ceil_mode = op.boolean("ceil_mode");
  const auto axis = [&](int i, int64_t size) {
    return Axis{
        size,        kernel[i],
        stride[i],   padding[i],
        dilation[i], pooled_size(size, kernel[i], stride[i], padding[i], dilation[i], ceil_mode)};
  };
  return {axis(0, image.height), axis(1, image.width)};
}

Builder::Window pooling_window(const Axis& h, const Axis& w) {
  return {{1, h.kernel, w.kernel},
          {1, h.stride, w.stride},
          {1, 1, 1},
          {1, h.dilation, w.dilation},
          {3, 2, {0, 0, h.padding, h.high(), w.padding, w.high()}}};
}

void max_pool(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Image image = read_image(op, self);
  const auto [h, w] = read_axes(op, image);
  // Each element travels with its position in the plane.
  Value* position = b.reshape(b.iota({ElementType::kSI64, {image.height * image.width}}, 0),
                              {image.height, image.width});
  position = b.broadcast_in_dim(position, image.x->type.shape, {1, 2});
  Value* lowest = identity_of(b, OpKind::kMaximum, image.x->type.element);
  Value* nowhere = b.constant(ElementType::kSI64, int64_t{-1});
  const bool is_float = c10::isFloatingType(self.dtype);
  const auto results = b.reduce_window(
      {image.x, position}, {lowest, nowhere}, pooling_window(h, w),
      [&](Builder& r, std::span<Value* const> a) {
        // a = best so far and its position, then the next element and its own. The first element
        // is always taken; later ones if larger, or NaN.
        Value* take = r.or_(r.compare(a[2], a[0], "GT"),
                            r.compare(a[1], r.constant(ElementType::kSI64, int64_t{0}), "LT"));
        if (is_float) take = r.or_(take, r.compare(a[2], a[2], "NE"));
        r.ret({r.select(take, a[2], a[0]), r.select(take, a[3], a[1])});
      });
  const Dims shape = with_leading(image, h.out, w.out);
  op.result(b.reshape(results[0], shape), ResultLayout::kFirstOperand, {self});
  op.result(b.reshape(results[1], shape), ResultLayout::kFirstOperand, {self});
}

// Each gradient goes back to the position its window's maximum came from.
void max_pool_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), grad = op.tensor("grad_output");
  const Image image = read_image(op, self);
  const int64_t planes = image.x->type.shape[0], pixels = image.height * image.width;
  const int64_t outputs = planes == 0 ? 0 : grad.numel() / planes;
  Value* updates = b.reshape(widened(op, grad), {planes, outputs});
  Value* indices = b.reshape(op.tensor("indices").value, {planes, outputs, 1});
  Value* zeros = b.splat({updates->type.element, {planes, pixels}}, 0.0);
  ScatterDimensionNumbers numbers;
  numbers.inserted_window_dims = {1};
  numbers.input_batching_dims = {0};
  numbers.scatter_indices_batching_dims = {0};
  numbers.scatter_dims_to_operand_dims = {1};
  numbers.index_vector_dim = 2;
  Value* scattered = b.scatter({zeros}, indices, {updates}, numbers, /*indices_are_sorted=*/false,
                               /*unique_indices=*/false, Builder::combiner(OpKind::kAdd))[0];
  op.result(op.convert(b.reshape(scattered, self.shape()), self.dtype), ResultLayout::kFirstOperand,
            {self});
}

/// How many elements each window's mean divides by, as [1, out_h, out_w].
Value* divisors(Lowering& op, const Axis& h, const Axis& w, ElementType type) {
  Builder& b = op.b;
  if (op.has("divisor_override")) {
    const auto divisor = static_cast<double>(op.integer("divisor_override"));
    TORCH_CHECK(divisor != 0, "divisor must be not zero");
    return b.splat({type, {1, h.out, w.out}}, divisor);
  }
  const bool count_padding = op.boolean("count_include_pad");
  // Window [start, end) clipped to the padded image, or to the image itself.
  const auto lengths = [&](const Axis& a) {
    std::vector<int64_t> counts;
    for (int64_t i = 0; i < a.out; ++i) {
      int64_t start = i * a.stride - a.padding;
      int64_t end = std::min(start + a.kernel, a.size + a.padding);
      if (!count_padding) {
        start = std::max<int64_t>(start, 0);
        end = std::min(end, a.size);
      }
      counts.push_back(end - start);
    }
    return b.constant(tpu::hlo::from_ints(type, {a.out}, counts));
  };
  return b.multiply(b.broadcast_in_dim(lengths(h), {1, h.out, w.out}, {1}),
                    b.broadcast_in_dim(lengths(w), {1, h.out, w.out}, {2}));
}

void average_pool(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Image image = read_image(op, self);
  const auto [h, w] = read_axes(op, image);
  Value* x = op.convert(image.x, compute_type(self.dtype));
  Value* zero = b.constant(x->type.element, 0.0);
  Value* sums =
      b.reduce_window({x}, {zero}, pooling_window(h, w), Builder::combiner(OpKind::kAdd))[0];
  Value* counts = divisors(op, h, w, x->type.element);
  Value* y = b.divide(sums, b.broadcast_in_dim(counts, sums->type.shape, {0, 1, 2}));
  op.result(op.convert(b.reshape(y, with_leading(image, h.out, w.out)), self.dtype),
            ResultLayout::kFirstOperand, {self});
}

// Spreads each gradient evenly over its window: a sum over the windows that cover a pixel.
void average_pool_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), grad = op.tensor("grad_output");
  const Image image = read_image(op, self);
  const auto [h, w] = read_axes(op, image);
  const int64_t planes = image.x->type.shape[0];
  Value* g = b.reshape(widened(op, grad), {planes, h.out, w.out});
  Value* counts = divisors(op, h, w, g->type.element);
  g = b.divide(g, b.broadcast_in_dim(counts, g->type.shape, {0, 1, 2}));
  const auto high = [](const Axis& a) { return a.size - 1 + a.padding - (a.out - 1) * a.stride; };
  const Builder::Window window{
      {1, h.kernel, w.kernel},
      {1, 1, 1},
      {1, h.stride, w.stride},
      {1, 1, 1},
      {3, 2, {0, 0, h.kernel - 1 - h.padding, high(h), w.kernel - 1 - w.padding, high(w)}}};
  Value* zero = b.constant(g->type.element, 0.0);
  Value* dx = b.reduce_window({g}, {zero}, window, Builder::combiner(OpKind::kAdd))[0];
  op.result(op.convert(b.reshape(dx, self.shape()), self.dtype), ResultLayout::kFirstOperand,
            {self});
}

/// [out, size]: 1 / length where an input position lies in the output's bin, else 0.
Value* bin_matrix(Builder& b, int64_t size, int64_t out, ElementType type) {
  tpu::hlo::Literal matrix({ElementType::kF64, {out, size}});
  const auto values = matrix.mutable_as<double>();
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * size / out, end = ((i + 1) * size + out - 1) / out;
    for (int64_t j = begin; j < end; ++j)
      values[i * size + j] = 1.0 / static_cast<double>(end - begin);
  }
  return b.convert(b.constant(std::move(matrix)), type);
}

/// Applies `rows` to H and `columns` to W of [planes, H, W], in float32 or wider whatever the
/// user's matmul precision: pooling is no matrix product to its users.
Value* apply_bins(Builder& b, Value* x, Value* rows, Value* columns) {
  const ElementType type = x->type.element;
  Value* tall = b.dot_general(x, columns, {{}, {}, {2}, {1}}, type, "HIGHEST");  // [p, H, out_w]
  Value* both =
      b.dot_general(tall, rows, {{}, {}, {1}, {1}}, type, "HIGHEST");  // [p, out_w, out_h]
  return b.transpose(both, {0, 2, 1});
}

void adaptive_average_pool(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Image image = read_image(op, self);
  const Dims out = op.integers("output_size");
  Value* x = op.convert(image.x, compute_type(self.dtype));
  Value* y;
  if (image.height % out[0] == 0 && image.width % out[1] == 0) {
    // Equal bins: split each dimension and average.
    const int64_t p = x->type.shape[0];
    Value* split = b.reshape(x, {p, out[0], image.height / out[0], out[1], image.width / out[1]});
    y = mean_keepdim(op, split, {2, 4});
  } else {
    y = apply_bins(b, x, bin_matrix(b, image.height, out[0], x->type.element),
                   bin_matrix(b, image.width, out[1], x->type.element));
  }
  op.result(op.convert(b.reshape(y, with_leading(image, out[0], out[1])), self.dtype),
            ResultLayout::kFirstOperand, {self});
}

void adaptive_average_pool_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), grad = op.tensor("grad_output");
  const Image image = read_image(op, self);
  const int64_t out_h = grad.size(grad.dim() - 2), out_w = grad.size(grad.dim() - 1);
  const int64_t planes = image.x->type.shape[0];
  Value* g = b.reshape(widened(op, grad), {planes, out_h, out_w});
  const auto transposed = [&](int64_t size, int64_t out) {
    return b.transpose(bin_matrix(b, size, out, g->type.element), {1, 0});
  };
  Value* dx = apply_bins(b, g, transposed(image.height, out_h), transposed(image.width, out_w));
  op.result(op.convert(b.reshape(dx, self.shape()), self.dtype), ResultLayout::kFirstOperand,
            {self});
}

}  // namespace

void add_pooling(Table& table) {
  const Table rows = {
      {"max_pool2d_with_indices", max_pool},
      {"max_pool2d_with_indices_backward", max_pool_backward},
      {"avg_pool2d", average_pool},
      {"avg_pool2d_backward", average_pool_backward},
      {"_adaptive_avg_pool2d", adaptive_average_pool},
      {"_adaptive_avg_pool2d_backward", adaptive_average_pool_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
