// Ops of the CHLO dialect. Elementwise ones are held as `custom_call @chlo.<name>`; top_k becomes
// a sort.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/hlo/ir.h"

namespace tpu::hlo::text {

/// Whether the parser knows `chlo.<name>`.
bool is_chlo_op(std::string_view name);

/// The attributes that stand for `chlo.<name>`, before its own are added.
Attributes chlo_attributes(std::string_view name);

/// The name, without `chlo.`, if the op is a CHLO op and nothing of it would be lost by printing
/// it as one.
std::optional<std::string> chlo_name(const Op& op);

/// Whether these are the attributes of `chlo.top_k`, which must be expanded.
bool is_top_k(const Attributes& attributes);

/// Appends ops that find the `k` largest elements of the last dimension, in descending total
/// order (NaN first), equal ones in order of position. Returns the values and, as i32, their
/// positions. Throws InvalidArgument if `k` is negative or larger than the dimension.
std::vector<Value*> expand_top_k(Block& block, Value* operand, int64_t k);

}  // namespace tpu::hlo::text
