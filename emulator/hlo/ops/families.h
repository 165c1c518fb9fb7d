// The table of ops by family; op_table.cpp puts the rows together.
#pragma once

#include <vector>

#include "emulator/hlo/op_table.h"

namespace tpu::hlo::ops {

using Rows = std::vector<OpInfo>;

Rows elementwise_rows();     ///< add, exponential, and, ...
Rows selection_rows();       ///< compare, select, clamp
Rows conversion_rows();      ///< convert, bitcast_convert, complex, real, imag, reduce_precision
Rows creation_rows();        ///< constant, iota, rng, rng_bit_generator, ...
Rows shaping_rows();         ///< broadcast_in_dim, reshape, slice, pad, dynamic_slice, ...
Rows indexing_rows();        ///< gather, scatter
Rows reduction_rows();       ///< reduce, sort, map
Rows window_rows();          ///< reduce_window, select_and_scatter
Rows contraction_rows();     ///< dot_general, convolution
Rows linear_algebra_rows();  ///< cholesky, triangular_solve, fft
Rows normalization_rows();   ///< batch_norm_*
Rows control_rows();         ///< while, case, if, call, return, custom_call, ...
Rows communication_rows();   ///< collectives, send, recv, infeed, outfeed
Rows dynamism_rows();        ///< dynamic_*, real_dynamic_slice
Rows untyped_rows();         ///< ops on types that this IR has not: tuples, quantized tensors

}  // namespace tpu::hlo::ops
