// Decides where each value that needs memory lies while the program runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/compiler/compiler.h"
#include "emulator/compiler/passes/fusion.h"

namespace tpu::compiler {

/// An address at run time: `offset` bytes behind an entry of the program's table of addresses.
struct Place {
  int entry = -1;
  int64_t offset = 0;
  hlo::Dims strides;  ///< in elements
};

/// The table of addresses: parameters, results, the pool of constants, the scratch block.
struct AddressTable {
  int num_parameters = 0, num_results = 0;

  int parameter(int i) const { return i; }
  int result(int i) const { return num_parameters + i; }
  int constants() const { return num_parameters + num_results; }
  int scratch() const { return constants() + 1; }
  int size() const { return scratch() + 1; }
};

/// A copy that no op of the program stands for.
struct PlannedCopy {
  hlo::TensorType type;
  Place from, to;
};

struct Placement {
  AddressTable table;
  std::unordered_map<const hlo::Value*, Place> places;
  /// Copies into the state of a while, before its first iteration.
  std::unordered_map<const hlo::Op*, std::vector<PlannedCopy>> before;
  /// Copies at the end of a block: to results, or to the next iteration's state.
  std::unordered_map<const hlo::Block*, std::vector<PlannedCopy>> at_end;
  /// dynamic_update_slice steps whose operand is already in the result's memory.
  std::unordered_set<const hlo::Value*> updated_in_place;
  std::vector<std::byte> constants;
  int64_t scratch_bytes = 0;

  const Place& of(const hlo::Value* value) const { return places.at(value); }
};

Placement place_buffers(const BlockPlan& plan, const Signature& signature,
                        const StridesOf& strides);

}  // namespace tpu::compiler
