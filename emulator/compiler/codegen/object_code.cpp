#include "emulator/compiler/codegen/object_code.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Pass.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Scalar.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "emulator/base/error.h"

namespace tpu::compiler {
namespace {

// Target machines
// ----------------------------------------------------------------------------------

const llvm::Target& native_target(const std::string& triple) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target) throw Unimplemented("no code generator for this host: " + message);
  return *target;
}

const char* processor_of(HostIsa isa) {
  switch (isa) {
    case HostIsa::kAvx512:
      return "skylake-avx512";
    case HostIsa::kAvx2:
      return "haswell";
    default:
      return "x86-64";
  }
}

std::unique_ptr<llvm::TargetMachine> make_machine(HostIsa isa) {
  const std::string triple = llvm::sys::getProcessTriple();
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.NoNaNsFPMath = false;
  options.UnsafeFPMath = false;
  const bool x86 = llvm::StringRef(triple).starts_with("x86_64");
  std::unique_ptr<llvm::TargetMachine> machine(native_target(triple).createTargetMachine(
      triple, x86 ? processor_of(isa) : "generic", "", options, llvm::Reloc::PIC_,
      llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  machine->setFastISel(false);
  return machine;
}

// A target machine serves one compilation at a time, so each thread has its own.
llvm::TargetMachine& machine_for(HostIsa isa) {
  thread_local std::array<std::unique_ptr<llvm::TargetMachine>, 3> machines;
  auto& machine = machines[static_cast<size_t>(isa)];
  if (!machine) machine = make_machine(isa);
  return *machine;
}

// Helpers
// ------------------------------------------------------------------------------------------

struct Helper {
  const char* name;
  void* address;
};

template <class R, class... A>
Helper helper(const char* name, R (*function)(A...)) {
  return {name, reinterpret_cast<void*>(function)};
}

std::span<const Helper> helpers() {
  using F = float (*)(float);
  using D = double (*)(double);
  static const std::array kHelpers = {
      helper("memcpy", std::memcpy),
      helper("memmove", std::memmove),
      helper("memset", std::memset),
      helper("fmaf", static_cast<float (*)(float, float, float)>(std::fma)),
      helper("fma", static_cast<double (*)(double, double, double)>(std::fma)),
      helper("fmodf", static_cast<float (*)(float, float)>(std::fmod)),
      helper("fmod", static_cast<double (*)(double, double)>(std::fmod)),
      helper("floorf", static_cast<F>(std::floor)),
      helper("floor", static_cast<D>(std::floor)),
      helper("ceilf", static_cast<F>(std::ceil)),
      helper("ceil", static_cast<D>(std::ceil)),
      helper("truncf", static_cast<F>(std::trunc)),
      helper("trunc", static_cast<D>(std::trunc)),
      helper("roundf", static_cast<F>(std::round)),
      helper("round", static_cast<D>(std::round)),
      // To even, in the rounding mode that every program runs in.
      helper("roundevenf", static_cast<F>(std::nearbyint)),
      helper("roundeven", static_cast<D>(std::nearbyint)),
  };
  return kHelpers;
}

// One mapping for all sections: code and constants are read and executed, never written again.
class Memory : public llvm::RTDyldMemoryManager {
 public:
  ~Memory() override {
    if (base_) munmap(base_, size_);
  }

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t code_size, llvm::Align code_align, uintptr_t ro_size,
                              llvm::Align ro_align, uintptr_t rw_size,
                              llvm::Align rw_align) override {
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const uintptr_t slack = code_align.value() + ro_align.value() + rw_align.value();
    size_ = (code_size + ro_size + rw_size + slack + page - 1) / page * page;
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw OutOfMemory("no memory for generated code");
    base_ = static_cast<uint8_t*>(mapped);
  }
  uint8_t* allocateCodeSection(uintptr_t size, unsigned alignment, unsigned,
                               llvm::StringRef) override {
    return take(size, alignment);
  }
  uint8_t* allocateDataSection(uintptr_t size, unsigned alignment, unsigned, llvm::StringRef,
                               bool) override {
    return take(size, alignment);
  }
  bool finalizeMemory(std::string*) override {
    return base_ && mprotect(base_, size_, PROT_READ | PROT_EXEC) != 0;
  }
  // The code neither throws nor is thrown through.
  void registerEHFrames(uint8_t*, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

  llvm::JITSymbol findSymbol(const std::string& name) override {
    for (const Helper& helper : helpers()) {
      if (name == helper.name) {
        return {reinterpret_cast<uint64_t>(helper.address), llvm::JITSymbolFlags::Exported};
      }
    }
    missing_ = name;
    return nullptr;
  }
  const std::string& missing() const { return missing_; }

 private:
  uint8_t* take(uintptr_t size, unsigned alignment) {
    const uintptr_t align = std::max(1u, alignment);
    used_ = (used_ + align - 1) / align * align;
    uint8_t* result = base_ + used_;
    used_ += size;
    return result;
  }

  uint8_t* base_ = nullptr;
  uintptr_t size_ = 0, used_ = 0;
  std::string missing_;
};

}  // namespace

void prepare_module(llvm::Module& module, HostIsa isa) {
  const llvm::TargetMachine& machine = machine_for(isa);
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple().str());
}

std::vector<std::byte> compile_module(llvm::Module& module, HostIsa isa) {
  llvm::TargetMachine& machine = machine_for(isa);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  passes.add(llvm::createEarlyCSEPass());
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile,
                                  /*DisableVerify=*/true)) {
    throw Unimplemented("the code generator cannot write object files");
  }
  passes.run(module);
  const auto* bytes = reinterpret_cast<const std::byte*>(object.data());
  return {bytes, bytes + object.size()};
}

struct LoadedObject::Impl {
  Memory memory;
  std::map<std::string, void*> functions;
};

LoadedObject::LoadedObject(std::span<const std::byte> object) : impl_(std::make_unique<Impl>()) {
  const llvm::MemoryBufferRef buffer(
      llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()), "kernels");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file) throw InvalidArgument("damaged object code: " + llvm::toString(file.takeError()));
  Memory& memory = impl_->memory;
  llvm::RuntimeDyld linker(memory, memory);
  linker.loadObject(**file);
  if (!linker.hasError()) linker.resolveRelocations();
  if (!memory.missing().empty()) {
    throw InvalidArgument("object code needs '" + memory.missing() +
                          "', which is not one of the runtime's helpers");
  }
  if (linker.hasError()) {
    throw InvalidArgument("damaged object code: " + linker.getErrorString().str());
  }
  std::string message;
  if (memory.finalizeMemory(&message)) {
    throw OutOfMemory("generated code cannot be made executable");
  }
  for (const auto& [name, symbol] : linker.getSymbolTable()) {
    // The linker gives addresses as numbers. NOLINTNEXTLINE(performance-no-int-to-ptr)
    impl_->functions[name.str()] = reinterpret_cast<void*>(symbol.getAddress());
  }
}

LoadedObject::~LoadedObject() = default;

void* LoadedObject::find(const std::string& name) const {
  const auto found = impl_->functions.find(name);
  return found == impl_->functions.end() ? nullptr : found->second;
}

}  // namespace tpu::compiler
