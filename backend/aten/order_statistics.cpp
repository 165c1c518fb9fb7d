// Values by their rank: medians, the k-th smallest, the most frequent. The order is that of a
// stable sort with NaN as the largest.
#include <limits>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/sorting.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// The lines of a tensor along one dimension: [lines, size].
struct LinesOf {
  Value* x;
  Dims shape;  ///< of the result, without the dimension or with 1 in its place
  int64_t size;
  int64_t count() const { return x->type.shape[0]; }
};

LinesOf line_of_all(Lowering& op) {
  const Tensor self = op.tensor("self");
  return {op.b.reshape(self.value, {1, self.numel()}), {}, self.numel()};
}

LinesOf lines_along(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  if (self.dim() == 0) return line_of_all(op);
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim()), size = self.size(dim);
  TORCH_CHECK_INDEX(size > 0, op.op_name(), "(): Expected reduction dim ", dim,
                    " to have non-zero size.");
  Dims order = iota_dims(self.dim()), shape = self.shape();
  order.erase(order.begin() + dim);
  order.push_back(dim);
  if (op.boolean("keepdim")) {
    shape[dim] = 1;
  } else {
    shape.erase(shape.begin() + dim);
  }
  return {b.reshape(b.transpose(self.value, order), {self.numel() / size, size}), shape, size};
}

/// Of each line the element at `rank`, i64 [lines], were it sorted: its value and its position.
std::pair<Value*, Value*> select(Lowering& op, const LinesOf& lines, Value* rank) {
  const Dims shape = {lines.count()};
  const auto found =
      op.b.custom_call("tpu.select_rank", {lines.x, rank},
                       {{lines.x->type.element, shape}, {ElementType::kSI64, shape}});
  return {op.b.reshape(found[0], lines.shape), op.b.reshape(found[1], lines.shape)};
}

void give(Lowering& op, const std::pair<Value*, Value*>& found) {
  op.result(found.first);
  op.result(found.second);
}

Value* count_nan(Lowering& op, const LinesOf& lines) {
  Value* nan = op.b.compare(lines.x, lines.x, "NE");
  return op.reduce(op.convert(nan, DType::Long), OpKind::kAdd, {1}, /*keepdim=*/false);
}

/// Of an even number of elements the lower one. A NaN wins over numbers, unless it is left out.
Value* median_rank(Lowering& op, const LinesOf& lines, bool skip_nan) {
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
    const LinesOf lines = line_of_all(op);
    op.result(select(op, lines, median_rank(op, lines, skip_nan)).first);
  };
}

LowerFunction median_along(bool skip_nan) {
  return [skip_nan](Lowering& op) {
    const Tensor self = op.tensor("self");
    TORCH_CHECK(self.dtype != DType::Bool && !c10::isComplexType(self.dtype),
                "\"median\" not implemented for '", c10::toString(self.dtype), "'");
    const LinesOf lines = lines_along(op);
    give(op, select(op, lines, median_rank(op, lines, skip_nan)));
  };
}

void kth_value(Lowering& op) {
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.dtype != DType::Bool && !c10::isComplexType(self.dtype),
              "\"kthvalue_cpu\" not implemented for '", c10::toString(self.dtype), "'");
  const int64_t k = op.integer("k"), dim = wrap_dim(op.integer("dim"), self.dim());
  TORCH_CHECK(k >= 1 && k <= (self.dim() > 0 ? self.size(dim) : 1),
              "kthvalue(): selected number k out of range for dimension ", dim);
  const LinesOf lines = lines_along(op);
  give(op, select(op, lines, op.b.splat({ElementType::kSI64, {lines.count()}}, k - 1)));
}

// Equal elements lie together once sorted. Each counts those of its run up to itself, so that a
// run's last element has its length; the first of the longest runs wins: the smallest value, at its
// last position. A NaN equals nothing and is a run of one.
void mode(Lowering& op) {
  Builder& b = op.b;
  TORCH_CHECK(!c10::isComplexType(op.tensor("self").dtype), "\"mode\" not implemented for complex");
  const LinesOf lines = lines_along(op);
  const Sorted sorted = stable_sort(b, lines.x, 1, /*descending=*/false);
  const Dims& shape = lines.x->type.shape;
  Value* here = b.iota({ElementType::kSI64, shape}, 1);
  Value* start = b.splat(here->type, int64_t{0});
  if (lines.size > 1) {
    Value* current = b.slice(sorted.values, {0, 1}, shape, {1, 1});
    Value* before = b.slice(sorted.values, {0, 0}, {shape[0], lines.size - 1}, {1, 1});
    Value* differs = b.compare(current, before, "NE");
    Value* begins =
        b.pad(differs, b.constant(ElementType::kI1, int64_t{1}), {0, 1}, {0, 0}, {0, 0});
    start = cumulative(op, b.select(begins, here, start), 1, OpKind::kMaximum);
  }
  Value* last = extreme_with_index(op, b.subtract(here, start), 1, /*largest=*/true).second;
  op.result(b.reshape(pick_along(op, sorted.values, 1, last), lines.shape));
  op.result(b.reshape(pick_along(op, sorted.positions, 1, last), lines.shape));
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
