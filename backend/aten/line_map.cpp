#include "backend/aten/line_map.h"

#include <algorithm>
#include <array>

#include "backend/aten/indexing.h"
#include "backend/aten/scatter.h"
#include "emulator/hlo/literal.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// `x` times the weights, which lie along `dims` of it. A map that only moves elements multiplies
/// nothing, and so serves integers too.
Value* weighted(Builder& b, Value* x, const std::vector<double>& weights, const Dims& shape,
                const Dims& dims) {
  if (std::ranges::all_of(weights, [](double w) { return w == 1; })) return x;
  tpu::hlo::Literal literal({ElementType::kF64, shape});
  std::ranges::copy(weights, literal.mutable_as<double>().begin());
  Value* factors = b.convert(b.constant(std::move(literal)), x->type.element);
  return b.multiply(x, b.broadcast_in_dim(factors, x->type.shape, dims));
}

}  // namespace

LineMap LineMap::selecting(int64_t in, const Dims& indices) {
  std::vector<std::vector<Tap>> rows;
  for (int64_t index : indices) rows.push_back({{index, 1.0}});
  return {in, std::move(rows)};
}

LineMap LineMap::transposed() const {
  std::vector<std::vector<Tap>> rows(in_);
  for (int64_t i = 0; i < out(); ++i) {
    for (const Tap& tap : rows_[i]) rows[tap.index].push_back({i, tap.weight});
  }
  return {out(), std::move(rows)};
}

Value* LineMap::apply(Lowering& op, Value* x, int64_t dim) const {
  Dims shape = x->type.shape;
  TORCH_INTERNAL_ASSERT(shape[dim] == in_, "a map of ", in_, " elements on ", shape[dim]);
  shape[dim] = out();
  size_t taps = 0, width = 0;
  for (const auto& row : rows_) {
    taps += row.size();
    width = std::max(width, row.size());
  }
  if (tpu::hlo::num_elements(shape) == 0 || taps == 0) {
    return op.b.splat({x->type.element, shape}, int64_t{0});
  }
  // A few long rows among short ones (the border that replication pads from) would make all rows
  // read as much as the longest.
  if (width * rows_.size() > 2 * taps) return scattered(op, x, dim);
  return gathered(op, x, dim, static_cast<int64_t>(width));
}

// All taps of a row side by side, then their sum.
Value* LineMap::gathered(Lowering& op, Value* x, int64_t dim, int64_t width) const {
  Builder& b = op.b;
  std::vector<int64_t> indices, present;
  std::vector<double> weights;
  for (const auto& row : rows_) {
    for (int64_t k = 0; k < width; ++k) {
      const bool here = k < static_cast<int64_t>(row.size());
      const Tap tap = here ? row[k] : Tap{0, 1.0};
      indices.push_back(tap.index);
      weights.push_back(tap.weight);
      present.push_back(here);
    }
  }
  const Dims grid = width == 1 ? Dims{out()} : Dims{out(), width};
  const Dims dims = width == 1 ? Dims{dim} : Dims{dim, dim + 1};
  Value* terms =
      take(op, x, dim, b.constant(tpu::hlo::from_ints(ElementType::kSI64, grid, indices)));
  terms = weighted(b, terms, weights, grid, dims);
  if (std::ranges::find(present, 0) != present.end()) {
    // What fills up a short row is no term: 0 times infinity would be one.
    Value* mask = b.constant(tpu::hlo::from_ints(ElementType::kI1, grid, present));
    terms = b.select(b.broadcast_in_dim(mask, terms->type.shape, dims), terms,
                     b.splat(terms->type, int64_t{0}));
  }
  return width == 1 ? terms : op.reduce(terms, OpKind::kAdd, {dim + 1}, /*keepdim=*/false);
}

// Every tap's term goes to its row.
Value* LineMap::scattered(Lowering& op, Value* x, int64_t dim) const {
  Builder& b = op.b;
  std::vector<int64_t> from, to;
  std::vector<double> weights;
  for (int64_t i = 0; i < out(); ++i) {
    for (const Tap& tap : rows_[i]) {
      from.push_back(tap.index);
      to.push_back(i);
      weights.push_back(tap.weight);
    }
  }
  const Dims count = {static_cast<int64_t>(from.size())};
  Value* terms = take(op, x, dim, b.constant(tpu::hlo::from_ints(ElementType::kSI64, count, from)));
  terms = weighted(b, terms, weights, count, {dim});
  Dims shape = x->type.shape;
  shape[dim] = out();
  Value* rows = b.constant(tpu::hlo::from_ints(ElementType::kSI64, count, to));
  return scatter_slices(op, b.splat({x->type.element, shape}, int64_t{0}), dim, rows, terms,
                        OpKind::kAdd);
}

}  // namespace torch_tpu::aten
