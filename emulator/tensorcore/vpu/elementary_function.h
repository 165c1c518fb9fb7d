// The list of elementary functions and what is promised of each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tpu::tensorcore {

enum class ElementaryFunction : uint8_t {
  // Of one argument.
  kExp,
  kExp2,
  kExpm1,
  kLogistic,
  kLog,
  kLog1p,
  kLog2,
  kLog10,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kErfc,
  kErfInv,
  kSqrt,
  kRsqrt,
  kCbrt,
  kLgamma,
  kDigamma,
  // Of two.
  kPow,
  kAtan2,
  kHypot,
};

/// What f(-x) is, to the bit.
enum class Symmetry : uint8_t { kNone, kOdd, kEven };

/// What is promised of a function. Errors are in units in the last place of the correctly rounded
/// result's binade, over all finite arguments, subnormal ones included, and hold in every mode and
/// on every host.
struct ElementaryFunctionInfo {
  ElementaryFunction function;
  std::string_view name;      ///< such as "exp"
  std::string_view hlo_name;  ///< StableHLO or CHLO operation, empty if there is none
  int arguments;
  double max_ulp_f32;
  double max_ulp_f64;  ///< for arguments from `least_f64` on
  Symmetry symmetry = Symmetry::kNone;
  /// Below it the double result has no bound in ULP: near the zeros of lgamma and digamma between
  /// the negative poles, terms cancel that double cannot hold precisely enough.
  double least_f64 = -std::numeric_limits<double>::infinity();
};

inline constexpr std::array kElementaryFunctions = {
    ElementaryFunctionInfo{ElementaryFunction::kExp, "exp", "stablehlo.exponential", 1, 1, 1},
    ElementaryFunctionInfo{ElementaryFunction::kExp2, "exp2", "", 1, 1, 1},
    ElementaryFunctionInfo{ElementaryFunction::kExpm1, "expm1", "stablehlo.exponential_minus_one",
                           1, 1.5, 2},
    ElementaryFunctionInfo{ElementaryFunction::kLogistic, "logistic", "stablehlo.logistic", 1, 2,
                           2},
    ElementaryFunctionInfo{ElementaryFunction::kLog, "log", "stablehlo.log", 1, 1, 1},
    ElementaryFunctionInfo{ElementaryFunction::kLog1p, "log1p", "stablehlo.log_plus_one", 1, 1.5,
                           1},
    ElementaryFunctionInfo{ElementaryFunction::kLog2, "log2", "", 1, 0.51, 2},
    ElementaryFunctionInfo{ElementaryFunction::kLog10, "log10", "", 1, 0.51, 2},
    ElementaryFunctionInfo{ElementaryFunction::kSin, "sin", "stablehlo.sine", 1, 0.51, 1,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kCos, "cos", "stablehlo.cosine", 1, 0.51, 1,
                           Symmetry::kEven},
    ElementaryFunctionInfo{ElementaryFunction::kTan, "tan", "stablehlo.tan", 1, 0.51, 2.5,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kAsin, "asin", "chlo.asin", 1, 0.51, 1,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kAcos, "acos", "chlo.acos", 1, 0.51, 1},
    ElementaryFunctionInfo{ElementaryFunction::kAtan, "atan", "chlo.atan", 1, 0.51, 2,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kSinh, "sinh", "chlo.sinh", 1, 0.51, 2.5,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kCosh, "cosh", "chlo.cosh", 1, 0.51, 2,
                           Symmetry::kEven},
    ElementaryFunctionInfo{ElementaryFunction::kTanh, "tanh", "stablehlo.tanh", 1, 2, 2,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kAsinh, "asinh", "chlo.asinh", 1, 0.51, 2,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kAcosh, "acosh", "chlo.acosh", 1, 0.51, 3},
    ElementaryFunctionInfo{ElementaryFunction::kAtanh, "atanh", "chlo.atanh", 1, 0.51, 2,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kErf, "erf", "chlo.erf", 1, 2, 2, Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kErfc, "erfc", "chlo.erfc", 1, 0.51, 4},
    ElementaryFunctionInfo{ElementaryFunction::kErfInv, "erf_inv", "chlo.erf_inv", 1, 0.51, 4,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kSqrt, "sqrt", "stablehlo.sqrt", 1, 0.5, 0.5},
    ElementaryFunctionInfo{ElementaryFunction::kRsqrt, "rsqrt", "stablehlo.rsqrt", 1, 1.5, 1.5},
    ElementaryFunctionInfo{ElementaryFunction::kCbrt, "cbrt", "stablehlo.cbrt", 1, 0.51, 1,
                           Symmetry::kOdd},
    ElementaryFunctionInfo{ElementaryFunction::kLgamma, "lgamma", "chlo.lgamma", 1, 0.51, 3,
                           Symmetry::kNone, 0},
    ElementaryFunctionInfo{ElementaryFunction::kDigamma, "digamma", "chlo.digamma", 1, 0.51, 4,
                           Symmetry::kNone, 0},
    ElementaryFunctionInfo{ElementaryFunction::kPow, "pow", "stablehlo.power", 2, 0.51, 1},
    ElementaryFunctionInfo{ElementaryFunction::kAtan2, "atan2", "stablehlo.atan2", 2, 0.51, 2},
    ElementaryFunctionInfo{ElementaryFunction::kHypot, "hypot", "", 2, 0.51, 1},
};

/// The row of a function.
constexpr const ElementaryFunctionInfo& info(ElementaryFunction function) {
  return kElementaryFunctions[static_cast<size_t>(function)];
}

/// The function called `name`, if there is one.
constexpr std::optional<ElementaryFunction> find_elementary_function(std::string_view name) {
  for (const auto& row : kElementaryFunctions) {
    if (row.name == name) return row.function;
  }
  return std::nullopt;
}

}  // namespace tpu::tensorcore
