// reduce_window of several inputs, such as values with their positions.
#pragma once

#include "emulator/compiler/kernels/kernel.h"
#include "emulator/compiler/kernels/window.h"

namespace tpu::compiler::kernels {

/// A reduce_window with two or more results, none of them empty.
void reduce_window_variadic(const KernelCall& call, const Window& window);

}  // namespace tpu::compiler::kernels
