#include "emulator/compiler/codegen/code_module.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/object_code.h"
#include "emulator/compiler/compiled_program.h"
#include "emulator/compiler/passes/testing.h"

namespace tpu::compiler {
namespace {

std::vector<std::byte> object_of(std::string_view text, HostIsa isa) {
  const PlannedProgram program(text);
  const Placement placement = place_buffers(program.plan, {}, {});
  CodeModule code(isa);
  for (const PlanStep& step : program.plan.steps) {
    for (const LoopKernel& kernel : step.kernels) {
      code.add_loop(kernel, make_schedule(kernel, placement, vector_bytes(isa)));
    }
  }
  return code.compile();
}

// An op of each kind that has instructions of its own on some target.
constexpr std::string_view kMixed = R"(
  func.func public @main(%x: tensor<40x100xf32>, %h: tensor<40x100xf16>, %i: tensor<100xi8>)
      -> (tensor<40x100xf32>, tensor<100x40xf16>, tensor<100xi8>, tensor<40xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %f = stablehlo.floor %x : tensor<40x100xf32>
    %r = stablehlo.round_nearest_even %f : tensor<40x100xf32>
    %e = stablehlo.exponential %r : tensor<40x100xf32>
    %m = stablehlo.remainder %e, %x : tensor<40x100xf32>
    %t = stablehlo.transpose %h, dims = [1, 0] : (tensor<40x100xf16>) -> tensor<100x40xf16>
    %n = stablehlo.add %t, %t : tensor<100x40xf16>
    %j = stablehlo.multiply %i, %i : tensor<100xi8>
    %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<40x100xf32>, tensor<f32>) -> tensor<40xf32>
    return %m, %n, %j, %s
        : tensor<40x100xf32>, tensor<100x40xf16>, tensor<100xi8>, tensor<40xf32>
  })";

TEST(CodeModule, MakesCodeForEveryExtensionWhateverTheHost) {
  std::vector<std::vector<std::byte>> objects;
  for (HostIsa isa : {HostIsa::kBaseline, HostIsa::kAvx2, HostIsa::kAvx512}) {
    objects.push_back(object_of(kMixed, isa));
    const LoadedObject loaded(objects.back());  // no symbol is missing
    EXPECT_NE(loaded.find(function_name(0)), nullptr);
    EXPECT_EQ(loaded.find("nothing"), nullptr);
  }
  EXPECT_NE(objects[0], objects[1]);
  EXPECT_NE(objects[1], objects[2]);
}

TEST(CodeModule, NothingToCompileIsNoCode) {
  EXPECT_TRUE(CodeModule(host_isa()).compile().empty());
}

TEST(CodeModule, RegionsAreScalarFunctions) {
  const hlo::Module module = hlo::parse(R"(
    func.func public @main(%a: tensor<bf16>, %b: tensor<i32>, %p: tensor<i1>)
        -> (tensor<i1>, tensor<bf16>, tensor<i32>) {
      %d = stablehlo.add %a, %a : tensor<bf16>
      %s = stablehlo.select %p, %d, %a : tensor<i1>, tensor<bf16>
      %n = stablehlo.not %p : tensor<i1>
      %m = stablehlo.negate %b : tensor<i32>
      return %n, %s, %m : tensor<i1>, tensor<bf16>, tensor<i32>
    })");
  CodeModule code(host_isa());
  const int number = code.add_region(module.main().body);
  const LoadedObject loaded(code.compile());
  const auto function = reinterpret_cast<RegionFunction>(loaded.find(function_name(number)));
  ASSERT_NE(function, nullptr);
  const uint16_t a = 0x3fc0;  // 1.5
  const int32_t b = 7;
  const uint8_t p = 1;
  uint8_t n = 9;
  uint16_t s = 0;
  int32_t m = 0;
  const std::byte* arguments[] = {reinterpret_cast<const std::byte*>(&a),
                                  reinterpret_cast<const std::byte*>(&b),
                                  reinterpret_cast<const std::byte*>(&p)};
  std::byte* results[] = {reinterpret_cast<std::byte*>(&n), reinterpret_cast<std::byte*>(&s),
                          reinterpret_cast<std::byte*>(&m)};
  function(arguments, results);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(s, 0x4040);  // 3
  EXPECT_EQ(m, -7);
}

TEST(LoadedObject, RefusesWhatIsNotAnObject) {
  const std::vector<std::byte> nonsense(100, std::byte{0x7f});
  EXPECT_THROW(LoadedObject{nonsense}, InvalidArgument);
}

}  // namespace
}  // namespace tpu::compiler
