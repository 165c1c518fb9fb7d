// Turns a group of ops into loop kernels, or finds that they do not fit into one.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "emulator/compiler/passes/loop_kernel.h"

namespace tpu::compiler {

/// What a group does with an op that makes a value it needs.
enum class Membership : uint8_t {
  kOutside,  ///< loads the value from memory
  kCopied,   ///< computes it, whenever it can, whoever else does; otherwise loads it
  kOwned,    ///< computes it, and nobody else does
};
using MembershipOf = std::function<Membership(const hlo::Op&)>;

/// The loop kernels that store `outputs` (each a result of an owned op). Several kernels for one
/// group come from concatenate, pad and dynamic_update_slice: one for each piece of the domain, to
/// be run in order. Null if the ops do not fit: an index is not affine, reductions disagree on what
/// a row is, an output is not written exactly once, or expensive work would be repeated.
std::optional<std::vector<LoopKernel>> build_kernels(std::span<const hlo::Value* const> outputs,
                                                     const MembershipOf& membership);

/// A kernel that computes `value`, an operand of the group, and stores it over its own shape.
std::optional<LoopKernel> build_copy(const hlo::Value* value, const MembershipOf& membership);

}  // namespace tpu::compiler
