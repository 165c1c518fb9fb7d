// How far a result may lie from its reference: the rule, in one place. docs/tolerances.md derives
// it.
#pragma once

#include "core/element.h"

namespace conformance {

/// What one rounding of the result, and the last few operations before it, may cost: in units of
/// `unit_roundoff * |reference|`. Two units are at most one ULP, so this is four ULP: what OpenCL
/// allows for its less accurate elementary functions (OpenCL C 3.0, table "ULP values").
inline constexpr double kRoundings = 8;

/// Bound over spread. The spread is the largest of a few random draws of the rounding errors inside
/// of an operator; the errors of an implementation are another draw, of other operations.
inline constexpr double kSafety = 8;

/// What a device says of its arithmetic.
struct Arithmetic {
  bool flushes_subnormals = false;
};

/// The widest |result - reference| that is right for one real component.
///   exact      the reference in float64; its modulus for a complex number
///   spread     how far rounding errors inside of the operator move it, estimated; 0 or more
/// For an integer result the spread alone counts: it is 0 unless an error can change the integer.
double bound_of(const Element& element, double exact, double spread, const Arithmetic& arithmetic);

}  // namespace conformance
