// Reading an image at positions that a grid gives, and the gradients for both. Jaderberg et al.,
// Spatial Transformer Networks, 2015.
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::GatherDimensionNumbers;
using tpu::hlo::OpKind;
using tpu::hlo::ScatterDimensionNumbers;

enum class Interpolation : int64_t { kLinear = 0, kNearest = 1, kCubic = 2 };
enum class Outside : int64_t { kZeros = 0, kBorder = 1, kReflection = 2 };

/// A coordinate along one dimension and its slope with regard to what it was made from.
struct Coordinate {
  Value *at, *slope;
};

/// The call, with pixels and grid points flattened.
struct Sampling {
  Lowering& op;
  Builder& b;
  Tensor input;
  Value* pixels;  ///< [N, C, P] in the compute type
  Value* grid;    ///< [N, points, dimensions], x (the last dimension) first
  Dims sizes;     ///< of the image's dimensions
  Dims points;    ///< the grid's shape between batch and coordinates
  Interpolation interpolation;
  Outside outside;
  bool align_corners;

  explicit Sampling(Lowering& lowering);
  int64_t spatial() const { return static_cast<int64_t>(sizes.size()); }
  int64_t batch() const { return pixels->type.shape[0]; }
  int64_t channels() const { return pixels->type.shape[1]; }
  Dims flat() const { return {batch(), tpu::hlo::num_elements(points)}; }
  Value* number(double value) const { return b.splat({grid->type.element, flat()}, value); }

  Value* component(int64_t dim) const;
  Coordinate position(int64_t dim) const;
  Coordinate kept_inside(Coordinate c, int64_t dim) const;
};

Sampling::Sampling(Lowering& lowering)
    : op(lowering),
      b(lowering.b),
      input(op.tensor("input")),
      pixels(nullptr),
      grid(nullptr),
      sizes(input.shape().begin() + 2, input.shape().end()),
      interpolation(static_cast<Interpolation>(op.integer("interpolation_mode"))),
      outside(static_cast<Outside>(op.integer("padding_mode"))),
      align_corners(op.boolean("align_corners")) {
  const Tensor given = op.tensor("grid");
  TORCH_CHECK(given.dtype == input.dtype,
              "grid_sampler(): expected input and grid to have the same "
              "dtype, but input has ",
              c10::toString(input.dtype), " and grid has ", c10::toString(given.dtype));
  const int64_t n = input.size(0), pixel_count = tpu::hlo::num_elements(sizes);
  TORCH_CHECK(
      given.dim() == input.dim() && given.size(0) == n && given.size(given.dim() - 1) == spatial(),
      "grid_sampler(): expected grid to have size ", spatial(),
      " in last dimension and "
      "input's batch, but got grid with sizes ",
      c10::IntArrayRef(given.shape()));
  for (int64_t d = 0; d < spatial(); ++d) {
    TORCH_CHECK(sizes[d] > 0,
                "grid_sampler(): expected input to have non-empty spatial dimensions, "
                "but input has sizes ",
                c10::IntArrayRef(input.shape()));
  }
  points = {given.shape().begin() + 1, given.shape().end() - 1};
  pixels = b.reshape(widened(op, input), {n, input.size(1), pixel_count});
  grid = b.reshape(widened(op, given), {n, tpu::hlo::num_elements(points), spatial()});
}

Value* Sampling::component(int64_t dim) const {
  const int64_t column = spatial() - 1 - dim;
  const Dims shape = flat();
  return b.reshape(b.slice(grid, {0, 0, column}, {shape[0], shape[1], column + 1}, {1, 1, 1}),
                   shape);
}

// -1 and 1 are the centres of the outermost pixels, or their outer edges.
Coordinate Sampling::position(int64_t dim) const {
  const auto size = static_cast<double>(sizes[dim]);
  Value* shifted = b.add(component(dim), number(1));
  if (align_corners) {
    const double scale = (size - 1) / 2;
    return {b.multiply(b.divide(shifted, number(2)), number(size - 1)), number(scale)};
  }
  Value* scaled = b.subtract(b.multiply(shifted, number(size)), number(1));
  return {b.divide(scaled, number(2)), number(size / 2)};
}

Coordinate clipped(const Sampling& s, Coordinate c, int64_t dim) {
  Builder& b = s.b;
  Value* zero = s.number(0);
  Value* last = s.number(static_cast<double>(s.sizes[dim] - 1));
  Value* inside = b.and_(b.compare(c.at, zero, "GT"), b.compare(c.at, last, "LT"));
  return {b.minimum(b.maximum(c.at, zero), last), b.select(inside, c.slope, zero)};
}

// Mirrored at the outermost centres, or at the outer edges half a pixel further.
Coordinate reflected(const Sampling& s, Coordinate c, int64_t dim) {
  Builder& b = s.b;
  const auto size = static_cast<double>(s.sizes[dim]);
  const double low = s.align_corners ? 0 : -0.5, span = s.align_corners ? size - 1 : size;
  if (span == 0) return {s.number(0), s.number(0)};
  Value* offset = b.subtract(c.at, s.number(low));
  Value* negative = b.compare(offset, s.number(0), "LT");
  offset = b.abs(offset);
  Value* extra = b.remainder(offset, s.number(span));
  Value* flips = b.floor(b.divide(offset, s.number(span)));
  Value* even = b.compare(b.remainder(flips, s.number(2)), s.number(0), "EQ");
  Value* at = b.select(even, extra, b.subtract(s.number(span), extra));
  Value* turned = b.compare(negative, even, "EQ");  // an odd number of mirrors
  return {b.add(at, s.number(low)), b.select(turned, b.negate(c.slope), c.slope)};
}

Coordinate Sampling::kept_inside(Coordinate c, int64_t dim) const {
  if (outside == Outside::kBorder) return clipped(*this, c, dim);
  if (outside == Outside::kReflection) return clipped(*this, reflected(*this, c, dim), dim);
  return c;
}

/// One pixel along one dimension that a point reads: its index, whether there is such a pixel, its
/// weight, and the weight's slope with regard to the point's coordinate.
struct AxisTap {
  Value *index, *inside, *weight, *slope;
};

AxisTap tap(const Sampling& s, int64_t dim, Value* at, Value* weight, Value* slope) {
  Builder& b = s.b;
  Value* last = s.number(static_cast<double>(s.sizes[dim] - 1));
  Value* inside = b.and_(b.compare(at, s.number(0), "GE"), b.compare(at, last, "LE"));
  Value* safe = b.select(inside, at, s.number(0));
  return {b.convert(safe, ElementType::kSI64), inside, weight, slope};
}

std::vector<AxisTap> linear_taps(const Sampling& s, int64_t dim) {
  Builder& b = s.b;
  const Coordinate c = s.kept_inside(s.position(dim), dim);
  Value* low = b.floor(c.at);
  Value* high = b.add(low, s.number(1));
  return {tap(s, dim, low, b.subtract(high, c.at), b.negate(c.slope)),
          tap(s, dim, high, b.subtract(c.at, low), c.slope)};
}

std::vector<AxisTap> nearest_taps(const Sampling& s, int64_t dim) {
  const Coordinate c = s.kept_inside(s.position(dim), dim);
  return {tap(s, dim, s.b.round_nearest_even(c.at), s.number(1), s.number(0))};
}

/// Keys' kernel with a = -0.75 at distance x in [0, 1] or [1, 2], and its derivative.
std::pair<Value*, Value*> cubic_weight(const Sampling& s, Value* x, bool near) {
  Builder& b = s.b;
  const double a = -0.75;
  const auto polynomial = [&](std::initializer_list<double> coefficients) {
    Value* y = nullptr;
    for (double c : coefficients) y = y ? b.add(b.multiply(y, x), s.number(c)) : s.number(c);
    return y;
  };
  if (near)
    return {polynomial({a + 2, -(a + 3), 0, 1}), polynomial({3 * (a + 2), -2 * (a + 3), 0})};
  return {polynomial({a, -5 * a, 8 * a, -4 * a}), polynomial({3 * a, -10 * a, 8 * a})};
}

// The border's rule holds for each pixel read, not for the point.
std::vector<AxisTap> cubic_taps(const Sampling& s, int64_t dim) {
  Builder& b = s.b;
  const Coordinate c = s.position(dim);
  Value* low = b.floor(c.at);
  Value* fraction = b.subtract(c.at, low);
  std::vector<AxisTap> taps;
  for (int k = -1; k <= 2; ++k) {
    // The distance grows with the coordinate for pixels at or before it.
    const bool before = k <= 0;
    Value* distance = before ? b.add(fraction, s.number(-k)) : b.subtract(s.number(k), fraction);
    const auto [weight, derivative] = cubic_weight(s, distance, k == 0 || k == 1);
    Value* slope = b.multiply(before ? derivative : b.negate(derivative), c.slope);
    Value* at = s.kept_inside({b.add(low, s.number(k)), c.slope}, dim).at;
    taps.push_back(tap(s, dim, at, weight, slope));
  }
  return taps;
}

std::vector<std::vector<AxisTap>> all_taps(const Sampling& s) {
  std::vector<std::vector<AxisTap>> axes;
  for (int64_t d = 0; d < s.spatial(); ++d) {
    switch (s.interpolation) {
      case Interpolation::kLinear:
        axes.push_back(linear_taps(s, d));
        break;
      case Interpolation::kNearest:
        axes.push_back(nearest_taps(s, d));
        break;
      case Interpolation::kCubic:
        TORCH_CHECK(s.spatial() == 2,
                    "grid_sampler(): bicubic interpolation only supports 4D input");
        axes.push_back(cubic_taps(s, d));
        break;
      default:
        TORCH_CHECK(false, "grid_sampler(): unknown interpolation mode");
    }
  }
  return axes;
}

/// A pixel that a point reads: one tap of each dimension.
struct Pixel {
  Value *position, *inside;  ///< [N, points]: in the flattened image; whether it is in it
  std::vector<AxisTap> taps;
};

std::vector<Pixel> all_pixels(const Sampling& s) {
  Builder& b = s.b;
  const auto axes = all_taps(s);
  const Dims strides = tpu::hlo::row_major_strides(s.sizes);
  std::vector<Pixel> pixels;
  size_t count = 1;
  for (const auto& taps : axes) count *= taps.size();
  for (size_t i = 0; i < count; ++i) {
    Pixel pixel{};
    size_t rest = i;
    for (size_t d = axes.size(); d-- > 0;) {
      const AxisTap& t = axes[d][rest % axes[d].size()];
      rest /= axes[d].size();
      Value* step = b.multiply(t.index, b.splat(t.index->type, strides[d]));
      pixel.position = pixel.position ? b.add(pixel.position, step) : step;
      pixel.inside = pixel.inside ? b.and_(pixel.inside, t.inside) : t.inside;
      pixel.taps.insert(pixel.taps.begin(), t);
    }
    pixels.push_back(std::move(pixel));
  }
  return pixels;
}

/// The product of the taps' weights; of dimension `sloped` the slope instead.
Value* weight_of(Builder& b, const Pixel& pixel, int64_t sloped = -1) {
  Value* product = nullptr;
  for (int64_t d = 0; d < static_cast<int64_t>(pixel.taps.size()); ++d) {
    Value* factor = d == sloped ? pixel.taps[d].slope : pixel.taps[d].weight;
    product = product ? b.multiply(product, factor) : factor;
  }
  return product;
}

Value* over_channels(const Sampling& s, Value* x) {
  const Dims shape = s.flat();
  return s.b.broadcast_in_dim(x, {shape[0], s.channels(), shape[1]}, {0, 2});
}

/// [N, C, points]: the pixel each point reads, 0 where there is none.
Value* read(const Sampling& s, const Pixel& pixel) {
  Builder& b = s.b;
  const Dims shape = s.flat();
  const tpu::hlo::TensorType type{s.pixels->type.element, {shape[0], s.channels(), shape[1]}};
  if (type.num_elements() == 0) return b.splat(type, 0.0);
  GatherDimensionNumbers numbers;
  numbers.offset_dims = {1};
  numbers.collapsed_slice_dims = {2};
  numbers.operand_batching_dims = numbers.start_indices_batching_dims = {0};
  numbers.start_index_map = {2};
  numbers.index_vector_dim = 2;
  Value* values = b.gather(s.pixels, pixel.position, numbers, {1, s.channels(), 1});
  return b.select(over_channels(s, pixel.inside), values, b.splat(values->type, 0.0));
}

void grid_sampler(Lowering& op) {
  Builder& b = op.b;
  const Sampling s(op);
  Value* sum = nullptr;
  for (const Pixel& pixel : all_pixels(s)) {
    Value* term = b.multiply(read(s, pixel), over_channels(s, weight_of(b, pixel)));
    sum = sum ? b.add(sum, term) : term;
  }
  Dims shape = {s.batch(), s.channels()};
  shape.insert(shape.end(), s.points.begin(), s.points.end());
  op.result(op.convert(b.reshape(sum, shape), s.input.dtype), ResultLayout::kFirstOperand,
            {s.input});
}

/// Adds [N, C, points] to the pixels that the points read.
Value* spread(const Sampling& s, Value* image, const Pixel& pixel, Value* terms) {
  ScatterDimensionNumbers numbers;
  numbers.update_window_dims = {1};
  numbers.inserted_window_dims = {2};
  numbers.input_batching_dims = numbers.scatter_indices_batching_dims = {0};
  numbers.scatter_dims_to_operand_dims = {2};
  numbers.index_vector_dim = 2;
  Value* masked = s.b.select(over_channels(s, pixel.inside), terms, s.b.splat(terms->type, 0.0));
  return s.b.scatter({image}, pixel.position, {masked}, numbers, false, false,
                     Builder::combiner(OpKind::kAdd))[0];
}

void grid_sampler_backward(Lowering& op) {
  Builder& b = op.b;
  const Sampling s(op);
  const Dims flat = s.flat();
  Value* grad = b.reshape(widened(op, op.tensor("grad_output")), {flat[0], s.channels(), flat[1]});
  const auto pixels = all_pixels(s);
  if (op.booleans("output_mask")[0]) {
    Value* image = b.splat(s.pixels->type, 0.0);
    for (const Pixel& pixel : pixels) {
      image = spread(s, image, pixel, b.multiply(grad, over_channels(s, weight_of(b, pixel))));
    }
    op.result(op.convert(b.reshape(image, s.input.shape()), s.input.dtype),
              ResultLayout::kFirstOperand, {s.input});
  } else {
    op.undefined_result();
  }
  std::vector<Value*> columns(s.spatial(), s.number(0));
  if (s.interpolation != Interpolation::kNearest) {
    for (const Pixel& pixel : pixels) {
      Value* product = op.reduce(b.multiply(read(s, pixel), grad), OpKind::kAdd, {1}, false);
      for (int64_t d = 0; d < s.spatial(); ++d) {
        Value*& column = columns[s.spatial() - 1 - d];
        column = b.add(column, b.multiply(product, weight_of(b, pixel, d)));
      }
    }
  }
  for (Value*& column : columns) column = b.reshape(column, {flat[0], flat[1], 1});
  const Tensor grid = op.tensor("grid");
  op.result(op.convert(b.reshape(b.concatenate(columns, 2), grid.shape()), grid.dtype));
}

}  // namespace

void add_grid_sampler(Table& table) {
  const Table rows = {
      {"grid_sampler_2d", grid_sampler},
      {"grid_sampler_3d", grid_sampler},
      {"grid_sampler_2d_backward", grid_sampler_backward},
      {"grid_sampler_3d_backward", grid_sampler_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
