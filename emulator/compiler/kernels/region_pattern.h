// Regions simple enough that a kernel need not call them: what `recognise_region` finds.
#pragma once

#include <cstdint>

#include "emulator/hlo/ir.h"

namespace tpu::compiler {

/// How a region's result follows from its arguments. Trivially copyable, so that an executable's
/// image can hold it.
struct RegionPattern {
  enum class Kind : uint8_t {
    kGeneral,  ///< anything else: call the RegionFunction
    kFirst,    ///< result i is argument i (a combiner that keeps what was there)
    kSecond,   ///< result i is argument i + n, of 2n arguments (a scatter that assigns)
    kBinary,   ///< the only result is `op(argument 0, argument 1)`
    kCompare,  ///< the only result compares arguments 2 * pair and 2 * pair + 1, in that order
  };
  enum class Direction : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };

  Kind kind = Kind::kGeneral;
  hlo::OpKind op = hlo::OpKind::kReturn;  ///< of kBinary

  // Of kCompare.
  Direction direction = Direction::kLt;
  /// Floats compare by totalOrder (-NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN); otherwise as
  /// IEEE 754 compares: false on NaN, -0 equals +0.
  bool total_order = false;
  bool canonical_zero = false;  ///< -0 becomes +0 before the comparison
  bool canonical_nan = false;   ///< every NaN becomes the positive quiet NaN before it
  int32_t pair = 0;

  bool operator==(const RegionPattern&) const = default;
};

/// The pattern of a region. The compiler calls it for every region of an op that goes to the
/// kernel library and passes the answers as `KernelCall::region_patterns`. Recognises, beside the
/// plain forms, commutative ops and comparisons whose arguments are swapped, and comparators
/// that make zeros and NaNs canonical first: y = select(compare EQ x 0, 0, x) and
/// select(compare NE x x, nan, y), either or both.
RegionPattern recognise_region(const hlo::Block& region);

}  // namespace tpu::compiler
