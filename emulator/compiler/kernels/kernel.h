// The kernel library's calling convention: ops that are not fused loops.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "emulator/compiler/kernels/region_pattern.h"
#include "emulator/hlo/ir.h"
#include "emulator/hlo/types.h"

namespace tpu::compiler {

/// A strided array in device memory. Strides count elements.
struct ConstView {
  hlo::ElementType element;
  std::span<const int64_t> shape;
  std::span<const int64_t> strides;
  const std::byte* data;
};
struct View {
  hlo::ElementType element;
  std::span<const int64_t> shape;
  std::span<const int64_t> strides;
  std::byte* data;
};

/// A region (combiner, comparator) compiled to a scalar function: arguments and results point to
/// one element each. Null where the op has none.
using RegionFunction = void (*)(const std::byte* const* arguments, std::byte* const* results);

struct KernelCall {
  hlo::OpKind kind;
  const hlo::Attributes& attributes;
  std::span<const ConstView> operands;
  std::span<const View> results;
  std::span<const RegionFunction> regions;
  /// For a region that is exactly one binary op of its two arguments, that op: lets kernels
  /// take a fast path. kReturn otherwise.
  std::span<const hlo::OpKind> region_ops;
  int mxu_depth = 128;
  /// `recognise_region` of each region (region_pattern.h): assignments and comparators take fast
  /// paths too. May be empty; then only `region_ops` is used.
  std::span<const RegionPattern> region_patterns = {};
};

/// Runs an op of the library. Parallel inside; throws DeviceError on a fault.
using Kernel = void (*)(const KernelCall& call);

/// The kernel for an op; null if it has none. custom_call is looked up by its target instead.
Kernel find_kernel(hlo::OpKind kind);
Kernel find_custom_call(std::string_view target);
/// Adds a target, or with `name.*` all that start with `name.` and have no kernel of their own.
/// Call at start-up; the last registration of a name wins.
void register_custom_call(std::string_view target, Kernel kernel);

}  // namespace tpu::compiler
