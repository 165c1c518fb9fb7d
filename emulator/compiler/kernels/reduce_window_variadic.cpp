#include "emulator/compiler/kernels/reduce_window_variadic.h"

#include <cstring>
#include <utility>
#include <vector>

#include "emulator/compiler/kernels/scalar_ops.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/compiler/kernels/window_rows.h"

namespace tpu::compiler::kernels {
namespace {

using Direction = RegionPattern::Direction;

// Any region, called for every output and tap.
class RegionReduction {
 public:
  RegionReduction(const KernelCall& call, const Window& window)
      : call_(call),
        inputs_(call.results.size()),
        rows_(window, call.operands[0].shape, call.results[0].shape, true) {}

  void run() const {
    rows_.for_each_row([this](const Dims& outer) { reduce_row(outer); });
  }

 private:
  struct alignas(16) Value {
    std::byte bytes[16];
  };

  size_t width(size_t i) const {
    return static_cast<size_t>(hlo::byte_width(call_.results[i].element));
  }

  void reduce_row(const Dims& outer) const {
    // Output o's values lie at [o * inputs_]; the region writes beside what it reads.
    std::vector<Value> state(static_cast<size_t>(rows_.length()) * inputs_);
    std::vector<Value> next(inputs_);
    for (size_t k = 0; k < state.size(); ++k) {
      const size_t i = k % inputs_;
      std::memcpy(state[k].bytes, call_.operands[inputs_ + i].data, width(i));
    }
    std::vector<const std::byte*> arguments(2 * inputs_);
    std::vector<std::byte*> results(inputs_);
    for (size_t i = 0; i < inputs_; ++i) results[i] = next[i].bytes;
    rows_.for_each_tap(outer, [&](const TapRun& run) {
      std::vector<int64_t> steps(inputs_, 0);
      for (size_t i = 0; i < inputs_; ++i) start_run(run, i, arguments[inputs_ + i], steps[i]);
      for (int64_t j = 0; j < run.count; ++j) {
        Value* values = &state[static_cast<size_t>(run.first + j * run.step) * inputs_];
        for (size_t i = 0; i < inputs_; ++i) arguments[i] = values[i].bytes;
        call_.regions[0](arguments.data(), results.data());
        for (size_t i = 0; i < inputs_; ++i) {
          std::memcpy(values[i].bytes, next[i].bytes, width(i));
          arguments[inputs_ + i] += steps[i];
        }
      }
    });
    store_row(outer, state);
  }

  // Where input i's elements of a run begin, and how many bytes apart they are.
  void start_run(const TapRun& run, size_t i, const std::byte*& data, int64_t& step) const {
    const ConstView& input = call_.operands[i];
    const auto bytes = static_cast<int64_t>(width(i));
    data = run.position ? input.data + offset_of(*run.position, input.strides) * bytes
                        : call_.operands[inputs_ + i].data;
    step = run.position ? run.position_step * input.strides[rows_.row_dimension()] * bytes : 0;
  }

  void store_row(const Dims& outer, const std::vector<Value>& state) const {
    for (size_t i = 0; i < inputs_; ++i) {
      const View& result = call_.results[i];
      const int64_t offset = rows_.row_offset(outer, result.strides);
      const int64_t step = result.strides[rows_.row_dimension()];
      for (int64_t o = 0; o < rows_.length(); ++o) {
        std::memcpy(result.data + (offset + o * step) * static_cast<int64_t>(width(i)),
                    state[static_cast<size_t>(o) * inputs_ + i].bytes, width(i));
      }
    }
  }

  const KernelCall& call_;
  size_t inputs_;
  WindowRows rows_;
};

// Whether a new value is taken, as RegionPattern's kTake says.
template <Direction kDirection, class T>
bool exceeds(T x, T value) {
  if constexpr (kDirection == Direction::kGt) return x > value;
  if constexpr (kDirection == Direction::kGe) return x >= value;
  if constexpr (kDirection == Direction::kLt) return x < value;
  if constexpr (kDirection == Direction::kLe) return x <= value;
}

// Values and their positions: the extreme of a window and where it is.
template <class Element, class Position, Direction kDirection>
class TakeReduction {
 public:
  using T = typename Element::Storage;

  TakeReduction(const KernelCall& call, const Window& window, const RegionPattern& pattern)
      : call_(call),
        pattern_(pattern),
        rows_(window, call.operands[0].shape, call.results[0].shape, true) {}

  void run() const {
    rows_.for_each_row([this](const Dims& outer) { reduce_row(outer); });
  }

 private:
  static const T* values(const ConstView& view) { return reinterpret_cast<const T*>(view.data); }
  static const Position* positions(const ConstView& view) {
    return reinterpret_cast<const Position*>(view.data);
  }

  void reduce_row(const Dims& outer) const {
    const auto length = static_cast<size_t>(rows_.length());
    std::vector<T> value(length, *values(call_.operands[2]));
    std::vector<Position> position(length, *positions(call_.operands[3]));
    rows_.for_each_tap(outer, [&](const TapRun& run) {
      const ConstView& x = call_.operands[run.position ? 0 : 2];
      const ConstView& p = call_.operands[run.position ? 1 : 3];
      int64_t x_step = 0, p_step = 0, x_offset = 0, p_offset = 0;
      if (run.position) {
        x_step = run.position_step * x.strides[rows_.row_dimension()];
        p_step = run.position_step * p.strides[rows_.row_dimension()];
        x_offset = offset_of(*run.position, x.strides);
        p_offset = offset_of(*run.position, p.strides);
      }
      take(run, values(x) + x_offset, x_step, positions(p) + p_offset, p_step, value.data(),
           position.data());
    });
    store(outer, 0, value);
    store(outer, 1, position);
  }

  void take(const TapRun& run, const T* x, int64_t x_step, const Position* p, int64_t p_step,
            T* value, Position* position) const {
    const bool nan = pattern_.take_nan, first = pattern_.take_first;
    for (int64_t j = 0; j < run.count; ++j) {
      const int64_t o = run.first + j * run.step;
      const auto candidate = Element::load(x[j * x_step]);
      const bool taken = exceeds<kDirection>(candidate, Element::load(value[o])) |
                         (nan & (candidate != candidate)) | (first & (position[o] < 0));
      value[o] = taken ? x[j * x_step] : value[o];
      position[o] = taken ? p[j * p_step] : position[o];
    }
  }

  template <class U>
  void store(const Dims& outer, size_t i, const std::vector<U>& row) const {
    const View& result = call_.results[i];
    U* to = reinterpret_cast<U*>(result.data) + rows_.row_offset(outer, result.strides);
    const int64_t step = result.strides[rows_.row_dimension()];
    for (size_t o = 0; o < row.size(); ++o) to[static_cast<int64_t>(o) * step] = row[o];
  }

  const KernelCall& call_;
  const RegionPattern& pattern_;
  WindowRows rows_;
};

template <class Element, class Position>
void reduce_take(const KernelCall& call, const Window& window, const RegionPattern& pattern) {
  switch (pattern.direction) {
    case Direction::kGt:
      return TakeReduction<Element, Position, Direction::kGt>(call, window, pattern).run();
    case Direction::kGe:
      return TakeReduction<Element, Position, Direction::kGe>(call, window, pattern).run();
    case Direction::kLt:
      return TakeReduction<Element, Position, Direction::kLt>(call, window, pattern).run();
    default:
      return TakeReduction<Element, Position, Direction::kLe>(call, window, pattern).run();
  }
}

// False if the types have no compiled loop.
bool try_take(const KernelCall& call, const Window& window, const RegionPattern& pattern) {
  const ElementType index = call.operands[1].element;
  if (index != ElementType::kSI32 && index != ElementType::kSI64) return false;
  bool done = false;
  visit_element(call.operands[0].element, [&]<class Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Compute>) {
      done = true;
      if (index == ElementType::kSI32) return reduce_take<Element, int32_t>(call, window, pattern);
      reduce_take<Element, int64_t>(call, window, pattern);
    }
  });
  return done;
}

// Rank 0: one output, one tap.
void reduce_scalars(const KernelCall& call) {
  const size_t inputs = call.results.size();
  std::vector<const std::byte*> arguments;
  std::vector<std::byte*> results;
  for (size_t i = 0; i < inputs; ++i) arguments.push_back(call.operands[inputs + i].data);
  for (size_t i = 0; i < inputs; ++i) arguments.push_back(call.operands[i].data);
  for (const View& result : call.results) results.push_back(result.data);
  call.regions[0](arguments.data(), results.data());
}

}  // namespace

void reduce_window_variadic(const KernelCall& call, const Window& window) {
  if (call.results[0].shape.empty()) return reduce_scalars(call);
  const RegionPattern pattern = pattern_of(call, 0);
  if (pattern.kind == RegionPattern::Kind::kTake && try_take(call, window, pattern)) return;
  RegionReduction(call, window).run();
}

}  // namespace tpu::compiler::kernels
