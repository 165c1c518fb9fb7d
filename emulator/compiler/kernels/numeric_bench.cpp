// Random bits, Fourier transforms and decompositions.
#include "emulator/compiler/kernels/bench_case.h"
#include "emulator/compiler/kernels/fft.h"
#include "emulator/compiler/kernels/linear_algebra.h"
#include "emulator/compiler/kernels/rng_bit_generator.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Dims;
using hlo::ElementType;
using hlo::EnumValue;
using hlo::OpKind;

void random_bits(benchmark::State& state, const char* algorithm) {
  BenchCase bench;
  bench.operand(ElementType::kUI64, {2});
  bench.result(ElementType::kUI64, {2});
  bench.result(ElementType::kUI32, {1 << 20});
  bench.run(state, rng_bit_generator, OpKind::kRngBitGenerator,
            {{"rng_algorithm", EnumValue{algorithm}}});
}
BENCHMARK_CAPTURE(random_bits, philox, "PHILOX");
BENCHMARK_CAPTURE(random_bits, three_fry, "THREE_FRY");

void fft_lines(benchmark::State& state) {
  const int64_t lines = state.range(0), n = state.range(1);
  BenchCase bench;
  bench.operand(ElementType::kComplexF32, {lines, n});
  bench.result(ElementType::kComplexF32, {lines, n});
  bench.run(state, fft, OpKind::kFft, {{"fft_type", EnumValue{"FFT"}}, {"fft_length", Dims{n}}});
}
BENCHMARK(fft_lines)->Args({1, 1 << 16})->Args({256, 1024})->Args({256, 1000});

void cholesky_of(benchmark::State& state) {
  const int64_t n = state.range(0);
  BenchCase bench;
  bench.operand(ElementType::kF32, {n, n});
  bench.result(ElementType::kF32, {n, n});
  bench.run(state, cholesky, OpKind::kCholesky, {{"lower", true}});
}
BENCHMARK(cholesky_of)->Arg(64)->Arg(512);

void solve(benchmark::State& state) {
  const int64_t n = state.range(0);
  BenchCase bench;
  bench.operand(ElementType::kF32, {n, n});
  bench.operand(ElementType::kF32, {n, n});
  bench.result(ElementType::kF32, {n, n});
  bench.run(state, triangular_solve, OpKind::kTriangularSolve,
            {{"left_side", true},
             {"lower", true},
             {"unit_diagonal", true},
             {"transpose_a", EnumValue{"NO_TRANSPOSE"}}});
}
BENCHMARK(solve)->Arg(64)->Arg(512);

}  // namespace
}  // namespace tpu::compiler::kernels
