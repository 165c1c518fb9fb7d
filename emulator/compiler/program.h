// A compiled program as it runs: steps over a table of addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/kernel.h"
#include "emulator/compiler/kernels/region_pattern.h"
#include "emulator/hlo/attributes.h"
#include "emulator/hlo/types.h"

namespace tpu::compiler {

/// `offset` bytes behind the address in `entry` of the table.
struct Address {
  int32_t entry = 0;
  int64_t offset = 0;

  std::byte* in(std::byte* const* table) const { return table[entry] + offset; }
};

struct ArrayAt {
  Address at;
  hlo::TensorType type;
  hlo::Dims strides;  ///< in elements
};

/// Generated code for units [begin, end) of a loop kernel, given the addresses it reads and writes.
using LoopFunction = void (*)(std::byte* const* bases, int64_t begin, int64_t end,
                              std::byte* scratch);

struct LoopStep {
  int function = 0;  ///< number of the function in the object code
  int64_t units = 0, grain = 1;
  int64_t scratch_bytes = 0;  ///< for each thread
  std::vector<Address> bases;
  LoopFunction run = nullptr;
};

/// A few long rows: by groups of lanes and then their tree where threads can share the work, or
/// all at once on one thread.
struct SplitStep {
  LoopStep groups, tree, whole;
};

struct LibraryStep {
  hlo::OpKind kind;
  std::string target;  ///< of a custom call
  hlo::Attributes attributes;
  std::vector<ArrayAt> operands, results;
  std::vector<int> region_functions;
  std::vector<hlo::OpKind> region_ops;
  std::vector<RegionPattern> region_patterns;
  int mxu_depth = 128;
  std::vector<RegionFunction> regions;
  Kernel kernel = nullptr;
};

struct CopyStep {
  int width = 0;
  hlo::Dims shape;
  Address from, to;
  hlo::Dims from_strides, to_strides;
  std::optional<kernels::CopyPlan> plan;
};

struct AssertStep {
  Address condition;
  std::string message;
};

struct Program;

struct WhileStep {
  std::unique_ptr<Program> condition, body;
  Address predicate;
};

/// Also `if`: a rank-0 i1 index, true for branch 0.
struct CaseStep {
  std::vector<std::unique_ptr<Program>> branches;
  hlo::ElementType index_type;
  Address index;
};

using Step =
    std::variant<LoopStep, SplitStep, LibraryStep, CopyStep, AssertStep, WhileStep, CaseStep>;

struct Program {
  std::vector<Step> steps;
};

}  // namespace tpu::compiler
