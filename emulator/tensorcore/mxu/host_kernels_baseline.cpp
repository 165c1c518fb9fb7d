// Host kernels for the instructions every host of the architecture has (x86-64: SSE2).
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "emulator/base/floats.h"
#include "emulator/tensorcore/mxu/host_kernels_isa.h"

namespace tpu::tensorcore {
namespace {

constexpr int kVectorBytes = 16;
constexpr int kRows = 6;

struct Fma {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return c + a * b;
  }
};

typedef float Floats __attribute__((vector_size(16)));
typedef uint16_t Halves __attribute__((vector_size(8)));

/// Lane by lane: no vector instruction for halves here.
struct Half {
  static Floats widen(Halves from) {
    Floats to = {};
    for (int i = 0; i < 4; ++i) to[i] = f16_to_float(from[i]);
    return to;
  }
  static Halves narrow(Floats from) {
    Halves to = {};
    for (int i = 0; i < 4; ++i) to[i] = f16_from_float(from[i]);
    return to;
  }
};

/// Both products of each 32-bit lane's 16-bit halves, added.
struct Pairwise {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b) {
#if defined(__SSE2__)
    return reinterpret_cast<V>(
        _mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
    return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
#endif
  }
};

#include "emulator/tensorcore/mxu/host_kernels-inl.h"

}  // namespace

const HostKernels& baseline_kernels() {
  static constexpr HostKernels table = make_table("baseline");
  return table;
}

}  // namespace tpu::tensorcore
