// Prints ops in the pretty forms of the table in syntax.h.
#pragma once

#include <optional>
#include <string>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text/syntax.h"
#include "emulator/hlo/text/value_names.h"

namespace tpu::hlo::text {

/// The op's text after its name, in the given form. nullopt if the op does not fit it (an
/// attribute is missing, a wrong number of operands): the generic form always fits.
std::optional<std::string> pretty_text(const Op& op, const Syntax& syntax, const ValueNames& names);

/// `%0, %arg1`.
std::string operands_text(const Op& op, const ValueNames& names);

}  // namespace tpu::hlo::text
