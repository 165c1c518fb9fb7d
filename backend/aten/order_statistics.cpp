// Values by their rank: medians, the k-th smallest, the most frequent. Each sorts, stably and with
// NaN as the largest, and picks.
#include <limits>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/sorting.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// A tensor sorted along one dimension, which lies last: [lines, size].
struct SortedLines {
  Value *values, *positions;
  Dims shape;  ///< of the result, without the dimension or with 1 in its place
  int64_t size;
};

/// `all`: of all elements as one line.
SortedLines sort_lines(Lowering& op, bool all) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  Value* x = self.value;
  SortedLines lines{nullptr, nullptr, {}, self.numel()};
  if (!all && self.dim() > 0) {
    const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
    lines.size = self.size(dim);
    TORCH_CHECK_INDEX(lines.size > 0, op.op_name(), "(): Expected reduction dim ", dim,
                      " to have non-zero size.");
    Dims order = iota_dims(self.dim());
    order.erase(order.begin() + dim);
    order.push_back(dim);
    x = b.transpose(x, order);
    lines.shape = self.shape();
    op.boolean("keepdim") ? void(lines.shape[dim] = 1)
                          : void(lines.shape.erase(lines.shape.begin() + dim));
  }
  const int64_t count = lines.size == 0 ? 1 : self.numel() / lines.size;
  const auto sorted = stable_sort(b, b.reshape(x, {count, lines.size}), 1, /*descending=*/false);
  lines.values = sorted.values;
  lines.positions = sorted.positions;
  return lines;
}

/// Of each line the element at `rank`, i64 [lines]: its value, and its position in the line.
void give(Lowering& op, const SortedLines& lines, Value* rank) {
  op.result(op.b.reshape(pick_along(op, lines.values, 1, rank), lines.shape));
  op.result(op.b.reshape(pick_along(op, lines.positions, 1, rank), lines.shape));
}

Value* count_nan(Lowering& op, const SortedLines& lines) {
  Value* nan = op.b.compare(lines.values, lines.values, "NE");
  return op.reduce(op.convert(nan, DType::Long), OpKind::kAdd, {1}, /*keepdim=*/false);
}

/// Of an even number of elements the lower one. A NaN wins over numbers, unless it is left out.
Value* median_rank(Lowering& op, const SortedLines& lines, bool skip_nan) {
  Builder& b = op.b;
  Value* nans = count_nan(op, lines);
  const auto all = [&](int64_t value) { return b.splat(nans->type, value); };
  Value* numbers = b.subtract(all(lines.size), nans);
  Value* none = all(0);
  Value* middle = b.divide(b.subtract(b.maximum(numbers, all(1)), all(1)), all(2));
  if (skip_nan) return middle;
  // The first NaN lies behind the numbers.
  Value* of_all = all((lines.size - 1) / 2);
  return b.select(b.compare(nans, none, "GT"), numbers, of_all);
}

LowerFunction median(bool skip_nan) {
  return [skip_nan](Lowering& op) {
    const Tensor self = op.tensor("self");
    TORCH_CHECK(self.dtype != DType::Bool && !c10::isComplexType(self.dtype),
                "\"median\" not implemented for '", c10::toString(self.dtype), "'");
    if (self.numel() == 0) {
      return op.result(op.full({}, self.dtype, std::numeric_limits<double>::quiet_NaN()));
    }
    const SortedLines lines = sort_lines(op, /*all=*/true);
    Value* rank = median_rank(op, lines, skip_nan);
    op.result(op.b.reshape(pick_along(op, lines.values, 1, rank), {}));
  };
}

LowerFunction median_along(bool skip_nan) {
  return [skip_nan](Lowering& op) {
    const Tensor self = op.tensor("self");
    TORCH_CHECK(self.dtype != DType::Bool && !c10::isComplexType(self.dtype),
                "\"median\" not implemented for '", c10::toString(self.dtype), "'");
    const SortedLines lines = sort_lines(op, /*all=*/false);
    give(op, lines, median_rank(op, lines, skip_nan));
  };
}

void kth_value(Lowering& op) {
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.dtype != DType::Bool && !c10::isComplexType(self.dtype),
              "\"kthvalue_cpu\" not implemented for '", c10::toString(self.dtype), "'");
  const int64_t k = op.integer("k"), dim = wrap_dim(op.integer("dim"), self.dim());
  TORCH_CHECK(k >= 1 && k <= (self.dim() > 0 ? self.size(dim) : 1),
              "kthvalue(): selected number k out of range for dimension ", dim);
  const SortedLines lines = sort_lines(op, /*all=*/false);
  give(op, lines, op.b.splat({ElementType::kSI64, {lines.values->type.shape[0]}}, k - 1));
}

// Equal elements lie together once sorted. Each counts those of its run up to itself, so that a
// run's last element has its length; the first of the longest runs wins: the smallest value, at its
// last position. A NaN equals nothing and is a run of one.
void mode(Lowering& op) {
  Builder& b = op.b;
  TORCH_CHECK(!c10::isComplexType(op.tensor("self").dtype), "\"mode\" not implemented for complex");
  const SortedLines lines = sort_lines(op, /*all=*/false);
  const Dims& shape = lines.values->type.shape;
  const int64_t count = shape[0], size = lines.size;
  Value* here = b.iota({ElementType::kSI64, shape}, 1);
  Value* start = b.splat(here->type, int64_t{0});
  if (size > 1) {
    Value* current = b.slice(lines.values, {0, 1}, shape, {1, 1});
    Value* before = b.slice(lines.values, {0, 0}, {count, size - 1}, {1, 1});
    Value* differs = b.compare(current, before, "NE");
    Value* begins =
        b.pad(differs, b.constant(ElementType::kI1, int64_t{1}), {0, 1}, {0, 0}, {0, 0});
    start = cumulative(op, b.select(begins, here, start), 1, OpKind::kMaximum);
  }
  Value* length = b.subtract(here, start);
  give(op, lines, extreme_with_index(op, length, 1, /*largest=*/true).second);
}

}  // namespace

void add_order_statistics(Table& table) {
  const Table rows = {
      {"median", median(/*skip_nan=*/false)},
      {"nanmedian", median(true)},
      {"median.dim", median_along(false)},
      {"nanmedian.dim", median_along(true)},
      {"kthvalue", kth_value},
      {"mode", mode},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
