// A combiner region applied to rows of elements: what scatter, reduce_window and
// select_and_scatter spend their time in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// f(accumulator, x) of a one-result region. Common ops on common types run as compiled loops,
/// everything else calls the region element by element; the bits are the same.
class Combiner {
 public:
  Combiner(hlo::ElementType element, const RegionPattern& pattern, RegionFunction region);

  /// accumulator[i * accumulator_stride] = f(that, x[i * x_stride]) for i = 0 .. n - 1, in order.
  /// Strides count elements; an accumulator stride of 0 folds the row into one element.
  void row(std::byte* accumulator, int64_t accumulator_stride, const std::byte* x, int64_t x_stride,
           int64_t n) const;

  /// target[offsets[i]] = f(that, x[i * x_stride]) in order, for offsets within [begin, end).
  void indexed(std::byte* target, const int64_t* offsets, int64_t begin, int64_t end,
               const std::byte* x, int64_t x_stride, int64_t n) const;

  /// A running f: a = f(a, x[i * x_stride]); result[i * result_stride] = a, starting from
  /// a = *init.
  void scan(const std::byte* init, std::byte* result, int64_t result_stride, const std::byte* x,
            int64_t x_stride, int64_t n) const;

  /// True if f is associative and commutative to the bit, so that any order will do.
  bool any_order() const { return any_order_; }
  int width() const { return width_; }

 private:
  using Row = void (*)(std::byte*, int64_t, const std::byte*, int64_t, int64_t);
  using Indexed = void (*)(std::byte*, const int64_t*, int64_t, int64_t, const std::byte*, int64_t,
                           int64_t);
  using Scan = void (*)(const std::byte*, std::byte*, int64_t, const std::byte*, int64_t, int64_t);

  template <class Element, class Op>
  void use();
  template <class Element>
  void choose(hlo::OpKind op);
  void combine_one(std::byte* accumulator, const std::byte* x) const;

  int width_;
  bool any_order_ = false;
  RegionFunction region_;
  Row row_ = nullptr;
  Indexed indexed_ = nullptr;
  Scan scan_ = nullptr;
};

}  // namespace tpu::compiler::kernels
