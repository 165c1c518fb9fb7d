// The declared order itself, on cases worked out by hand, and how exact each precision is.
#include "emulator/tensorcore/mxu/numerics.h"

#include "emulator/tensorcore/mxu/dot_general.h"
#include "emulator/tensorcore/mxu/reference.h"
#include "emulator/tensorcore/mxu/test_support.h"

namespace tpu::tensorcore::testing {
namespace {

using compiler::KernelCall;

TEST(Split, PartsAreBf16AndAddUp) {
  tpu::testing::check_property(2000, [](Choices& choices) -> std::string {
    const auto bits = static_cast<uint32_t>(choices.in(0, 0xffffffff));
    const float x = std::bit_cast<float>(bits);
    // Far from subnormals and from overflow the three parts hold all 24 bits.
    if (!(std::abs(x) > 1e-25f && std::abs(x) < 3e38f)) return "";
    const auto [h, m, l] = split_bf16(x);
    for (float part : {h, m, l}) {
      if (round_to_bf16(part) != part) return std::to_string(part) + " is not a bf16 number";
    }
    return double{h} + m + l == x ? "" : std::to_string(x) + " is not the sum of its parts";
  });
}

TEST(Split, HasNoRestOfWhatIsNotFinite) {
  for (float x : {INFINITY, -INFINITY, 3.4e38f}) {  // the last rounds to infinity
    const auto [h, m, l] = split_bf16(x);
    EXPECT_TRUE(std::isinf(h));
    EXPECT_EQ(m, 0.0f);
    EXPECT_EQ(l, 0.0f);
  }
}

std::vector<std::pair<int, int>> pass_list(Precision precision) {
  std::vector<std::pair<int, int>> list;
  for (const Pass& pass : plan_passes(precision, ElementType::kF32, ElementType::kF32).passes) {
    list.push_back({pass.lhs_part, pass.rhs_part});
  }
  return list;
}

TEST(Passes, RunFromTheSmallestProductToTheLargest) {
  using List = std::vector<std::pair<int, int>>;
  EXPECT_EQ(pass_list(Precision::kDefault), (List{{0, 0}}));
  EXPECT_EQ(pass_list(Precision::kHigh), (List{{1, 0}, {0, 1}, {0, 0}}));
  EXPECT_EQ(pass_list(Precision::kHighest), (List{{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}}));
}

TEST(Passes, AreOneWhereProductsAreExact) {
  for (ElementType type : {ElementType::kBF16, ElementType::kF16, ElementType::kF8E5M2,
                           ElementType::kF64, ElementType::kSI8}) {
    EXPECT_EQ(plan_passes(Precision::kHighest, type, type).passes.size(), 1u) << hlo::name(type);
  }
}

TEST(Types, MustGoTogether) {
  EXPECT_THROW(arithmetic_of(ElementType::kF32, ElementType::kSI32, ElementType::kF32),
               InvalidArgument);
  EXPECT_THROW(arithmetic_of(ElementType::kSI8, ElementType::kSI8, ElementType::kF32),
               InvalidArgument);
  hlo::Attributes attributes{{"precision_config", hlo::EnumValues{{"LOW"}}}};
  EXPECT_THROW(precision_of(attributes), InvalidArgument);
}

/// [1, k] x [k, 1] in f32 or bf16.
float dot(ElementType type, const std::vector<float>& lhs, const std::vector<float>& rhs, int depth,
          const std::string& precision = "DEFAULT") {
  const auto k = static_cast<int64_t>(lhs.size());
  Random random(1);
  Tensor a = make_tensor(type, {k}, Layout::kDense, random);
  Tensor b = make_tensor(type, {k}, Layout::kDense, random);
  Tensor result = make_tensor(type, {}, Layout::kDense, random);
  for (int64_t i = 0; i < k; ++i) {
    store_float(type, &a.bytes[i * hlo::byte_width(type)], lhs[i]);
    store_float(type, &b.bytes[i * hlo::byte_width(type)], rhs[i]);
  }
  const hlo::Attributes attributes{
      {"dot_dimension_numbers", hlo::DotDimensionNumbers{{}, {}, {0}, {0}}},
      {"precision_config", hlo::EnumValues{{precision}, {precision}}}};
  const compiler::ConstView operands[] = {a.const_view(), b.const_view()};
  const compiler::View results[] = {result.view()};
  const KernelCall call{hlo::OpKind::kDotGeneral, attributes, operands, results, {}, {}, depth};
  reference::dot_general(call);
  const double expected = load_float(type, result.bytes.data());
  dot_general(call, host_kernels());
  const double got = load_float(type, result.bytes.data());
  EXPECT_TRUE(same_number(ElementType::kF64, reinterpret_cast<const std::byte*>(&got),
                          reinterpret_cast<const std::byte*>(&expected)))
      << got << " " << expected;
  return static_cast<float>(got);
}

TEST(Order, ChunksAreSummedBeforeTheyAreAdded) {
  const std::vector<float> numbers = {0x1p24f, 1, 1, 1}, ones(4, 1.0f);
  // One chunk: 2^24 + 1 rounds back to 2^24, three times.
  EXPECT_EQ(dot(ElementType::kF32, numbers, ones, 4), 0x1p24f);
  // (2^24 + 1) + (1 + 1)
  EXPECT_EQ(dot(ElementType::kF32, numbers, ones, 2), 0x1p24f + 2);
}

TEST(Order, SmallPassesComeFirst) {
  // x = 1 + 2^-9 is h = 1, m = 2^-9. In each product the passes mh and hm give 2^-9 each.
  const float x = 1 + 0x1p-9f;
  EXPECT_EQ(dot(ElementType::kF32, {x}, {x}, 128), 1.0f);
  EXPECT_EQ(dot(ElementType::kF32, {x}, {x}, 128, "HIGH"), 1 + 0x1p-8f);
  EXPECT_EQ(dot(ElementType::kF32, {x}, {x}, 128, "HIGHEST"), 1 + 0x1p-8f + 0x1p-18f);
}

TEST(Special, ValuesTravelAsInFloat) {
  const auto f32 = ElementType::kF32;
  EXPECT_EQ(dot(f32, {INFINITY}, {2}, 128), INFINITY);
  EXPECT_TRUE(std::isnan(dot(f32, {INFINITY}, {0}, 128)));
  EXPECT_TRUE(std::isnan(dot(f32, {NAN, 1}, {1, 1}, 128)));
  EXPECT_TRUE(std::isnan(dot(f32, {INFINITY, INFINITY}, {1, -1}, 128)));
  EXPECT_EQ(dot(f32, {3.4e38f}, {1}, 128), INFINITY);      // overflows bf16
  EXPECT_EQ(dot(f32, {0x1p-130f}, {1}, 128), 0x1p-130f);   // subnormals are kept
  EXPECT_EQ(dot(f32, {0x1p-75f}, {0x1p-75f}, 128), 0.0f);  // the product rounds: a tie
  EXPECT_EQ(dot(f32, {0x1.8p-75f}, {0x1p-75f}, 128), 0x1p-149f);
  // The product overflows before it is added.
  EXPECT_EQ(dot(f32, {-0x1p127f, 0x1p64f}, {1, 0x1p64f}, 128), INFINITY);
  EXPECT_EQ(std::signbit(dot(f32, {-1}, {0}, 128)), false);  // sums start at +0
  EXPECT_EQ(dot(ElementType::kBF16, {0x1.fep127f, 0x1.fep127f}, {0.5f, 0.5f}, 128), 0x1.fep127f);
  EXPECT_EQ(dot(ElementType::kBF16, {0x1.fep127f, 0x1p119f}, {1, 1}, 128), INFINITY);
  EXPECT_EQ(dot(ElementType::kBF16, {0x1p8f, 1}, {1, 1}, 128), 0x1p8f);  // rounded once, to even
}

struct Errors {
  double worst = 0;      ///< of |error| / (|A| |B|), componentwise
  double frobenius = 0;  ///< relative
};

Errors errors_of(const std::string& precision, int64_t k) {
  constexpr int64_t kSize = 24;
  Random random(7);
  Tensor a = make_tensor(ElementType::kF32, {kSize, k}, Layout::kDense, random);
  Tensor b = make_tensor(ElementType::kF32, {k, kSize}, Layout::kDense, random);
  Tensor result = make_tensor(ElementType::kF32, {kSize, kSize}, Layout::kDense, random);
  fill(a, Values::kNormal, random);
  fill(b, Values::kNormal, random);
  const hlo::Attributes attributes{
      {"dot_dimension_numbers", hlo::DotDimensionNumbers{{}, {}, {1}, {0}}},
      {"precision_config", hlo::EnumValues{{precision}, {precision}}}};
  const compiler::ConstView operands[] = {a.const_view(), b.const_view()};
  const compiler::View results[] = {result.view()};
  dot_general({hlo::OpKind::kDotGeneral, attributes, operands, results, {}, {}}, host_kernels());
  const auto* x = reinterpret_cast<const float*>(a.bytes.data());
  const auto* y = reinterpret_cast<const float*>(b.bytes.data());
  const auto* z = reinterpret_cast<const float*>(result.bytes.data());
  Errors errors;
  double error_squares = 0, squares = 0;
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    double exact = 0, magnitude = 0;
    for (int64_t j = 0; j < k; ++j) {
      const double product = double{x[i / kSize * k + j]} * y[j * kSize + i % kSize];
      exact += product;
      magnitude += std::abs(product);
    }
    const double error = z[i] - exact;
    errors.worst = std::max(errors.worst, std::abs(error) / magnitude);
    error_squares += error * error;
    squares += exact * exact;
  }
  errors.frobenius = std::sqrt(error_squares / squares);
  return errors;
}

// Componentwise, with u = 2^-8 for bf16: rounding both operands costs 2u + u^2 of |A||B|; three
// passes leave out mm and what two parts miss of each operand, 3u^2; six leave out ml and lm, 2u^3
// (the next terms are covered by the factor 1.01). Adding costs at most 2^-24 for each of the
// additions an element goes through.
TEST(Errors, StayWithinTheirBounds) {
  for (int64_t k : {1, 64, 128, 1000, 4096}) {
    const int64_t whole_chunks = (k + 127) / 128;
    const auto chunks = static_cast<double>(whole_chunks);
    const auto adding = [&](int passes) {
      return (static_cast<double>(std::min<int64_t>(k, 128)) + passes * chunks) * 0x1p-24;
    };
    EXPECT_LE(errors_of("DEFAULT", k).worst, 1.01 * 0x1p-7 + adding(1)) << k;
    EXPECT_LE(errors_of("HIGH", k).worst, 1.01 * 3 * 0x1p-16 + adding(3)) << k;
    EXPECT_LE(errors_of("HIGHEST", k).worst, 1.01 * 0x1p-23 + adding(6)) << k;
  }
}

// In the norm, where errors average out; the lower ends catch a precision that is not lowered.
TEST(Errors, HaveTheSizeOfTheirPrecision) {
  const double one = errors_of("DEFAULT", 1024).frobenius;
  EXPECT_GT(one, 1e-3);
  EXPECT_LT(one, 4e-3);
  const double three = errors_of("HIGH", 1024).frobenius;
  EXPECT_GT(three, 1e-6);
  EXPECT_LT(three, 1e-5);
  EXPECT_LT(errors_of("HIGHEST", 1024).frobenius, 4e-7);
}

}  // namespace
}  // namespace tpu::tensorcore::testing
