// Resizing images: nearest neighbour, linear, cubic, and the filters that shrink without aliasing.
// Each is separable: one sparse linear map a dimension.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "backend/aten/line_map.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// One spatial dimension. PyTorch finds positions in the type it computes in, and rounding decides
/// which element is the nearest: so they are found in float unless `wide`.
struct Axis {
  int64_t in, out;
  bool align_corners = false;
  bool wide = false;
  std::optional<double> scale;  ///< as the user gave it: out / in

  double round(double x) const { return wide ? x : static_cast<double>(static_cast<float>(x)); }

  /// How far apart the positions of two outputs are in the input (area_pixel_compute_scale).
  double step() const {
    if (align_corners) {
      return out > 1 ? round(static_cast<double>(in - 1) / static_cast<double>(out - 1)) : 0.0;
    }
    if (scale && *scale > 0) return round(1.0 / *scale);
    return round(static_cast<double>(in) / static_cast<double>(out));
  }
  /// Where output `i` lies among the inputs (area_pixel_compute_source_index).
  double position(int64_t i) const {
    const auto at = static_cast<double>(i);
    return align_corners ? round(step() * at) : round(round(step() * (at + 0.5)) - 0.5);
  }
  int64_t clamp(int64_t i) const { return std::clamp<int64_t>(i, 0, in - 1); }
};

using Rows = std::vector<std::vector<Tap>>;

Rows nearest(const Axis& axis) {
  Rows rows;
  for (int64_t i = 0; i < axis.out; ++i) {
    const double at = axis.round(axis.step() * static_cast<double>(i));
    rows.push_back({{axis.clamp(static_cast<int64_t>(std::floor(at))), 1.0}});
  }
  return rows;
}

/// As image libraries define it: the element whose area the output's centre lies in.
Rows nearest_exact(const Axis& axis) {
  Rows rows;
  for (int64_t i = 0; i < axis.out; ++i) {
    const double at = axis.round(axis.step() * (static_cast<double>(i) + 0.5));
    rows.push_back({{axis.clamp(static_cast<int64_t>(std::floor(at))), 1.0}});
  }
  return rows;
}

Rows linear(const Axis& axis) {
  Rows rows;
  for (int64_t i = 0; i < axis.out; ++i) {
    if (axis.in == axis.out) {
      rows.push_back({{i, 1.0}});
      continue;
    }
    const double at = std::max(0.0, axis.position(i));
    const int64_t low = axis.clamp(static_cast<int64_t>(std::floor(at)));
    const double weight = std::clamp(axis.round(at - static_cast<double>(low)), 0.0, 1.0);
    rows.push_back({{low, axis.round(1.0 - weight)}, {axis.clamp(low + 1), weight}});
  }
  return rows;
}

/// Keys' cubic convolution kernel (IEEE ASSP 29, 1981) at distance x, with parameter a.
double cubic_kernel(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((x - 5) * x + 8) * x * a - 4 * a;
  return 0;
}

Rows cubic(const Axis& axis) {
  Rows rows;
  for (int64_t i = 0; i < axis.out; ++i) {
    const double at = axis.position(i);
    const auto low = static_cast<int64_t>(std::floor(at));
    const double fraction = axis.round(at - static_cast<double>(low));
    std::vector<Tap> taps;
    for (int64_t k = -1; k <= 2; ++k) {
      const double weight = cubic_kernel(fraction - static_cast<double>(k), -0.75);
      taps.push_back({axis.clamp(low + k), weight});
    }
    rows.push_back(std::move(taps));
  }
  return rows;
}

/// A kernel that is widened when shrinking, so that every input counts.
struct Filter {
  double radius;
  double (*kernel)(double x);
};

constexpr Filter kTriangle = {1, [](double x) { return std::max(0.0, 1 - std::abs(x)); }};
constexpr Filter kCubic = {2, [](double x) { return cubic_kernel(x, -0.5); }};
constexpr Filter kLanczos = {3, [](double x) {
                               const auto sinc = [](double t) {
                                 t *= std::numbers::pi;
                                 return t == 0 ? 1.0 : std::sin(t) / t;
                               };
                               return std::abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0.0;
                             }};

Rows filtered(const Filter& filter, const Axis& axis) {
  const double step = axis.step(), widening = std::max(1.0, step);
  const double support = axis.round(filter.radius * widening);
  Rows rows;
  for (int64_t i = 0; i < axis.out; ++i) {
    const double centre = axis.round(step * (static_cast<double>(i) + 0.5));
    const auto begin = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    const auto end = std::min(static_cast<int64_t>(centre + support + 0.5), axis.in);
    std::vector<Tap> taps;
    double total = 0;
    for (int64_t j = begin; j < end; ++j) {
      const double weight = filter.kernel((static_cast<double>(j) - centre + 0.5) / widening);
      taps.push_back({j, weight});
      total += weight;
    }
    for (Tap& tap : taps) tap.weight = total != 0 ? tap.weight / total : tap.weight;
    rows.push_back(std::move(taps));
  }
  return rows;
}

template <const Filter& filter>
Rows antialiased(const Axis& axis) {
  return filtered(filter, axis);
}

using Resampling = Rows (*)(const Axis&);

/// The scale arguments, one a spatial dimension.
std::vector<std::string_view> scale_names(size_t spatial) {
  if (spatial == 1) return {"scales"};
  if (spatial == 2) return {"scales_h", "scales_w"};
  return {"scales_d", "scales_h", "scales_w"};
}

std::vector<LineMap> read_maps(Lowering& op, Resampling resampling, const Dims& input,
                               DType dtype) {
  const Dims out = op.integers("output_size");
  const size_t spatial = out.size();
  TORCH_CHECK(input.size() == spatial + 2, "It is expected input_size equals to ", spatial + 2,
              ", but got size ", input.size());
  const auto names = scale_names(spatial);
  std::vector<LineMap> maps;
  for (size_t i = 0; i < spatial; ++i) {
    Axis axis{input[i + 2], out[i], false, false, {}};
    TORCH_CHECK(axis.in > 0 && axis.out > 0,
                "Input and output sizes should be greater than 0, but got input ",
                c10::IntArrayRef(input), " and output ", c10::IntArrayRef(out));
    axis.align_corners = op.has("align_corners") && op.boolean("align_corners");
    axis.wide = dtype == DType::Double;
    if (op.has(names[i])) axis.scale = op.number_as_double(names[i]);
    maps.emplace_back(axis.in, resampling(axis));
  }
  return maps;
}

void check_not_empty(const Tensor& x) {
  bool some = x.dim() >= 3;
  for (int64_t d = 1; some && d < x.dim(); ++d) some = x.size(d) > 0;
  TORCH_CHECK(some, "Non-empty ", x.dim(), "D data tensor expected but got a tensor with sizes ",
              c10::IntArrayRef(x.shape()));
}

LowerFunction upsample(Resampling resampling) {
  return [=](Lowering& op) {
    const Tensor self = op.tensor("self");
    const std::vector<LineMap> maps = read_maps(op, resampling, self.shape(), self.dtype);
    check_not_empty(self);
    Value* x = widened(op, self);
    for (size_t i = maps.size(); i-- > 0;) x = maps[i].apply(op, x, static_cast<int64_t>(i) + 2);
    op.result(op.convert(x, self.dtype), ResultLayout::kFirstOperand, {self});
  };
}

LowerFunction upsample_backward(Resampling resampling) {
  return [=](Lowering& op) {
    const Tensor grad = op.tensor("grad_output");
    const std::vector<LineMap> maps =
        read_maps(op, resampling, op.integers("input_size"), grad.dtype);
    TORCH_CHECK(grad.dim() == static_cast<int64_t>(maps.size()) + 2,
                "Expected grad_output to be a tensor of dimension ", maps.size() + 2,
                " but got: dimension ", grad.dim());
    Value* g = widened(op, grad);
    for (size_t i = 0; i < maps.size(); ++i) {
      const auto dim = static_cast<int64_t>(i) + 2;
      TORCH_CHECK(grad.size(dim) == maps[i].out(),
                  "Expected grad_output to have the same shape as output; output.size(", dim,
                  ") = ", maps[i].out(), " but got grad_output.size(", dim, ") = ", grad.size(dim));
      g = maps[i].transposed().apply(op, g, dim);
    }
    op.result(op.convert(g, grad.dtype), ResultLayout::kFirstOperand, {grad});
  };
}

/// Images of bytes are resized in fixed point: what is exact for other dtypes is rounded there, and
/// PyTorch's kernel knows how.
LowerFunction floats_or_library(LowerFunction lower) {
  return [lower = std::move(lower)](Lowering& op) {
    c10::isFloatingType(op.tensor("self").dtype) ? lower(op) : op.call_library();
  };
}

}  // namespace

void add_upsampling(Table& table) {
  const auto add = [&](std::string_view name, std::string_view backward, Resampling resampling,
                       bool only_moves) {
    table.push_back(
        {name, only_moves ? upsample(resampling) : floats_or_library(upsample(resampling))});
    table.push_back({backward, upsample_backward(resampling)});
  };
  add("upsample_nearest1d", "upsample_nearest1d_backward", nearest, true);
  add("upsample_nearest2d", "upsample_nearest2d_backward", nearest, true);
  add("upsample_nearest3d", "upsample_nearest3d_backward", nearest, true);
  add("_upsample_nearest_exact1d", "_upsample_nearest_exact1d_backward", nearest_exact, true);
  add("_upsample_nearest_exact2d", "_upsample_nearest_exact2d_backward", nearest_exact, true);
  add("_upsample_nearest_exact3d", "_upsample_nearest_exact3d_backward", nearest_exact, true);
  add("upsample_linear1d", "upsample_linear1d_backward", linear, false);
  add("upsample_bilinear2d", "upsample_bilinear2d_backward", linear, false);
  add("upsample_trilinear3d", "upsample_trilinear3d_backward", linear, false);
  add("upsample_bicubic2d", "upsample_bicubic2d_backward", cubic, false);
  add("_upsample_bilinear2d_aa", "_upsample_bilinear2d_aa_backward", antialiased<kTriangle>, false);
  add("_upsample_bicubic2d_aa", "_upsample_bicubic2d_aa_backward", antialiased<kCubic>, false);
  add("_upsample_lanczos2d_aa", "_upsample_lanczos2d_aa_backward", antialiased<kLanczos>, false);
}

}  // namespace torch_tpu::aten
