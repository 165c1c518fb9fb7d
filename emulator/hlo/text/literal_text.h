// `dense<...> : tensor<...>`: arrays of elements in StableHLO text.
#pragma once

#include <string>

#include "emulator/hlo/literal.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

/// One element for arrays with equal elements, nested lists for small ones, the bytes in
/// hexadecimal for those of more than 100 elements.
std::string literal_text(const Literal& literal);

/// Throws InvalidArgument where the elements do not fit the type that follows them.
Literal parse_literal(Lexer& lexer);

}  // namespace tpu::hlo::text
