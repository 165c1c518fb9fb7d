// Max pooling: over sliding, adaptive and random windows; its gradients and its inverse. Values
// come with their positions in the plane. A window's first maximum counts, and its last NaN, as on
// the CPU, where each element replaces the best so far if it is larger or NaN.
#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/pooling.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

void give(Lowering& op, const Tensor& self, const Dims& shape, Value* values, Value* positions) {
  op.result(op.b.reshape(values, shape), ResultLayout::kFirstOperand, {self});
  op.result(op.b.reshape(positions, shape), ResultLayout::kFirstOperand, {self});
}

LowerFunction max_pool(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self");
    const Image image = read_image(op, self, spatial);
    const auto axes = read_axes(op, image);
    Value* position = b.iota({ElementType::kSI64, {image.pixels()}}, 0);
    Dims spatial_dims = iota_dims(spatial);
    for (int64_t& d : spatial_dims) ++d;
    position =
        b.broadcast_in_dim(b.reshape(position, image.sizes), image.x->type.shape, spatial_dims);
    Value* lowest = identity_of(b, OpKind::kMaximum, image.x->type.element);
    Value* nowhere = b.constant(ElementType::kSI64, int64_t{-1});
    const bool is_float = c10::isFloatingType(self.dtype);
    const auto results = b.reduce_window(
        {image.x, position}, {lowest, nowhere}, pooling_window(axes),
        [&](Builder& r, std::span<Value* const> a) {
          // a = best so far and its position, then the next element and its own. The first element
          // is always taken; later ones if larger, or NaN.
          Value* take = r.or_(r.compare(a[2], a[0], "GT"),
                              r.compare(a[1], r.constant(ElementType::kSI64, int64_t{0}), "LT"));
          if (is_float) take = r.or_(take, r.compare(a[2], a[2], "NE"));
          r.ret({r.select(take, a[2], a[0]), r.select(take, a[3], a[1])});
        });
    give(op, self, image.with_leading(output_sizes(axes)), results[0], results[1]);
  };
}

/// Of [planes, windows, elements]: the largest element of each window and its position, which is
/// negative for what is no element. Order-free: among equals the position decides.
std::pair<Value*, Value*> largest(Builder& b, Value* values, Value* positions) {
  const ElementType element = values->type.element;
  Value* lowest = identity_of(b, OpKind::kMaximum, element);
  Value* nowhere = b.constant(ElementType::kSI64, int64_t{-1});
  const bool is_float = tpu::hlo::is_float(element);
  const auto results = b.reduce(
      {values, positions}, {lowest, nowhere}, {2}, [&](Builder& r, std::span<Value* const> a) {
        Value* zero = r.constant(ElementType::kSI64, int64_t{0});
        Value* before = r.compare(a[1], a[3], "LT");
        Value* left =
            r.or_(r.compare(a[0], a[2], "GT"), r.and_(r.compare(a[0], a[2], "EQ"), before));
        if (is_float) {
          Value* left_nan = r.compare(a[0], a[0], "NE");
          Value* right_nan = r.compare(a[2], a[2], "NE");
          // Two NaNs: the later one.
          left = r.select(right_nan, r.and_(left_nan, r.not_(before)), r.or_(left, left_nan));
        }
        left = r.select(r.compare(a[1], zero, "LT"), r.compare(zero, zero, "NE"), left);
        left = r.or_(left, r.compare(a[3], zero, "LT"));
        r.ret({r.select(left, a[0], a[2]), r.select(left, a[1], a[3])});
      });
  return {results[0], results[1]};
}

/// Positions in the plane of the elements of each adaptive bin, [bins, elements], -1 past a bin's
/// end.
Value* bin_positions(Builder& b, const Dims& sizes, const Dims& out) {
  Dims longest, strides = tpu::hlo::row_major_strides(sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t length = 0;
    for (int64_t i = 0; i < out[d]; ++i) {
      const Bin bin = adaptive_bin(i, sizes[d], out[d]);
      length = std::max(length, bin.end - bin.begin);
    }
    longest.push_back(length);
  }
  const int64_t bins = tpu::hlo::num_elements(out), elements = tpu::hlo::num_elements(longest);
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < bins; ++i) {
    for (int64_t k = 0; k < elements; ++k) {
      int64_t position = 0, rest_i = i, rest_k = k;
      for (size_t d = sizes.size(); d-- > 0;) {
        const Bin bin = adaptive_bin(rest_i % out[d], sizes[d], out[d]);
        const int64_t at = bin.begin + rest_k % longest[d];
        position = position < 0 || at >= bin.end ? -1 : position + at * strides[d];
        rest_i /= out[d];
        rest_k /= longest[d];
      }
      positions.push_back(position);
    }
  }
  return b.constant(tpu::hlo::from_ints(ElementType::kSI64, {bins, elements}, positions));
}

LowerFunction adaptive_max_pool(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self");
    Dims out = op.integers("output_size");
    TORCH_CHECK(static_cast<int64_t>(out.size()) == spatial, "adaptive_max_pool", spatial,
                "d(): internal error: output_size.size() must be ", spatial);
    for (int64_t d = 1; d < self.dim(); ++d) {
      TORCH_CHECK(self.size(d) > 0, "adaptive_max_pool", spatial,
                  "d(): Expected input to have "
                  "non-zero size for non-batch dimensions, but input has sizes ",
                  c10::IntArrayRef(self.shape()), " with dimension ", d, " being empty");
    }
    const Image image = read_image(op, self, spatial);
    const int64_t planes = image.planes();
    Value* table = bin_positions(b, image.sizes, out);
    const Dims shape = {planes, table->type.shape[0], table->type.shape[1]};
    Value* inside = b.maximum(table, b.splat(table->type, int64_t{0}));
    Value* values = take(op, b.reshape(image.x, {planes, image.pixels()}), 1, inside);
    const auto [best, position] = largest(b, values, b.broadcast_in_dim(table, shape, {1, 2}));
    give(op, self, image.with_leading(out), best, position);
  };
}

/// Where the windows of a plane start along one dimension: spread evenly from a random offset
/// (Graham, Fractional Max-Pooling, 2014). `sample` is [planes]; the result [planes, out].
Value* random_starts(Builder& b, Value* sample, int64_t size, int64_t out, int64_t kernel) {
  const ElementType type = sample->type.element;
  const Dims shape = {sample->type.shape[0], out};
  Value* last = b.splat({ElementType::kSI64, shape}, size - kernel);
  if (out == 1) return last;
  // In the samples' own type, as PyTorch does it: rounding decides where a window starts.
  Value* alpha = b.divide(b.splat({type, shape}, static_cast<double>(size - kernel)),
                          b.splat({type, shape}, static_cast<double>(out - 1)));
  Value* offset = b.broadcast_in_dim(sample, shape, {0});
  const auto whole = [&](Value* x) { return b.convert(b.multiply(x, alpha), ElementType::kSI64); };
  Value* number = b.iota({ElementType::kSI64, shape}, 1);
  Value* start = b.subtract(whole(b.add(b.convert(number, type), offset)), whole(offset));
  Value* is_last = b.compare(number, b.splat(number->type, out - 1), "EQ");
  return b.select(is_last, last, start);
}

LowerFunction fractional_max_pool(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self"), samples = op.tensor("random_samples");
    const Image image = read_image(op, self, spatial);
    const Dims kernel = op.integers("kernel_size"), out = op.integers("output_size");
    TORCH_CHECK(static_cast<int64_t>(kernel.size()) == spatial &&
                    static_cast<int64_t>(out.size()) == spatial,
                "fractional_max_pool", spatial, "d: kernel_size and output_size must each be ",
                spatial, " integers");
    const int64_t planes = image.planes();
    TORCH_CHECK(samples.dtype == self.dtype,
                "Expect _random_samples to have the same dtype as input, got ",
                c10::toString(samples.dtype), " and ", c10::toString(self.dtype));
    TORCH_CHECK(samples.dim() == 3 && samples.numel() == planes * spatial,
                "Expect _random_samples of shape [batch, channels, ", spatial, "], got ",
                c10::IntArrayRef(samples.shape()));
    Value* sample = b.reshape(samples.value, {planes, spatial});
    // Positions as [planes, out..., kernel...].
    Dims shape = {planes};
    shape.insert(shape.end(), out.begin(), out.end());
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    const Dims strides = tpu::hlo::row_major_strides(image.sizes);
    Value* position = b.splat({ElementType::kSI64, shape}, int64_t{0});
    for (int64_t d = 0; d < spatial; ++d) {
      TORCH_CHECK(out[d] + kernel[d] - 1 <= image.sizes[d], "fractional_max_pool", spatial,
                  "d(): pool size ", kernel[d], " too large relative to input size ",
                  image.sizes[d]);
      // Of two dimensions, the first sample belongs to the width; of three, to the depth.
      const int64_t column = spatial == 2 ? 1 - d : d;
      Value* line = b.reshape(b.slice(sample, {0, column}, {planes, column + 1}, {1, 1}), {planes});
      Value* start = random_starts(b, line, image.sizes[d], out[d], kernel[d]);
      Value* at = b.add(b.broadcast_in_dim(start, shape, {0, d + 1}),
                        b.iota({ElementType::kSI64, shape}, spatial + d + 1));
      position = b.add(position, b.multiply(at, b.splat(at->type, strides[d])));
    }
    const int64_t windows = tpu::hlo::num_elements(out), elements = tpu::hlo::num_elements(kernel);
    Value* flat = b.reshape(position, {planes, windows * elements});
    Value* values = gather_along(op, b.reshape(image.x, {planes, image.pixels()}), 1, flat);
    const Dims grouped = {planes, windows, elements};
    const auto [best, where] = largest(b, b.reshape(values, grouped), b.reshape(flat, grouped));
    give(op, self, image.with_leading(out), best, where);
  };
}

// Each gradient goes back to the position its window's maximum came from.
LowerFunction max_pool_backward(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self"), grad = op.tensor("grad_output"),
                 indices = op.tensor("indices");
    const Image image = read_image(op, self, spatial);
    TORCH_CHECK(grad.shape() == indices.shape(),
                "expected sizes of indices and grad_output to be the same, got ",
                c10::IntArrayRef(indices.shape()), " and ", c10::IntArrayRef(grad.shape()));
    TORCH_CHECK(grad.dtype == self.dtype, "expected dtype ", c10::toString(self.dtype),
                " for `grad_output` but got dtype ", c10::toString(grad.dtype));
    const int64_t planes = image.planes();
    const int64_t outputs = planes == 0 ? 0 : grad.numel() / planes;
    Value* updates = b.reshape(widened(op, grad), {planes, outputs});
    Value* zeros = b.splat({updates->type.element, {planes, image.pixels()}}, 0.0);
    Value* positions = b.reshape(op.convert(indices, DType::Long), {planes, outputs});
    Value* dx = scatter_along(op, zeros, 1, positions, updates, OpKind::kAdd);
    op.result(op.convert(b.reshape(dx, self.shape()), self.dtype), ResultLayout::kFirstOperand,
              {self});
  };
}

// Every value goes to its position in a plane of zeros.
LowerFunction max_unpool(int64_t spatial) {
  return [spatial](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self"), indices = op.tensor("indices");
    const Dims out = op.integers("output_size");
    TORCH_CHECK(indices.dtype == DType::Long,
                "elements in indices should be type int64 but got: ", c10::toString(indices.dtype));
    TORCH_CHECK(static_cast<int64_t>(out.size()) == spatial, "There should be exactly ", spatial,
                " elements in output_size, but got ", out.size(), " elements.");
    TORCH_CHECK(self.shape() == indices.shape(),
                "Expected shape of indices to be same as that of the input tensor (",
                c10::IntArrayRef(self.shape()),
                ") but got indices tensor with shape: ", c10::IntArrayRef(indices.shape()));
    for (int64_t d = 1; d < self.dim(); ++d) {
      TORCH_CHECK(self.size(d) > 0, "max_unpooling", spatial,
                  "d_forward_out_cpu(): Expected input "
                  "to have non-zero size for non-batch dimensions, but got ",
                  c10::IntArrayRef(self.shape()), " with dimension ", d, " being empty.");
    }
    const Image image = read_image(op, self, spatial);
    const int64_t planes = image.planes(), pixels = tpu::hlo::num_elements(out);
    Value* positions = b.reshape(indices.value, {planes, image.pixels()});
    assert_all_between(op, positions, 0, pixels, "Found an invalid max index");
    Value* zeros = b.splat({self.value->type.element, {planes, pixels}}, int64_t{0});
    Value* values = b.reshape(image.x, {planes, image.pixels()});
    Value* placed = scatter_along(op, zeros, 1, positions, values, OpKind::kReturn);
    op.result(b.reshape(placed, image.with_leading(out)), ResultLayout::kFirstOperand, {self});
  };
}

}  // namespace

void add_max_pooling(Table& table) {
  const Table rows = {
      {"max_pool2d_with_indices", max_pool(2)},
      {"max_pool3d_with_indices", max_pool(3)},
      {"max_pool2d_with_indices_backward", max_pool_backward(2)},
      {"max_pool3d_with_indices_backward", max_pool_backward(3)},
      {"adaptive_max_pool2d", adaptive_max_pool(2)},
      {"adaptive_max_pool3d", adaptive_max_pool(3)},
      {"adaptive_max_pool2d_backward", max_pool_backward(2)},
      {"adaptive_max_pool3d_backward", max_pool_backward(3)},
      {"fractional_max_pool2d", fractional_max_pool(2)},
      {"fractional_max_pool3d", fractional_max_pool(3)},
      {"fractional_max_pool2d_backward", max_pool_backward(2)},
      {"fractional_max_pool3d_backward", max_pool_backward(3)},
      {"max_unpool2d", max_unpool(2)},
      {"max_unpool3d", max_unpool(3)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
