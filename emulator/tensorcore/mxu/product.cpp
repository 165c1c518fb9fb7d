#include "emulator/tensorcore/mxu/product.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "emulator/tensorcore/mxu/complex_product.h"

namespace tpu::tensorcore {
namespace {

using hlo::ElementType;

/// Exchanges rows and columns: C^T = B^T A^T. Products commute, so the bits stay.
StridedProduct transposed(const StridedProduct& p) {
  StridedProduct result{p.rhs, p.lhs, p.result};
  std::swap(result.result.rows, result.result.columns);
  return result;
}

/// Vector lanes run along the columns: they should be many, and dense in the result.
bool should_transpose(const StridedProduct& p) {
  constexpr int64_t kFew = 16;
  const int64_t rows = p.lhs.lines.size(), columns = p.rhs.lines.size();
  if (std::min(rows, columns) < kFew) return columns < rows;
  return p.result.rows.stride() == 1 && p.result.columns.stride() != 1;
}

/// How a product of real numbers is computed.
struct Recipe {
  PassPlan plan;
  Arithmetic arithmetic;
  int depth;
  const HostKernels& host;
};

template <class T, class Acc>
void multiply_as(const StridedProduct& p, const Recipe& recipe, int64_t k, int64_t depth,
                 const MicroKernels<T, Acc>& kernels) {
  const bool turned = should_transpose(p);
  const StridedProduct q = turned ? transposed(p) : p;
  const StridedOperand<T> left(q.lhs, recipe.plan, recipe.host);
  const StridedOperand<T> right(q.rhs, recipe.plan, recipe.host);
  const StridedTiles<Acc> tiles(q.result, recipe.host);
  const std::vector<int64_t> bounds = even_bounds(k, depth);
  run(Gemm<T, Acc>{q.lhs.batch.size(), q.lhs.lines.size(), q.rhs.lines.size(), bounds, left, right,
                   tiles, recipe.plan, turned, true, kernels});
}

bool fits_int16(ElementType type) {
  return type != ElementType::kUI16 && hlo::byte_width(type) <= 2;
}

/// Any order gives the same bits, so the chunk's length is free.
void multiply_integers(const StridedProduct& p, const Recipe& recipe) {
  constexpr int64_t kDepth = 256;
  const int64_t k = p.lhs.k.size();
  if (hlo::byte_width(p.result.element) == 8) {
    return multiply_as(p, recipe, k, kDepth, recipe.host.u64);
  }
  if (fits_int16(p.lhs.element) && fits_int16(p.rhs.element)) {
    return multiply_as(p, recipe, (k + 1) / 2, kDepth, recipe.host.pairs);
  }
  multiply_as(p, recipe, k, kDepth, recipe.host.u32);
}

void multiply_real(const StridedProduct& p, const Recipe& recipe) {
  switch (recipe.arithmetic) {
    case Arithmetic::kInteger:
    case Arithmetic::kBoolean:
      return multiply_integers(p, recipe);
    case Arithmetic::kF64:
    case Arithmetic::kComplexF64:
      return multiply_as(p, recipe, p.lhs.k.size(), recipe.depth, recipe.host.f64);
    default:
      return multiply_as(p, recipe, p.lhs.k.size(), recipe.depth, recipe.host.f32);
  }
}

/// The real (0) or imaginary (1) parts of a complex matrix; axes count half elements.
StridedMatrix part_of(const StridedMatrix& m, int part) {
  StridedMatrix result = m;
  result.element = hlo::real_part(m.element);
  result.data += part * hlo::byte_width(result.element);
  return result;
}

void multiply_complex_matrices(const StridedProduct& p, const Recipe& recipe) {
  const int64_t batches = p.lhs.batch.size(), rows = p.lhs.lines.size();
  const int64_t columns = p.rhs.lines.size();
  const auto real = [&](const RealProduct& r) {
    const ElementType element = hlo::real_part(p.result.element);
    multiply_real(
        {part_of(p.lhs, r.lhs_part),
         part_of(p.rhs, r.rhs_part),
         {element, r.result, hlo::byte_width(element), StridedAxis(batches, rows * columns),
          StridedAxis(rows, columns), StridedAxis(columns, 1)}},
        recipe);
  };
  const auto store = [&](int64_t i, const std::byte* number) {
    const int64_t offset = p.result.batch.offset(i / (rows * columns)) +
                           p.result.rows.offset(i / columns % rows) +
                           p.result.columns.offset(i % columns);
    std::memcpy(p.result.data + offset * p.result.element_stride, number,
                hlo::byte_width(p.result.element));
  };
  multiply_complex(p.result.element, batches * rows * columns, real, store);
}

}  // namespace

void multiply(const StridedProduct& product, Precision precision, int depth,
              const HostKernels& host) {
  const ElementType lhs = product.lhs.element, rhs = product.rhs.element;
  const Recipe recipe{plan_passes(precision, lhs, rhs),
                      arithmetic_of(lhs, rhs, product.result.element), depth, host};
  if (hlo::is_complex(lhs)) return multiply_complex_matrices(product, recipe);
  multiply_real(product, recipe);
}

}  // namespace tpu::tensorcore
