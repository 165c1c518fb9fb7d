// The Executable that the compiler makes and that images are loaded into.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "emulator/compiler/codegen/object_code.h"
#include "emulator/compiler/compiler.h"
#include "emulator/compiler/executable.h"
#include "emulator/compiler/program.h"

namespace tpu::compiler {

/// Everything an executable is made of, but for what can be derived from it.
struct ProgramImage {
  std::vector<hlo::TensorType> parameter_types, result_types;
  HostIsa isa = HostIsa::kBaseline;
  int64_t scratch_bytes = 0;
  std::vector<std::byte> constants;
  std::vector<std::byte> object;  ///< empty if no step needs generated code
  std::vector<KernelDescription> kernels;
  Program program;
};

/// The name of generated function number `i` in the object code.
std::string function_name(int i);

class CompiledProgram final : public Executable {
 public:
  /// Loads the object code and binds the steps to it and to the kernel library.
  explicit CompiledProgram(ProgramImage image);

  void run(std::span<const std::byte* const> parameters, std::span<std::byte* const> results,
           Scratch& scratch) const override;

  std::span<const hlo::TensorType> parameter_types() const override {
    return image_.parameter_types;
  }
  std::span<const hlo::TensorType> result_types() const override { return image_.result_types; }
  size_t scratch_bytes() const override { return static_cast<size_t>(image_.scratch_bytes); }
  std::span<const KernelDescription> kernels() const override { return image_.kernels; }
  bool may_fault() const override { return may_fault_; }
  std::vector<std::byte> serialize() const override;

 private:
  void bind(Program& program);
  void bind(LibraryStep& step);

  ProgramImage image_;
  std::unique_ptr<LoadedObject> object_;
  std::unique_ptr<std::byte[]> constant_storage_;
  std::byte* constants_ = nullptr;  // aligned to 64
  size_t constant_bytes_ = 0;
  bool may_fault_ = false;
};

}  // namespace tpu::compiler
