#include "emulator/compiler/kernels/reduce_window.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/reduce_window_variadic.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/compiler/kernels/window.h"
#include "emulator/compiler/kernels/window_rows.h"

namespace tpu::compiler::kernels {
namespace {

// Taps that fall on padding or between dilated elements stand for init. For these combiners that
// changes nothing: f(accumulator, init) is the accumulator, which itself started from init.
bool padding_is_neutral(const RegionPattern& pattern, const ConstView& init) {
  if (pattern.kind != RegionPattern::Kind::kBinary || hlo::is_complex(init.element)) return false;
  const auto is = [&init](double value) {
    const std::byte* end = init.data + hlo::byte_width(init.element);
    return hlo::decode_double(hlo::Literal({init.element, {}}, {init.data, end}), 0) == value;
  };
  switch (pattern.op) {
    case hlo::OpKind::kAnd:
    case hlo::OpKind::kMaximum:
    case hlo::OpKind::kMinimum:
    case hlo::OpKind::kOr:
      return true;
    case hlo::OpKind::kAdd:
      return is(0);  // of either sign: an accumulator that starts at +0 never becomes -0
    case hlo::OpKind::kMultiply:
      return is(1);
    default:
      return false;
  }
}

void reduce_rows(const KernelCall& call, const Window& window, const Combiner& combiner,
                 bool padding) {
  const ConstView& input = call.operands[0];
  const std::byte* init = call.operands[1].data;
  const View& result = call.results[0];
  const int64_t width = combiner.width();
  const WindowRows rows(window, input.shape, result.shape, padding);
  const int64_t result_step = result.strides[rows.row_dimension()];
  const int64_t input_step = input.strides[rows.row_dimension()];
  rows.for_each_row([&](const Dims& outer) {
    std::byte* row = result.data + rows.row_offset(outer, result.strides) * width;
    for (int64_t i = 0; i < rows.length(); ++i) {
      std::memcpy(row + i * result_step * width, init, static_cast<size_t>(width));
    }
    rows.for_each_tap(outer, [&](const TapRun& run) {
      const std::byte* x = init;
      if (run.position) x = input.data + offset_of(*run.position, input.strides) * width;
      combiner.row(row + run.first * result_step * width, run.step * result_step, x,
                   run.position ? run.position_step * input_step : 0, run.count);
    });
  });
}

// The dimension of a cumulative reduction: its window is the whole dimension, padded on one side
// so that output i sees elements 0 .. i, or i .. size - 1 if `reverse`.
struct Cumulative {
  size_t dimension;
  bool reverse;
};

std::optional<Cumulative> as_cumulative(const Window& window, std::span<const int64_t> shape) {
  std::optional<Cumulative> found;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (window.stride[d] != 1 || window.base_dilation[d] != 1) return std::nullopt;
    if (window.size[d] == 1 && window.low[d] == 0 && window.high[d] == 0) continue;
    if (found || window.dilation[d] != 1 || window.size[d] != shape[d]) return std::nullopt;
    const int64_t rest = shape[d] - 1;
    if (window.low[d] == rest && window.high[d] == 0) {
      found = Cumulative{d, false};
    } else if (window.low[d] == 0 && window.high[d] == rest) {
      found = Cumulative{d, true};
    } else {
      return std::nullopt;
    }
  }
  return found;
}

// A running reduction: output i is f(output i - 1, element i), which is the declared order
// (and the reverse one where f takes any order).
void cumulate(const KernelCall& call, const Cumulative& kind, const Combiner& combiner) {
  const ConstView& input = call.operands[0];
  const View& result = call.results[0];
  const int64_t width = combiner.width();
  Dims shape(result.shape.begin(), result.shape.end());
  Dims from(input.strides.begin(), input.strides.end());
  Dims to(result.strides.begin(), result.strides.end());
  const int64_t n = shape[kind.dimension];
  const int64_t from_step = from[kind.dimension], to_step = to[kind.dimension];
  for (Dims* dims : {&shape, &from, &to}) {
    dims->erase(dims->begin() + static_cast<ptrdiff_t>(kind.dimension));
  }
  const int64_t sign = kind.reverse ? -1 : 1;
  const int64_t start = kind.reverse ? n - 1 : 0;
  const auto run = [&](int64_t begin, int64_t end) {
    Odometer<2> at(shape, {from, to}, begin);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      combiner.scan(call.operands[1].data, result.data + (at.offset(1) + start * to_step) * width,
                    sign * to_step, input.data + (at.offset(0) + start * from_step) * width,
                    sign * from_step, n);
    }
  };
  parallel_for(hlo::num_elements(shape), std::max<int64_t>(1, 4096 / n), run);
}

}  // namespace

void reduce_window(const KernelCall& call) {
  const View& result = call.results[0];
  if (elements(result) == 0) return;
  const Window window(call.attributes, result.shape.size());
  if (call.results.size() > 1) return reduce_window_variadic(call, window);

  const RegionPattern pattern = pattern_of(call, 0);
  const Combiner combiner(result.element, pattern,
                          call.regions.empty() ? nullptr : call.regions[0]);
  if (result.shape.empty()) {
    std::memcpy(result.data, call.operands[1].data, static_cast<size_t>(combiner.width()));
    combiner.row(result.data, 0, call.operands[0].data, 0, 1);
    return;
  }
  const bool neutral = padding_is_neutral(pattern, call.operands[1]);
  const auto cumulative = as_cumulative(window, call.operands[0].shape);
  if (cumulative && neutral && (!cumulative->reverse || combiner.any_order())) {
    cumulate(call, *cumulative, combiner);
  } else {
    reduce_rows(call, window, combiner, !neutral);
  }
}

}  // namespace tpu::compiler::kernels
