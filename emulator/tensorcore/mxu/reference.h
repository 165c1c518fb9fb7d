// The declared orders of dot_general and convolution, one result element at a time: slow, plain,
// and the judge of the fast kernels' bits.
#pragma once

#include <span>

#include "emulator/compiler/kernels/kernel.h"
#include "emulator/tensorcore/mxu/numerics.h"

namespace tpu::tensorcore::reference {

/// The contraction of one result element in the declared order (numerics.h): `lhs[k]` with
/// `rhs[k]`, in chunks of `depth`. Both have the same length; empty gives 0.
float contract(std::span<const float> lhs, std::span<const float> rhs, const PassPlan& plan,
               int depth);
double contract(std::span<const double> lhs, std::span<const double> rhs, int depth);

/// dot_general. k runs row-major over the contracting dimensions in the order in which
/// lhs_contracting_dimensions lists them. Result dimensions: batch, lhs rest, rhs rest.
void dot_general(const compiler::KernelCall& call);

/// convolution. k runs row-major over the kernel's spatial dimensions in the order of the
/// dimension numbers, then the input feature within the group. A tap that falls into padding or
/// into a hole of lhs_dilation keeps its number k but adds exactly +0 (its kernel element is taken
/// as 0 too, so that an infinity or NaN there does not show); it may therefore be skipped.
/// `window_reversal` changes which kernel element a tap reads, not the order of taps.
void convolution(const compiler::KernelCall& call);

}  // namespace tpu::tensorcore::reference
