// Correct values of elementary functions, by MPFR, and errors against them.
#pragma once

#include "emulator/tensorcore/vpu/elementary_function.h"

namespace tpu::tensorcore {

/// f(x) or f(x, y) rounded to the nearest double.
double reference(ElementaryFunction function, double x, double y = 0.0);

/// How far `got` is from f(x) (or f(x, y)), in units in the last place that the exact result has in
/// T. Infinite if one is NaN and the other is not, if a zero or an infinity has the wrong sign, or
/// if `got` is infinite and the result is below the overflow threshold. T is float or double.
template <typename T>
double ulp_error(ElementaryFunction function, T got, T x, T y = T{0});

/// The same against a value that is precise beyond T. For float.
double ulp_error(float got, double exact);

}  // namespace tpu::tensorcore
