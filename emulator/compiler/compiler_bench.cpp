// Speed of compiled programs and of the compiler. compare_with_torch.py sets it beside PyTorch's.
//
// Arrays of 4 Mi float32 elements, and matrices of 4096 x 1024, unless the name says otherwise.
#include <benchmark/benchmark.h>

#include <functional>
#include <limits>
#include <string>

#include "emulator/base/parallel.h"
#include "emulator/compiler/compiler.h"
#include "emulator/hlo/builder.h"

namespace tpu::compiler {
namespace {

using hlo::Builder;
using hlo::Dims;
using hlo::ElementType;
using hlo::OpKind;
using hlo::Value;

constexpr int64_t kMany = int64_t{4} << 20;
const Dims kMatrix = {4096, 1024};

using Write = std::function<void(Builder& b)>;

hlo::TensorType f32(Dims shape) {
  return {ElementType::kF32, std::move(shape)};
}

hlo::Module module_of(const Write& write) {
  hlo::Module module;
  Builder builder(module.add_function("main").body);
  write(builder);
  return module;
}

// 64-byte aligned arrays of numbers of a few units.
class Arrays {
 public:
  std::byte* add(const hlo::TensorType& type) {
    const size_t count = static_cast<size_t>(type.num_elements());
    storage_.push_back(std::make_unique<float[]>(count + 16));
    void* start = storage_.back().get();
    size_t space = (count + 16) * sizeof(float);
    auto* elements = static_cast<float*>(std::align(64, count * sizeof(float), start, space));
    for (size_t i = 0; i < count; ++i) {
      elements[i] = static_cast<float>(static_cast<int>(i * 7919 % 2003) - 1000) / 500;
    }
    return reinterpret_cast<std::byte*>(elements);
  }

 private:
  std::vector<std::unique_ptr<float[]>> storage_;
};

void run_program(benchmark::State& state, const Write& write) {
  const auto executable = compile(module_of(write));
  Arrays arrays;
  std::vector<const std::byte*> parameters;
  std::vector<std::byte*> results;
  for (const auto& type : executable->parameter_types()) parameters.push_back(arrays.add(type));
  for (const auto& type : executable->result_types()) results.push_back(arrays.add(type));
  Scratch scratch;
  for (auto _ : state) executable->run(parameters, results, scratch);
  int64_t bytes = 0;
  for (const KernelDescription& kernel : executable->kernels()) {
    bytes += kernel.bytes_read + kernel.bytes_written;
  }
  state.SetBytesProcessed(state.iterations() * bytes);
  state.counters["kernels"] = static_cast<double>(executable->kernels().size());
}

void compile_program(benchmark::State& state, const Write& write) {
  const hlo::Module module = module_of(write);
  for (auto _ : state) benchmark::DoNotOptimize(compile(module));
}

Value* gelu(Builder& b, Value* x) {
  const auto constant = [&](double value) { return b.splat(x->type, value); };
  Value* cube = b.multiply(b.multiply(x, x), x);
  Value* inner = b.multiply(b.add(x, b.multiply(cube, constant(0.044715))), constant(0.79788456));
  return b.multiply(b.multiply(x, constant(0.5)), b.add(b.tanh(inner), constant(1.0)));
}

Value* reduce(Builder& b, Value* x, Dims dimensions, OpKind kind, double init) {
  Value* start = b.constant(ElementType::kF32, init);
  return b.reduce({x}, {start}, std::move(dimensions), Builder::combiner(kind))[0];
}
Value* sum(Builder& b, Value* x, Dims dimensions) {
  return reduce(b, x, std::move(dimensions), OpKind::kAdd, 0);
}

Value* softmax(Builder& b, Value* x) {
  const auto spread = [&](Value* row) { return b.broadcast_in_dim(row, x->type.shape, {0}); };
  const double low = -std::numeric_limits<double>::infinity();
  Value* e = b.exponential(b.subtract(x, spread(reduce(b, x, {1}, OpKind::kMaximum, low))));
  return b.divide(e, spread(sum(b, e, {1})));
}

Value* layer_norm(Builder& b, Value* x, Value* weight, Value* bias) {
  const Dims& shape = x->type.shape;
  const auto per_row = [&](double value) { return b.splat(f32({shape[0]}), value); };
  const auto spread = [&](Value* row) { return b.broadcast_in_dim(row, shape, {0}); };
  const double size = static_cast<double>(shape[1]);
  Value* centred = b.subtract(x, spread(b.divide(sum(b, x, {1}), per_row(size))));
  Value* variance = b.divide(sum(b, b.multiply(centred, centred), {1}), per_row(size));
  Value* scaled = b.multiply(centred, spread(b.rsqrt(b.add(variance, per_row(1e-5)))));
  return b.add(b.multiply(scaled, b.broadcast_in_dim(weight, shape, {1})),
               b.broadcast_in_dim(bias, shape, {1}));
}

struct Case {
  const char* name;
  Write write;
};

std::vector<Case> cases() {
  const auto vector = [](Builder& b) { return b.parameter(f32({kMany})); };
  const auto matrix = [](Builder& b) { return b.parameter(f32(kMatrix)); };
  const auto square = [](Builder& b) { return b.parameter(f32({2048, 2048})); };
  return {
      {"add", [=](Builder& b) { b.ret({b.add(vector(b), vector(b))}); }},
      {"multiply", [=](Builder& b) { b.ret({b.multiply(vector(b), vector(b))}); }},
      {"gelu", [=](Builder& b) { b.ret({gelu(b, vector(b))}); }},
      {"exponential", [=](Builder& b) { b.ret({b.exponential(vector(b))}); }},
      {"softmax", [=](Builder& b) { b.ret({softmax(b, matrix(b))}); }},
      {"layer_norm",
       [=](Builder& b) {
         Value* x = matrix(b);
         b.ret({layer_norm(b, x, b.parameter(f32({1024})), b.parameter(f32({1024})))});
       }},
      {"sum_rows", [=](Builder& b) { b.ret({sum(b, matrix(b), {1})}); }},
      {"sum_columns", [=](Builder& b) { b.ret({sum(b, matrix(b), {0})}); }},
      {"sum_all", [=](Builder& b) { b.ret({sum(b, matrix(b), {0, 1})}); }},
      {"add_bias",
       [=](Builder& b) {
         Value* x = matrix(b);
         b.ret({b.add(x, b.broadcast_in_dim(b.parameter(f32({1024})), kMatrix, {1}))});
       }},
      {"transpose_2048x2048", [=](Builder& b) { b.ret({b.transpose(square(b), {1, 0})}); }},
      {"add_transposed_2048x2048",
       [=](Builder& b) {
         Value* x = square(b);
         b.ret({b.add(b.transpose(x, {1, 0}), x)});
       }},
      {"batch_statistics_32x64x28x28",
       [=](Builder& b) {
         Value* x = b.parameter(f32({32, 64, 28, 28}));
         b.ret({sum(b, x, {0, 2, 3}), sum(b, b.multiply(x, x), {0, 2, 3})});
       }},
      {"add_256x256",
       [=](Builder& b) {
         b.ret({b.add(b.parameter(f32({256, 256})), b.parameter(f32({256, 256})))});
       }},
      {"add_4x4",
       [=](Builder& b) { b.ret({b.add(b.parameter(f32({4, 4})), b.parameter(f32({4, 4})))}); }},
  };
}

}  // namespace
}  // namespace tpu::compiler

// Usage: tpu_compiler_bench [threads] [Google Benchmark's flags]
int main(int argc, char** argv) {
  using namespace tpu::compiler;
  if (argc > 1 && argv[1][0] != '-') tpu::set_num_threads(std::stoi(argv[1]));
  for (const Case& one : cases()) {
    const auto run = [write = one.write](benchmark::State& state) { run_program(state, write); };
    benchmark::RegisterBenchmark((std::string("run/") + one.name).c_str(), run)
        ->Unit(benchmark::kMicrosecond)
        ->UseRealTime();
  }
  for (const Case& one : cases()) {
    const auto run = [write = one.write](benchmark::State& state) {
      compile_program(state, write);
    };
    benchmark::RegisterBenchmark((std::string("compile/") + one.name).c_str(), run)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
