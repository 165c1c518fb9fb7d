// Copies within the device and to and from the host.
#pragma once

#include <ATen/core/Tensor.h>

namespace torch_tpu::eager {

/// `target = source`, broadcast, cast and restrided as one program. Asynchronous.
void copy_on_device(const at::Tensor& source, const at::Tensor& target);

/// `Tensor.copy_` between any two devices of which at least one is the tpu. From the host: the
/// source is read before this returns, unless it is pinned and `non_blocking`. To the host: waits,
/// unless the target is pinned and `non_blocking`.
at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking);

/// The one element of `tensor`. Waits for the queue.
at::Scalar read_scalar(const at::Tensor& tensor);

}  // namespace torch_tpu::eager
