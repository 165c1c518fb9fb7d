// Host kernels for AVX2, FMA and F16C.
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "emulator/tensorcore/mxu/host_kernels_isa.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif

namespace tpu::tensorcore {
namespace {

constexpr int kVectorBytes = 32;
constexpr int kRows = 6;

struct Fma {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return _mm256_fmadd_ps(a, b, c);
  }
};

struct Half {
  template <class H>
  [[gnu::always_inline]] static auto widen(H from) {
    return _mm256_cvtph_ps(reinterpret_cast<__m128i>(from));
  }
  template <class F>
  [[gnu::always_inline]] static auto narrow(F from) {
    typedef uint16_t H __attribute__((vector_size(16)));
    return reinterpret_cast<H>(_mm256_cvtps_ph(from, _MM_FROUND_TO_NEAREST_INT));
  }
};

struct Pairwise {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b) {
    return reinterpret_cast<V>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
  }
};

#include "emulator/tensorcore/mxu/host_kernels-inl.h"

}  // namespace
}  // namespace tpu::tensorcore

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

namespace tpu::tensorcore {

const HostKernels& avx2_kernels() {
  static constexpr HostKernels table = make_table("avx2");
  return table;
}

}  // namespace tpu::tensorcore
#endif
