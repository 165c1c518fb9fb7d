// Ops of the CHLO dialect, which the IR holds as `custom_call @chlo.<name>`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "emulator/hlo/ir.h"

namespace tpu::hlo::text {

/// The attributes that stand for `chlo.<name>`, before its own are added.
Attributes chlo_attributes(std::string_view name);

/// The name, without `chlo.`, if the op is a CHLO op and nothing of it would be lost by printing
/// it as one.
std::optional<std::string> chlo_name(const Op& op);

}  // namespace tpu::hlo::text
