// Conversions between element types.
#pragma once

#include "emulator/hlo/evaluator/element.h"

namespace tpu::hlo {

/// `x` as the nearest value of `to`.
///   to i1                  x != 0
///   integer to integer     wraps
///   float to integer       truncates toward zero, saturates; NaN gives 0
///   to f32, f64            rounds to nearest even
///   to bf16, f16, fp8      rounds to f32 first, then to the type
///   complex to real        drops the imaginary part (to i1: true if either part is not 0)
Element convert(const Element& x, ElementType to);

/// `x` rounded to a float of `exponent_bits` and `mantissa_bits`: the mantissa rounds to nearest
/// even, then what exceeds the exponent's range becomes infinity and what is below it 0, with
/// the sign kept. A NaN stays one, except that with no mantissa bits it becomes infinity.
Element reduce_precision(const Element& x, int64_t exponent_bits, int64_t mantissa_bits);

Element complex(const Element& real, const Element& imag);
/// Of a real number: itself, and 0.
Element real(const Element& x);
Element imag(const Element& x);

/// Reinterprets bytes. Between widths, the last dimension of the narrower type counts the parts of
/// one wide element, least significant first.
Literal evaluate_bitcast_convert(const Literal& operand, const TensorType& result_type);

}  // namespace tpu::hlo
