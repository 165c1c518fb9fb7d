// Host kernels with vectors of 64 bytes for any host: the compiler makes them of what it has. They
// test what the AVX-512 table computes where there is no AVX-512.
#include <array>
#include <span>
#include <type_traits>
#include <utility>

#include "emulator/base/floats.h"
#include "emulator/tensorcore/mxu/host_kernels.h"

// Vectors wider than registers have no stable calling convention; all these calls are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tpu::tensorcore {
namespace {

constexpr int kVectorBytes = 64;
constexpr int kRows = 12;

/// Used where products are exact, so that one rounding or two are the same.
struct Fma {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return c + a * b;
  }
};

typedef float Floats __attribute__((vector_size(64)));
typedef uint16_t Halves __attribute__((vector_size(32)));

struct Half {
  [[gnu::always_inline]] static Floats widen(Halves from) {
    Floats to = {};
    for (int i = 0; i < 16; ++i) to[i] = f16_to_float(from[i]);
    return to;
  }
  [[gnu::always_inline]] static Halves narrow(Floats from) {
    Halves to = {};
    for (int i = 0; i < 16; ++i) to[i] = f16_from_float(from[i]);
    return to;
  }
};

struct Pairwise {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b) {
    return (a << 16 >> 16) * (b << 16 >> 16) + (a >> 16) * (b >> 16);
  }
};

#include "emulator/tensorcore/mxu/host_kernels-inl.h"

}  // namespace

namespace testing {

const HostKernels& wide_test_kernels() {
  static constexpr HostKernels table = make_table("wide");
  return table;
}

}  // namespace testing
}  // namespace tpu::tensorcore
