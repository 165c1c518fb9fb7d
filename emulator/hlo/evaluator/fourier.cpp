#include "emulator/hlo/evaluator/fourier.h"

#include <string>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/evaluator/index.h"
#include "emulator/tensorcore/vpu/elementary.h"
#include "emulator/tensorcore/vpu/machine.h"

namespace tpu::hlo {
namespace {

using tensorcore::Complex;
using tensorcore::ElementaryFunction;

tensorcore::ScalarMachine machine;

double sine(double angle) {
  return unary_f64(machine, ElementaryFunction::kSin, angle);
}
double cosine(double angle) {
  return unary_f64(machine, ElementaryFunction::kCos, angle);
}

// exp(-2 pi i j / n), 0 <= j < n, from an angle of at most an eighth of a turn.
Complex<double> root_of_unity(int64_t j, int64_t n) {
  if (2 * j > n) {  // the conjugate of what is as far from the other end
    const Complex<double> w = root_of_unity(n - j, n);
    return {w.re, -w.im};
  }
  if (4 * j > n) {  // mirrored at the quarter turn
    const Complex<double> w = root_of_unity(n - 2 * j, 2 * n);
    return {-w.re, w.im};
  }
  if (8 * j > n) {  // mirrored at the eighth: sine and cosine change places
    const Complex<double> w = root_of_unity(n - 4 * j, 4 * n);
    return {-w.im, -w.re};
  }
  constexpr double kTwoPi = 6.283185307179586;
  const double angle = kTwoPi * static_cast<double>(j) / static_cast<double>(n);
  return {cosine(angle), -sine(angle)};
}

int64_t smallest_prime_factor(int64_t n) {
  for (int64_t p = 2; p * p <= n; ++p) {
    if (n % p == 0) return p;
  }
  return n;
}

}  // namespace

template <class T>
FourierTransform<T>::FourierTransform(int64_t length) : length_(length) {
  for (int64_t j = 0; j < length; ++j) {
    const Complex<double> w = root_of_unity(j, length);
    powers_.push_back({static_cast<T>(w.re), static_cast<T>(w.im)});
  }
}

template <class T>
auto FourierTransform<T>::transform(std::span<const Number> x, int64_t offset, int64_t stride,
                                    bool conjugate) const -> std::vector<Number> {
  const int64_t n = length_ / stride;
  if (n == 1) return {x[offset]};
  const int64_t p = smallest_prime_factor(n);
  const int64_t m = n / p;
  std::vector<std::vector<Number>> parts;
  for (int64_t q = 0; q < p; ++q) {
    parts.push_back(transform(x, offset + q * stride, stride * p, conjugate));
  }
  std::vector<Number> result;
  for (int64_t k = 0; k < n; ++k) {
    Number sum = parts[0][k % m];
    for (int64_t q = 1; q < p; ++q) {
      Number w = powers_[k * q % n * stride];
      if (conjugate) w.im = -w.im;
      sum = complex_add(machine, sum, complex_multiply(machine, parts[q][k % m], w));
    }
    result.push_back(sum);
  }
  return result;
}

template <class T>
auto FourierTransform<T>::forward(std::span<const Number> x) const -> std::vector<Number> {
  return transform(x, 0, 1, false);
}

template <class T>
auto FourierTransform<T>::inverse(std::span<const Number> x) const -> std::vector<Number> {
  std::vector<Number> result = transform(x, 0, 1, true);
  for (Number& number : result) {
    number = {number.re / static_cast<T>(length_), number.im / static_cast<T>(length_)};
  }
  return result;
}

template class FourierTransform<float>;
template class FourierTransform<double>;

namespace {

// A complex array under transformation.
template <class T>
class FourierArray {
 public:
  using Number = Complex<T>;

  FourierArray(Dims shape, std::vector<Number> numbers)
      : shape_(std::move(shape)), numbers_(std::move(numbers)) {}

  const std::vector<Number>& numbers() const { return numbers_; }

  /// Replaces every line along `dimension` by `f(line)`, which has `length` numbers.
  template <class F>
  void map_lines(int64_t dimension, int64_t length, F f) {
    Dims shape = shape_;
    shape[dimension] = length;
    std::vector<Number> results(num_elements(shape));
    Dims starts = shape_;
    starts[dimension] = 1;
    const int64_t stride = row_major_strides(shape_)[dimension];
    for_each_index(starts, [&](const Index& start) {
      std::vector<Number> line;
      for (int64_t i = 0; i < shape_[dimension]; ++i) {
        line.push_back(numbers_[linearize(start, shape_) + i * stride]);
      }
      const std::vector<Number> mapped = f(line);
      for (int64_t i = 0; i < length; ++i) {
        results[linearize(start, shape) + i * stride] = mapped[i];
      }
    });
    shape_ = std::move(shape);
    numbers_ = std::move(results);
  }

 private:
  Dims shape_;
  std::vector<Number> numbers_;
};

// The length-n line whose second half mirrors the first.
template <class T>
std::vector<Complex<T>> complete_conjugates(std::vector<Complex<T>> line, int64_t n) {
  for (int64_t k = static_cast<int64_t>(line.size()); k < n; ++k) {
    line.push_back({line[n - k].re, -line[n - k].im});
  }
  return line;
}

template <class T>
std::vector<Complex<T>> load_numbers(const Literal& operand) {
  std::vector<Complex<T>> numbers;
  for (int64_t i = 0; i < operand.type().num_elements(); ++i) {
    const Element x = load(operand, i);
    numbers.push_back({std::get<T>(real(x).value), std::get<T>(imag(x).value)});
  }
  return numbers;
}

template <class T>
Literal transform_tensor(const Literal& operand, std::string_view type, const Dims& fft_length,
                         const TensorType& result_type) {
  FourierArray<T> array(operand.type().shape, load_numbers<T>(operand));
  const int64_t count = std::ssize(fft_length);
  const int64_t first = operand.type().rank() - count;
  const int64_t last = operand.type().rank() - 1;
  const auto transform = [&](int64_t dimension, bool forward) {
    const int64_t n = fft_length[dimension - first];
    const FourierTransform<T> line_transform(n);
    array.map_lines(dimension, n, [&](const auto& line) {
      return forward ? line_transform.forward(line) : line_transform.inverse(line);
    });
  };
  const int64_t n = fft_length.back();
  if (type == "FFT" || type == "RFFT") {
    for (int64_t d = last; d >= first; --d) {
      transform(d, true);
      if (d == last && type == "RFFT") {
        array.map_lines(d, n / 2 + 1, [](const auto& line) { return line; });
      }
    }
  } else {
    for (int64_t d = type == "IFFT" ? last : last - 1; d >= first; --d) transform(d, false);
    if (type == "IRFFT") {
      array.map_lines(last, n, [n](const auto& line) { return complete_conjugates(line, n); });
      transform(last, false);
    }
  }
  Literal result(result_type);
  for (int64_t i = 0; i < result_type.num_elements(); ++i) {
    const Complex<T> number = array.numbers()[i];
    store(result, i,
          type == "IRFFT" ? make_float(result_type.element, number.re) : make_complex(number));
  }
  return result;
}

}  // namespace

Literal evaluate_fft(const Literal& operand, std::string_view fft_type, const Dims& fft_length,
                     const TensorType& result_type) {
  if (fft_type != "FFT" && fft_type != "IFFT" && fft_type != "RFFT" && fft_type != "IRFFT") {
    throw InvalidArgument("fft_type '" + std::string(fft_type) +
                          "'; expected FFT, IFFT, RFFT or IRFFT");
  }
  if (result_type.num_elements() == 0) return Literal(result_type);
  return real_part(operand.type().element) == ElementType::kF64
             ? transform_tensor<double>(operand, fft_type, fft_length, result_type)
             : transform_tensor<float>(operand, fft_type, fft_length, result_type);
}

}  // namespace tpu::hlo
