// Elementary functions: the templates of emulator/tensorcore/vpu, run on the code generator's machine.
#include <string>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/element_ops.h"
#include "emulator/compiler/codegen/llvm_machine.h"

namespace tpu::compiler {

using hlo::ElementType;
using hlo::Op;
using hlo::OpKind;

llvm::Value* ElementOps::elementary(const Op& op, std::span<const Lanes> x, ElementType type,
                                    int width) {
  LlvmMachine machine(b_, width);
  switch (op.kind()) {
    case OpKind::kSqrt:
      if (type == ElementType::kF64) return machine.sqrt(LlvmMachine::F64{x[0].value}).value;
      return machine.sqrt(LlvmMachine::F32{x[0].value}).value;
    default:
      throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) + "'");
  }
}

Lanes ElementOps::complex_elementary(const Op& op, std::span<const Lanes>, ElementType, int) {
  throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) +
                      "' of complex elements");
}

}  // namespace tpu::compiler
