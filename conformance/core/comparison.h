// A result beside its reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/tolerance.h"

namespace conformance {

struct Comparison {
  /// The largest error over its bound: above 1 the result is wrong; infinity for a NaN or an
  /// infinity that should not be there, or one that is missing.
  double margin = 0;
  int64_t worst = -1;    ///< where; -1 if nothing differs
  std::string note;      ///< what was got and expected there; empty if nothing differs
  int64_t unjudged = 0;  ///< components whose spread has no bound: nothing can be said of them
  int64_t components = 0;
};

/// Real results: `spread` is empty (0 everywhere) or as long as the others.
Comparison compare_reals(const Element& element, std::span<const double> got,
                         std::span<const double> exact, std::span<const double> spread,
                         const Arithmetic& arithmetic = {});

/// Complex results, real and imaginary parts in turn; `spread` has one number for each pair.
Comparison compare_complex(const Element& element, std::span<const double> got,
                           std::span<const double> exact, std::span<const double> spread,
                           const Arithmetic& arithmetic = {});

/// Integers and bools, as int64 (uint64 by its bits): equal, unless a spread says otherwise.
Comparison compare_integers(std::span<const int64_t> got, std::span<const int64_t> exact,
                            std::span<const double> spread);

}  // namespace conformance
