// Eight lanes in AVX2 registers, near enough to what the compiler emits to measure the speed of an
// elementary function, and to test that lanes get the scalar form's bits. For tests and benchmarks:
// whoever includes it is compiled for AVX2 and FMA.
#pragma once

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "emulator/tensorcore/vpu/value.h"

namespace tpu::tensorcore {

struct Avx2Machine {
  static constexpr int kLanes = 8;

  typedef float F32 __attribute__((vector_size(32)));
  typedef int32_t I32 __attribute__((vector_size(32)));
  struct F64 {
    __m256d half[2];
  };
  struct I64 {
    __m256i half[2];
  };
  /// All ones where true.
  struct Mask {
    I32 lanes;
  };

  F32 f32(float v) { return F32(_mm256_set1_ps(v)); }
  F64 f64(double v) { return {_mm256_set1_pd(v), _mm256_set1_pd(v)}; }
  I32 i32(int32_t v) { return I32(_mm256_set1_epi32(v)); }
  I64 i64(int64_t v) { return {_mm256_set1_epi64x(v), _mm256_set1_epi64x(v)}; }

  F32 add(F32 a, F32 b) { return a + b; }
  F32 sub(F32 a, F32 b) { return a - b; }
  F32 mul(F32 a, F32 b) { return a * b; }
  F32 div(F32 a, F32 b) { return a / b; }
  F32 fma(F32 a, F32 b, F32 c) { return F32(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c))); }
  F32 neg(F32 a) { return -a; }
  F32 abs(F32 a) { return F32(I32(a) & 0x7fffffff); }
  F32 sqrt(F32 a) { return F32(_mm256_sqrt_ps(__m256(a))); }
  F32 round_even(F32 a) {
    return F32(_mm256_round_ps(__m256(a), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
  }
  F32 floor(F32 a) { return F32(_mm256_floor_ps(__m256(a))); }
  Mask is_nan(F32 a) { return {a != a}; }

  template <typename Function>
  static F64 map(Function f, F64 a) {
    return {f(a.half[0]), f(a.half[1])};
  }
  template <typename Function>
  static F64 map(Function f, F64 a, F64 b) {
    return {f(a.half[0], b.half[0]), f(a.half[1], b.half[1])};
  }
  template <typename Function>
  static I64 map(Function f, I64 a) {
    return {f(a.half[0]), f(a.half[1])};
  }
  template <typename Function>
  static I64 map(Function f, I64 a, I64 b) {
    return {f(a.half[0], b.half[0]), f(a.half[1], b.half[1])};
  }

  F64 add(F64 a, F64 b) {
    return map([](auto x, auto y) { return _mm256_add_pd(x, y); }, a, b);
  }
  F64 sub(F64 a, F64 b) {
    return map([](auto x, auto y) { return _mm256_sub_pd(x, y); }, a, b);
  }
  F64 mul(F64 a, F64 b) {
    return map([](auto x, auto y) { return _mm256_mul_pd(x, y); }, a, b);
  }
  F64 div(F64 a, F64 b) {
    return map([](auto x, auto y) { return _mm256_div_pd(x, y); }, a, b);
  }
  F64 fma(F64 a, F64 b, F64 c) {
    return {_mm256_fmadd_pd(a.half[0], b.half[0], c.half[0]),
            _mm256_fmadd_pd(a.half[1], b.half[1], c.half[1])};
  }
  F64 neg(F64 a) {
    return map([](auto x) { return _mm256_xor_pd(x, _mm256_set1_pd(-0.0)); }, a);
  }
  F64 abs(F64 a) {
    return map([](auto x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }, a);
  }
  F64 sqrt(F64 a) {
    return map([](auto x) { return _mm256_sqrt_pd(x); }, a);
  }
  F64 round_even(F64 a) {
    return map(
        [](auto x) { return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); },
        a);
  }
  F64 floor(F64 a) {
    return map([](auto x) { return _mm256_floor_pd(x); }, a);
  }
  Mask is_nan(F64 a) { return compare<_CMP_UNORD_Q>(a, a); }

  I32 add(I32 a, I32 b) { return I32(_mm256_add_epi32(__m256i(a), __m256i(b))); }
  I32 sub(I32 a, I32 b) { return I32(_mm256_sub_epi32(__m256i(a), __m256i(b))); }
  I32 mul(I32 a, I32 b) { return I32(_mm256_mullo_epi32(__m256i(a), __m256i(b))); }
  I64 add(I64 a, I64 b) {
    return map([](auto x, auto y) { return _mm256_add_epi64(x, y); }, a, b);
  }
  I64 sub(I64 a, I64 b) {
    return map([](auto x, auto y) { return _mm256_sub_epi64(x, y); }, a, b);
  }
  I64 mul(I64 a, I64 b) {
    return lanewise([](int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }, a, b);
  }

  I32 shl(I32 a, int n) { return I32(_mm256_slli_epi32(__m256i(a), n)); }
  I32 shr_logical(I32 a, int n) { return I32(_mm256_srli_epi32(__m256i(a), n)); }
  I32 shr_arithmetic(I32 a, int n) { return I32(_mm256_srai_epi32(__m256i(a), n)); }
  I32 shl(I32 a, I32 n) { return I32(_mm256_sllv_epi32(__m256i(a), __m256i(n))); }
  I32 shr_logical(I32 a, I32 n) { return I32(_mm256_srlv_epi32(__m256i(a), __m256i(n))); }
  I32 shr_arithmetic(I32 a, I32 n) { return I32(_mm256_srav_epi32(__m256i(a), __m256i(n))); }
  I64 shl(I64 a, int n) {
    return map([n](auto x) { return _mm256_slli_epi64(x, n); }, a);
  }
  I64 shr_logical(I64 a, int n) {
    return map([n](auto x) { return _mm256_srli_epi64(x, n); }, a);
  }
  I64 shr_arithmetic(I64 a, int n) {
    return lanewise([n](int64_t x, int64_t) { return x >> n; }, a, a);
  }
  I64 shl(I64 a, I64 n) {
    return map([](auto x, auto y) { return _mm256_sllv_epi64(x, y); }, a, n);
  }
  I64 shr_logical(I64 a, I64 n) {
    return map([](auto x, auto y) { return _mm256_srlv_epi64(x, y); }, a, n);
  }
  I64 shr_arithmetic(I64 a, I64 n) {
    return lanewise([](int64_t x, int64_t y) { return x >> y; }, a, n);
  }

  I32 and_(I32 a, I32 b) { return a & b; }
  I32 or_(I32 a, I32 b) { return a | b; }
  I32 xor_(I32 a, I32 b) { return a ^ b; }
  I32 not_(I32 a) { return ~a; }
  I64 and_(I64 a, I64 b) {
    return map([](auto x, auto y) { return _mm256_and_si256(x, y); }, a, b);
  }
  I64 or_(I64 a, I64 b) {
    return map([](auto x, auto y) { return _mm256_or_si256(x, y); }, a, b);
  }
  I64 xor_(I64 a, I64 b) {
    return map([](auto x, auto y) { return _mm256_xor_si256(x, y); }, a, b);
  }
  I64 not_(I64 a) { return xor_(a, i64(-1)); }
  Mask and_(Mask a, Mask b) { return {a.lanes & b.lanes}; }
  Mask or_(Mask a, Mask b) { return {a.lanes | b.lanes}; }
  Mask not_(Mask a) { return {~a.lanes}; }

  Mask lt(F32 a, F32 b) { return {a < b}; }
  Mask le(F32 a, F32 b) { return {a <= b}; }
  Mask gt(F32 a, F32 b) { return {a > b}; }
  Mask ge(F32 a, F32 b) { return {a >= b}; }
  Mask eq(F32 a, F32 b) { return {a == b}; }
  Mask ne(F32 a, F32 b) { return {a != b}; }
  Mask lt(F64 a, F64 b) { return compare<_CMP_LT_OQ>(a, b); }
  Mask le(F64 a, F64 b) { return compare<_CMP_LE_OQ>(a, b); }
  Mask gt(F64 a, F64 b) { return compare<_CMP_GT_OQ>(a, b); }
  Mask ge(F64 a, F64 b) { return compare<_CMP_GE_OQ>(a, b); }
  Mask eq(F64 a, F64 b) { return compare<_CMP_EQ_OQ>(a, b); }
  Mask ne(F64 a, F64 b) { return compare<_CMP_NEQ_UQ>(a, b); }
  Mask lt(I32 a, I32 b) { return {a < b}; }
  Mask eq(I32 a, I32 b) { return {a == b}; }
  Mask lt(I64 a, I64 b) {
    return narrow_mask(_mm256_cmpgt_epi64(b.half[0], a.half[0]),
                       _mm256_cmpgt_epi64(b.half[1], a.half[1]));
  }
  Mask eq(I64 a, I64 b) {
    return narrow_mask(_mm256_cmpeq_epi64(b.half[0], a.half[0]),
                       _mm256_cmpeq_epi64(b.half[1], a.half[1]));
  }

  F32 select(Mask m, F32 a, F32 b) {
    return F32(_mm256_blendv_ps(__m256(b), __m256(a), __m256(m.lanes)));
  }
  I32 select(Mask m, I32 a, I32 b) { return I32(select(m, F32(a), F32(b))); }
  F64 select(Mask m, F64 a, F64 b) {
    return {_mm256_blendv_pd(b.half[0], a.half[0], __m256d(wide_mask(m, 0))),
            _mm256_blendv_pd(b.half[1], a.half[1], __m256d(wide_mask(m, 1)))};
  }
  I64 select(Mask m, I64 a, I64 b) { return bits(select(m, float_of(a), float_of(b))); }

  I32 bits(F32 a) { return I32(a); }
  F32 float_of(I32 a) { return F32(a); }
  I64 bits(F64 a) { return {__m256i(a.half[0]), __m256i(a.half[1])}; }
  F64 float_of(I64 a) { return {__m256d(a.half[0]), __m256d(a.half[1])}; }
  I32 to_i32(F32 a) { return I32(_mm256_cvttps_epi32(__m256(a))); }
  I32 to_i32(F64 a) { return join(_mm256_cvttpd_epi32(a.half[0]), _mm256_cvttpd_epi32(a.half[1])); }
  F32 to_f32(I32 a) { return F32(_mm256_cvtepi32_ps(__m256i(a))); }
  F64 to_f64(I32 a) { return {_mm256_cvtepi32_pd(part(a, 0)), _mm256_cvtepi32_pd(part(a, 1))}; }
  F64 widen(F32 a) {
    return {_mm256_cvtps_pd(_mm256_castps256_ps128(__m256(a))),
            _mm256_cvtps_pd(_mm256_extractf128_ps(__m256(a), 1))};
  }
  F32 narrow(F64 a) {
    return F32(_mm256_set_m128(_mm256_cvtpd_ps(a.half[1]), _mm256_cvtpd_ps(a.half[0])));
  }
  I64 sign_extend(I32 a) {
    return {_mm256_cvtepi32_epi64(part(a, 0)), _mm256_cvtepi32_epi64(part(a, 1))};
  }
  I32 truncate(I64 a) { return narrow_mask(a.half[0], a.half[1]).lanes; }
  F64 lookup(std::span<const double> table, I32 index) {
    return {gather(table, part(index, 0)), gather(table, part(index, 1))};
  }

  /// See where_any in trigonometric.h.
  template <typename Bool, typename Values, typename Compute>
  Values where_any(Bool mask, const Values& otherwise, Compute compute) {
    if (_mm256_movemask_ps(__m256(mask.native().lanes)) == 0) return otherwise;
    Values result = compute();
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = tensorcore::select(mask, result[i], otherwise[i]);
    return result;
  }

 private:
  static __m256d gather(std::span<const double> table, __m128i index) {
    const __m256d all = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));
    return _mm256_mask_i32gather_pd(_mm256_setzero_pd(), table.data(), index, all, 8);
  }
  static __m128i part(I32 a, int half) {
    return half ? _mm256_extracti128_si256(__m256i(a), 1) : _mm256_castsi256_si128(__m256i(a));
  }
  static I32 join(__m128i low, __m128i high) { return I32(_mm256_set_m128i(high, low)); }
  static __m256i wide_mask(Mask m, int half) { return _mm256_cvtepi32_epi64(part(m.lanes, half)); }
  /// The low halves of eight 64-bit lanes.
  static Mask narrow_mask(__m256i low, __m256i high) {
    const __m256 mixed = _mm256_shuffle_ps(__m256(low), __m256(high), _MM_SHUFFLE(2, 0, 2, 0));
    return {I32(_mm256_permute4x64_epi64(__m256i(mixed), _MM_SHUFFLE(3, 1, 2, 0)))};
  }
  template <int kPredicate>
  static Mask compare(F64 a, F64 b) {
    return narrow_mask(__m256i(_mm256_cmp_pd(a.half[0], b.half[0], kPredicate)),
                       __m256i(_mm256_cmp_pd(a.half[1], b.half[1], kPredicate)));
  }
  template <typename Function>
  static I64 lanewise(Function f, I64 a, I64 b) {
    using Array = std::array<int64_t, kLanes>;
    const auto x = std::bit_cast<Array>(a);
    const auto y = std::bit_cast<Array>(b);
    Array z;
    for (int i = 0; i < kLanes; ++i) z[i] = f(x[i], y[i]);
    return std::bit_cast<I64>(z);
  }
};

static_assert(Machine<Avx2Machine>);

}  // namespace tpu::tensorcore
