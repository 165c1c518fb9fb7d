#include "emulator/compiler/kernels/truth.h"

#include <algorithm>
#include <string>

#include "emulator/base/parallel.h"

namespace tpu::compiler::kernels {
namespace {

// The bits that make an element true: all but the sign of a format that has -0.
uint64_t truth_bits(ElementType element) {
  switch (element) {
    case ElementType::kF8E4M3FN:
    case ElementType::kF8E5M2:
      return 0x7f;
    case ElementType::kBF16:
    case ElementType::kF16:
      return 0x7fff;
    case ElementType::kF32:
      return 0x7fffffff;
    case ElementType::kF64:
    case ElementType::kComplexF64:
      return 0x7fffffffffffffff;
    case ElementType::kComplexF32:
      return 0x7fffffff7fffffff;
    default:
      return ~uint64_t{0};
  }
}

}  // namespace

TrueElements::TrueElements(const ConstView& view) : view_(view), elements_(elements(view)) {
  const int64_t chunks = (elements_ + kChunk - 1) / kChunk;
  first_.assign(static_cast<size_t>(chunks) + 1, 0);
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      first_[static_cast<size_t>(c) + 1] = static_cast<int64_t>(positions_of(c).size());
    }
  });
  for (size_t c = 1; c < first_.size(); ++c) first_[c] += first_[c - 1];
}

void TrueElements::require_count(int64_t expected, std::string_view op) const {
  if (count() == expected) return;
  throw DeviceError(std::string(op) + ": the operand has " + std::to_string(count()) +
                    " true elements, but the result is shaped for " + std::to_string(expected) +
                    "; count them in the same program or just before it");
}

std::vector<int64_t> TrueElements::positions_of(int64_t chunk) const {
  const int64_t begin = chunk * kChunk;
  const int64_t end = std::min(elements_, begin + kChunk);
  std::vector<int64_t> positions(static_cast<size_t>(end - begin));
  size_t found = 0;
  visit_width(hlo::byte_width(view_.element), [&]<class T>(std::type_identity<T>) {
    const uint64_t mask = truth_bits(view_.element);
    const T* data = reinterpret_cast<const T*>(view_.data);
    Odometer<1> at(view_.shape, {view_.strides}, begin);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      bool truth;
      if constexpr (std::is_same_v<T, Wide>) {
        const Wide& value = data[at.offset(0)];
        truth = ((value.part[0] | value.part[1]) & mask) != 0;
      } else {
        truth = (data[at.offset(0)] & static_cast<T>(mask)) != 0;
      }
      positions[found] = i;
      found += truth ? 1 : 0;
    }
  });
  positions.resize(found);
  return positions;
}

void TrueElements::for_each_run(
    const std::function<void(std::span<const int64_t>, int64_t)>& visit) const {
  parallel_for(static_cast<int64_t>(first_.size()) - 1, 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      visit(positions_of(c), first_[static_cast<size_t>(c)]);
    }
  });
}

}  // namespace tpu::compiler::kernels
