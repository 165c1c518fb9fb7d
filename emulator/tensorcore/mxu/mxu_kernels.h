// The MXU's entries of the kernel library.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::tensorcore {

/// stablehlo.dot_general: operands lhs and rhs, one result, any strides, any element types that
/// arithmetic_of allows. Order and rounding: numerics.h. Throws InvalidArgument for shapes or
/// types that do not fit together.
void dot_general(const compiler::KernelCall& call);

/// stablehlo.convolution, likewise; see also reference::convolution for the order of its taps.
void convolution(const compiler::KernelCall& call);

}  // namespace tpu::tensorcore
