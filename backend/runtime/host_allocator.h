// Host memory that counts as pinned: transfers from and to it may run behind the program's back.
#pragma once

#include <ATen/core/CachingHostAllocator.h>

namespace torch_tpu::runtime {

at::HostAllocator& host_allocator();
/// True if the address lies in a live block of the host allocator.
bool is_pinned(const void* address);

}  // namespace torch_tpu::runtime
