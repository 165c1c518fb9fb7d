// StableHLO text: printing and parsing.
#pragma once

#include <string>
#include <string_view>

#include "emulator/hlo/ir.h"

namespace tpu::hlo {

enum class TextForm : uint8_t {
  kPretty,   ///< what jaxlib prints by default: `%0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>`
  kGeneric,  ///< `%0 = "stablehlo.add"(%arg0, %arg1) : (...) -> ...`
};

/// The module as text that MLIR tools with the StableHLO dialect parse and verify.
std::string print(const Module& module, TextForm form = TextForm::kPretty);

/// Parses either form, and mixtures. Comments, locations, and attributes that the op need not know
/// are dropped; a custom_call keeps all it has, other than plain values as their text. CHLO's
/// elementwise ops become `custom_call @chlo.<name>`; chlo.top_k becomes a sort. Throws
/// InvalidArgument with line and column, what was found and what was expected. The result is
/// verified.
Module parse(std::string_view text);

}  // namespace tpu::hlo
