#include "emulator/compiler/codegen/code_module.h"

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdlib>

#include "emulator/compiler/codegen/element_ops.h"
#include "emulator/compiler/codegen/kernel_function.h"
#include "emulator/compiler/codegen/object_code.h"
#include "emulator/compiler/compiled_program.h"

namespace tpu::compiler {

struct CodeModule::Impl {
  llvm::LLVMContext context;
  llvm::Module module{"kernels", context};
};

CodeModule::CodeModule(HostIsa isa) : isa_(isa) {}
CodeModule::~CodeModule() = default;

CodeModule::Impl& CodeModule::impl() {
  if (!impl_) {
    impl_ = std::make_unique<Impl>();
    prepare_module(impl_->module, isa_);
  }
  return *impl_;
}

CodeModule::Function CodeModule::add_loop(const LoopKernel& kernel, const Schedule& schedule,
                                          std::optional<LaneSplit> split) {
  const int number = count_++;
  KernelFunction function(impl().module, kernel, schedule, isa_, function_name(number), split);
  return {number, function.emit()};
}

int CodeModule::add_region(const hlo::Block& region) {
  llvm::Module& module = impl().module;
  const int number = count_++;
  llvm::IRBuilder<> b(module.getContext());
  ElementOps ops(b, isa_);
  auto* type = llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy(), b.getPtrTy()}, false);
  auto* function =
      llvm::Function::Create(type, llvm::Function::ExternalLinkage, function_name(number), module);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", function));
  const auto pointer = [&](llvm::Value* array, size_t i) {
    return b.CreateLoad(b.getPtrTy(), b.CreateConstInBoundsGEP1_64(b.getPtrTy(), array, i));
  };
  std::vector<Lanes> arguments;
  for (size_t i = 0; i < region.arguments().size(); ++i) {
    const hlo::ElementType element = region.argument(static_cast<int>(i))->type.element;
    llvm::Value* at = pointer(function->getArg(0), i);
    llvm::Type* memory = ops.memory_type(element);
    if (hlo::is_complex(element)) {
      llvm::Value* imag = b.CreateConstInBoundsGEP1_64(memory, at, 1);
      arguments.push_back({b.CreateLoad(memory, at), b.CreateLoad(memory, imag)});
    } else {
      arguments.push_back(ops.from_memory(element, b.CreateLoad(memory, at), 1));
    }
  }
  const std::vector<Lanes> results = ops.apply_region(region, arguments, 1);
  for (size_t i = 0; i < results.size(); ++i) {
    const auto element = region.terminator().operand(static_cast<int>(i))->type.element;
    llvm::Value* at = pointer(function->getArg(1), i);
    if (hlo::is_complex(element)) {
      b.CreateStore(results[i].value, at);
      b.CreateStore(results[i].imag, b.CreateConstInBoundsGEP1_64(ops.memory_type(element), at, 1));
    } else {
      b.CreateStore(ops.to_memory(element, results[i].value, 1), at);
    }
  }
  b.CreateRetVoid();
  return number;
}

std::vector<std::byte> CodeModule::compile() {
  if (!impl_) return {};
  if (std::getenv("TORCH_TPU_EMULATOR_DUMP_LLVM")) impl_->module.print(llvm::errs(), nullptr);
  return compile_module(impl_->module, isa_);
}

int vector_bytes(HostIsa isa) {
  switch (isa) {
    case HostIsa::kAvx512:
      return 64;
    case HostIsa::kAvx2:
      return 32;
    default:
      return 16;
  }
}

}  // namespace tpu::compiler
