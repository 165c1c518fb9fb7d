// Equality of results as the project promises it: bit for bit, except that any NaN equals any NaN.
#pragma once

#include <string>

#include "emulator/hlo/literal.h"

namespace tpu::hlo::testing {

/// Empty if `actual` has the type and bits of `expected`; otherwise says where they first differ.
/// Any NaN (also as a part of a complex number) equals any NaN; -0 does not equal +0.
std::string difference(const Literal& actual, const Literal& expected);

/// Element `position` for a message: a number, and for floats the bits.
std::string element_text(const Literal& literal, int64_t position);

}  // namespace tpu::hlo::testing
