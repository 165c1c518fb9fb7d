// fft (specification, section "fft").
#pragma once

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// fft_type FFT, IFFT, RFFT or IRFFT over the last fft_length.size() dimensions. The sums are
/// those that hlo/evaluator/fourier.h declares, in an order of its own over independent lines.
void fft(const KernelCall& call);

}  // namespace tpu::compiler::kernels
