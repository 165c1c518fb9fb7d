// Operators that are not programs: allocation, views, storage, copies to and from the host.
#pragma once

#include <torch/library.h>

namespace torch_tpu::eager {

void register_native_functions(torch::Library& library);

/// Operators whose result's size depends on the data: they count on the device, wait for the count,
/// and run a program of the size it gave.
void register_data_dependent_functions(torch::Library& library);

/// The same by PyTorch's CPU kernel, where only that can tell the sizes.
void register_host_functions(torch::Library& library);

/// The out= form of an operator that has its result: resizes `out` as PyTorch does, and copies.
at::Tensor& replace(at::Tensor& out, const at::Tensor& result);

/// The indices of advanced indexing with each mask replaced by the positions it holds, and with
/// index tensors of the host moved to the device.
c10::List<std::optional<at::Tensor>> positions_of_masks(
    const c10::List<std::optional<at::Tensor>>& indices, const at::Tensor& self);

}  // namespace torch_tpu::eager
