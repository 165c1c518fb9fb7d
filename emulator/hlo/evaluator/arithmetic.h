// Arithmetic, comparison and bit ops on elements (specification, "Ops", elementwise family).
#pragma once

#include <string_view>

#include "emulator/hlo/evaluator/element.h"

namespace tpu::hlo {

// All operands of one type, which is the result's unless said otherwise. On i1, add and maximum
// are `or`, multiply and minimum are `and`. Integers wrap in the type's width.
Element add(const Element& x, const Element& y);
Element subtract(const Element& x, const Element& y);
Element multiply(const Element& x, const Element& y);
/// Integers truncate; x / 0 has all bits set, the minimum / -1 is the minimum.
Element divide(const Element& x, const Element& y);
/// Sign of the dividend; x % 0 is x for integers, NaN for floats.
Element remainder(const Element& x, const Element& y);
/// NaN if either is; -0 is less than +0.
Element maximum(const Element& x, const Element& y);
Element minimum(const Element& x, const Element& y);
/// minimum(maximum(x, low), high).
Element clamp(const Element& low, const Element& x, const Element& high);

/// x to the power y for integers, by repeated squaring. A negative y gives 1 for x = 1, +-1 for
/// x = -1 and otherwise 0.
Element integer_power(const Element& x, const Element& y);

Element negate(const Element& x);
/// |x|; of a complex number its modulus, in the real type.
Element abs(const Element& x);
/// -1, 0 or 1; of a float NaN and the zeros themselves; of a complex number x / |x|, or 0.
Element sign(const Element& x);
Element ceil(const Element& x);
Element floor(const Element& x);
Element round_nearest_afz(const Element& x);
Element round_nearest_even(const Element& x);
/// i1.
Element is_finite(const Element& x);

Element and_(const Element& x, const Element& y);
Element or_(const Element& x, const Element& y);
Element xor_(const Element& x, const Element& y);
Element not_(const Element& x);
/// A count (taken as unsigned) of the width or more gives 0, or copies of the sign.
Element shift_left(const Element& x, const Element& count);
Element shift_right_logical(const Element& x, const Element& count);
Element shift_right_arithmetic(const Element& x, const Element& count);
Element popcnt(const Element& x);
Element count_leading_zeros(const Element& x);

/// Compares by `direction` (EQ, NE, GE, GT, LE, LT). `compare_type` matters for floats: under
/// TOTALORDER -inf < ... < -0 < +0 < ... < +inf < NaN, where every NaN is the same. (Hosts disagree
/// about the sign of a NaN that arithmetic makes, so it must not decide an order.)
bool compare(const Element& x, const Element& y, std::string_view direction,
             std::string_view compare_type);

}  // namespace tpu::hlo
