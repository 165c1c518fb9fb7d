// Machine code: from an LLVM module to relocatable bytes, and from those to callable functions.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "emulator/compiler/compiler.h"

namespace llvm {
class Module;
}

namespace tpu::compiler {

/// Sets the module's data layout and triple for the target. Call before emitting into it.
void prepare_module(llvm::Module& module, HostIsa isa);

/// Optimises lightly and generates code for the target's vector extension.
std::vector<std::byte> compile_module(llvm::Module& module, HostIsa isa);

/// Object code made callable in this process. The code may call a fixed list of helpers, all of
/// them exact: memory copies and correctly rounded or exact math.
class LoadedObject {
 public:
  /// Throws InvalidArgument if the object is damaged or needs a symbol that is not a helper.
  explicit LoadedObject(std::span<const std::byte> object);
  ~LoadedObject();

  /// The address of a function; null if there is none of that name.
  void* find(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tpu::compiler
