// The largest error of an elementary function over many arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "emulator/tensorcore/vpu/elementary_function.h"

namespace tpu::tensorcore {

struct Measurement {
  double max_ulp = 0.0;
  double worst_x = 0.0;  ///< where it was found
  double worst_y = 0.0;  ///< the second argument, if there is one
  int64_t count = 0;     ///< arguments tried
};

/// The scalar form's result.
float evaluate(ElementaryFunction function, float x, float y);
double evaluate(ElementaryFunction function, double x, double y);

/// All 65,536 bfloat16 arguments of a function of one argument; for two, pairs of them. The error
/// is that of the result rounded to bfloat16, in bfloat16's units.
Measurement measure_bf16(ElementaryFunction function, uint64_t seed);

/// floats at a stride through all bit patterns (for two arguments: random pairs), against a double
/// that is precise beyond 2^-40: the C library's, or MPFR's where that has no such function.
Measurement measure_f32(ElementaryFunction function, uint64_t seed, int64_t count);

/// Random doubles of several distributions against MPFR.
Measurement measure_f64(ElementaryFunction function, uint64_t seed, int64_t count);

}  // namespace tpu::tensorcore
