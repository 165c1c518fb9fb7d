#include "emulator/compiler/compiler.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "emulator/base/error.h"
#include "emulator/base/parallel.h"
#include "emulator/hlo/builder.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/testing/compare.h"
#include "emulator/hlo/testing/values.h"
#include "emulator/hlo/text.h"

namespace tpu::compiler {
namespace {

using hlo::Builder;
using hlo::Dims;
using hlo::ElementType;
using hlo::Literal;
using hlo::OpKind;
using hlo::Value;

std::vector<Literal> run(const Executable& executable, const std::vector<Literal>& arguments) {
  std::vector<const std::byte*> parameters;
  for (const Literal& argument : arguments) parameters.push_back(argument.bytes().data());
  std::vector<Literal> results;
  for (const hlo::TensorType& type : executable.result_types()) results.emplace_back(type);
  std::vector<std::byte*> targets;
  for (Literal& result : results) targets.push_back(result.mutable_bytes().data());
  Scratch scratch;
  executable.run(parameters, targets, scratch);
  return results;
}

std::vector<HostIsa> host_isas() {
  std::vector<HostIsa> isas;
  for (HostIsa isa : {HostIsa::kBaseline, HostIsa::kAvx2, HostIsa::kAvx512}) {
    if (isa <= host_isa()) isas.push_back(isa);
  }
  return isas;
}

// Compares with the evaluator for every vector extension that the host has, on one thread and more.
void expect_evaluators_bits(const std::function<void(Builder&)>& write) {
  hlo::Module module;
  Builder builder(module.add_function("main").body);
  write(builder);
  hlo::testing::Rng rng(42);
  std::vector<Literal> arguments;
  for (const hlo::TensorType& type : module.main().parameter_types()) {
    arguments.push_back(hlo::testing::random_literal(rng, type, hlo::testing::ValueStyle::kMild));
  }
  const std::vector<Literal> expected = hlo::evaluate(module, arguments);
  const int threads = num_threads();
  for (HostIsa isa : host_isas()) {
    const auto executable = compile(module, {}, {.isa = isa});
    for (int count : {1, 2}) {
      set_num_threads(count);
      const std::vector<Literal> actual = run(*executable, arguments);
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(hlo::testing::difference(actual[i], expected[i]), "")
            << "result " << i << ", extension " << static_cast<int>(isa) << ", " << count
            << " threads";
      }
    }
  }
  set_num_threads(threads);
}

Value* reduce(Builder& b, Value* x, Dims dimensions, OpKind kind = OpKind::kAdd) {
  const bool boolean = x->type.element == ElementType::kI1;
  Value* init =
      boolean ? b.constant(x->type.element, int64_t{1}) : b.constant(x->type.element, 0.0);
  return b.reduce({x}, {init}, std::move(dimensions), Builder::combiner(kind))[0];
}

Value* softmax(Builder& b, Value* x, int64_t dimension) {
  Dims kept;
  for (int64_t i = 0; i < x->type.rank(); ++i) {
    if (i != dimension) kept.push_back(i);
  }
  const auto spread = [&](Value* row) { return b.broadcast_in_dim(row, x->type.shape, kept); };
  Value* e = b.exponential(b.subtract(x, spread(reduce(b, x, {dimension}, OpKind::kMaximum))));
  return b.divide(e, spread(reduce(b, e, {dimension})));
}

TEST(Compiler, SumsOfLongRowsInAnyShape) {
  expect_evaluators_bits([](Builder& b) {
    b.ret({reduce(b, b.parameter({ElementType::kF32, {300007}}), {0}),
           reduce(b, b.parameter({ElementType::kBF16, {512, 300}}), {0, 1}),
           reduce(b, b.parameter({ElementType::kF32, {3, 140001}}), {1})});
  });
}

TEST(Compiler, SumsOfShortRows) {
  for (int64_t size : {2, 3, 5, 8, 31, 32, 33, 63, 64, 65, 100, 1000}) {
    SCOPED_TRACE(size);
    expect_evaluators_bits(
        [&](Builder& b) { b.ret({reduce(b, b.parameter({ElementType::kF32, {7, size}}), {1})}); });
  }
}

TEST(Compiler, SumsOfColumns) {
  for (int64_t size : {2, 31, 33, 200}) {
    SCOPED_TRACE(size);
    expect_evaluators_bits(
        [&](Builder& b) { b.ret({reduce(b, b.parameter({ElementType::kF32, {size, 77}}), {0})}); });
  }
}

TEST(Compiler, SumsOverSeveralDimensions) {
  // Runs of 196 (whole vectors of 4), 49, 9, 34 and 15: their blocks start at all lanes.
  for (const Dims& shape : {Dims{4, 6, 14, 14}, Dims{4, 6, 7, 7}, Dims{40, 5, 3, 3},
                            Dims{9, 3, 2, 17}, Dims{2, 4, 3, 5}}) {
    SCOPED_TRACE(hlo::to_string(hlo::TensorType{ElementType::kF32, shape}));
    expect_evaluators_bits([&](Builder& b) {
      Value* x = b.parameter({ElementType::kF32, shape});
      Value* narrow = b.parameter({ElementType::kBF16, shape});
      b.ret({reduce(b, x, {0, 2, 3}), reduce(b, b.exponential(x), {0, 2, 3}),
             reduce(b, narrow, {0, 2, 3}), reduce(b, b.is_finite(x), {0, 2, 3}, OpKind::kAnd)});
    });
  }
}

TEST(Compiler, SoftmaxAlongRowsAndColumns) {
  expect_evaluators_bits([](Builder& b) {
    Value* x = b.parameter({ElementType::kF32, {70, 130}});
    b.ret({softmax(b, x, 1), softmax(b, x, 0)});
  });
}

TEST(Compiler, ArgumentOfTheMaximum) {
  expect_evaluators_bits([](Builder& b) {
    Value* x = b.parameter({ElementType::kF32, {9, 100}});
    Value* i = b.iota({ElementType::kSI32, {9, 100}}, 1);
    const std::vector<Value*> inits{b.constant(ElementType::kF32, -1e30),
                                    b.constant(ElementType::kSI32, int64_t{0})};
    const auto body = [](Builder& inner, std::span<Value* const> a) {
      Value* later = inner.compare(a[2], a[0], "GT");
      inner.ret({inner.select(later, a[2], a[0]), inner.select(later, a[3], a[1])});
    };
    b.ret(b.reduce({x, i}, inits, {1}, body));
  });
}

TEST(Compiler, TransposesInTiles) {
  expect_evaluators_bits([](Builder& b) {
    Value* x = b.parameter({ElementType::kF32, {100, 77}});
    Value* y = b.parameter({ElementType::kF32, {77, 100}});
    Value* narrow = b.parameter({ElementType::kBF16, {3, 100, 77}});
    Value* bytes = b.parameter({ElementType::kSI8, {133, 70}});
    b.ret({b.add(b.transpose(x, {1, 0}), y), b.transpose(narrow, {2, 0, 1}),
           b.negate(b.transpose(bytes, {1, 0})), b.exponential(b.transpose(x, {1, 0}))});
  });
}

TEST(Compiler, ManyTypesOfElements) {
  for (ElementType type :
       {ElementType::kF8E4M3FN, ElementType::kF8E5M2, ElementType::kBF16, ElementType::kF16,
        ElementType::kF32, ElementType::kF64, ElementType::kComplexF32, ElementType::kComplexF64}) {
    SCOPED_TRACE(hlo::name(type));
    expect_evaluators_bits([&](Builder& b) {
      Value* x = b.parameter({type, {37}});
      Value* y = b.parameter({type, {37}});
      b.ret({b.add(x, y), b.multiply(x, y), b.divide(x, y), b.exponential(x)});
    });
  }
}

TEST(Compiler, InPlaceUpdateWithATail) {
  const auto module = hlo::parse(R"(
    func.func public @main(%p: tensor<1003xf32>, %g: tensor<1003xf32>) -> tensor<1003xf32> {
      %0 = stablehlo.subtract %p, %g : tensor<1003xf32>
      return %0 : tensor<1003xf32>
    })");
  const auto executable = compile(module, {.parameters = {}, .results = {}, .aliases = {0}});
  std::vector<float> p(1003), g(1003);
  for (int i = 0; i < 1003; ++i) {
    p[i] = static_cast<float>(3 * i);
    g[i] = static_cast<float>(i);
  }
  const std::byte* parameters[] = {reinterpret_cast<std::byte*>(p.data()),
                                   reinterpret_cast<std::byte*>(g.data())};
  std::byte* results[] = {reinterpret_cast<std::byte*>(p.data())};
  Scratch scratch;
  executable->run(parameters, results, scratch);
  for (int i = 0; i < 1003; ++i) ASSERT_EQ(p[i], static_cast<float>(2 * i)) << i;
  EXPECT_EQ(executable->scratch_bytes(), 0u);
}

TEST(Compiler, StridedResultLeavesItsGapsAlone) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<3xf32>) -> tensor<4x3xf32> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
      %1 = stablehlo.add %0, %0 : tensor<4x3xf32>
      return %1 : tensor<4x3xf32>
    })");
  const auto executable =
      compile(module, {.parameters = {Layout{{2}}}, .results = {Layout{{2, 9}}}, .aliases = {}});
  const std::vector<float> x = {1, -1, 2, -1, 3};
  std::vector<float> result(26, 7.0f);
  const std::byte* parameters[] = {reinterpret_cast<const std::byte*>(x.data())};
  std::byte* results[] = {reinterpret_cast<std::byte*>(result.data())};
  Scratch scratch;
  executable->run(parameters, results, scratch);
  for (int i = 0; i < 26; ++i) {
    const bool element = i % 9 < 8 && i % 9 % 2 == 0;
    const int row = i / 9;
    EXPECT_EQ(result[i], element ? static_cast<float>(2 * (row + 1)) : 7.0f) << i;
  }
}

// What control flow results in is dense, also where the caller wants it with strides.
TEST(Compiler, StridedResultOfABranchIsReadRight) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<4x2xf32>, %i: tensor<i32>, %at: tensor<1xi32>)
        -> (tensor<1x2xf32>, tensor<4x2xf32>) {
      %0 = "stablehlo.case"(%i) ({
        stablehlo.return %x : tensor<4x2xf32>
      }) : (tensor<i32>) -> tensor<4x2xf32>
      %1 = "stablehlo.gather"(%0, %at) <{dimension_numbers = #stablehlo.gather<
          offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
          index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}>
          : (tensor<4x2xf32>, tensor<1xi32>) -> tensor<1x2xf32>
      return %1, %0 : tensor<1x2xf32>, tensor<4x2xf32>
    })");
  const auto executable = compile(module, {.parameters = {Layout{}, Layout{}, Layout{{1}}},
                                           .results = {Layout{}, Layout{{5, 1}}},
                                           .aliases = {}});
  const std::vector<float> x = {0, 1, 2, 3, 4, 5, 6, 7};
  const int32_t branch = 0, at = 2;
  std::vector<float> row(2), all(17);
  const std::byte* parameters[] = {reinterpret_cast<const std::byte*>(x.data()),
                                   reinterpret_cast<const std::byte*>(&branch),
                                   reinterpret_cast<const std::byte*>(&at)};
  std::byte* results[] = {reinterpret_cast<std::byte*>(row.data()),
                          reinterpret_cast<std::byte*>(all.data())};
  Scratch scratch;
  executable->run(parameters, results, scratch);
  EXPECT_EQ(row, (std::vector<float>{4, 5}));
  for (int i = 0; i < 8; ++i) EXPECT_EQ(all[i / 2 * 5 + i % 2], x[i]) << i;
}

// A library call in a branch sees through a view of a value from outside of it.
TEST(Compiler, LibraryCallInABranchReadsAViewFromOutside) {
  expect_evaluators_bits([](Builder& b) {
    Value* x = b.negate(b.parameter({ElementType::kF32, {4}}));
    Value* view = b.broadcast_in_dim(x, {4, 3}, {0});
    Value* branch = b.parameter({ElementType::kSI32, {}});
    Value* keys =
        b.case_(branch, {[&](Builder& r, std::span<Value* const>) {
                  r.ret(r.sort({view}, 0, true, [](Builder& c, std::span<Value* const> a) {
                    c.ret({c.compare(a[0], a[1], "LT")});
                  }));
                }})[0];
    b.ret({keys});
  });
}

TEST(Compiler, FaultsReachTheCaller) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<4xi32>) -> tensor<i1> {
      %zero = stablehlo.constant dense<0> : tensor<4xi32>
      %true = stablehlo.constant dense<true> : tensor<i1>
      %p = stablehlo.compare GE, %x, %zero : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
      %all = stablehlo.reduce(%p init: %true) applies stablehlo.and across dimensions = [0]
          : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.custom_call @tpu.assert(%all) {has_side_effect = true, message = "below zero"}
          : (tensor<i1>) -> ()
      return %all : tensor<i1>
    })");
  const auto executable = compile(module);
  EXPECT_TRUE(executable->may_fault());
  EXPECT_NO_THROW(run(*executable, {hlo::splat({ElementType::kSI32, {4}}, int64_t{1})}));
  try {
    run(*executable, {hlo::splat({ElementType::kSI32, {4}}, int64_t{-1})});
    FAIL() << "no fault";
  } catch (const DeviceError& error) {
    EXPECT_STREQ(error.what(), "below zero");
  }
}

TEST(Compiler, RefusesBadSignatures) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.negate %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    })");
  EXPECT_THROW(compile(module, {.parameters = {Layout{{-1}}}, .results = {}, .aliases = {}}),
               InvalidArgument);
  EXPECT_THROW(compile(module, {.parameters = {Layout{{1, 1}}}, .results = {}, .aliases = {}}),
               InvalidArgument);
  EXPECT_THROW(compile(module, {.parameters = {}, .results = {Layout{{0}}}, .aliases = {}}),
               InvalidArgument);
  EXPECT_THROW(compile(module, {.parameters = {}, .results = {}, .aliases = {1}}), InvalidArgument);
}

TEST(Compiler, DescribesKernels) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<8x16xf32>, %y: tensor<16x4xf32>) -> tensor<8x4xf32> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
      %1 = stablehlo.exponential %0 : tensor<8x4xf32>
      %2 = stablehlo.add %1, %0 : tensor<8x4xf32>
      return %2 : tensor<8x4xf32>
    })");
  const auto executable = compile(module);
  ASSERT_EQ(executable->kernels().size(), 2u);
  const KernelDescription& dot = executable->kernels()[0];
  EXPECT_EQ(dot.name, "dot_general");
  EXPECT_EQ(dot.unit, KernelDescription::Unit::kMxu);
  EXPECT_EQ(dot.flops, 2.0 * 8 * 16 * 4);
  EXPECT_EQ(dot.bytes_read, (8 * 16 + 16 * 4) * 4);
  const KernelDescription& fusion = executable->kernels()[1];
  EXPECT_EQ(fusion.name, "fusion: exponential add");
  EXPECT_EQ(fusion.unit, KernelDescription::Unit::kVpu);
  EXPECT_EQ(fusion.flops, 32);
  EXPECT_EQ(fusion.transcendentals, 32);
  EXPECT_EQ(fusion.bytes_read, 32 * 4);
  EXPECT_EQ(fusion.bytes_written, 32 * 4);
}

TEST(Compiler, CompilesAndRunsOnManyThreadsAtOnce) {
  const auto module = hlo::parse(R"(
    func.func public @main(%x: tensor<1000xf32>, %zero: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.logistic %x : tensor<1000xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
          : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
      return %1 : tensor<f32>
    })");
  const std::vector<Literal> arguments = {hlo::splat({ElementType::kF32, {1000}}, 0.25),
                                          hlo::scalar(ElementType::kF32, 0.0)};
  const Literal expected = hlo::evaluate(module, arguments)[0];
  const auto shared = compile(module);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(run(*compile(module), arguments)[0], expected);
        EXPECT_EQ(run(*shared, arguments)[0], expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tpu::compiler
