// What decides the bits of a matrix product: element types, passes, splitting and chunk depth.
//
// The declared order. The contraction index k = 0..K-1 is cut into chunks of `depth` (the MXU's
// depth, ChipSpec::mxu_depth: 128 or 256). For each chunk in ascending order and each pass,
//
//     acc = +0;  for k in the chunk, ascending:  acc = acc + lhs_part[k] * rhs_part[k]
//     total = total + acc                                     (total starts at +0)
//
// in float32, where the product is rounded to float32 before it is added (for parts that are
// bf16 or f16 numbers that rounding changes a product only below 2^-126 or above 2^128; everywhere
// else a fused multiply-add gives the same bits). The result is `total`, rounded once to its type.
//
// | operands     | arithmetic | parts of an operand            | passes, in order (lhs, rhs)    |
// |--------------|------------|--------------------------------|--------------------------------|
// | f32, DEFAULT | f32        | h                              | hh                             |
// | f32, HIGH    | f32        | h, m                           | mh hm hh                       |
// | f32, HIGHEST | f32        | h, m, l                        | lh mm hl mh hm hh              |
// | bf16 f16 fp8 | f32        | the number itself              | one                            |
// | f64          | f64        | the number itself              | one                            |
// | integers     | wrapping   | the number, in the result type | one (any order gives the same) |
// | i1           | and, or    |                                | one                            |
//
// h = bf16(x), m = bf16(x - h), l = bf16(x - h - m), each rounded to nearest even; where h is an
// infinity or NaN, m = l = 0. Where only one operand is f32, the other is widened to f32 first.
// complex<f32> is four real products of HIGHEST
// precision, complex<f64> four of f64: re = (re*re) - (im*im), im = (re*im) + (im*re), each bracket
// a product of its own.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/types.h"

namespace tpu::tensorcore {

/// StableHLO's precision of a product of f32 operands; the value is the number of bf16 passes.
enum class Precision : uint8_t { kDefault = 1, kHigh = 3, kHighest = 6 };

/// The higher of the precisions that `precision_config` lists; DEFAULT if there is none.
/// Throws InvalidArgument for a name that is not DEFAULT, HIGH or HIGHEST.
Precision precision_of(const hlo::Attributes& attributes);

/// Which part (0 = h, 1 = m, 2 = l) of each operand a pass multiplies.
struct Pass {
  int lhs_part;
  int rhs_part;
};

/// The passes of one product, in the order in which their chunk sums are added to the total.
struct PassPlan {
  bool splits = false;  ///< operands are f32, or widened to it, and split into bf16 parts
  int parts = 1;        ///< of each operand
  std::span<const Pass> passes;
};

/// The plan for operands of these types; `asked` matters where one is f32 or complex<f32>, and the
/// latter always takes HIGHEST.
PassPlan plan_passes(Precision asked, hlo::ElementType lhs, hlo::ElementType rhs);

/// h, m and l of `x`.
std::array<float, 3> split_bf16(float x);

/// How elements are multiplied and added.
enum class Arithmetic : uint8_t { kF32, kF64, kInteger, kBoolean, kComplexF32, kComplexF64 };

/// The arithmetic of a product, from its operand and result types. Throws InvalidArgument for
/// types that do not go together (an integer with a float).
Arithmetic arithmetic_of(hlo::ElementType lhs, hlo::ElementType rhs, hlo::ElementType result);

}  // namespace tpu::tensorcore
