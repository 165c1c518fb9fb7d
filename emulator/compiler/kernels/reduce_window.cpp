#include "emulator/compiler/kernels/reduce_window.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/compiler/kernels/window.h"

namespace tpu::compiler::kernels {
namespace {

// The dimension along which outputs of one row are worked on together: the last, unless it is
// short and another is long. The choice never changes an output's own order.
size_t row_dimension(std::span<const int64_t> shape) {
  size_t chosen = shape.size() - 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[chosen] < 16 && shape[d] > 2 * shape[chosen]) chosen = d;
  }
  return chosen;
}

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
int64_t ceil_div(int64_t a, int64_t b) {
  return -floor_div(-a, b);
}

// Taps that fall on padding or between dilated elements stand for init. For these combiners that
// changes nothing: f(accumulator, init) is the accumulator, which itself started from init.
bool padding_is_neutral(const RegionPattern& pattern, const ConstView& init) {
  if (pattern.kind != RegionPattern::Kind::kBinary) return false;
  const auto is = [&init](int64_t value) {
    const hlo::Literal number({init.element, {}},
                              {init.data, init.data + hlo::byte_width(init.element)});
    return !hlo::is_complex(init.element) &&
           hlo::decode_double(number, 0) == static_cast<double>(value);
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

// One input and a combiner: rows of outputs, one window position after the other.
class RowReduction {
 public:
  RowReduction(const KernelCall& call, const Window& window, const Combiner& combiner,
               bool skip_padding)
      : input_(call.operands[0]),
        init_(call.operands[1]),
        result_(call.results[0]),
        window_(window),
        combiner_(combiner),
        skip_padding_(skip_padding),
        width_(combiner.width()),
        row_(row_dimension(result_.shape)) {
    for (size_t d = 0; d < result_.shape.size(); ++d) {
      if (d == row_) continue;
      outer_dims_.push_back(d);
      outer_shape_.push_back(result_.shape[d]);
      outer_strides_.push_back(result_.strides[d]);
    }
  }

  void run() const {
    const int64_t work = hlo::num_elements(window_.size) * result_.shape[row_];
    const int64_t grain = std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(work, 1));
    parallel_for(hlo::num_elements(outer_shape_), grain, [&](int64_t begin, int64_t end) {
      Odometer<1> at(outer_shape_, {outer_strides_}, begin);
      for (int64_t i = begin; i < end; ++i, at.next()) {
        reduce_row(at.index(), result_.data + at.offset(0) * width_);
      }
    });
  }

 private:
  void reduce_row(const Dims& outer, std::byte* row) const {
    const int64_t n = result_.shape[row_];
    const int64_t step = result_.strides[row_];
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(row + i * step * width_, init_.data, static_cast<size_t>(width_));
    }
    const Dims no_strides(window_.size.size(), 0);
    Odometer<1> tap(window_.size, {no_strides});
    const int64_t taps = hlo::num_elements(window_.size);
    for (int64_t t = 0; t < taps; ++t, tap.next()) {
      const int64_t offset = outer_offset(outer, tap.index());
      if (offset >= 0) {
        add_tap(row, offset, tap.index()[row_]);
      } else {
        add_padding(row, 0, n);
      }
    }
  }

  // Where the tap lies in the dimensions other than the row's; -1 if it is no element.
  int64_t outer_offset(const Dims& outer, const Dims& tap) const {
    int64_t offset = 0;
    for (size_t i = 0; i < outer_dims_.size(); ++i) {
      const size_t d = outer_dims_[i];
      const int64_t at = window_.position(d, outer[i], tap[d], input_.shape[d]);
      if (at < 0) return -1;
      offset += at * input_.strides[d];
    }
    return offset;
  }

  // Combines the row's outputs with the elements that tap `k` of the row's dimension gives them.
  void add_tap(std::byte* row, int64_t offset, int64_t k) const {
    const int64_t stride = window_.stride[row_], base = window_.base_dilation[row_];
    const int64_t shift = k * window_.dilation[row_] - window_.low[row_];
    const int64_t size = input_.shape[row_], n = result_.shape[row_];
    if (base == 1) {
      const int64_t first = std::clamp<int64_t>(ceil_div(-shift, stride), 0, n);
      const int64_t end = std::clamp<int64_t>(ceil_div(size - shift, stride), first, n);
      add_padding(row, 0, first);
      combine(row, first, offset, first * stride + shift, stride, end - first);
      add_padding(row, end, n);
      return;
    }
    for (int64_t o = 0; o < n; ++o) {
      const int64_t at = window_.position(row_, o, k, size);
      if (at >= 0) {
        combine(row, o, offset, at, 0, 1);
      } else {
        add_padding(row, o, o + 1);
      }
    }
  }

  // Combines outputs [begin, end) with init.
  void add_padding(std::byte* row, int64_t begin, int64_t end) const {
    if (skip_padding_ || begin >= end) return;
    const int64_t stride = result_.strides[row_];
    combiner_.row(row + begin * stride * width_, stride, init_.data, 0, end - begin);
  }

  void combine(std::byte* row, int64_t output, int64_t offset, int64_t position, int64_t step,
               int64_t n) const {
    if (n <= 0) return;
    const int64_t row_stride = result_.strides[row_], input_stride = input_.strides[row_];
    // A result of one element may have any stride; 0 would fold, which for n = 1 is the same.
    combiner_.row(row + output * row_stride * width_, row_stride,
                  input_.data + (offset + position * input_stride) * width_, step * input_stride,
                  n);
  }

  const ConstView& input_;
  const ConstView& init_;
  const View& result_;
  const Window& window_;
  const Combiner& combiner_;
  bool skip_padding_;
  int64_t width_;
  size_t row_;
  std::vector<size_t> outer_dims_;
  Dims outer_shape_, outer_strides_;
};

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
  parallel_for(
      hlo::num_elements(shape), std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
        Odometer<2> at(shape, {from, to}, begin);
        for (int64_t i = begin; i < end; ++i, at.next()) {
          combiner.scan(call.operands[1].data,
                        result.data + (at.offset(1) + start * to_step) * width, sign * to_step,
                        input.data + (at.offset(0) + start * from_step) * width, sign * from_step,
                        n);
        }
      });
}

// Several inputs: each output on its own, through the region.
void reduce_variadic(const KernelCall& call, const Window& window) {
  const size_t inputs = call.results.size();
  const std::span<const int64_t> shape = call.results[0].shape;
  const Dims no_strides(shape.size(), 0);
  const int64_t taps = hlo::num_elements(window.size);
  const int64_t outputs = hlo::num_elements(shape);
  parallel_for(outputs, std::max<int64_t>(1, 1024 / std::max<int64_t>(taps, 1)),
               [&](int64_t begin, int64_t end) {
                 struct alignas(16) Value {
                   std::byte bytes[16];
                 };
                 std::vector<Value> state(
                     2 * inputs);  // two sides: the region must not overwrite what it reads
                 std::vector<const std::byte*> arguments(2 * inputs);
                 std::vector<std::byte*> results(inputs);
                 Odometer<1> output(shape, {no_strides}, begin);
                 for (int64_t o = begin; o < end; ++o, output.next()) {
                   size_t side = 0;
                   for (size_t i = 0; i < inputs; ++i) {
                     std::memcpy(state[i].bytes, call.operands[inputs + i].data,
                                 static_cast<size_t>(hlo::byte_width(call.results[i].element)));
                   }
                   Odometer<1> tap(window.size, {no_strides});
                   for (int64_t t = 0; t < taps; ++t, tap.next()) {
                     bool inside = true;
                     for (size_t i = 0; i < inputs; ++i)
                       arguments[inputs + i] = call.operands[i].data;
                     for (size_t d = 0; d < shape.size() && inside; ++d) {
                       const int64_t at = window.position(d, output.index()[d], tap.index()[d],
                                                          call.operands[0].shape[d]);
                       inside = at >= 0;
                       for (size_t i = 0; i < inputs; ++i) {
                         arguments[inputs + i] += at * call.operands[i].strides[d] *
                                                  hlo::byte_width(call.operands[i].element);
                       }
                     }
                     if (!inside) continue;
                     for (size_t i = 0; i < inputs; ++i) {
                       arguments[i] = state[side * inputs + i].bytes;
                       results[i] = state[(1 - side) * inputs + i].bytes;
                     }
                     call.regions[0](arguments.data(), results.data());
                     side = 1 - side;
                   }
                   for (size_t i = 0; i < inputs; ++i) {
                     const View& result = call.results[i];
                     const int64_t width = hlo::byte_width(result.element);
                     int64_t offset = 0;
                     for (size_t d = 0; d < shape.size(); ++d)
                       offset += output.index()[d] * result.strides[d];
                     std::memcpy(result.data + offset * width, state[side * inputs + i].bytes,
                                 static_cast<size_t>(width));
                   }
                 }
               });
}

}  // namespace

void reduce_window(const KernelCall& call) {
  const View& result = call.results[0];
  if (elements(result) == 0) return;
  const Window window(call.attributes, result.shape.size());
  if (call.results.size() > 1) return reduce_variadic(call, window);

  const Combiner combiner(result.element, pattern_of(call, 0),
                          call.regions.empty() ? nullptr : call.regions[0]);
  if (result.shape.empty()) {
    std::memcpy(result.data, call.operands[1].data, static_cast<size_t>(combiner.width()));
    combiner.row(result.data, 0, call.operands[0].data, 0, 1);
    return;
  }
  const auto cumulative = as_cumulative(window, call.operands[0].shape);
  const bool skip_padding = padding_is_neutral(pattern_of(call, 0), call.operands[1]);
  if (cumulative && skip_padding && (!cumulative->reverse || combiner.any_order())) {
    cumulate(call, *cumulative, combiner);
  } else {
    RowReduction(call, window, combiner, skip_padding).run();
  }
}

}  // namespace tpu::compiler::kernels
