// Replaces calls in @main by the bodies of the functions they call.
#pragma once

#include "emulator/hlo/ir.h"

namespace tpu::compiler {

/// Throws InvalidArgument for a function that is missing or calls itself.
void inline_calls(hlo::Module& module);

}  // namespace tpu::compiler
