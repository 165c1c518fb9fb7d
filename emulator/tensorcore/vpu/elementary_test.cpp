// What kElementaryFunctions promises of each function: accuracy, symmetry, special values.
#include "emulator/tensorcore/vpu/elementary.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "emulator/tensorcore/vpu/accuracy/measure.h"
#include "emulator/tensorcore/vpu/accuracy/reference.h"

namespace tpu::tensorcore {

void PrintTo(const ElementaryFunctionInfo& row, std::ostream* out) {
  *out << row.name;
}

namespace {

uint64_t test_seed() {
  const char* text = std::getenv("TPU_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

std::string hex(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

std::string describe(const Measurement& m) {
  return "at " + hex(m.worst_x) + ", " + hex(m.worst_y);
}

template <typename T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (const T value : {T{0},
                        Limits::denorm_min(),
                        T{3} * Limits::denorm_min(),
                        Limits::min(),
                        Limits::min() - Limits::denorm_min(),
                        Limits::epsilon(),
                        T{0.25},
                        T{0.5},
                        T{1} / 3,
                        std::nextafter(T{1}, T{0}),
                        T{1},
                        std::nextafter(T{1}, T{2}),
                        T{1.5},
                        T{2},
                        T{2.5},
                        T{3},
                        T{4},
                        T{7.5},
                        T{8},
                        T{10},
                        T{33},
                        T{100},
                        T{1} / Limits::epsilon() - 1,
                        T{1} / Limits::epsilon(),
                        T{1} / Limits::epsilon() + 2,
                        T{4} / Limits::epsilon(),
                        Limits::max() / 2,
                        Limits::max(),
                        Limits::infinity(),
                        Limits::quiet_NaN()}) {
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

class ElementaryFunctionTest : public testing::TestWithParam<ElementaryFunctionInfo> {
 protected:
  ElementaryFunction function() const { return GetParam().function; }
  bool is_unary() const { return GetParam().arguments == 1; }

  template <typename T>
  double bound() const {
    return std::is_same_v<T, float> ? GetParam().max_ulp_f32 : GetParam().max_ulp_f64;
  }

  /// Special values and pairs of them, against MPFR: zeros, infinities and NaN must be right, and
  /// the rest within the bound.
  template <typename T>
  void check_special_values() {
    const auto values = special_values<T>();
    for (const T x : values) {
      if (std::is_same_v<T, double> && x < GetParam().least_f64 && std::floor(x) != x) continue;
      for (const T y : is_unary() ? std::vector<T>{T{0}} : values) {
        const T got = evaluate(function(), x, y);
        EXPECT_LE(ulp_error(function(), got, x, y), bound<T>())
            << GetParam().name << "(" << hex(x) << ", " << hex(y) << ") = " << hex(got);
      }
    }
  }
};

TEST_P(ElementaryFunctionTest, IsCorrectlyRoundedInBf16UpToTheErrorInFloat) {
  const Measurement m = measure_bf16(function(), 1);
  EXPECT_EQ(m.count, 65536);
  EXPECT_LE(m.max_ulp, 0.5 + bound<float>() / 65536) << describe(m);
}

TEST_P(ElementaryFunctionTest, FloatIsWithinBound) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  const Measurement m = measure_f32(function(), seed, int64_t{1} << 20);
  EXPECT_LE(m.max_ulp, bound<float>()) << describe(m);
}

TEST_P(ElementaryFunctionTest, DoubleIsWithinBound) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  const Measurement m = measure_f64(function(), seed, 8000);
  EXPECT_LE(m.max_ulp, bound<double>()) << describe(m);
}

TEST_P(ElementaryFunctionTest, SpecialFloatsAreRight) {
  check_special_values<float>();
}
TEST_P(ElementaryFunctionTest, SpecialDoublesAreRight) {
  check_special_values<double>();
}

TEST_P(ElementaryFunctionTest, RowIsAtItsPlace) {
  EXPECT_EQ(info(function()).name, GetParam().name);
  EXPECT_EQ(find_elementary_function(GetParam().name), function());
}

INSTANTIATE_TEST_SUITE_P(All, ElementaryFunctionTest, testing::ValuesIn(kElementaryFunctions),
                         [](const auto& param) { return std::string(param.param.name); });

class SymmetryTest : public testing::TestWithParam<ElementaryFunctionInfo> {
 protected:
  template <typename T>
  void check() {
    const uint64_t seed = test_seed();
    SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const ElementaryFunction function = GetParam().function;
    for (int i = 0; i < 100000; ++i) {
      const uint64_t pattern = random();
      T x;
      std::memcpy(&x, &pattern, sizeof x);
      int exponent;
      const T moderate = std::ldexp(std::frexp(x, &exponent), static_cast<int>(pattern % 8));
      for (const T argument : {x, moderate}) {
        const T value = evaluate(function, argument, T{0});
        const T mirrored = evaluate(function, -argument, T{0});
        if (std::isnan(value) && std::isnan(mirrored)) continue;
        const T expected = GetParam().symmetry == Symmetry::kOdd ? -value : value;
        ASSERT_EQ(ScalarMachine().bits(mirrored), ScalarMachine().bits(expected)) << hex(argument);
      }
    }
  }
};

TEST_P(SymmetryTest, OfFloats) {
  check<float>();
}
TEST_P(SymmetryTest, OfDoubles) {
  check<double>();
}

std::vector<ElementaryFunctionInfo> symmetric_functions() {
  std::vector<ElementaryFunctionInfo> rows;
  for (const auto& row : kElementaryFunctions) {
    if (row.symmetry != Symmetry::kNone) rows.push_back(row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(All, SymmetryTest, testing::ValuesIn(symmetric_functions()),
                         [](const auto& param) { return std::string(param.param.name); });

float f32(ElementaryFunction function, float x, float y = 0) {
  return evaluate(function, x, y);
}
double f64(ElementaryFunction function, double x, double y = 0) {
  return evaluate(function, x, y);
}

TEST(ElementaryIdentities, ExactValues) {
  using enum ElementaryFunction;
  EXPECT_EQ(f32(kExp, 0), 1);
  EXPECT_EQ(f64(kExp, 0), 1);
  EXPECT_EQ(f32(kLog, 1), 0);
  EXPECT_EQ(f64(kLog, 1), 0);
  EXPECT_EQ(f32(kLogistic, 0), 0.5f);
  EXPECT_EQ(f64(kLogistic, 0), 0.5);
  EXPECT_EQ(f32(kCos, 0), 1);
  EXPECT_EQ(f32(kTanh, 20), 1);
  EXPECT_EQ(f64(kTanh, 30), 1);
  EXPECT_EQ(f32(kErf, 4), 1);
  EXPECT_EQ(f64(kErf, 6), 1);
  for (int e = -149; e < 128; ++e) {
    EXPECT_EQ(f32(kExp2, static_cast<float>(e)), std::ldexp(1.0f, e));
    EXPECT_EQ(f32(kLog2, std::ldexp(1.0f, e)), static_cast<float>(e));
  }
  for (int e = -1074; e < 1024; ++e) {
    EXPECT_EQ(f64(kExp2, e), std::ldexp(1.0, e));
    EXPECT_EQ(f64(kLog2, std::ldexp(1.0, e)), e);
  }
  double power = 1;
  for (int e = 0; e <= 22; ++e, power *= 10) {
    EXPECT_EQ(f64(kLog10, power), e);
    if (e <= 10) {
      EXPECT_EQ(f32(kLog10, static_cast<float>(power)), static_cast<float>(e));
    }
  }
  for (int n = -100; n <= 100; ++n) {
    EXPECT_EQ(f32(kCbrt, static_cast<float>(n * n * n)), static_cast<float>(n));
    EXPECT_EQ(f64(kCbrt, n * n * n), n);
  }
}

TEST(ElementaryIdentities, PowerOfOneAndSmallWholeNumbers) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 100000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<uint32_t>(random()));
    if (std::isnan(x)) continue;
    ASSERT_EQ(f32(ElementaryFunction::kPow, x, 1), x) << hex(x);
    ASSERT_EQ(f32(ElementaryFunction::kPow, x, 0), 1) << hex(x);
    const auto wide = std::bit_cast<double>(random());
    if (std::isnan(wide)) continue;
    ASSERT_EQ(f64(ElementaryFunction::kPow, wide, 1), wide) << hex(wide);
  }
  for (int base = -20; base <= 20; ++base) {
    double exact = 1;
    for (int e = 0; e <= 12 && std::fabs(exact) < 0x1p53; ++e, exact *= base) {
      EXPECT_EQ(f64(ElementaryFunction::kPow, base, e), exact) << base << "^" << e;
      if (std::fabs(exact) <= 0x1p24) {
        EXPECT_EQ(f32(ElementaryFunction::kPow, static_cast<float>(base), static_cast<float>(e)),
                  static_cast<float>(exact))
            << base << "^" << e;
      }
    }
  }
}

/// Between neighbours at many places: a function that rises must not fall.
template <typename T>
void check_rises(ElementaryFunction function, T low, T high) {
  constexpr int kPlaces = 20000;
  for (int i = 0; i < kPlaces; ++i) {
    T x = low + (high - low) * static_cast<T>(i) / kPlaces;
    T value = evaluate(function, x, T{0});
    for (int step = 0; step < 16; ++step) {
      x = std::nextafter(x, std::numeric_limits<T>::infinity());
      const T next = evaluate(function, x, T{0});
      // Errors of up to the bound may show as a fall by as much, not by more.
      const double ulp =
          std::nextafter(std::fabs(value), std::numeric_limits<T>::infinity()) - std::fabs(value);
      ASSERT_GE(next, value - 2 * info(function).max_ulp_f32 * ulp) << hex(x);
      value = next;
    }
  }
}

TEST(ElementaryIdentities, NearlyMonotonic) {
  using enum ElementaryFunction;
  check_rises<float>(kExp, -20, 20);
  check_rises<float>(kLog, 0.01f, 20);
  check_rises<float>(kTanh, -9, 9);
  check_rises<float>(kLogistic, -20, 20);
  check_rises<float>(kErf, -4, 4);
  check_rises<float>(kAtan, -4, 4);
  check_rises<float>(kSinh, -4, 4);
}

TEST(ElementaryIdentities, ScalarMachineGivesAValueForEveryConversion) {
  ScalarMachine machine;
  EXPECT_EQ(machine.to_i32(std::numeric_limits<double>::quiet_NaN()),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(machine.to_i32(3e9), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(machine.to_i32(-2147483648.0), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(machine.to_i32(2147483647.0), std::numeric_limits<int32_t>::max());
}

}  // namespace
}  // namespace tpu::tensorcore
