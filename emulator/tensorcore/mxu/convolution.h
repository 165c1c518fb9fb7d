// convolution with a chosen table of host kernels; mxu_kernels.h has the library's entry.
#pragma once

#include "emulator/compiler/kernels/kernel.h"
#include "emulator/tensorcore/mxu/host_kernels.h"

namespace tpu::tensorcore {

void convolution(const compiler::KernelCall& call, const HostKernels& host);

}  // namespace tpu::tensorcore
