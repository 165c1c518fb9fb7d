#include "emulator/compiler/kernels/fft.h"

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/hlo/evaluator/fourier.h"

namespace tpu::compiler::kernels {
namespace {

using tensorcore::Complex;

// Transforms lines of N numbers, several at once. Real and imaginary parts lie in separate arrays
// [N][lines], so that every step works on runs of adjacent numbers.
//
// The declared recursion is unrolled from its leaves up. After a level with sub-transforms of
// length n there are N / n of them; number k of sub-transform `offset` lies at [k][offset]. The
// next level, with p as its smallest prime, makes number k of length n p from the numbers
// k mod n of the p sub-transforms offset, offset + stride, ... (stride = N / (n p)).
template <class T>
class LineTransform {
 public:
  LineTransform(int64_t length, bool inverse) : length_(length), inverse_(inverse) {
    const hlo::FourierTransform<T> declared(length);
    powers_.assign(declared.powers().begin(), declared.powers().end());
    int64_t rest = length;
    for (int64_t p = 2; rest > 1; ++p) {
      if (p * p > rest) p = rest;
      for (; rest % p == 0; rest /= p) primes_.push_back(p);
    }
    if (inverse) {
      for (auto& w : powers_) w.im = -w.im;
    }
  }

  int64_t length() const { return length_; }

  /// The parts of [N][lines] numbers, transformed in place; `spare` is another such array.
  void run(std::vector<T>& re, std::vector<T>& im, std::vector<T>& spare_re,
           std::vector<T>& spare_im, int64_t lines) const {
    int64_t done = 1;  // length of the sub-transforms so far
    for (size_t level = primes_.size(); level-- > 0;) {
      const int64_t p = primes_[level];
      const int64_t stride = length_ / (done * p);
      const int64_t run = stride * lines;
      for (int64_t k = 0; k < done * p; ++k) {
        const int64_t from = k % done * p * run;
        combine(k * stride, p, run, re.data() + from, im.data() + from, spare_re.data() + k * run,
                spare_im.data() + k * run);
      }
      re.swap(spare_re);
      im.swap(spare_im);
      done *= p;
    }
    if (!inverse_) return;
    const T divisor = static_cast<T>(length_);
    for (T& x : re) x /= divisor;
    for (T& x : im) x /= divisor;
  }

 private:
  // sum over q of part q times w^(q exponent), ascending; a run of sums at a time. Part 0 has no
  // factor.
  void combine(int64_t exponent, int64_t p, int64_t run, const T* re, const T* im, T* to_re,
               T* to_im) const {
    for (int64_t q = 1; q < p; ++q) {
      const Complex<T> w = powers_[static_cast<size_t>(q * exponent % length_)];
      const T* sum_re = q == 1 ? re : to_re;
      const T* sum_im = q == 1 ? im : to_im;
      const T* part_re = re + q * run;
      const T* part_im = im + q * run;
      for (int64_t i = 0; i < run; ++i) {
        const T x = part_re[i], y = part_im[i];
        to_re[i] = sum_re[i] + (x * w.re - y * w.im);
        to_im[i] = sum_im[i] + (x * w.im + y * w.re);
      }
    }
  }

  int64_t length_;
  bool inverse_;
  std::vector<Complex<T>> powers_;
  std::vector<int64_t> primes_;
};

// A dense complex array of changing shape.
template <class T>
struct Numbers {
  Dims shape;
  std::vector<Complex<T>> values;
};

// Replaces every line along `dimension` by its transform, of which the first `kept` numbers stay.
// A line shorter than the transform is completed by the conjugates of its numbers.
template <class T>
void transform_dimension(Numbers<T>& numbers, size_t dimension, const LineTransform<T>& transform,
                         int64_t kept) {
  constexpr int64_t kNumbers = 8192;  // of one work item
  const int64_t n = transform.length();
  const int64_t given = numbers.shape[dimension];
  Dims shape = numbers.shape;
  shape[dimension] = kept;
  int64_t inner = 1, outer = 1;
  for (size_t d = 0; d < dimension; ++d) outer *= shape[d];
  for (size_t d = dimension + 1; d < shape.size(); ++d) inner *= shape[d];
  std::vector<Complex<T>> results(static_cast<size_t>(hlo::num_elements(shape)));
  const Complex<T>* const from = numbers.values.data();

  // Line l is number l % inner of slab l / inner.
  const auto run = [&](int64_t begin, int64_t end) {
    const int64_t lines = end - begin;
    const auto size = static_cast<size_t>(n * lines);
    std::vector<T> re(size), im(size), spare_re(size), spare_im(size);
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t line = begin + l;
      const Complex<T>* at = from + line / inner * given * inner + line % inner;
      for (int64_t k = 0; k < n; ++k) {
        const bool mirrored = k >= given;
        const Complex<T> x = at[(mirrored ? n - k : k) * inner];
        re[static_cast<size_t>(k * lines + l)] = x.re;
        im[static_cast<size_t>(k * lines + l)] = mirrored ? -x.im : x.im;
      }
    }
    transform.run(re, im, spare_re, spare_im, lines);
    for (int64_t l = 0; l < lines; ++l) {
      const int64_t line = begin + l;
      Complex<T>* at = results.data() + line / inner * kept * inner + line % inner;
      for (int64_t k = 0; k < kept; ++k) {
        const auto i = static_cast<size_t>(k * lines + l);
        at[k * inner] = {re[i], im[i]};
      }
    }
  };
  const int64_t block = std::max<int64_t>(1, kNumbers / n);
  const int64_t total = outer * inner;
  parallel_for((total + block - 1) / block, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) run(b * block, std::min(total, (b + 1) * block));
  });
  numbers.shape = std::move(shape);
  numbers.values = std::move(results);
}

template <class T>
Numbers<T> load(const ConstView& operand) {
  Numbers<T> numbers{Dims(operand.shape.begin(), operand.shape.end()), {}};
  numbers.values.resize(static_cast<size_t>(elements(operand)));
  Odometer<1> at(operand.shape, {operand.strides});
  for (Complex<T>& value : numbers.values) {
    if (hlo::is_complex(operand.element)) {
      value = reinterpret_cast<const Complex<T>*>(operand.data)[at.offset(0)];
    } else {
      value = {reinterpret_cast<const T*>(operand.data)[at.offset(0)], T{0}};
    }
    at.next();
  }
  return numbers;
}

template <class T>
void store(const Numbers<T>& numbers, const View& result) {
  Odometer<1> at(result.shape, {result.strides});
  for (const Complex<T>& value : numbers.values) {
    if (hlo::is_complex(result.element)) {
      reinterpret_cast<Complex<T>*>(result.data)[at.offset(0)] = value;
    } else {
      reinterpret_cast<T*>(result.data)[at.offset(0)] = value.re;
    }
    at.next();
  }
}

template <class T>
void transform_all(const KernelCall& call, const std::string& type, const Dims& lengths) {
  Numbers<T> numbers = load<T>(call.operands[0]);
  const size_t rank = numbers.shape.size();
  const size_t first = rank - lengths.size();
  const bool inverse = type == "IFFT" || type == "IRFFT";
  const int64_t n = lengths.back();
  const auto transform = [&](size_t dimension, int64_t kept) {
    const LineTransform<T> line(lengths[dimension - first], inverse);
    transform_dimension(numbers, dimension, line, kept);
  };
  // Dimensions from the last to the first, except that a real result's last comes at the end.
  if (type != "IRFFT") transform(rank - 1, type == "RFFT" ? n / 2 + 1 : n);
  for (size_t d = rank - 1; d-- > first;) transform(d, lengths[d - first]);
  if (type == "IRFFT") transform(rank - 1, n);
  store(numbers, call.results[0]);
}

}  // namespace

void fft(const KernelCall& call) {
  const std::string& type = call.attributes.get_enum("fft_type");
  const auto& lengths = call.attributes.get<Dims>("fft_length");
  if (type != "FFT" && type != "IFFT" && type != "RFFT" && type != "IRFFT") {
    throw InvalidArgument("fft_type '" + type + "'; expected FFT, IFFT, RFFT or IRFFT");
  }
  if (elements(call.results[0]) == 0) return;
  if (hlo::real_part(call.operands[0].element) == ElementType::kF64) {
    transform_all<double>(call, type, lengths);
  } else {
    transform_all<float>(call, type, lengths);
  }
}

}  // namespace tpu::compiler::kernels
