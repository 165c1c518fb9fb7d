// Which line of the user's program is running.
#pragma once

#include <string>

namespace torch_tpu::python {

/// `train.py:12 in step`: the innermost frame of the calling thread that is neither PyTorch's nor
/// this package's; empty if there is none, or no interpreter. Takes the GIL.
std::string source_location();

}  // namespace torch_tpu::python
