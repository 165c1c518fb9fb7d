// Elementary functions: the templates of emulator/tensorcore/vpu, run on the code generator's
// machine.
#include <string>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/element_ops.h"
#include "emulator/compiler/codegen/llvm_machine.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::compiler {

using hlo::ElementType;
using hlo::Op;
using hlo::OpKind;
using tensorcore::ElementaryFunctionInfo;

namespace {

const ElementaryFunctionInfo* find_function(const Op& op) {
  const std::string name = op.kind() == OpKind::kCustomCall
                               ? op.attributes().get<std::string>("call_target_name")
                               : "stablehlo." + std::string(hlo::mnemonic(op.kind()));
  for (const ElementaryFunctionInfo& info : tensorcore::kElementaryFunctions) {
    if (info.hlo_name == name) return &info;
  }
  return nullptr;
}

}  // namespace

llvm::Value* ElementOps::elementary(const Op& op, std::span<const Lanes> x, ElementType type,
                                    int width) {
  const ElementaryFunctionInfo* info = find_function(op);
  if (!info || static_cast<int>(x.size()) != info->arguments) {
    throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) + "' of " +
                        std::string(hlo::name(type)) + " elements");
  }
  LlvmMachine machine(b_, width);
  const auto run = [&]<class T>(T) -> llvm::Value* {
    using Vector = tensorcore::Value<LlvmMachine, T>;
    using Native = typename Vector::Native;
    const Vector a(machine, Native{x[0].value});
    if (info->arguments == 1) return tensorcore::unary(info->function, a).native().value;
    const Vector b(machine, Native{x[1].value});
    return tensorcore::binary(info->function, a, b).native().value;
  };
  return type == ElementType::kF64 ? run(double{}) : run(float{});
}

Lanes ElementOps::complex_elementary(const Op& op, std::span<const Lanes>, ElementType, int) {
  throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) +
                      "' of complex elements");
}

}  // namespace tpu::compiler
