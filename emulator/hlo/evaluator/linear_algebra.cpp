#include "emulator/hlo/evaluator/linear_algebra.h"

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/arithmetic.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/evaluator/transcendental.h"

namespace tpu::hlo {
namespace {

Element conjugate(const Element& x) {
  return is_complex(x.type) ? complex(real(x), negate(imag(x))) : x;
}

// One matrix of a batch, by row and column.
class Matrix {
 public:
  Matrix(Literal& batch, int64_t number) : batch_(batch) {
    const Dims& shape = batch.type().shape;
    rows_ = shape[shape.size() - 2];
    columns_ = shape[shape.size() - 1];
    base_ = number * rows_ * columns_;
  }
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  Element get(int64_t i, int64_t j) const { return load(batch_, base_ + i * columns_ + j); }
  void set(int64_t i, int64_t j, const Element& x) { store(batch_, base_ + i * columns_ + j, x); }

 private:
  Literal& batch_;
  int64_t rows_, columns_, base_;
};

int64_t num_matrices(const Literal& batch) {
  return num_elements(std::span(batch.type().shape).first(batch.type().rank() - 2));
}

}  // namespace

Literal evaluate_cholesky(const Literal& a, bool lower) {
  Literal input = a;
  Literal result(a.type());
  for (int64_t number = 0; number < num_matrices(a); ++number) {
    const Matrix from(input, number);
    Matrix to(result, number);
    const auto source = [&](int64_t i, int64_t j) {
      return lower ? from.get(i, j) : conjugate(from.get(j, i));
    };
    const auto factor = [&](int64_t i, int64_t j) {
      return lower ? to.get(i, j) : conjugate(to.get(j, i));
    };
    for (int64_t i = 0; i < from.rows(); ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        Element value = source(i, j);
        for (int64_t k = 0; k < j; ++k) {
          value = subtract(value, multiply(factor(i, k), conjugate(factor(j, k))));
        }
        value = i == j ? sqrt(value) : divide(value, factor(j, j));
        lower ? to.set(i, j, value) : to.set(j, i, conjugate(value));
      }
    }
  }
  return result;
}

Literal evaluate_triangular_solve(const Literal& a, const Literal& b, bool left_side, bool lower,
                                  bool unit_diagonal, std::string_view transpose_a) {
  if (transpose_a != "NO_TRANSPOSE" && transpose_a != "TRANSPOSE" && transpose_a != "ADJOINT") {
    throw InvalidArgument("transpose_a '" + std::string(transpose_a) +
                          "'; expected NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  }
  // x op(a) = b is transpose(op(a)) transpose(x) = transpose(b).
  const bool transposed = (transpose_a != "NO_TRANSPOSE") == left_side;
  const bool forward = lower != transposed;  // the coefficients form a lower triangle
  Literal input = a;
  Literal result = b;
  for (int64_t number = 0; number < num_matrices(a); ++number) {
    const Matrix matrix(input, number);
    Matrix x(result, number);
    const auto coefficient = [&](int64_t i, int64_t k) {
      const Element value = transposed ? matrix.get(k, i) : matrix.get(i, k);
      return transpose_a == "ADJOINT" ? conjugate(value) : value;
    };
    const int64_t size = matrix.rows();
    const int64_t systems = left_side ? x.columns() : x.rows();
    for (int64_t s = 0; s < systems; ++s) {
      const auto at = [&](int64_t i) { return left_side ? x.get(i, s) : x.get(s, i); };
      for (int64_t step = 0; step < size; ++step) {
        const int64_t i = forward ? step : size - 1 - step;
        Element value = at(i);
        const int64_t first = forward ? 0 : i + 1, last = forward ? i : size;
        for (int64_t k = first; k < last; ++k) {
          value = subtract(value, multiply(coefficient(i, k), at(k)));
        }
        if (!unit_diagonal) value = divide(value, coefficient(i, i));
        left_side ? x.set(i, s, value) : x.set(s, i, value);
      }
    }
  }
  return result;
}

}  // namespace tpu::hlo
