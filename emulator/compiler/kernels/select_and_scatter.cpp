#include "emulator/compiler/kernels/select_and_scatter.h"

#include <algorithm>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/scalar_ops.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/compiler/kernels/window.h"

namespace tpu::compiler::kernels {
namespace {

using Direction = RegionPattern::Direction;

// select(selected, candidate): true keeps what was selected.
using Keeps = bool (*)(const std::byte* selected, const std::byte* candidate,
                       RegionFunction region);

bool keeps_by_region(const std::byte* selected, const std::byte* candidate, RegionFunction region) {
  const std::byte* arguments[] = {selected, candidate};
  std::byte value{0};
  std::byte* results[] = {&value};
  region(arguments, results);
  return value != std::byte{0};
}

template <class Element, Direction kDirection>
bool keeps_by_compare(const std::byte* selected, const std::byte* candidate, RegionFunction) {
  using T = typename Element::Storage;
  const auto a = Element::load(*reinterpret_cast<const T*>(selected));
  const auto b = Element::load(*reinterpret_cast<const T*>(candidate));
  if constexpr (kDirection == Direction::kGe) {
    return a >= b;
  } else if constexpr (kDirection == Direction::kLe) {
    return a <= b;
  } else if constexpr (kDirection == Direction::kGt) {
    return a > b;
  } else {
    return a < b;
  }
}

Keeps choose_keeps(ElementType element, const RegionPattern& pattern) {
  Keeps keeps = keeps_by_region;
  if (pattern.kind != RegionPattern::Kind::kCompare || pattern.total_order ||
      pattern.canonical_nan) {
    return keeps;
  }
  visit_element(element, [&]<class Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Compute>) {
      if (pattern.direction == Direction::kGe) keeps = keeps_by_compare<Element, Direction::kGe>;
      if (pattern.direction == Direction::kLe) keeps = keeps_by_compare<Element, Direction::kLe>;
      if (pattern.direction == Direction::kGt) keeps = keeps_by_compare<Element, Direction::kGt>;
      if (pattern.direction == Direction::kLt) keeps = keeps_by_compare<Element, Direction::kLt>;
    }
  });
  return keeps;
}

class SelectScatter {
 public:
  explicit SelectScatter(const KernelCall& call)
      : operand_(call.operands[0]),
        source_(call.operands[1]),
        result_(call.results[0]),
        window_(call.attributes, result_.shape.size()),
        combiner_(result_.element, pattern_of(call, 1),
                  call.regions.size() > 1 ? call.regions[1] : nullptr),
        select_(call.regions.empty() ? nullptr : call.regions[0]),
        keeps_(choose_keeps(operand_.element, pattern_of(call, 0))),
        width_(combiner_.width()) {
    // Leading dimensions without a window hold independent planes.
    while (planes_ < result_.shape.size() && window_.size[planes_] == 1 &&
           window_.stride[planes_] == 1 && window_.low[planes_] == 0 &&
           window_.high[planes_] == 0) {
      ++planes_;
    }
  }

  void run() const {
    const auto outer = result_.shape.first(planes_);
    const auto strides = [this](std::span<const int64_t> all) { return all.first(planes_); };
    const int64_t work = std::max<int64_t>(
        1, hlo::num_elements(source_.shape.subspan(planes_)) * hlo::num_elements(window_.size));
    const int64_t grain = std::max<int64_t>(1, 8192 / work);
    parallel_for(hlo::num_elements(outer), grain, [&](int64_t begin, int64_t end) {
      Odometer<3> plane(
          outer, {strides(operand_.strides), strides(source_.strides), strides(result_.strides)},
          begin);
      for (int64_t i = begin; i < end; ++i, plane.next()) {
        run_plane(operand_.data + plane.offset(0) * width_, source_.data + plane.offset(1) * width_,
                  result_.data + plane.offset(2) * width_);
      }
    });
  }

 private:
  void run_plane(const std::byte* operand, const std::byte* source, std::byte* result) const {
    const auto shape = source_.shape.subspan(planes_);
    const auto strides = source_.strides.subspan(planes_);
    const int64_t count = hlo::num_elements(shape);
    Odometer<1> at(shape, {strides});
    for (int64_t i = 0; i < count; ++i, at.next()) {
      const int64_t target = select(at.index(), operand);
      if (target >= 0) {
        combiner_.row(result + target * width_, 0, source + at.offset(0) * width_, 0, 1);
      }
    }
  }

  // The result offset of the element selected from the window of source index `index`; -1 if the
  // window has no element.
  int64_t select(const Dims& index, const std::byte* operand) const {
    const auto size = std::span(window_.size).subspan(planes_);
    const std::span<const int64_t> no_strides = zeros_;
    const int64_t taps = hlo::num_elements(size);
    const std::byte* selected = nullptr;
    int64_t target = -1;
    Odometer<1> tap(size, {no_strides.first(size.size())});
    for (int64_t t = 0; t < taps; ++t, tap.next()) {
      int64_t from = 0, to = 0;
      bool inside = true;
      for (size_t i = 0; i < size.size() && inside; ++i) {
        const size_t d = planes_ + i;
        const int64_t at = window_.position(d, index[i], tap.index()[i], operand_.shape[d]);
        inside = at >= 0;
        from += at * operand_.strides[d];
        to += at * result_.strides[d];
      }
      if (!inside) continue;
      const std::byte* candidate = operand + from * width_;
      if (selected && keeps_(selected, candidate, select_)) continue;
      selected = candidate;
      target = to;
    }
    return target;
  }

  const ConstView& operand_;
  const ConstView& source_;
  const View& result_;
  Window window_;
  Combiner combiner_;
  RegionFunction select_;
  Keeps keeps_;
  int64_t width_;
  size_t planes_ = 0;
  Dims zeros_ = Dims(result_.shape.size(), 0);
};

}  // namespace

void select_and_scatter(const KernelCall& call) {
  fill(call.operands[2].data, call.results[0]);
  if (elements(call.operands[1]) == 0 || elements(call.results[0]) == 0) return;
  SelectScatter(call).run();
}

}  // namespace tpu::compiler::kernels
