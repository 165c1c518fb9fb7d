// Runs one op on its kernel, in random layouts, and on the evaluator, and compares the bits.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "emulator/base/property.h"
#include "emulator/compiler/kernels/kernel.h"
#include "emulator/hlo/builder.h"
#include "emulator/hlo/literal.h"

namespace tpu::compiler::kernels {

using hlo::Dims;
using hlo::ElementType;
using hlo::Literal;
using hlo::OpKind;
using hlo::TensorType;
using tpu::testing::Choices;

/// What random elements are like.
enum class Values : uint8_t {
  kSmall,    ///< integers of -4 .. 4: many ties, exact sums
  kAnything  ///< fractions, zeros of both signs, infinities and NaNs for floats; all of an integer
};
Literal random_literal(Choices& choices, const TensorType& type, Values values);
/// `rank` sizes of 0 or 1 (rarely) to `largest`.
Dims random_shape(Choices& choices, int64_t rank, int64_t largest);
template <class T>
const T& pick(Choices& choices, const std::vector<T>& items) {
  return items[static_cast<size_t>(choices.in(0, static_cast<int64_t>(items.size()) - 1))];
}

/// An array in some layout inside of a guarded buffer.
class LaidOut {
 public:
  /// The literal's elements in a random layout: permuted dimensions, gaps, sometimes dense.
  LaidOut(Choices& choices, const Literal& literal);

  ConstView const_view() const;
  View view();
  /// The elements, dense.
  Literal literal() const;
  /// True if no byte outside of the array changed since construction.
  bool guards_hold() const;

 private:
  std::vector<int64_t> offsets() const;

  TensorType type_;
  Dims strides_;
  std::vector<uint64_t> buffer_;  // words, for alignment
  std::vector<std::byte> before_;
};

/// One op: what is needed to build it, evaluate it and run its kernel.
struct OpCase {
  OpKind kind;
  std::vector<Literal> operands;
  hlo::Attributes attributes = {};
  struct Region {
    std::vector<TensorType> arguments;
    hlo::Builder::Body body;
  };
  std::vector<Region> regions = {};
  std::vector<TensorType> result_types = {};  ///< only where they are not inferred
  /// Result 0 may be the memory of operand 0; then both happen.
  bool may_alias = false;
};

/// Empty if the kernel gives the evaluator's bits, with and without region patterns, in random
/// layouts, and touches nothing else.
std::string difference_from_evaluator(Choices& choices, const OpCase& op);

/// Runs a kernel on operands and results of the given types in random layouts.
std::vector<Literal> run_kernel(Choices& choices, Kernel kernel, std::span<const Literal> operands,
                                const std::vector<TensorType>& results,
                                const hlo::Attributes& attributes = {});

/// Where two literals first differ, NaN equal to NaN; empty if nowhere.
std::string difference(const Literal& actual, const Literal& expected);

}  // namespace tpu::compiler::kernels
