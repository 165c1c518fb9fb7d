// Comparing programs, for tests.
#pragma once

#include <string>

#include "emulator/hlo/ir.h"

namespace tpu::hlo::text {

/// Empty if both modules have the same functions, ops, attributes, regions, types and uses of
/// values; otherwise says where they first differ.
std::string module_difference(const Module& a, const Module& b);

}  // namespace tpu::hlo::text
