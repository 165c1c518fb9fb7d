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
    /// Of values with their positions (arguments v, p, x, q): results select(t, x, v) and
    /// select(t, q, p), where t is true if x compares to v as `direction` says, or `take_nan` and
    /// x is NaN, or `take_first` and p is negative.
    kTake,
  };
  enum class Direction : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };

  Kind kind = Kind::kGeneral;
  hlo::OpKind op = hlo::OpKind::kReturn;  ///< of kBinary

  // Of kCompare and kTake.
  Direction direction = Direction::kLt;
  // Of kCompare.
  /// Floats compare by TOTALORDER, -inf < ... < -0 < +0 < ... < +inf < NaN, all NaNs equal;
  /// otherwise as IEEE 754 compares: false on NaN, -0 equals +0.
  bool total_order = false;
  bool canonical_zero = false;  ///< -0 becomes +0 before the comparison
  bool canonical_nan = false;   ///< every NaN becomes the same NaN before it
  int32_t pair = 0;
  // Of kTake.
  bool take_nan = false;
  bool take_first = false;

  bool operator==(const RegionPattern&) const = default;
};

/// The pattern of a region. The compiler calls it for every region of an op that goes to the
/// kernel library and passes the answers as `KernelCall::region_patterns`. Recognises, beside the
/// plain forms, commutative ops and comparisons whose arguments are swapped, and comparators
/// that make zeros and NaNs canonical first: y = select(compare EQ x 0, 0, x) and
/// select(compare NE x x, nan, y), either or both; or that add "or y is NaN and x is not" (for
/// GT, "x is NaN and y is not") to an IEEE comparison, which is the same order.
RegionPattern recognise_region(const hlo::Block& region);

}  // namespace tpu::compiler
