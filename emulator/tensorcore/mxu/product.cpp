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

PassPlan transposed(const PassPlan& plan) {
  PassPlan result = plan;
  std::swap(result.lhs_parts, result.rhs_parts);
  std::swap(result.round_lhs, result.round_rhs);
  for (Pass& pass : result.passes) std::swap(pass.lhs_part, pass.rhs_part);
  return result;
}

/// Vector lanes run along the columns: they should be many, and dense in the result.
bool should_transpose(const StridedProduct& p) {
  constexpr int64_t kFew = 16;
  const int64_t rows = p.lhs.lines.size(), columns = p.rhs.lines.size();
  if (std::min(rows, columns) < kFew) return columns < rows;
  return p.result.rows.stride() == 1 && p.result.columns.stride() != 1;
}

template <class T, class Acc>
void multiply_as(const StridedProduct& p, const PassPlan& plan, int64_t k, int64_t depth,
                 const MicroKernels<T, Acc>& kernels, const HostKernels& host) {
  const StridedOperand<T> left(p.lhs, plan.lhs_parts, host), right(p.rhs, plan.rhs_parts, host);
  const StridedTiles<Acc> tiles(p.result, host);
  run(Gemm<T, Acc>{p.lhs.batch.size(), p.lhs.lines.size(), p.rhs.lines.size(), k, depth, left,
                   right, tiles, plan.lhs_parts, plan.rhs_parts, plan.passes, kernels});
}

bool fits_int16(ElementType type) {
  return type != ElementType::kUI16 && hlo::byte_width(type) <= 2;
}

/// Any order gives the same bits, so the chunk's length is free.
void multiply_integers(const StridedProduct& p, const PassPlan& plan, const HostKernels& host) {
  constexpr int64_t kDepth = 256;
  const int64_t k = p.lhs.k.size();
  if (hlo::byte_width(p.result.element) == 8) {
    return multiply_as<uint64_t, uint64_t>(p, plan, k, kDepth, host.u64, host);
  }
  if (fits_int16(p.lhs.element) && fits_int16(p.rhs.element)) {
    return multiply_as<Int16Pair, uint32_t>(p, plan, (k + 1) / 2, kDepth, host.pairs, host);
  }
  multiply_as<uint32_t, uint32_t>(p, plan, k, kDepth, host.u32, host);
}

void multiply_real(const StridedProduct& p, const PassPlan& plan, bool wide, int depth,
                   const HostKernels& host) {
  if (should_transpose(p)) {
    const StridedProduct turned = transposed(p);
    const PassPlan turned_plan = transposed(plan);
    if (wide) return multiply_as(turned, turned_plan, p.lhs.k.size(), depth, host.f64, host);
    return multiply_as(turned, turned_plan, p.lhs.k.size(), depth, host.f32, host);
  }
  if (wide) return multiply_as(p, plan, p.lhs.k.size(), depth, host.f64, host);
  multiply_as(p, plan, p.lhs.k.size(), depth, host.f32, host);
}

/// The real (0) or imaginary (1) parts of a complex matrix; axes count half elements.
StridedMatrix part_of(const StridedMatrix& m, int part) {
  StridedMatrix result = m;
  result.element = hlo::real_part(m.element);
  result.data += part * hlo::byte_width(result.element);
  return result;
}

void multiply_complex_matrices(const StridedProduct& p, const PassPlan& plan, bool wide, int depth,
                               const HostKernels& host) {
  const int64_t batches = p.lhs.batch.size(), rows = p.lhs.lines.size();
  const int64_t columns = p.rhs.lines.size();
  const auto real = [&](const RealProduct& r) {
    const ElementType element = hlo::real_part(p.result.element);
    multiply_real(
        {part_of(p.lhs, r.lhs_part),
         part_of(p.rhs, r.rhs_part),
         {element, r.result, hlo::byte_width(element), StridedAxis(batches, rows * columns),
          StridedAxis(rows, columns), StridedAxis(columns, 1)}},
        plan, wide, depth, host);
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
  const PassPlan plan = plan_passes(precision, lhs, rhs);
  switch (arithmetic_of(lhs, rhs, product.result.element)) {
    case Arithmetic::kInteger:
    case Arithmetic::kBoolean:
      return multiply_integers(product, plan, host);
    case Arithmetic::kComplexF32:
      return multiply_complex_matrices(product, plan, false, depth, host);
    case Arithmetic::kComplexF64:
      return multiply_complex_matrices(product, plan, true, depth, host);
    case Arithmetic::kF64:
      return multiply_real(product, plan, true, depth, host);
    default:
      return multiply_real(product, plan, false, depth, host);
  }
}

}  // namespace tpu::tensorcore
