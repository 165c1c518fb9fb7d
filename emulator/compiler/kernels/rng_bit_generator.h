// rng_bit_generator (specification, section "rng_bit_generator").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Operand: the state, ui64[2] or ui64[3]. Results: the next state, random bits. Algorithms
/// THREE_FRY, PHILOX and DEFAULT (PHILOX); bits as hlo/evaluator/random_bits.h lays them out.
void rng_bit_generator(const KernelCall& call);

}  // namespace tpu::compiler::kernels
