// How the compiler sees an op: as part of a loop, as a call of the library, or as control.
#pragma once

#include "emulator/hlo/ir.h"

namespace tpu::compiler {

enum class OpClass : uint8_t {
  kElementwise,  ///< result element i depends on operand elements i (or rank-0 operands)
  kLayout,       ///< moves elements: constant, iota, broadcast, reshape, transpose, slice, ...
  kJoin,         ///< concatenate and pad: moves elements, from one of several places
  kReduce,
  kUpdate,   ///< dynamic_update_slice: a loop of its own that writes a window
  kLibrary,  ///< a kernel of the library, found by kind or by custom call target; also
             ///< bitcast_convert between widths, which is a copy of bytes
  kControl,  ///< while, case, if
  kAssert,   ///< custom_call @tpu.assert
  kReturn,
  kUnsupported,
};

OpClass classify(const hlo::Op& op);

/// Elementwise, layout, join, reduce and update ops: those that loop kernels are made of.
bool is_loop_op(const hlo::Op& op);

/// Costs an order of magnitude more than an addition: transcendentals, division, remainder.
bool is_expensive(const hlo::Op& op);
/// A transcendental function, as a cost model counts them.
bool is_transcendental(const hlo::Op& op);

/// A function of the chlo dialect, which arrives as a custom call and is elementwise.
bool is_chlo(const hlo::Op& op);

}  // namespace tpu::compiler
