#include "core/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace conformance {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::nan("");

Element element(std::string_view name) {
  return *find_element(name);
}

double margin(std::string_view dtype, double got, double exact, double spread = 0) {
  const std::vector<double> g = {got}, e = {exact}, s = {spread};
  return compare_reals(element(dtype), g, e, s).margin;
}

TEST(Elements, HaveTheirFormatsNumbers) {
  EXPECT_EQ(element("float32").max_finite, std::numeric_limits<float>::max());
  EXPECT_EQ(element("float32").min_normal, std::numeric_limits<float>::min());
  EXPECT_EQ(element("float32").min_subnormal, std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(element("float64").max_finite, std::numeric_limits<double>::max());
  EXPECT_EQ(element("float16").max_finite, 65504);
  EXPECT_EQ(element("bfloat16").unit_roundoff, std::ldexp(1.0, -8));
  EXPECT_EQ(element("float8_e4m3fn").min_subnormal, std::ldexp(1.0, -9));
  EXPECT_EQ(element("float8_e4m3fnuz").max_finite, 240);
  EXPECT_EQ(element("float8_e4m3fnuz").min_subnormal, std::ldexp(1.0, -10));
  EXPECT_EQ(element("float8_e5m2fnuz").max_finite, 57344);
  EXPECT_EQ(element("float8_e5m2fnuz").min_subnormal, std::ldexp(1.0, -17));
  EXPECT_FALSE(find_element("float31"));
}

TEST(Bound, GrowsWithTheNumberAndTheSpread) {
  const Element f32 = element("float32");
  EXPECT_DOUBLE_EQ(bound_of(f32, 1, 0, {}), 8 * std::ldexp(1.0, -24) + 4 * f32.min_subnormal);
  EXPECT_DOUBLE_EQ(bound_of(f32, -1, 0.5, {}) - bound_of(f32, 1, 0, {}), 4);
  EXPECT_DOUBLE_EQ(bound_of(f32, 0, 0, {.flushes_subnormals = true}), f32.min_normal);
  EXPECT_EQ(bound_of(element("int32"), 7, 0, {}), 0);
}

TEST(Reals, MarginIsErrorOverBound) {
  EXPECT_EQ(margin("float32", 1, 1), 0);
  EXPECT_NEAR(margin("float32", 1 + std::ldexp(1.0, -22), 1), 0.5, 1e-6);
  EXPECT_NEAR(margin("float32", 1.5, 1, 0.125), 0.5, 1e-6);
  EXPECT_GT(margin("float32", 1 + std::ldexp(1.0, -20), 1), 1);
}

TEST(Reals, SpecialValuesAreExact) {
  EXPECT_EQ(margin("float32", kNan, kNan), 0);
  EXPECT_EQ(margin("float32", kInf, kInf), 0);
  for (double got : {0.0, kInf, -kInf}) EXPECT_EQ(margin("float32", got, kNan), kInf) << got;
  for (double got : {0.0, kNan, -kInf}) EXPECT_EQ(margin("float32", got, kInf), kInf) << got;
  for (double got : {kNan, kInf, -kInf}) EXPECT_EQ(margin("float32", got, 1), kInf) << got;
}

TEST(Reals, OverflowRoundsEitherWayNearTheLargestNumber) {
  EXPECT_EQ(margin("float16", kInf, 65520), 0);
  EXPECT_EQ(margin("float16", kInf, 1e9), 0);
  EXPECT_LE(margin("float16", 65504, 65520), 1);
  EXPECT_EQ(margin("float16", -kInf, 1e9), kInf);
  EXPECT_GT(margin("float16", kInf, 60000), 1);
}

TEST(Reals, WithoutABoundNothingIsSaid) {
  const std::vector<double> got = {5, 1}, exact = {1, 1}, spread = {kInf, 0};
  const Comparison c = compare_reals(element("float32"), got, exact, spread);
  EXPECT_EQ(c.unjudged, 1);
  EXPECT_EQ(c.margin, 0);
}

TEST(Reals, NamesTheWorst) {
  const std::vector<double> got = {1, 2.5, 3.25}, exact = {1, 2, 3};
  const Comparison c = compare_reals(element("float32"), got, exact, {});
  EXPECT_EQ(c.worst, 1);
  EXPECT_EQ(c.note.substr(0, 26), "at 1: got 2.5, expected 2 ");
}

TEST(Complex, PartsAreMeasuredByTheModulus) {
  const double u = std::ldexp(1.0, -24);
  const std::vector<double> got = {1, 4 * u}, exact = {1, 0};
  EXPECT_NEAR(compare_complex(element("complex64"), got, exact, {}).margin, 0.5, 1e-6);
  const std::vector<double> infinite = {kInf, kNan}, other = {-3, kInf};
  EXPECT_EQ(compare_complex(element("complex64"), infinite, other, {}).margin, 0);
}

TEST(Integers, AreEqual) {
  const std::vector<int64_t> got = {INT64_MAX, 2}, exact = {INT64_MAX - 1, 2};
  EXPECT_EQ(compare_integers(got, exact, {}).margin, kInf);
  EXPECT_EQ(compare_integers(exact, exact, {}).margin, 0);
  const std::vector<double> spread = {1, 0};
  EXPECT_EQ(compare_integers(got, exact, spread).margin, 0);  // 2^63 both, as doubles
}

TEST(Sizes, MustAgree) {
  const std::vector<double> one = {1}, two = {1, 2};
  EXPECT_THROW(compare_reals(element("float32"), one, two, {}), std::invalid_argument);
}

}  // namespace
}  // namespace conformance
