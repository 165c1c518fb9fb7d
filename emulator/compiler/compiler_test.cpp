#include "emulator/compiler/compiler.h"

#include <gtest/gtest.h>

#include "emulator/hlo/builder.h"

namespace tpu::compiler {
namespace {

TEST(Compiler, Adds) {
  hlo::Module module;
  hlo::Builder b(module.add_function("main").body);
  hlo::Value* x = b.parameter({hlo::ElementType::kF32, {4, 5}});
  b.ret({b.add(x, x)});
  auto executable = compile(module);
  std::vector<float> in(20), out(20);
  for (int i = 0; i < 20; ++i) in[i] = i;
  Scratch scratch;
  const std::byte* parameters[] = {reinterpret_cast<std::byte*>(in.data())};
  std::byte* results[] = {reinterpret_cast<std::byte*>(out.data())};
  executable->run(parameters, results, scratch);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(out[i], 2 * i);
}

}  // namespace
}  // namespace tpu::compiler
