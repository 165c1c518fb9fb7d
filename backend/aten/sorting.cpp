// Sorting, selection by rank, and searching.
#include <algorithm>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// A 0-d tensor is sorted as one of one element.
Value* at_least_1d(Lowering& op, const Tensor& x) {
  return x.dim() == 0 ? op.b.reshape(x.value, {1}) : x.value;
}

// Stable in either direction: equal elements keep their order. NaN is the largest.
void sort(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  const bool descending = op.boolean("descending");
  Value* x = at_least_1d(op, self);
  Value* positions = b.iota({ElementType::kSI64, x->type.shape}, dim);
  const bool is_float = c10::isFloatingType(self.dtype);
  const auto comparator = [&](Builder& r, std::span<Value* const> a) {
    Value* before = r.compare(a[0], a[1], descending ? "GT" : "LT");
    if (is_float) {
      Value* nan0 = r.compare(a[0], a[0], "NE");
      Value* nan1 = r.compare(a[1], a[1], "NE");
      Value* by_nan = descending ? r.and_(nan0, r.not_(nan1)) : r.and_(nan1, r.not_(nan0));
      before = r.or_(before, by_nan);
    }
    r.ret({before});
  };
  const auto sorted = b.sort({x, positions}, dim, /*is_stable=*/true, comparator);
  op.result(b.reshape(sorted[0], self.shape()), ResultLayout::kOperands, {self});
  op.result(b.reshape(sorted[1], self.shape()), ResultLayout::kOperands, {self});
}

void topk(Lowering& op) {
  const Tensor self = op.tensor("self");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim()), k = op.integer("k");
  Value* x = at_least_1d(op, self);
  TORCH_CHECK(k >= 0 && k <= x->type.shape[dim], "selected index k out of range: k is ", k,
              " and dimension ", dim, " has size ", x->type.shape[dim]);
  Dims shape = x->type.shape;
  shape[dim] = k;
  const auto results =
      op.b.custom_call("tpu.topk", {x}, {{x->type.element, shape}, {ElementType::kSI64, shape}},
                       {{"largest", op.boolean("largest")}, {"dimension", dim}});
  const bool scalar = self.dim() == 0 && k == 1;
  for (Value* result : results) op.result(scalar ? op.b.reshape(result, {}) : result);
}

LowerFunction running_extreme(std::string_view target) {
  return [target](Lowering& op) {
    const Tensor self = op.tensor("self");
    const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
    Value* x = at_least_1d(op, self);
    const auto results = op.b.custom_call(
        target, {x}, {x->type, {ElementType::kSI64, x->type.shape}}, {{"dimension", dim}});
    // The schema writes values and indices, two arguments of the call.
    for (Value* result : results) op.result(op.b.reshape(result, self.shape()));
  };
}

void search_sorted(Lowering& op) {
  Builder& b = op.b;
  const Tensor sorted = op.tensor("sorted_sequence"), self = op.tensor("self");
  bool right = op.boolean("right");
  if (op.has("side")) right = op.string("side") == "right";
  const DType out = op.boolean("out_int32") ? DType::Int : DType::Long;
  const std::vector<Promoted> seen = {sorted.promoted(), self.promoted()};
  const DType common = result_type(seen);
  std::vector<Value*> operands = {op.convert(sorted, common), op.convert(self, common)};
  if (const auto sorter = op.optional_tensor("sorter")) operands.push_back(sorter->value);
  op.result(b.custom_call("tpu.searchsorted", operands, {{to_element(out), self.shape()}},
                          {{"right", right}})[0]);
}

void bucketize(Lowering& op) {
  const Tensor self = op.tensor("self"), boundaries = op.tensor("boundaries");
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(",
              boundaries.dim(), ")");
  const std::vector<Promoted> seen = {boundaries.promoted(), self.promoted()};
  const DType common = result_type(seen);
  const DType out = op.boolean("out_int32") ? DType::Int : DType::Long;
  op.result(op.b.custom_call(
      "tpu.searchsorted", {op.convert(boundaries, common), op.convert(self, common)},
      {{to_element(out), self.shape()}}, {{"right", op.boolean("right")}})[0]);
}

void unique_count(Lowering& op) {
  op.result(op.b.custom_call("tpu.unique_count", {op.tensor("self").value},
                             {{ElementType::kSI64, {}}})[0]);
}

void unique(Lowering& op) {
  const Tensor self = op.tensor("self");
  const int64_t count = op.integer("count");
  for (Value* result : op.b.custom_call("tpu.unique", {self.value},
                                        {{self.value->type.element, {count}},
                                         {ElementType::kSI64, {self.numel()}},
                                         {ElementType::kSI64, {count}}})) {
    op.result(result);
  }
}

void bincount(Lowering& op) {
  const Tensor self = op.tensor("self");
  std::vector<Value*> operands = {self.value};
  ElementType out = ElementType::kSI64;
  if (const auto weights = op.optional_tensor("weights")) {
    out = c10::isFloatingType(weights->dtype) && weights->dtype == DType::Float ? ElementType::kF32
                                                                                : ElementType::kF64;
    operands.push_back(op.b.convert(weights->value, out));
  }
  op.result(op.b.custom_call("tpu.bincount", operands, {{out, {op.integer("size")}}})[0]);
}

}  // namespace

void add_sorting(Table& table) {
  const Table rows = {
      {"sort.stable", sort},
      {"topk", topk},
      {"_cummax_helper", running_extreme("tpu.cummax")},
      {"_cummin_helper", running_extreme("tpu.cummin")},
      {"searchsorted.Tensor", search_sorted},
      {"bucketize.Tensor", bucketize},
      {"tpu::_unique_count", unique_count},
      {"tpu::_unique", unique},
      {"tpu::_bincount", bincount},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
