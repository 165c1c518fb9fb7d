// Host kernels for AVX-512 (F, BW, VL, DQ).
#if defined(__x86_64__)
#include <immintrin.h>

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "emulator/tensorcore/mxu/host_kernels_isa.h"

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12's own header passes an undefined vector to the unmasked f16 conversions.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__clang__)
#pragma clang attribute push(                                                    \
    __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")
#endif

namespace tpu::tensorcore {
namespace {

constexpr int kVectorBytes = 64;
constexpr int kRows = 12;

struct Fma {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return _mm512_fmadd_ps(a, b, c);
  }
};

struct Half {
  template <class H>
  [[gnu::always_inline]] static auto widen(H from) {
    return _mm512_cvtph_ps(reinterpret_cast<__m256i>(from));
  }
  template <class F>
  [[gnu::always_inline]] static auto narrow(F from) {
    typedef uint16_t H __attribute__((vector_size(32)));
    return reinterpret_cast<H>(_mm512_cvtps_ph(from, _MM_FROUND_TO_NEAREST_INT));
  }
};

struct Pairwise {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b) {
    return reinterpret_cast<V>(
        _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
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

const HostKernels& avx512_kernels() {
  static constexpr HostKernels table = make_table("avx512");
  return table;
}

}  // namespace tpu::tensorcore
#endif
