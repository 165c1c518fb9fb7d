// Operators that are not programs: allocation, views, storage, copies to and from the host.
#pragma once

#include <torch/library.h>

namespace torch_tpu::eager {

void register_native_functions(torch::Library& library);

}  // namespace torch_tpu::eager
