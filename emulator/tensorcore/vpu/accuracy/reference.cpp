#include "emulator/tensorcore/vpu/accuracy/reference.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tpu::tensorcore {
namespace {

constexpr mpfr_prec_t kPrecision = 160;
constexpr mpfr_rnd_t kNearest = MPFR_RNDN;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// An MPFR number that frees itself.
class Real {
 public:
  Real() { mpfr_init2(value_, kPrecision); }
  explicit Real(double value) : Real() { mpfr_set_d(value_, value, kNearest); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

/// 1 / (1 + e^-x).
void logistic(mpfr_ptr result, mpfr_ptr x) {
  mpfr_neg(result, x, kNearest);
  mpfr_exp(result, result, kNearest);
  mpfr_add_ui(result, result, 1, kNearest);
  mpfr_ui_div(result, 1, result, kNearest);
}

/// IEEE 754's rSqrt, which differs from MPFR's for -0.
void rsqrt(mpfr_ptr result, mpfr_ptr x) {
  mpfr_rec_sqrt(result, x, kNearest);
  if (mpfr_zero_p(x)) mpfr_set_inf(result, mpfr_signbit(x) ? -1 : 1);
}

/// Newton's method on erfc from a rough formula.
void erf_inv(mpfr_ptr result, mpfr_ptr x) {
  if (mpfr_nan_p(x) || mpfr_cmpabs_ui(x, 1) > 0) return mpfr_set_nan(result);
  const int sign = mpfr_signbit(x) ? -1 : 1;
  if (mpfr_cmpabs_ui(x, 1) == 0) return mpfr_set_inf(result, sign);
  if (mpfr_zero_p(x)) {
    mpfr_set(result, x, kNearest);
    return;
  }
  Real a, y, step, slope, complement;
  mpfr_abs(a, x, kNearest);
  mpfr_ui_sub(complement, 1, a, kNearest);
  // Winitzki's approximation, good to 1/300: sqrt(sqrt(b^2 - l / c) - b) with
  // l = log(1 - a^2), c = 0.147, b = 2 / (pi c) + l / 2.
  mpfr_add_ui(step, a, 1, kNearest);
  mpfr_mul(step, step, complement, kNearest);
  mpfr_log(step, step, kNearest);
  const double l = mpfr_get_d(step, kNearest);
  constexpr double c = 0.147;
  const double b = 2 / (M_PI * c) + l / 2;
  if (l > -1e-8) {
    mpfr_mul_d(y, a, 0.8862269254527580, kNearest);
  } else {
    mpfr_set_d(y, std::sqrt(std::sqrt(b * b - l / c) - b), kNearest);
  }
  const bool small = mpfr_cmp_d(a, 0.5) < 0;
  for (int i = 0; i < 7; ++i) {
    if (small) {
      mpfr_erf(step, y, kNearest);
      mpfr_sub(step, step, a, kNearest);
    } else {
      mpfr_erfc(step, y, kNearest);
      mpfr_sub(step, complement, step, kNearest);
    }
    mpfr_sqr(slope, y, kNearest);
    mpfr_exp(slope, slope, kNearest);
    mpfr_mul(step, step, slope, kNearest);
    mpfr_const_pi(slope, kNearest);
    mpfr_sqrt(slope, slope, kNearest);
    mpfr_div_2ui(slope, slope, 1, kNearest);
    mpfr_mul(step, step, slope, kNearest);
    mpfr_sub(y, y, step, kNearest);
    if (mpfr_zero_p(step) || mpfr_get_exp(step) < mpfr_get_exp(y) - 120) break;
  }
  mpfr_mul_si(result, y, sign, kNearest);
}

void evaluate(ElementaryFunction function, mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) {
  using enum ElementaryFunction;
  int sign;
  switch (function) {
    case kExp:
      mpfr_exp(result, x, kNearest);
      return;
    case kExp2:
      mpfr_exp2(result, x, kNearest);
      return;
    case kExpm1:
      mpfr_expm1(result, x, kNearest);
      return;
    case kLogistic:
      logistic(result, x);
      return;
    case kLog:
      mpfr_log(result, x, kNearest);
      return;
    case kLog1p:
      mpfr_log1p(result, x, kNearest);
      return;
    case kLog2:
      mpfr_log2(result, x, kNearest);
      return;
    case kLog10:
      mpfr_log10(result, x, kNearest);
      return;
    case kSin:
      mpfr_sin(result, x, kNearest);
      return;
    case kCos:
      mpfr_cos(result, x, kNearest);
      return;
    case kTan:
      mpfr_tan(result, x, kNearest);
      return;
    case kAsin:
      mpfr_asin(result, x, kNearest);
      return;
    case kAcos:
      mpfr_acos(result, x, kNearest);
      return;
    case kAtan:
      mpfr_atan(result, x, kNearest);
      return;
    case kSinh:
      mpfr_sinh(result, x, kNearest);
      return;
    case kCosh:
      mpfr_cosh(result, x, kNearest);
      return;
    case kTanh:
      mpfr_tanh(result, x, kNearest);
      return;
    case kAsinh:
      mpfr_asinh(result, x, kNearest);
      return;
    case kAcosh:
      mpfr_acosh(result, x, kNearest);
      return;
    case kAtanh:
      mpfr_atanh(result, x, kNearest);
      return;
    case kErf:
      mpfr_erf(result, x, kNearest);
      return;
    case kErfc:
      mpfr_erfc(result, x, kNearest);
      return;
    case kErfInv:
      erf_inv(result, x);
      return;
    case kSqrt:
      mpfr_sqrt(result, x, kNearest);
      return;
    case kRsqrt:
      rsqrt(result, x);
      return;
    case kCbrt:
      mpfr_cbrt(result, x, kNearest);
      return;
    case kLgamma:
      mpfr_lgamma(result, &sign, x, kNearest);
      return;
    case kDigamma:
      mpfr_digamma(result, x, kNearest);
      return;
    case kPow:
      mpfr_pow(result, x, y, kNearest);
      return;
    case kAtan2:
      mpfr_atan2(result, x, y, kNearest);
      return;
    case kHypot:
      mpfr_hypot(result, x, y, kNearest);
      return;
  }
}

/// |got - exact| in units of T's last place at `exact`.
template <typename T>
double error_of(T got, mpfr_ptr exact) {
  using Limits = std::numeric_limits<T>;
  if (mpfr_nan_p(exact) || std::isnan(got)) {
    return mpfr_nan_p(exact) && std::isnan(got) ? 0.0 : kInfinite;
  }
  const bool sign = mpfr_signbit(exact) != 0;
  if (mpfr_inf_p(exact)) return std::isinf(got) && std::signbit(got) == sign ? 0.0 : kInfinite;
  if (mpfr_zero_p(exact)) return got == T{0} && std::signbit(got) == sign ? 0.0 : kInfinite;
  if (got == T{0} && std::signbit(got) != sign) return kInfinite;
  // An infinity stands for the first number beyond the largest.
  Real difference;
  const int top = Limits::max_exponent;  // 2^top is beyond
  const bool overflows = mpfr_get_exp(exact) > top;
  if (std::isinf(got) || overflows) {
    Real value, limit(1.0);
    mpfr_mul_2si(limit, limit, top, kNearest);
    if (std::isinf(got)) {
      mpfr_set(value, limit, kNearest);
    } else {
      mpfr_set_d(value, std::fabs(got), kNearest);
    }
    if (std::signbit(got) != sign) return kInfinite;
    mpfr_abs(difference, exact, kNearest);
    mpfr_min(difference, difference, limit, kNearest);
    mpfr_sub(difference, difference, value, kNearest);
    mpfr_mul_2si(difference, difference, Limits::digits - top, kNearest);
    return std::fabs(mpfr_get_d(difference, kNearest));
  }
  const auto exponent = std::max<mpfr_exp_t>(mpfr_get_exp(exact), Limits::min_exponent);
  mpfr_d_sub(difference, got, exact, kNearest);
  mpfr_mul_2si(difference, difference, Limits::digits - exponent, kNearest);
  return std::fabs(mpfr_get_d(difference, kNearest));
}

}  // namespace

double reference(ElementaryFunction function, double x, double y) {
  Real result, a(x), b(y);
  evaluate(function, result, a, b);
  return mpfr_get_d(result, kNearest);
}

template <typename T>
double ulp_error(ElementaryFunction function, T got, T x, T y) {
  Real result, a(static_cast<double>(x)), b(static_cast<double>(y));
  evaluate(function, result, a, b);
  return error_of(got, result);
}
template double ulp_error(ElementaryFunction, float, float, float);
template double ulp_error(ElementaryFunction, double, double, double);

double ulp_error(float got, double exact) {
  if (std::isnan(exact) || std::isnan(got)) {
    return std::isnan(exact) && std::isnan(got) ? 0.0 : kInfinite;
  }
  if (std::isinf(exact) || exact == 0.0) {
    return got == exact && std::signbit(got) == std::signbit(exact) ? 0.0 : kInfinite;
  }
  if (got == 0.0f && std::signbit(got) != std::signbit(exact)) return kInfinite;
  constexpr double kBeyond = 0x1p128;
  const double value = std::isinf(got) ? std::copysign(kBeyond, got) : got;
  const double limited = std::clamp(exact, -kBeyond, kBeyond);
  const int exponent = std::clamp(std::ilogb(exact), -126, 127);
  return std::ldexp(std::fabs(value - limited), 23 - exponent);
}

}  // namespace tpu::tensorcore
