// Speed of the elementary functions in AVX2 registers, to choose between formulas. Compiled for
// AVX2 and FMA.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "emulator/tensorcore/vpu/avx2_machine.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::tensorcore {
namespace {

/// Compiled anew for each function, as the compiler does.
template <ElementaryFunction kFunction>
void run(benchmark::State& state) {
  using Vector = Value<Avx2Machine, float>;
  constexpr int kLanes = Avx2Machine::kLanes;
  const auto count = static_cast<size_t>(state.range(0));
  std::vector<float> x(count), result(count);
  for (size_t i = 0; i < count; ++i) {
    x[i] = 0.01f + 5.0f * static_cast<float>((i * 2654435761u) & 0xffffff) * 0x1p-24f;
  }
  Avx2Machine machine;
  for (auto _ : state) {
    for (size_t i = 0; i < count; i += kLanes) {
      Avx2Machine::F32 lanes;
      std::memcpy(&lanes, &x[i], sizeof lanes);
      const Vector a(machine, lanes);
      Avx2Machine::F32 value;
      if constexpr (info(kFunction).arguments == 1) {
        value = unary(kFunction, a).native();
      } else {
        value = binary(kFunction, a, a + 0.5f).native();
      }
      std::memcpy(&result[i], &value, sizeof value);
    }
    benchmark::ClobberMemory();
  }
  state.counters["ns_per_element"] = benchmark::Counter(
      static_cast<double>(count) * 1e-9,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <size_t... kIndex>
void register_all(std::index_sequence<kIndex...>) {
  (benchmark::RegisterBenchmark(std::string(kElementaryFunctions[kIndex].name).c_str(),
                                run<kElementaryFunctions[kIndex].function>)
       ->Arg(4096)
       ->Arg(4 << 20),
   ...);
}

const bool registered = [] {
  register_all(std::make_index_sequence<kElementaryFunctions.size()>());
  return true;
}();

}  // namespace
}  // namespace tpu::tensorcore
