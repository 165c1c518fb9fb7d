// Complex functions against the standard library's, at random points.
#include <cmath>
#include <complex>
#include <functional>

#include "emulator/base/property.h"
#include "emulator/hlo/evaluator/arithmetic.h"
#include "emulator/hlo/evaluator/expect.h"
#include "emulator/hlo/evaluator/transcendental.h"
#include "emulator/hlo/testing/rng.h"

namespace tpu::hlo {
namespace {

using Number = std::complex<double>;
using Function = std::function<Number(Number)>;
using testing::Rng;

Number random_number(Rng& rng) {
  return {8 * rng.uniform() - 4, 8 * rng.uniform() - 4};
}

Number as_number(const Element& x) {
  if (x.type == ElementType::kComplexF64) {
    const Complex64 z = std::get<Complex64>(x.value);
    return {z.re, z.im};
  }
  const Complex32 z = std::get<Complex32>(x.value);
  return {z.re, z.im};
}

Element as_element(ElementType type, Number z) {
  if (type == ElementType::kComplexF64) return make_complex(Complex64{z.real(), z.imag()});
  return make_complex(Complex32{float(z.real()), float(z.imag())});
}

// Errors relative to the modulus: a part may lose digits where the other is large.
void expect_near(Number actual, Number expected, double tolerance, const char* name, Number at) {
  EXPECT_LE(std::abs(actual - expected), tolerance * std::abs(expected)) << name << " of " << at;
}

void check(const char* name, Element (*function)(const Element&), const Function& expected) {
  Rng rng(tpu::testing::seed());
  for (int i = 0; i < 200; ++i) {
    for (const auto& [type, tolerance] :
         {std::pair(ElementType::kComplexF32, 2e-6), std::pair(ElementType::kComplexF64, 1e-14)}) {
      const Element x = as_element(type, random_number(rng));
      const Number z = as_number(x);
      expect_near(as_number(function(x)), expected(z), tolerance, name, z);
    }
  }
}

TEST(Complex, ElementaryFunctions) {
  check("exponential", exponential, [](Number z) { return std::exp(z); });
  check("exponential_minus_one", exponential_minus_one, [](Number z) { return std::exp(z) - 1.0; });
  check("log", log, [](Number z) { return std::log(z); });
  check("log_plus_one", log_plus_one, [](Number z) { return std::log(1.0 + z); });
  check("sqrt", sqrt, [](Number z) { return std::sqrt(z); });
  check("rsqrt", rsqrt, [](Number z) { return 1.0 / std::sqrt(z); });
  check("cbrt", cbrt, [](Number z) { return std::pow(z, 1.0 / 3); });
  check("sine", sine, [](Number z) { return std::sin(z); });
  check("cosine", cosine, [](Number z) { return std::cos(z); });
  check("tan", tan, [](Number z) { return std::tan(z); });
  check("tanh", tanh, [](Number z) { return std::tanh(z); });
  check("logistic", logistic, [](Number z) { return 1.0 / (1.0 + std::exp(-z)); });
  check("sign", sign, [](Number z) { return z / std::abs(z); });
}

TEST(Complex, ArithmeticAndPower) {
  Rng rng(tpu::testing::seed());
  for (int i = 0; i < 500; ++i) {
    const Number a = random_number(rng), b = random_number(rng);
    const Element x = as_element(ElementType::kComplexF64, a);
    const Element y = as_element(ElementType::kComplexF64, b);
    expect_near(as_number(multiply(x, y)), a * b, 1e-15, "multiply", a);
    expect_near(as_number(divide(x, y)), a / b, 1e-15, "divide", a);
    expect_near(as_number(power(x, y)), std::pow(a, b), 1e-13, "power", a);
    EXPECT_NEAR(std::get<double>(abs(x).value), std::abs(a), 1e-15 * std::abs(a));
  }
}

TEST(Complex, FarFromOneAndAtZero) {
  const auto f32 = [](float re, float im) { return make_complex(Complex32{re, im}); };
  const auto parts = [](const Element& x) { return std::get<Complex32>(x.value); };
  // The square of the divisor overflows; the quotient does not.
  EXPECT_EQ(parts(divide(f32(1e30f, 0), f32(1e30f, 0))), (Complex32{1, 0}));
  EXPECT_EQ(parts(divide(f32(1, 2), f32(0, 0))), (Complex32{INFINITY, INFINITY}));
  EXPECT_EQ(parts(sqrt(f32(0, 0))), (Complex32{0, 0}));
  EXPECT_EQ(parts(power(f32(0, 0), f32(2, 0))), (Complex32{0, 0}));
  EXPECT_EQ(parts(power(f32(0, 0), f32(0, 0))), (Complex32{1, 0}));
  EXPECT_EQ(parts(exponential(f32(-INFINITY, 0))), (Complex32{0, 0}));
  EXPECT_EQ(parts(tanh(f32(50, 1))), (Complex32{1, 0}));
  EXPECT_EQ(parts(sign(f32(0, -0.0f))).re, 0);
}

}  // namespace
}  // namespace tpu::hlo
