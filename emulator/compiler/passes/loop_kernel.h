// A loop kernel: what one fused group of ops computes at each point of a domain of loop variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/compiler/passes/index_map.h"
#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::compiler {

/// One value of the expression graph, at one index map. Operands come before their users.
struct LoopNode {
  enum class Kind : uint8_t {
    kLoad,       ///< an element of a value in memory
    kConstant,   ///< the same everywhere: element 0 of `constant`
    kIota,       ///< index[0], converted to the type
    kOp,         ///< an elementwise op of the operands
    kStart,      ///< operand 0, an index, clamped to [0, limit], as i64
    kReduction,  ///< result `result` of reduction `reduction`
    kRegion,     ///< result `result` of `op`'s region applied to the operands
  };
  Kind kind;
  hlo::ElementType type;
  const hlo::Op* op = nullptr;
  const hlo::Value* value = nullptr;  ///< the value in memory (kLoad) or the value computed
  IndexMap index = {};                ///< kLoad, kIota
  std::vector<int> operands = {};
  hlo::Literal constant = {};
  int64_t limit = 0;
  int reduction = -1;
  int result = 0;
  uint64_t variables = 0;  ///< bit i: depends on variable i
  int stage = 0;           ///< number of reductions, one after the other, that must be done before
};

/// A reduction over the kernel's reduced variables, in ascending row-major order.
struct LoopReduction {
  const hlo::Op* op = nullptr;
  std::vector<int> inputs, inits;
  int stage = 0;  ///< runs in the pass over the reduced variables of this number
};

struct LoopStore {
  int node;
  const hlo::Value* value;
  IndexMap index;
  /// The value's (dense) memory is indexed as an array of this shape, if it is not its own.
  std::optional<hlo::Dims> shape = std::nullopt;
};

struct LoopKernel {
  std::vector<LoopVariable> variables;
  uint64_t reduced = 0;  ///< bit i: variable i is reduced
  std::vector<LoopNode> nodes;
  std::vector<LoopReduction> reductions;
  std::vector<LoopStore> stores;
  /// Writes part of the value on top of what an earlier kernel of the group wrote.
  bool is_update = false;

  uint64_t all_variables() const { return (uint64_t{1} << variables.size()) - 1; }
  int64_t size_of(uint64_t mask) const {
    int64_t size = 1;
    for (size_t i = 0; i < variables.size(); ++i) {
      if (mask >> i & 1) size *= variables[i].size;
    }
    return size;
  }
};

}  // namespace tpu::compiler
