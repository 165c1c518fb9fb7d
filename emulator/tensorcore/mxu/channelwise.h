// Convolutions of many small groups (depthwise and the like): vector lanes run over the groups.
#pragma once

#include "emulator/tensorcore/mxu/conv_operands.h"

namespace tpu::tensorcore {

/// True if there are enough groups to fill vectors, each with so few outputs that a matrix product
/// would leave most of its columns empty.
bool is_channelwise(const ConvolutionShape& shape);

/// Computes such a convolution of f32 arithmetic.
void convolve_channelwise(const Convolution& c);

}  // namespace tpu::tensorcore
