// Dimension numbers of dot_general, convolution, gather and scatter in StableHLO text.
#pragma once

#include <string>

#include "emulator/hlo/attributes.h"
#include "emulator/hlo/text/lexer.h"

namespace tpu::hlo::text {

// Each pair parses what it prints. The names of `parse_...` functions without "inline" take the
// spelling of dictionaries, with its `#stablehlo.` mark.

/// `#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>`
std::string dot_text(const DotDimensionNumbers& numbers);
DotDimensionNumbers parse_dot(Lexer& lexer);
/// `batching_dims = [0] x [0], contracting_dims = [2] x [1]`
std::string inline_dot_text(const DotDimensionNumbers& numbers);
DotDimensionNumbers parse_inline_dot(Lexer& lexer);

/// `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
std::string conv_text(const ConvDimensionNumbers& numbers);
ConvDimensionNumbers parse_conv(Lexer& lexer);
/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
std::string inline_conv_text(const ConvDimensionNumbers& numbers);
ConvDimensionNumbers parse_inline_conv(Lexer& lexer);

/// `#stablehlo.gather<offset_dims = [1], ..., index_vector_dim = 1>`
std::string gather_text(const GatherDimensionNumbers& numbers);
GatherDimensionNumbers parse_gather(Lexer& lexer);

/// `#stablehlo.scatter<update_window_dims = [1], ..., index_vector_dim = 1>`
std::string scatter_text(const ScatterDimensionNumbers& numbers);
ScatterDimensionNumbers parse_scatter(Lexer& lexer);

}  // namespace tpu::hlo::text
