#include "emulator/tensorcore/vpu/accuracy/measure.h"

#include <bit>
#include <cmath>
#include <random>

#include "emulator/tensorcore/vpu/accuracy/reference.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::tensorcore {
namespace {

using Random = std::mt19937_64;

void record(Measurement& measurement, double error, double x, double y) {
  ++measurement.count;
  if (!(error <= measurement.max_ulp)) {
    measurement.max_ulp = error;
    measurement.worst_x = x;
    measurement.worst_y = y;
  }
}

float float_from_bf16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

float round_to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return value;
  return std::bit_cast<float>((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000);
}

/// Error of a bfloat16 in units of its last place, which is 2^16 of float's.
double bf16_error(float got, double exact) {
  // Values that round to infinity in bfloat16 are beyond its largest number by half a unit.
  if (std::isinf(got) && std::fabs(exact) >= 0x1.ffp127) {
    return std::signbit(got) == std::signbit(exact) ? 0.0 : kInfinity<double>;
  }
  return ulp_error(got, exact) / 0x1p16;
}

double uniform(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

/// +-2^e times something in [1, 2), e in [low, high]. (Not std::exp2, so that every C library gives
/// the same arguments.)
double log_uniform(Random& random, int low, int high) {
  const int exponent = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
  const double sign = (random() & 1) ? -1.0 : 1.0;
  return sign * std::ldexp(uniform(random, 1, 2), exponent);
}

/// Doubles where elementary functions are hard: all binades, moderate sizes, near 0 and near 1.
double random_double(Random& random) {
  switch (random() % 5) {
    case 0:
      return std::bit_cast<double>(random());
    case 1:
      return log_uniform(random, -40, 10);
    case 2:
      return uniform(random, -2, 2);
    case 3:
      return uniform(random, -40, 40);
    default:
      return 1 + log_uniform(random, -53, -1);
  }
}

/// The C library's function of doubles, or MPFR's.
double wide_reference(ElementaryFunction function, double x, double y) {
  using enum ElementaryFunction;
  switch (function) {
    case kExp:
      return std::exp(x);
    case kExp2:
      return std::exp2(x);
    case kExpm1:
      return std::expm1(x);
    case kLogistic:
      return 1 / (1 + std::exp(-x));
    case kLog:
      return std::log(x);
    case kLog1p:
      return std::log1p(x);
    case kLog2:
      return std::log2(x);
    case kLog10:
      return std::log10(x);
    case kSin:
      return std::sin(x);
    case kCos:
      return std::cos(x);
    case kTan:
      return std::tan(x);
    case kAsin:
      return std::asin(x);
    case kAcos:
      return std::acos(x);
    case kAtan:
      return std::atan(x);
    case kSinh:
      return std::sinh(x);
    case kCosh:
      return std::cosh(x);
    case kTanh:
      return std::tanh(x);
    case kAsinh:
      return std::asinh(x);
    case kAcosh:
      return std::acosh(x);
    case kAtanh:
      return std::atanh(x);
    case kErf:
      return std::erf(x);
    case kErfc:
      return std::erfc(x);
    case kSqrt:
      return std::sqrt(x);
    case kRsqrt:
      return 1 / std::sqrt(x);
    case kCbrt:
      return std::cbrt(x);
    case kPow:
      return std::pow(x, y);
    case kAtan2:
      return std::atan2(x, y);
    case kHypot:
      return std::hypot(x, y);
    case kErfInv:
    case kLgamma:
    case kDigamma:
      break;
  }
  return reference(function, x, y);
}

bool has_fast_reference(ElementaryFunction function) {
  using enum ElementaryFunction;
  return function != kErfInv && function != kLgamma && function != kDigamma;
}

bool is_unary(ElementaryFunction function) {
  return info(function).arguments == 1;
}

/// Bases and exponents whose power is often finite, and other pairs.
std::pair<float, float> random_pair(Random& random) {
  const auto x = random();
  if (x & 1) {
    const auto bits = random();
    return {std::bit_cast<float>(static_cast<uint32_t>(bits)),
            std::bit_cast<float>(static_cast<uint32_t>(bits >> 32))};
  }
  return {static_cast<float>(random_double(random)), static_cast<float>(uniform(random, -40, 40))};
}

}  // namespace

float evaluate(ElementaryFunction function, float x, float y) {
  ScalarMachine machine;
  return is_unary(function) ? unary_f32(machine, function, x) : binary_f32(machine, function, x, y);
}

double evaluate(ElementaryFunction function, double x, double y) {
  ScalarMachine machine;
  return is_unary(function) ? unary_f64(machine, function, x) : binary_f64(machine, function, x, y);
}

Measurement measure_bf16(ElementaryFunction function, uint64_t seed) {
  Measurement result;
  Random random(seed);
  for (uint32_t i = 0; i < 65536; ++i) {
    const float x = float_from_bf16(static_cast<uint16_t>(i));
    const float y = is_unary(function) ? 0.0f : float_from_bf16(static_cast<uint16_t>(random()));
    const float got = round_to_bf16(evaluate(function, x, y));
    record(result, bf16_error(got, reference(function, x, y)), x, y);
  }
  return result;
}

Measurement measure_f32(ElementaryFunction function, uint64_t seed, int64_t count) {
  Measurement result;
  Random random(seed);
  if (!has_fast_reference(function)) count /= 64;
  // Odd, so that all trailing bits occur.
  const uint32_t stride = static_cast<uint32_t>((int64_t{1} << 32) / count) | 1;
  for (int64_t i = 0; i < count; ++i) {
    float x = std::bit_cast<float>(static_cast<uint32_t>(i) * stride);
    float y = 0.0f;
    if (!is_unary(function)) std::tie(x, y) = random_pair(random);
    const float got = evaluate(function, x, y);
    record(result, ulp_error(got, wide_reference(function, x, y)), x, y);
  }
  return result;
}

Measurement measure_f64(ElementaryFunction function, uint64_t seed, int64_t count) {
  Measurement result;
  Random random(seed);
  for (int64_t i = 0; i < count; ++i) {
    double x = random_double(random);
    if (x < info(function).least_f64) x = -x;
    const double y = is_unary(function) ? 0.0 : random_double(random);
    const double got = evaluate(function, x, y);
    record(result, ulp_error(function, got, x, y), x, y);
  }
  return result;
}

}  // namespace tpu::tensorcore
