// Complex products as four real ones.
#pragma once

#include <cstddef>
#include <functional>

#include "emulator/hlo/types.h"

namespace tpu::tensorcore {

/// Where a real product of complex operands takes its numbers from (0 real, 1 imaginary) and where
/// it puts its `count` dense results.
struct RealProduct {
  int lhs_part, rhs_part;
  std::byte* result;
};

/// Runs `real` four times into scratch memory and calls `store(i, bytes)` for each of the `count`
/// results with the complex number's bytes: re = re*re - im*im, im = re*im + im*re.
void multiply_complex(hlo::ElementType element, int64_t count,
                      const std::function<void(const RealProduct&)>& real,
                      const std::function<void(int64_t, const std::byte*)>& store);

}  // namespace tpu::tensorcore
