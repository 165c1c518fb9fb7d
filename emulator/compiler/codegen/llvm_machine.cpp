#include "emulator/compiler/codegen/llvm_machine.h"

#include <string>

namespace tpu::compiler {

LlvmMachine::F64 LlvmMachine::lookup(std::span<const double> table, I32 index) {
  // The table travels with the code, so that an image can be loaded into another process.
  llvm::Module& module = *b_.GetInsertBlock()->getModule();
  const std::string name = "table." + std::to_string(reinterpret_cast<uintptr_t>(table.data()));
  llvm::GlobalVariable* global = module.getNamedGlobal(name);
  if (!global) {
    llvm::Constant* data = llvm::ConstantDataArray::get(
        b_.getContext(), llvm::ArrayRef<double>(table.data(), table.size()));
    global = new llvm::GlobalVariable(module, data->getType(), true,
                                      llvm::GlobalValue::PrivateLinkage, data, name);
  }
  const auto load = [&](llvm::Value* position) -> llvm::Value* {
    llvm::Value* wide = b_.CreateZExt(position, b_.getInt64Ty());
    return b_.CreateLoad(b_.getDoubleTy(), b_.CreateGEP(b_.getDoubleTy(), global, wide));
  };
  if (width_ == 1) return {load(index.value)};
  llvm::Value* result = llvm::PoisonValue::get(vector(b_.getDoubleTy()));
  for (int lane = 0; lane < width_; ++lane) {
    llvm::Value* element = load(b_.CreateExtractElement(index.value, uint64_t(lane)));
    result = b_.CreateInsertElement(result, element, uint64_t(lane));
  }
  return {result};
}

}  // namespace tpu::compiler
