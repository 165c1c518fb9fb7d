// fft, by a declared recursion, so that its bits are the same wherever it runs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "emulator/hlo/literal.h"
#include "emulator/tensorcore/vpu/complex.h"

namespace tpu::hlo {

/// The discrete Fourier transform of one line of N complex numbers,
///   X[k] = sum_n x[n] w^(k n), w = exp(-2 pi i / N),
/// by decimation in time over the prime factors of N, smallest first: with p the smallest and
/// m = N / p, Y_q is the transform of the m numbers x[q], x[q + p], ..., and
///   X[k] = Y_0[k mod m] + sum_{q = 1 .. p-1} Y_q[k mod m] w^(k q mod N), q ascending.
/// The powers of w are rounded to T from f64 values that are exact at multiples of a quarter turn.
template <class T>
class FourierTransform {
 public:
  using Number = tensorcore::Complex<T>;

  explicit FourierTransform(int64_t length);

  /// Of `x`, whose size is the length. The inverse has conjugate powers and divides by N at the
  /// end.
  std::vector<Number> forward(std::span<const Number> x) const;
  std::vector<Number> inverse(std::span<const Number> x) const;
  /// w^0 .. w^(N-1).
  std::span<const Number> powers() const { return powers_; }

 private:
  std::vector<Number> transform(std::span<const Number> x, int64_t offset, int64_t stride,
                                bool conjugate) const;

  int64_t length_;
  std::vector<Number> powers_;  // w^0 .. w^(N-1)
};

extern template class FourierTransform<float>;
extern template class FourierTransform<double>;

/// `fft_type`: FFT, IFFT, RFFT or IRFFT, over the last fft_length.size() dimensions, one after the
/// other: the last first, except that IRFFT has it last. RFFT transforms the numbers as complex
/// ones and keeps the first N / 2 + 1; IRFFT completes them with their conjugates and keeps the
/// real part.
Literal evaluate_fft(const Literal& operand, std::string_view fft_type, const Dims& fft_length,
                     const TensorType& result_type);

}  // namespace tpu::hlo
