// Matrix decompositions by their textbook formulas. Each product, sum, quotient and root is rounded
// to the element type; sums run in ascending index order.
#pragma once

#include <string_view>

#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// Cholesky factors of the matrices in the last two dimensions: row by row,
///   L[i, j] = (a[i, j] - sum_{k < j} L[i, k] conj(L[j, k])) / L[j, j],
///   L[i, i] = sqrt(a[i, i] - sum_{k < i} L[i, k] conj(L[i, k])).
/// Reads the lower triangle if `lower`, otherwise the upper one, whose conjugate transpose stands
/// for the lower; then the result is the conjugate transpose of L. The other triangle of the result
/// is 0. A matrix that is not positive definite gives NaN from the first bad pivot on.
Literal evaluate_cholesky(const Literal& a, bool lower);

/// Solves op(a) x = b (`left_side`) or x op(a) = b by substitution:
///   x[i] = (b[i] - sum_k op(a)[i, k] x[k]) / op(a)[i, i], over the x[k] already known.
/// `transpose_a`: NO_TRANSPOSE, TRANSPOSE or ADJOINT. With `unit_diagonal` nothing is divided.
Literal evaluate_triangular_solve(const Literal& a, const Literal& b, bool left_side, bool lower,
                                  bool unit_diagonal, std::string_view transpose_a);

}  // namespace tpu::hlo
