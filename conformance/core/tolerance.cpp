#include "core/tolerance.h"

#include <cmath>

namespace conformance {

double bound_of(const Element& element, double exact, double spread, const Arithmetic& arithmetic) {
  const double inside = kSafety * spread;
  if (element.kind == Kind::kInteger) return inside;
  // Gradual underflow loses half a subnormal a rounding, flushing loses all below the normals.
  const double underflow =
      arithmetic.flushes_subnormals ? element.min_normal : kRoundings / 2 * element.min_subnormal;
  return kRoundings * element.unit_roundoff * std::abs(exact) + inside + underflow;
}

}  // namespace conformance
