// Speed of dot_general and convolution. Names tell the shape, for compare_with_torch.py:
//   matmul/<type>/<precision>/<layout>/<batch>x<m>x<n>x<k>/<threads>
//   conv/<forward|input_gradient|kernel_gradient>/
//       <batch>x<in>x<size>x<out>x<kernel>x<stride>x<groups>/<threads>
#include <benchmark/benchmark.h>

#include <ctime>
#include <functional>
#include <random>
#include <string>

#include "emulator/base/parallel.h"
#include "emulator/tensorcore/mxu/element.h"
#include "emulator/tensorcore/mxu/mxu_kernels.h"

namespace tpu::tensorcore {
namespace {

using hlo::Dims;
using hlo::ElementType;

struct Tensor {
  ElementType element;
  Dims shape, strides;
  std::vector<std::byte> bytes;

  /// Dense in the order of `order`, outermost first.
  Tensor(ElementType type, Dims dims, const Dims& order = {})
      : element(type), shape(std::move(dims)) {
    strides = hlo::row_major_strides(shape);
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0; step *= shape[order[i]]) strides[order[i]] = step;
    const int width = hlo::byte_width(element);
    bytes.resize(hlo::num_elements(shape) * width);
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (size_t at = 0; at < bytes.size(); at += width) {
      if (hlo::is_float(element)) {
        store_float(element, &bytes[at], normal(random));
      } else {
        store_integer(element, &bytes[at], random());
      }
    }
  }
  compiler::ConstView const_view() const { return {element, shape, strides, bytes.data()}; }
  compiler::View view() { return {element, shape, strides, bytes.data()}; }
};

double seconds(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(benchmark::State& state, compiler::Kernel kernel, const hlo::Attributes& attributes,
             const Tensor& lhs, const Tensor& rhs, Tensor& result, double products) {
  set_num_threads(static_cast<int>(state.range(0)));
  const compiler::ConstView operands[] = {lhs.const_view(), rhs.const_view()};
  const compiler::View results[] = {result.view()};
  // The best call is what a busy machine disturbs least; of one thread, its processor time.
  const clockid_t clock = state.range(0) == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  double best = 1e30;
  for (auto _ : state) {
    const double start = seconds(clock);
    kernel({hlo::OpKind::kDotGeneral, attributes, operands, results, {}, {}});
    best = std::min(best, seconds(clock) - start);
  }
  state.counters["best_us"] = best * 1e6;
  state.counters["best_GMAC/s"] = products * 1e-9 / best;
}

struct Matmul {
  ElementType type;
  std::string precision;
  std::string layout;  ///< nn, nt (right operand transposed in memory), tn, tt
  int64_t batch, m, n, k;
};

void run_matmul(benchmark::State& state, const Matmul& c) {
  const Dims straight = {0, 1, 2}, turned = {0, 2, 1};
  const Tensor lhs(c.type, {c.batch, c.m, c.k}, c.layout[0] == 't' ? turned : straight);
  const Tensor rhs(c.type, {c.batch, c.k, c.n}, c.layout[1] == 't' ? turned : straight);
  Tensor result(c.type == ElementType::kSI8 ? ElementType::kSI32 : c.type, {c.batch, c.m, c.n});
  hlo::DotDimensionNumbers numbers{{0}, {0}, {2}, {1}};
  const hlo::Attributes attributes{
      {"dot_dimension_numbers", numbers},
      {"precision_config", hlo::EnumValues{{c.precision}, {c.precision}}}};
  measure(state, dot_general, attributes, lhs, rhs, result,
          static_cast<double>(c.batch * c.m * c.n * c.k));
}

struct Conv {
  std::string direction;
  int64_t batch, in, size, out, kernel, stride, groups;
};

hlo::Attributes conv_attributes(const hlo::ConvDimensionNumbers& numbers, int64_t stride,
                                int64_t low, int64_t high, int64_t base, int64_t dilation,
                                bool reversed, int64_t feature_groups, int64_t batch_groups) {
  return {{"dimension_numbers", numbers},
          {"window_strides", Dims{stride, stride}},
          {"padding", hlo::IntMatrix{2, 2, {low, high, low, high}}},
          {"lhs_dilation", Dims{base, base}},
          {"rhs_dilation", Dims{dilation, dilation}},
          {"window_reversal", std::vector<bool>{reversed, reversed}},
          {"feature_group_count", feature_groups},
          {"batch_group_count", batch_groups}};
}

void run_conv(benchmark::State& state, const Conv& c) {
  const int64_t pad = c.kernel / 2;
  const int64_t output = (c.size + 2 * pad - c.kernel) / c.stride + 1;
  Tensor image(ElementType::kF32, {c.batch, c.in, c.size, c.size});
  Tensor kernel(ElementType::kF32, {c.out, c.in / c.groups, c.kernel, c.kernel});
  Tensor grad(ElementType::kF32, {c.batch, c.out, output, output});
  const int64_t depth = c.in / c.groups * c.kernel * c.kernel;
  const auto products = static_cast<double>(c.batch * output * output * c.out * depth);
  if (c.direction == "forward") {
    const hlo::ConvDimensionNumbers numbers{0, 1, {2, 3}, 1, 0, {2, 3}, 0, 1, {2, 3}};
    measure(state, convolution,
            conv_attributes(numbers, c.stride, pad, pad, 1, 1, false, c.groups, 1), image, kernel,
            grad, products);
  } else if (c.direction == "input_gradient") {
    // The kernel's feature dimensions swap; with groups the backend permutes it first.
    const int64_t low = c.kernel - 1 - pad;
    const int64_t high = c.size + c.kernel - 1 - ((output - 1) * c.stride + 1) - low;
    const hlo::ConvDimensionNumbers numbers{0, 1, {2, 3}, 0, 1, {2, 3}, 0, 1, {2, 3}};
    if (c.groups > 1) {
      kernel = Tensor(ElementType::kF32, {c.out / c.groups, c.in, c.kernel, c.kernel});
    }
    measure(state, convolution,
            conv_attributes(numbers, 1, low, high, c.stride, 1, true, c.groups, 1), grad, kernel,
            image, products);
  } else {
    // Batch and features of the image swap; the output gradient is the kernel.
    const int64_t high = (output - 1) * c.stride + 1 + c.kernel - 1 - c.size - pad;
    const hlo::ConvDimensionNumbers numbers{1, 0, {2, 3}, 0, 1, {2, 3}, 1, 0, {2, 3}};
    measure(state, convolution,
            conv_attributes(numbers, 1, pad, high, 1, c.stride, false, 1, c.groups), image, grad,
            kernel, products);
  }
}

void add(const std::string& name, std::function<void(benchmark::State&)> body) {
  benchmark::RegisterBenchmark(name.c_str(), std::move(body))
      ->Arg(1)
      ->Arg(2)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
}

void add_matmuls() {
  const auto f32 = ElementType::kF32, bf16 = ElementType::kBF16, i8 = ElementType::kSI8;
  const std::vector<Matmul> cases = {
      {f32, "DEFAULT", "nn", 1, 1024, 1024, 1024},
      {f32, "HIGH", "nn", 1, 1024, 1024, 1024},
      {f32, "HIGHEST", "nn", 1, 1024, 1024, 1024},
      {f32, "DEFAULT", "nt", 1, 1024, 1024, 1024},
      {f32, "DEFAULT", "tn", 1, 1024, 1024, 1024},
      {f32, "DEFAULT", "tt", 1, 1024, 1024, 1024},
      {bf16, "DEFAULT", "nn", 1, 1024, 1024, 1024},
      {bf16, "DEFAULT", "nt", 1, 1024, 1024, 1024},
      {ElementType::kF16, "DEFAULT", "nn", 1, 1024, 1024, 1024},
      {i8, "DEFAULT", "nt", 1, 1024, 1024, 1024},
      {ElementType::kF64, "DEFAULT", "nn", 1, 512, 512, 512},
      {f32, "DEFAULT", "nn", 1, 4096, 4096, 1024},
      {f32, "DEFAULT", "nn", 1, 64, 64, 64},
      {f32, "DEFAULT", "nn", 1, 128, 128, 128},
      {f32, "DEFAULT", "nn", 1, 256, 256, 256},
      {f32, "DEFAULT", "nt", 1, 256, 256, 256},
      {f32, "DEFAULT", "nn", 1, 1, 4096, 4096},
      {f32, "DEFAULT", "nt", 1, 1, 4096, 4096},
      {f32, "DEFAULT", "nn", 1, 8, 4096, 4096},
      {f32, "DEFAULT", "nt", 1, 8, 4096, 4096},
      {bf16, "DEFAULT", "nt", 1, 1, 4096, 4096},
      {f32, "DEFAULT", "nn", 1, 1, 1024, 1024},
      {f32, "DEFAULT", "nt", 1, 4, 1024, 1024},
      {f32, "DEFAULT", "nn", 1, 4096, 1, 1024},
      {f32, "DEFAULT", "nn", 1, 1, 1, 1048576},
      {f32, "DEFAULT", "nt", 32, 64, 64, 32},
      {f32, "DEFAULT", "nn", 32, 64, 32, 64},
      {f32, "DEFAULT", "nt", 96, 128, 128, 64},
      {f32, "DEFAULT", "nt", 1, 128, 1000, 512},
      {f32, "DEFAULT", "nt", 1, 512, 2048, 512},
      {f32, "DEFAULT", "tn", 1, 512, 2048, 512},
  };
  for (const Matmul& c : cases) {
    add("matmul/" + std::string(hlo::name(c.type)) + "/" + c.precision + "/" + c.layout + "/" +
            std::to_string(c.batch) + "x" + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
            std::to_string(c.k),
        [c](benchmark::State& state) { run_matmul(state, c); });
  }
}

void add_convolutions() {
  // ResNet-18's shapes, then a grouped and a depthwise one.
  const std::vector<Conv> cases = {
      {"", 8, 3, 224, 64, 7, 2, 1},    {"", 8, 64, 56, 64, 3, 1, 1},
      {"", 8, 64, 56, 128, 3, 2, 1},   {"", 8, 128, 28, 128, 3, 1, 1},
      {"", 8, 128, 28, 256, 3, 2, 1},  {"", 8, 256, 14, 256, 3, 1, 1},
      {"", 8, 256, 14, 512, 3, 2, 1},  {"", 8, 512, 7, 512, 3, 1, 1},
      {"", 8, 64, 56, 128, 1, 2, 1},   {"", 8, 256, 28, 256, 1, 1, 1},
      {"", 8, 128, 28, 128, 3, 1, 32}, {"", 8, 144, 56, 144, 3, 1, 144},
  };
  for (const char* direction : {"forward", "input_gradient", "kernel_gradient"}) {
    for (Conv c : cases) {
      c.direction = direction;
      std::string name = std::string("conv/") + direction + "/";
      for (int64_t size : {c.batch, c.in, c.size, c.out, c.kernel, c.stride}) {
        name += std::to_string(size) + "x";
      }
      add(name + std::to_string(c.groups), [c](benchmark::State& state) { run_conv(state, c); });
    }
  }
}

const bool registered = (add_matmuls(), add_convolutions(), true);

}  // namespace
}  // namespace tpu::tensorcore
