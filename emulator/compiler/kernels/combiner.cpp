#include "emulator/compiler/kernels/combiner.h"

#include <cstring>
#include <type_traits>

#include "emulator/compiler/kernels/scalar_ops.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

template <class T>
T* cast(std::byte* data) {
  return reinterpret_cast<T*>(data);
}
template <class T>
const T* cast(const std::byte* data) {
  return reinterpret_cast<const T*>(data);
}

template <class Element, class Op>
typename Element::Storage combined(typename Element::Storage a, typename Element::Storage x) {
  return Element::store(Op::apply(Element::load(a), Element::load(x)));
}

template <class Element, class Op>
void fold_row(std::byte* accumulator, const std::byte* x, int64_t x_stride, int64_t n) {
  using T = typename Element::Storage;
  T a = *cast<T>(accumulator);
  for (int64_t i = 0; i < n; ++i) a = combined<Element, Op>(a, cast<T>(x)[i * x_stride]);
  *cast<T>(accumulator) = a;
}

template <class Element, class Op>
void combine_row(std::byte* accumulator, int64_t accumulator_stride, const std::byte* x,
                 int64_t x_stride, int64_t n) {
  using T = typename Element::Storage;
  T* __restrict a = cast<T>(accumulator);
  const T* __restrict b = cast<T>(x);
  if (accumulator_stride == 0) {
    fold_row<Element, Op>(accumulator, x, x_stride, n);
  } else if (accumulator_stride == 1 && x_stride == 1) {
    for (int64_t i = 0; i < n; ++i) a[i] = combined<Element, Op>(a[i], b[i]);
  } else if (accumulator_stride == 1 && x_stride == 2) {  // pooling's usual stride, as vectors
    for (int64_t i = 0; i < n; ++i) a[i] = combined<Element, Op>(a[i], b[2 * i]);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      T& to = a[i * accumulator_stride];
      to = combined<Element, Op>(to, b[i * x_stride]);
    }
  }
}

template <class Element, class Op>
void combine_indexed(std::byte* target, const int64_t* offsets, int64_t begin, int64_t end,
                     const std::byte* x, int64_t x_stride, int64_t n) {
  using T = typename Element::Storage;
  for (int64_t i = 0; i < n; ++i) {
    if (offsets[i] < begin || offsets[i] >= end) continue;
    T& to = cast<T>(target)[offsets[i]];
    to = combined<Element, Op>(to, cast<T>(x)[i * x_stride]);
  }
}

template <class Element, class Op>
void scan_row(const std::byte* init, std::byte* result, int64_t result_stride, const std::byte* x,
              int64_t x_stride, int64_t n) {
  using T = typename Element::Storage;
  T a = *cast<T>(init);
  for (int64_t i = 0; i < n; ++i) {
    a = combined<Element, Op>(a, cast<T>(x)[i * x_stride]);
    cast<T>(result)[i * result_stride] = a;
  }
}

// The region that returns its second argument: moves storage whatever it means.
template <class T>
struct MovedElement {
  using Storage = T;
  using Compute = T;
  static T load(T value) { return value; }
  static T store(T value) { return value; }
};
template <class Element>
struct SecondOp {
  using T = typename Element::Compute;
  static T apply(T, T x) { return x; }
};

}  // namespace

template <class Element, class Op>
void Combiner::use() {
  row_ = combine_row<Element, Op>;
  indexed_ = combine_indexed<Element, Op>;
  scan_ = scan_row<Element, Op>;
}

template <class Element>
void Combiner::choose(hlo::OpKind op) {
  using T = typename Element::Compute;
  using hlo::OpKind;
  constexpr bool kInteger = std::is_integral_v<T>;
  any_order_ = kInteger;
  switch (op) {
    case OpKind::kAdd:
      return use<Element, AddOp<Element>>();
    case OpKind::kMultiply:
      return use<Element, MultiplyOp<Element>>();
    default:
      break;
  }
  if constexpr (!kIsComplex<T>) {
    any_order_ = true;
    if (op == OpKind::kMaximum) return use<Element, MaximumOp<Element>>();
    if (op == OpKind::kMinimum) return use<Element, MinimumOp<Element>>();
  }
  if constexpr (kInteger) {
    if (op == OpKind::kAnd) return use<Element, AndOp<Element>>();
    if (op == OpKind::kOr) return use<Element, OrOp<Element>>();
    if (op == OpKind::kXor) return use<Element, XorOp<Element>>();
  }
  any_order_ = false;
}

Combiner::Combiner(hlo::ElementType element, const RegionPattern& pattern, RegionFunction region)
    : width_(hlo::byte_width(element)), region_(region) {
  if (pattern.kind == RegionPattern::Kind::kSecond) {
    visit_width(width_, [this]<class T>(std::type_identity<T>) {
      use<MovedElement<T>, SecondOp<MovedElement<T>>>();
    });
  } else if (pattern.kind == RegionPattern::Kind::kBinary) {
    visit_element(element, [&]<class Element>(Element) { choose<Element>(pattern.op); });
  }
  if (!row_ && !region_) throw InvalidArgument("a kernel with a combiner got no region function");
}

void Combiner::combine_one(std::byte* accumulator, const std::byte* x) const {
  alignas(16) std::byte value[16];
  const std::byte* arguments[] = {accumulator, x};
  std::byte* results[] = {value};
  region_(arguments, results);
  std::memcpy(accumulator, value, static_cast<size_t>(width_));
}

void Combiner::row(std::byte* accumulator, int64_t accumulator_stride, const std::byte* x,
                   int64_t x_stride, int64_t n) const {
  if (row_) return row_(accumulator, accumulator_stride, x, x_stride, n);
  for (int64_t i = 0; i < n; ++i) {
    combine_one(accumulator + i * accumulator_stride * width_, x + i * x_stride * width_);
  }
}

void Combiner::indexed(std::byte* target, const int64_t* offsets, int64_t begin, int64_t end,
                       const std::byte* x, int64_t x_stride, int64_t n) const {
  if (indexed_) return indexed_(target, offsets, begin, end, x, x_stride, n);
  for (int64_t i = 0; i < n; ++i) {
    if (offsets[i] < begin || offsets[i] >= end) continue;
    combine_one(target + offsets[i] * width_, x + i * x_stride * width_);
  }
}

void Combiner::scan(const std::byte* init, std::byte* result, int64_t result_stride,
                    const std::byte* x, int64_t x_stride, int64_t n) const {
  if (scan_) return scan_(init, result, result_stride, x, x_stride, n);
  const std::byte* previous = init;
  for (int64_t i = 0; i < n; ++i) {
    std::byte* to = result + i * result_stride * width_;
    std::memcpy(to, previous, static_cast<size_t>(width_));
    combine_one(to, x + i * x_stride * width_);
    previous = to;
  }
}

}  // namespace tpu::compiler::kernels
