// Floating-point numbers in StableHLO text, exact in both directions.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/hlo/text/lexer.h"
#include "emulator/hlo/types.h"

namespace tpu::hlo::text {

/// The number with the given encoding in `type` (a float type). Six significant digits where they
/// suffice (`1.500000e+00`), as many as the type can need where that reads back (`0.123456791`),
/// otherwise the encoding (`0x7FC00000`): what MLIR prints.
std::string float_text(ElementType type, uint64_t encoding);

/// A decimal number, or an encoding such as 0x7FC00000, as an encoding in `type`. A decimal
/// number is rounded to f64 and then to `type`, as MLIR does.
uint64_t parse_float(Lexer& lexer, ElementType type);

}  // namespace tpu::hlo::text
