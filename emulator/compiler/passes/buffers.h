// Decides where each value that needs memory lies while the program runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/compiler/compiler.h"
#include "emulator/compiler/passes/fusion.h"

namespace tpu::compiler {

/// An address at run time: `offset` bytes behind an entry of the program's table of addresses.
struct Place {
  int entry = -1;
  int64_t offset = 0;
  hlo::Dims strides;  ///< in elements
  bool operator==(const Place&) const = default;
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
  /// By entry of the table: the entry whose memory it is (a result may be a parameter's).
  std::vector<int> alias_of_entry;
  std::vector<std::byte> constants;
  int64_t scratch_bytes = 0;

  const Place& of(const hlo::Value* value) const { return places.at(value); }
};

/// Temporaries share one scratch block: those that are never alive together share bytes, and a loop
/// that reads the last of one element by element may write its result over it. Results are
/// written where the caller wants them, unless that would destroy a parameter still needed.
Placement place_buffers(const BlockPlan& plan, const Signature& signature,
                        const StridesOf& strides);

/// The strides of a layout of an array of `shape`: its own, or dense row-major.
hlo::Dims strides_of(const Layout& layout, std::span<const int64_t> shape);

}  // namespace tpu::compiler
