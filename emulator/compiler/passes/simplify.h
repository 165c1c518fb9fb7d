// Rewrites a module into fewer and simpler ops, with the same bits.
#pragma once

#include "emulator/hlo/ir.h"

namespace tpu::compiler {

/// Inlines calls, then removes what does nothing, what is computed twice and what nobody uses.
void simplify(hlo::Module& module);

}  // namespace tpu::compiler
