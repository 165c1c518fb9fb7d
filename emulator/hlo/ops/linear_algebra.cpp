// cholesky, triangular_solve, fft.
#include <algorithm>

#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_cholesky(const OpView& op) {
  const TensorType& a = type_of(op, 0);
  const int rank = a.rank();
  require_class(op, 0, kFloatOrComplex);
  require(op, rank >= 2, "c2", "the operand must have rank 2 or more");
  require(op, a.shape[rank - 2] == a.shape[rank - 1], "c3", "the matrices must be square");
  return single(a);
}

std::vector<TensorType> infer_triangular_solve(const OpView& op) {
  const TensorType& a = type_of(op, 0);
  const TensorType& b = type_of(op, 1);
  const int rank = a.rank();
  require_class(op, 0, kFloatOrComplex);
  require(op, a.element == b.element, "c1", "a and b must have the same element type");
  require(op, rank >= 2 && b.rank() == rank, "c2", "a and b must have one rank, 2 or more");
  require(op, std::equal(a.shape.begin(), a.shape.end() - 2, b.shape.begin()), "c3",
          "a and b must have the same batch dimensions");
  const bool left = op.attributes.get<bool>("left_side");
  require(op,
          a.shape[rank - 2] == a.shape[rank - 1] &&
              a.shape[rank - 1] == b.shape[left ? rank - 2 : rank - 1],
          "c3", "a must be square and of b's rows (left_side) or columns");
  require(op,
          one_of(op.attributes.get_enum("transpose_a"), {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}),
          "i6", "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  return single(b);
}

// The last dimensions of a transform that one side has as real numbers, the other as half of the
// spectrum: `length` real numbers make length / 2 + 1 complex ones.
int64_t half_spectrum(int64_t length) {
  return length == 0 ? 0 : length / 2 + 1;
}

void require_tail(const OpView& op, const Dims& shape, const Dims& length) {
  require(op, std::equal(length.rbegin(), length.rend(), shape.rbegin()), "c4",
          "the last dimensions must be fft_length");
}

std::vector<TensorType> infer_fft(const OpView& op) {
  const TensorType& operand = type_of(op, 0);
  const Dims& length = op.attributes.get<Dims>("fft_length");
  const std::string& kind = op.attributes.get_enum("fft_type");
  require(op, length.size() <= operand.shape.size(), "c1",
          "the operand must have a dimension for each fft_length");
  require(op, !length.empty() && length.size() <= 3, "c3", "fft_length must have 1 to 3 entries");
  require(op, one_of(kind, {"FFT", "IFFT", "RFFT", "IRFFT"}), "i2",
          "fft_type must be FFT, IFFT, RFFT or IRFFT");
  TensorType result = operand;
  if (kind == "RFFT") {
    const bool single_precision = operand.element == ElementType::kF32;
    require(op, single_precision || operand.element == ElementType::kF64, "c2",
            "RFFT takes f32 or f64");
    require_tail(op, operand.shape, length);
    result.element = single_precision ? ElementType::kComplexF32 : ElementType::kComplexF64;
    result.shape.back() = half_spectrum(operand.shape.back());
    return single(std::move(result));
  }
  require(op, is_complex(operand.element), "c2", kind + " takes complex numbers");
  if (kind == "IRFFT") {
    require(op, operand.shape.back() == half_spectrum(length.back()), "c5",
            "IRFFT takes fft_length / 2 + 1 numbers along the last dimension");
    result.element = real_part(operand.element);
    result.shape.back() = length.back();
  }
  require_tail(op, result.shape, length);
  return single(std::move(result));
}

}  // namespace

Rows linear_algebra_rows() {
  return {
      {.kind = OpKind::kCholesky,
       .min_operands = 1,
       .max_operands = 1,
       .attributes = {{"lower", AttributeKind::kBool, false}},
       .implemented = true,
       .infer = infer_cholesky},
      {.kind = OpKind::kTriangularSolve,
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {{"left_side", AttributeKind::kBool},
                      {"lower", AttributeKind::kBool},
                      {"unit_diagonal", AttributeKind::kBool},
                      {"transpose_a", AttributeKind::kEnum, true, "transpose"}},
       .implemented = true,
       .infer = infer_triangular_solve},
      {.kind = OpKind::kFft,
       .min_operands = 1,
       .max_operands = 1,
       .attributes = {{"fft_type", AttributeKind::kEnum, true, "fft_type"},
                      {"fft_length", AttributeKind::kI64Array}},
       .implemented = true,
       .infer = infer_fft},
  };
}

}  // namespace tpu::hlo::ops
