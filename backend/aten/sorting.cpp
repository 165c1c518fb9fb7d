// Sorting, searching in what is sorted, and sets.
#include "backend/aten/sorting.h"

#include <algorithm>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"

namespace torch_tpu::aten {

using tpu::hlo::OpKind;

Sorted stable_sort(Builder& b, Value* x, int64_t dim, bool descending) {
  Value* positions = b.iota({ElementType::kSI64, x->type.shape}, dim);
  const bool is_float = tpu::hlo::is_float(x->type.element);
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
  return {sorted[0], sorted[1]};
}

Value* position_in(Builder& b, Value* sorted, Value* values, bool right) {
  return b.custom_call("tpu.searchsorted", {sorted, values},
                       {{ElementType::kSI64, values->type.shape}}, {{"right", right}})[0];
}

namespace {

/// A 0-d tensor is sorted as one of one element.
Value* at_least_1d(Lowering& op, const Tensor& x) {
  return x.dim() == 0 ? op.b.reshape(x.value, {1}) : x.value;
}

void sort(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  const Sorted sorted = stable_sort(b, at_least_1d(op, self), dim, op.boolean("descending"));
  op.result(b.reshape(sorted.values, self.shape()), ResultLayout::kOperands, {self});
  op.result(b.reshape(sorted.positions, self.shape()), ResultLayout::kOperands, {self});
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

/// Whether each element is among the others. Few others are compared one by one; many are sorted
/// first.
LowerFunction is_in(std::string_view elements_name, std::string_view others_name) {
  return [=](Lowering& op) {
    Builder& b = op.b;
    const Tensor elements = op.tensor(elements_name), others = op.tensor(others_name);
    for (const Tensor* x : {&elements, &others}) {
      TORCH_CHECK(x->dtype != DType::Bool && !c10::isComplexType(x->dtype),
                  "Unsupported input type encountered for isin(): ", c10::toString(x->dtype));
    }
    const std::vector<Promoted> seen = {elements.promoted(), others.promoted()};
    const DType common = result_type(seen);
    const int64_t count = others.numel();
    Value* values = op.convert(elements, common);
    Value* list = b.reshape(op.convert(others, common), {count});
    Value* found = nullptr;
    if (count == 0) {
      found = op.full(elements.shape(), DType::Bool, int64_t{0});
    } else if (count <= 32) {
      Dims shape = elements.shape();
      shape.push_back(count);
      Value* equal = b.compare(b.broadcast_in_dim(values, shape, iota_dims(elements.dim())),
                               b.broadcast_in_dim(list, shape, {elements.dim()}), "EQ");
      found = op.reduce(equal, OpKind::kOr, {elements.dim()}, false);
    } else {
      Value* sorted = stable_sort(b, list, 0, /*descending=*/false).values;
      Value* at = position_in(b, sorted, values, /*right=*/false);
      at = b.minimum(at, b.splat(at->type, count - 1));
      found = b.compare(take(op, sorted, 0, at), values, "EQ");
    }
    op.result(op.boolean("invert") ? b.not_(found) : found);
  };
}

// Counts by equal bins; what lies outside, or is NaN, counts nowhere. Equal bounds mean those of
// the data, and a range of no width is widened by 1 on either side.
void histogram_of_counts(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const int64_t bins = op.integer("bins");
  TORCH_CHECK(bins > 0, "torch.histogram(): bins must be > 0, but got ", bins, " for dimension 0");
  const double min = op.number_as_double("min"), max = op.number_as_double("max");
  TORCH_CHECK(min <= max, "torch.histc: max must be larger than min");
  // The CPU has this for floats only; other accelerators count integers too.
  const DType compute =
      c10::isIntegralType(self.dtype, true) ? DType::Double : compute_type(self.dtype);
  const int64_t count = self.numel();
  Value* x = b.reshape(op.convert(self, compute), {count});
  Value* low = b.constant(x->type.element, min);
  Value* high = b.constant(x->type.element, max);
  if (min == max && count > 0) {
    low = op.reduce(x, OpKind::kMinimum, {0}, false);
    high = op.reduce(x, OpKind::kMaximum, {0}, false);
  }
  Value* one = b.constant(x->type.element, 1.0);
  Value* flat = b.compare(low, high, "EQ");
  Value* begin = b.select(flat, b.subtract(low, one), low);
  Value* width = b.subtract(b.select(flat, b.add(high, one), high), begin);
  b.assert_true(b.and_(b.is_finite(begin), b.is_finite(width)),
                "torch.histc: range of [min, max] is not finite");
  const auto all = [&](Value* number) { return op.broadcast_to(number, x->type.shape); };
  Value* offset = b.subtract(x, all(begin));
  Value* inside = b.and_(b.compare(x, all(begin), "GE"), b.compare(offset, all(width), "LE"));
  Value* scaled =
      b.divide(b.multiply(offset, b.splat(x->type, static_cast<double>(bins))), all(width));
  Value* bin = b.convert(b.select(inside, scaled, b.splat(x->type, 0.0)), ElementType::kSI64);
  bin = b.minimum(bin, b.splat(bin->type, bins - 1));
  Value* counts = scatter_slices(op, b.splat({ElementType::kSI64, {bins}}, int64_t{0}), 0, bin,
                                 op.convert(inside, DType::Long), OpKind::kAdd);
  op.result(op.convert(counts, self.dtype));
}

// Row numbers, ascending, become the number of elements before each row.
void rows_to_offsets(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.dim() == 1, "Input is supposed to be a vector, but got ", self.dim(),
              " dimensional tensor.");
  Value* rows = b.iota({self.value->type.element, {op.integer("size") + 1}}, 0);
  const DType out = op.boolean("out_int32") ? DType::Int : DType::Long;
  op.result(op.convert(position_in(b, self.value, rows, /*right=*/false), out));
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
      {"searchsorted.Scalar", search_sorted},
      {"bucketize.Tensor", bucketize},
      {"bucketize.Scalar", bucketize},
      {"isin.Tensor_Tensor", is_in("elements", "test_elements")},
      {"isin.Tensor_Scalar", is_in("elements", "test_element")},
      {"isin.Scalar_Tensor", is_in("element", "test_elements")},
      {"histc", histogram_of_counts},
      {"_convert_indices_from_coo_to_csr", rows_to_offsets},
      {"tpu::_unique_count", unique_count},
      {"tpu::_unique", unique},
      {"tpu::_bincount", bincount},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
