// Elementwise ops: which function computes one element of each, and its application to tensors.
#pragma once

#include <span>

#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/ir.h"

namespace tpu::hlo {

/// Computes one result element of `op` from the operands' elements at the same index.
using ElementFunction = Element (*)(const Op& op, std::span<const Element> operands);

/// The function of an elementwise op, `custom_call @chlo.*` included; null for any other op.
ElementFunction find_element_function(const Op& op);

/// result[i] = f(operands[i]...). Operands of rank 0 (select's pred, clamp's bounds) serve every
/// index.
Literal evaluate_elementwise(const Op& op, ElementFunction function,
                             std::span<const Literal> operands);

}  // namespace tpu::hlo
