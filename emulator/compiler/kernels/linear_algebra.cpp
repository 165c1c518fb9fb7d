#include "emulator/compiler/kernels/linear_algebra.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/scalar_ops.h"
#include "emulator/compiler/kernels/strided.h"
#include "emulator/hlo/evaluator/transcendental.h"
#include "emulator/tensorcore/vpu/complex.h"
#include "emulator/tensorcore/vpu/machine.h"

namespace tpu::compiler::kernels {
namespace {

// Arithmetic in an element type: each operation is rounded to it. Values are held as Compute.
template <class Element>
struct Field {
  using Number = typename Element::Compute;

  static Number round(Number x) {
    if constexpr (std::is_same_v<typename Element::Storage, Number>) {
      return x;
    } else {
      return Element::load(Element::store(x));
    }
  }
  static Number conjugate(Number x) {
    if constexpr (kIsComplex<Number>) {
      return {x.re, -x.im};
    } else {
      return x;
    }
  }
  /// a - x * y.
  static Number subtract_product(Number a, Number x, Number y) {
    if constexpr (kIsComplex<Number>) {
      return {a.re - (x.re * y.re - x.im * y.im), a.im - (x.re * y.im + x.im * y.re)};
    } else {
      return round(a - round(x * y));
    }
  }
  static Number divide(Number x, Number y) {
    if constexpr (kIsComplex<Number>) {
      tensorcore::ScalarMachine machine;
      return complex_divide(machine, x, y);
    } else {
      return round(x / y);
    }
  }
  static Number square_root(Number x) {
    if constexpr (std::is_same_v<Number, Complex<float>>) {
      return std::get<hlo::Complex32>(hlo::sqrt(hlo::make_complex(x)).value);
    } else if constexpr (std::is_same_v<Number, Complex<double>>) {
      return std::get<hlo::Complex64>(hlo::sqrt(hlo::make_complex(x)).value);
    } else {
      return round(std::sqrt(x));
    }
  }
};

// A matrix within a strided array: element (i, j) of matrix `number`.
template <class Element>
class MatrixOf {
 public:
  using Storage = typename Element::Storage;

  MatrixOf(const std::byte* data, std::span<const int64_t> shape, std::span<const int64_t> strides,
           int64_t number)
      : row_(strides[strides.size() - 2]), column_(strides[strides.size() - 1]) {
    const size_t batch = shape.size() - 2;
    const Odometer<1> at(shape.first(batch), {strides.first(batch)}, number);
    data_ = reinterpret_cast<const Storage*>(data) + at.offset(0);
  }
  typename Element::Compute get(int64_t i, int64_t j) const {
    return Element::load(data_[i * row_ + j * column_]);
  }
  /// Only of a matrix made from a result's memory.
  void set(int64_t i, int64_t j, typename Element::Compute x) const {
    const_cast<Storage*>(data_)[i * row_ + j * column_] = Element::store(x);
  }

 private:
  const Storage* data_;
  int64_t row_, column_;
};

int64_t num_matrices(std::span<const int64_t> shape) {
  return hlo::num_elements(shape.first(shape.size() - 2));
}

// Right-looking, in panels of columns: an element's products are subtracted in ascending order of
// the column they come from, as declared, while rows are worked on as vectors.
template <class Element>
class CholeskyFactor {
 public:
  using F = Field<Element>;
  using Number = typename F::Number;

  explicit CholeskyFactor(int64_t n)
      : n_(n), matrix_(static_cast<size_t>(n * n)), panel_(static_cast<size_t>(kPanel * n)) {}

  Number& at(int64_t i, int64_t j) { return matrix_[static_cast<size_t>(i * n_ + j)]; }

  /// Of the lower triangle that `at` was filled with, in place.
  void run() {
    for (int64_t first = 0; first < n_; first += kPanel) {
      const int64_t end = std::min(first + kPanel, n_);
      factor_panel(first, end);
      parallel_for(n_ - end, std::max<int64_t>(1, 16384 / (kPanel * n_)),
                   [&](int64_t a, int64_t b) {
                     for (int64_t i = end + a; i < end + b; ++i) {
                       for (int64_t k = first; k < end; ++k) subtract(i, k, first, end, i + 1);
                     }
                   });
    }
  }

 private:
  static constexpr int64_t kPanel = 32;

  Number& panel(int64_t k, int64_t j) { return panel_[static_cast<size_t>(k * n_ + j)]; }

  void factor_panel(int64_t first, int64_t end) {
    for (int64_t k = first; k < end; ++k) {
      const Number pivot = at(k, k) = F::square_root(at(k, k));
      for (int64_t i = k + 1; i < n_; ++i) {
        at(i, k) = F::divide(at(i, k), pivot);
        panel(k - first, i) = F::conjugate(at(i, k));
      }
      for (int64_t i = k + 1; i < n_; ++i) subtract(i, k, first, k + 1, std::min(end, i + 1));
    }
  }

  // Row i, columns [begin, end): subtracts column k's products.
  void subtract(int64_t i, int64_t k, int64_t first, int64_t begin, int64_t end) {
    const Number factor = at(i, k);
    Number* __restrict row = &matrix_[static_cast<size_t>(i * n_)];
    const Number* __restrict column = &panel_[static_cast<size_t>((k - first) * n_)];
    for (int64_t j = begin; j < end; ++j) {
      row[j] = F::subtract_product(row[j], factor, column[j]);
    }
  }

  int64_t n_;
  std::vector<Number> matrix_;
  std::vector<Number> panel_;  // the panel's columns, conjugated, as rows
};

template <class Element>
void cholesky_of(const KernelCall& call, bool lower) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  const int64_t n = operand.shape.back();
  using F = Field<Element>;
  for (int64_t number = 0; number < num_matrices(operand.shape); ++number) {
    const MatrixOf<Element> from(operand.data, operand.shape, operand.strides, number);
    const MatrixOf<Element> to(result.data, result.shape, result.strides, number);
    CholeskyFactor<Element> factor(n);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        factor.at(i, j) = lower ? from.get(i, j) : F::conjugate(from.get(j, i));
      }
    }
    factor.run();
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const bool kept = lower ? j <= i : i <= j;
        const auto value = lower ? factor.at(i, j) : F::conjugate(factor.at(j, i));
        to.set(i, j, kept ? value : typename F::Number{});
      }
    }
  }
}

struct SolveOptions {
  bool left_side, lower, unit_diagonal, transpose, conjugate;
};

// Forward or backward substitution for a block of right-hand sides at once: row i of the solution
// is a vector over them.
template <class Element>
class TriangularSolver {
 public:
  using F = Field<Element>;
  using Number = typename F::Number;

  TriangularSolver(const MatrixOf<Element>& a, int64_t n, const SolveOptions& options)
      : n_(n), options_(options), coefficients_(static_cast<size_t>(n * n)) {
    // x op(a) = b is transpose(op(a)) transpose(x) = transpose(b).
    const bool transposed = options.transpose == options.left_side;
    forward_ = options.lower != transposed;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t k = forward_ ? 0 : i; k < (forward_ ? i + 1 : n); ++k) {
        const Number value = transposed ? a.get(k, i) : a.get(i, k);
        coefficients_[static_cast<size_t>(i * n + k)] =
            options.conjugate ? F::conjugate(value) : value;
      }
    }
  }

  /// Systems [begin, end) of b, into x.
  void solve(const MatrixOf<Element>& b, const MatrixOf<Element>& x, int64_t begin,
             int64_t end) const {
    const int64_t systems = end - begin;
    std::vector<Number> rows(static_cast<size_t>(n_ * systems));
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t s = 0; s < systems; ++s) {
        rows[static_cast<size_t>(i * systems + s)] =
            options_.left_side ? b.get(i, begin + s) : b.get(begin + s, i);
      }
    }
    for (int64_t step = 0; step < n_; ++step) {
      solve_row(forward_ ? step : n_ - 1 - step, rows.data(), systems);
    }
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t s = 0; s < systems; ++s) {
        const Number value = rows[static_cast<size_t>(i * systems + s)];
        options_.left_side ? x.set(i, begin + s, value) : x.set(begin + s, i, value);
      }
    }
  }

 private:
  void solve_row(int64_t i, Number* rows, int64_t systems) const {
    Number* __restrict value = rows + i * systems;
    const Number* coefficient = &coefficients_[static_cast<size_t>(i * n_)];
    const int64_t last = forward_ ? i : n_;
    for (int64_t k = forward_ ? 0 : i + 1; k < last; ++k) {
      const Number factor = coefficient[k];
      const Number* __restrict known = rows + k * systems;
      for (int64_t s = 0; s < systems; ++s) {
        value[s] = F::subtract_product(value[s], factor, known[s]);
      }
    }
    if (options_.unit_diagonal) return;
    for (int64_t s = 0; s < systems; ++s) value[s] = F::divide(value[s], coefficient[i]);
  }

  int64_t n_;
  SolveOptions options_;
  bool forward_ = true;
  std::vector<Number> coefficients_;
};

template <class Element>
void triangular_solve_of(const KernelCall& call, const SolveOptions& options) {
  constexpr int64_t kSystems = 64;  // right-hand sides of one work item
  const ConstView& a = call.operands[0];
  const ConstView& b = call.operands[1];
  const View& x = call.results[0];
  const int64_t n = a.shape.back();
  const int64_t systems = b.shape[b.shape.size() - (options.left_side ? 1 : 2)];
  for (int64_t number = 0; number < num_matrices(a.shape); ++number) {
    const MatrixOf<Element> rhs(b.data, b.shape, b.strides, number);
    const MatrixOf<Element> to(x.data, x.shape, x.strides, number);
    const TriangularSolver<Element> solver(MatrixOf<Element>(a.data, a.shape, a.strides, number), n,
                                           options);
    parallel_for((systems + kSystems - 1) / kSystems, 1, [&](int64_t begin, int64_t end) {
      for (int64_t block = begin; block < end; ++block) {
        solver.solve(rhs, to, block * kSystems, std::min(systems, (block + 1) * kSystems));
      }
    });
  }
}

template <class Body>
void visit_field(std::string_view op, ElementType type, Body&& body) {
  bool done = false;
  visit_element(type, [&]<class Element>(Element) {
    if constexpr (!std::is_integral_v<typename Element::Compute>) {
      body(Element{});
      done = true;
    }
  });
  if (!done) {
    throw Unimplemented(std::string(op) + " of " + std::string(hlo::name(type)) +
                        " elements; expected bf16, f16, f32, f64, complex<f32> or complex<f64>");
  }
}

}  // namespace

void cholesky(const KernelCall& call) {
  if (elements(call.results[0]) == 0) return;
  const bool lower = call.attributes.get_or<bool>("lower", false);
  visit_field("cholesky", call.results[0].element,
              [&]<class Element>(Element) { cholesky_of<Element>(call, lower); });
}

void triangular_solve(const KernelCall& call) {
  if (elements(call.results[0]) == 0) return;
  const hlo::Attributes& attributes = call.attributes;
  const std::string& transpose = attributes.get_enum("transpose_a");
  const SolveOptions options{attributes.get<bool>("left_side"), attributes.get<bool>("lower"),
                             attributes.get<bool>("unit_diagonal"), transpose != "NO_TRANSPOSE",
                             transpose == "ADJOINT"};
  visit_field("triangular_solve", call.results[0].element,
              [&]<class Element>(Element) { triangular_solve_of<Element>(call, options); });
}

}  // namespace tpu::compiler::kernels
