#include "emulator/base/error.h"
#include "emulator/compiler/compiled_program.h"

namespace tpu::compiler {

std::vector<std::byte> CompiledProgram::serialize() const {
  throw Unimplemented("serialize");
}

std::shared_ptr<const Executable> Executable::load(std::span<const std::byte>) {
  throw Unimplemented("load");
}

}  // namespace tpu::compiler
