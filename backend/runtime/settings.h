// What the user sets for the whole process: precision and execution mode.
#pragma once

#include <ATen/Context.h>

#include <optional>

namespace torch_tpu::runtime {

/// Passes over bf16 parts that a float32 product takes: MEDIUM one, HIGH three, HIGHEST six.
/// The innermost `torch.tpu.precision` if there is one, else what the user gave
/// `torch.set_float32_matmul_precision`, else one pass, as TPUs do by default.
at::Float32MatmulPrecision matmul_precision();

/// Set by the context manager; nullopt ends the override. For the whole process, so that the
/// backward pass, which PyTorch runs on a thread of its own, follows it too.
void set_matmul_precision_override(std::optional<at::Float32MatmulPrecision> precision);
std::optional<at::Float32MatmulPrecision> matmul_precision_override();
/// Says that PyTorch's global setting is the user's choice and not merely its default.
void set_matmul_precision_chosen();
bool matmul_precision_chosen();

/// True lets a fusion keep intermediate values in float32 where eager execution would round them
/// to bf16; then compiled results may differ from eager ones.
bool allow_excess_precision();
void set_allow_excess_precision(bool allow);

}  // namespace torch_tpu::runtime
