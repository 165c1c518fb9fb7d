// The largest or smallest elements along a dimension.
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// custom_call @tpu.topk; see custom_calls.md.
void topk(const KernelCall& call);
/// custom_call @tpu.select_rank.
void select_rank(const KernelCall& call);
/// custom_call @tpu.randperm.
void randperm(const KernelCall& call);

}  // namespace tpu::compiler::kernels
