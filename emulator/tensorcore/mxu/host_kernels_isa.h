// The tables of host_kernels.h, one a translation unit.
#pragma once

#include "emulator/tensorcore/mxu/host_kernels.h"

namespace tpu::tensorcore {

const HostKernels& baseline_kernels();
#if defined(__x86_64__)
const HostKernels& avx2_kernels();
const HostKernels& avx512_kernels();
#endif

}  // namespace tpu::tensorcore
