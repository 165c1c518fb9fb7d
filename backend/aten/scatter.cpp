// Writing by index. Where several values meet in one element, they are combined in ascending
// order of the index tensor, so that the bits do not depend on threads.
#include "backend/aten/scatter.h"

#include <algorithm>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;
using tpu::hlo::ScatterDimensionNumbers;

/// What becomes of an element and the value that arrives there.
Builder::Body combine(OpKind kind) {
  if (kind != OpKind::kReturn) return Builder::combiner(kind);
  return [](Builder& r, std::span<Value* const> a) { r.ret({a[1]}); };  // the later one stays
}

}  // namespace

Value* scatter_with(Builder& b, Value* target, Value* indices, Value* updates,
                    const ScatterDimensionNumbers& numbers, OpKind kind) {
  return b.scatter({target}, indices, {updates}, numbers, /*indices_are_sorted=*/false,
                   /*unique_indices=*/false, combine(kind))[0];
}

Value* scatter_along(Lowering& op, Value* target, int64_t dim, Value* index, Value* updates,
                     OpKind kind) {
  Builder& b = op.b;
  const int64_t rank = target->type.rank();
  ScatterDimensionNumbers numbers;
  numbers.index_vector_dim = rank;
  Dims window = index->type.shape;
  window[dim] = target->type.shape[dim];
  if (window == target->type.shape) {
    numbers.inserted_window_dims = {dim};
    numbers.scatter_dims_to_operand_dims = {dim};
    for (int64_t d = 0; d < rank; ++d) {
      if (d == dim) continue;
      numbers.input_batching_dims.push_back(d);
      numbers.scatter_indices_batching_dims.push_back(d);
    }
    return scatter_with(b, target, index, updates, numbers, kind);
  }
  // A smaller index reaches a corner of the target: spell out every coordinate.
  Dims column = index->type.shape;
  column.push_back(1);
  std::vector<Value*> coordinates;
  for (int64_t d = 0; d < rank; ++d) {
    Value* c = d == dim ? index : b.iota({ElementType::kSI64, index->type.shape}, d);
    coordinates.push_back(b.reshape(c, column));
  }
  numbers.inserted_window_dims = numbers.scatter_dims_to_operand_dims = iota_dims(rank);
  return scatter_with(b, target, b.concatenate(coordinates, rank), updates, numbers, kind);
}

Value* scatter_slices(Lowering& op, Value* target, int64_t dim, Value* index, Value* source,
                      OpKind kind) {
  ScatterDimensionNumbers numbers;
  numbers.inserted_window_dims = {dim};
  numbers.scatter_dims_to_operand_dims = {dim};
  numbers.index_vector_dim = 1;
  for (int64_t d = 0; d < target->type.rank(); ++d) {
    if (d != dim) numbers.update_window_dims.push_back(d);
  }
  return scatter_with(op.b, target, index, source, numbers, kind);
}

namespace {

/// self, dim, index and source of the scatter family, checked. A 0-d tensor becomes 1-d.
struct ScatterCall {
  Tensor self;
  int64_t dim;
  Value *target, *index;
  bool nothing;  ///< the index is empty
};

ScatterCall read(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), index = op.tensor("index");
  TORCH_CHECK(index.dtype == DType::Long || index.dtype == DType::Int,
              "scatter(): Expected dtype int32/int64 for index");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  if (index.numel() == 0) return {self, dim, self.value, nullptr, true};
  const auto at_least_1d = [&](Value* x) { return x->type.rank() == 0 ? b.reshape(x, {1}) : x; };
  Value* target = at_least_1d(self.value);
  Value* where = at_least_1d(index.value);
  TORCH_CHECK(where->type.rank() == target->type.rank(),
              "Index tensor must have the same number of dimensions as self tensor");
  for (int64_t d = 0; d < target->type.rank(); ++d) {
    TORCH_CHECK(d == dim || where->type.shape[d] <= target->type.shape[d], "Expected index ",
                c10::IntArrayRef(index.shape()), " to be no larger than self ",
                c10::IntArrayRef(self.shape()), " apart from dimension ", dim);
  }
  return {self, dim, target, checked_index(op, where, target->type.shape[dim], false, dim), false};
}

/// The part of `src` that the index covers.
Value* covered_source(Lowering& op, const ScatterCall& call) {
  const Tensor src = op.tensor("src");
  TORCH_CHECK(src.dtype == call.self.dtype,
              "scatter(): Expected self.dtype to be equal to src.dtype");
  Value* x = src.dim() == 0 ? op.b.reshape(src.value, {1}) : src.value;
  const Dims& wanted = call.index->type.shape;
  TORCH_CHECK(x->type.shape.size() == wanted.size(),
              "Index tensor must have the same number of dimensions as src tensor");
  for (size_t d = 0; d < wanted.size(); ++d) {
    TORCH_CHECK(wanted[d] <= x->type.shape[d], "Expected index ", c10::IntArrayRef(wanted),
                " to be no larger than src ", c10::IntArrayRef(x->type.shape));
  }
  return crop(op.b, x, wanted);
}

Value* filled_source(Lowering& op, const ScatterCall& call) {
  return op.broadcast_to(op.convert(op.scalar("value"), call.self.dtype), call.index->type.shape);
}

using Source = Value* (*)(Lowering&, const ScatterCall&);

OpKind named_combiner(const std::string& reduce) {
  if (reduce == "add" || reduce == "sum" || reduce == "mean") return OpKind::kAdd;
  if (reduce == "multiply" || reduce == "prod") return OpKind::kMultiply;
  if (reduce == "amax") return OpKind::kMaximum;
  if (reduce == "amin") return OpKind::kMinimum;
  TORCH_CHECK(false, "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
}

/// Narrow floats are summed in float32 and rounded once.
Value* combined(Lowering& op, const ScatterCall& call, Value* source, OpKind kind) {
  const DType compute = kind == OpKind::kReturn ? call.self.dtype : compute_type(call.self.dtype);
  Value* result = scatter_along(op, op.convert(call.target, compute), call.dim, call.index,
                                op.convert(source, compute), kind);
  return op.b.reshape(op.convert(result, call.self.dtype), call.self.shape());
}

LowerFunction scatter(Source source, OpKind kind) {
  return [=](Lowering& op) {
    const ScatterCall call = read(op);
    if (call.nothing) return op.result(call.self.value);
    op.result(combined(op, call, source(op, call), kind));
  };
}

LowerFunction scatter_named(Source source) {
  return [=](Lowering& op) {
    const ScatterCall call = read(op);
    const OpKind kind = named_combiner(op.string("reduce"));
    if (call.nothing) return op.result(call.self.value);
    op.result(combined(op, call, source(op, call), kind));
  };
}

/// Integer means round down; the divisor is positive.
Value* floor_quotient(Builder& b, Value* x, Value* divisor) {
  Value* zero = b.splat(x->type, int64_t{0});
  Value* quotient = b.divide(x, divisor);
  Value* inexact = b.compare(b.remainder(x, divisor), zero, "NE");
  Value* step_down = b.and_(inexact, b.compare(x, zero, "LT"));
  return b.select(step_down, b.subtract(quotient, b.splat(x->type, int64_t{1})), quotient);
}

/// Writes updates at an index into a target, combining: scatter_along or scatter_slices.
using Place = Value* (*)(Lowering&, Value*, int64_t, Value*, Value*, OpKind);

/// Like scatter with a combiner, but the old values may be left out, and mean divides by the number
/// of values that arrived. Target and source are of one type, in which it computes.
Value* reduce_into(Lowering& op, Place place, Value* target, int64_t dim, Value* index,
                   Value* source) {
  Builder& b = op.b;
  const std::string name = op.string("reduce");
  const OpKind kind = named_combiner(name);
  const bool include_self = op.boolean("include_self");
  const ElementType type = target->type.element;
  Value* ones = b.splat({ElementType::kSI64, source->type.shape}, int64_t{1});
  Value* none = b.splat({ElementType::kSI64, target->type.shape}, int64_t{0});
  Value* arrived = place(op, none, dim, index, ones, OpKind::kAdd);
  Value* start = target;
  if (!include_self) {
    Value* identity = op.broadcast_to(identity_of(b, kind, type), target->type.shape);
    start = b.select(b.compare(arrived, none, "GT"), identity, target);
  }
  Value* result = place(op, start, dim, index, source, kind);
  if (name != "mean") return result;
  Value* one = b.splat(none->type, int64_t{1});
  Value* divisor = b.convert(include_self ? b.add(arrived, one) : b.maximum(arrived, one), type);
  return tpu::hlo::is_float(type) ? b.divide(result, divisor) : floor_quotient(b, result, divisor);
}

void scatter_reduce(Lowering& op) {
  const ScatterCall call = read(op);
  named_combiner(op.string("reduce"));  // an unknown name is an error even if nothing is written
  if (call.nothing) return op.result(call.self.value);
  const DType compute = compute_type(call.self.dtype);
  Value* result = reduce_into(op, scatter_along, op.convert(call.target, compute), call.dim,
                              call.index, op.convert(covered_source(op, call), compute));
  op.result(op.b.reshape(op.convert(result, call.self.dtype), call.self.shape()));
}

/// index_add, index_copy and index_fill write whole slices.
struct SliceCall {
  Tensor self;
  int64_t dim;
  Value *target, *index;
};

SliceCall read_slices(Lowering& op, std::string_view name) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), index = op.tensor("index");
  TORCH_CHECK_INDEX(index.dim() <= 1, name,
                    "(): Index is supposed to be a vector, but got dim: ", index.dim());
  TORCH_CHECK(index.dtype == DType::Long || index.dtype == DType::Int, name,
              "(): Expected dtype int32/int64 for index");
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  Value* target = self.dim() == 0 ? b.reshape(self.value, {1}) : self.value;
  Value* vector = b.reshape(index.value, {index.numel()});
  return {self, dim, target,
          checked_index(op, vector, target->type.shape[dim], name != "index_add", dim)};
}

Value* read_slice_source(Lowering& op, const SliceCall& call, std::string_view name) {
  const Tensor source = op.tensor("source");
  TORCH_CHECK(source.dtype == call.self.dtype, name,
              "(): self and source expected to have the same dtype, but got (self) ",
              c10::toString(call.self.dtype), " and (source) ", c10::toString(source.dtype));
  Dims expected = call.target->type.shape;
  expected[call.dim] = call.index->type.shape[0];
  TORCH_CHECK(source.numel() == tpu::hlo::num_elements(expected) &&
                  (source.dim() == 0 || source.shape() == expected),
              name, "(): Source ", c10::IntArrayRef(source.shape()), " does not fit self ",
              c10::IntArrayRef(call.self.shape()), " with ", expected[call.dim],
              " indices along dimension ", call.dim);
  return op.b.reshape(source.value, expected);
}

void index_add(Lowering& op) {
  Builder& b = op.b;
  const SliceCall call = read_slices(op, "index_add");
  const DType compute = compute_type(call.self.dtype);
  Value* source = op.convert(read_slice_source(op, call, "index_add"), compute);
  Value* alpha = op.convert(op.scalar("alpha"), compute);
  source = b.multiply(source, op.broadcast_to(alpha, source->type.shape));
  Value* sum = scatter_slices(op, op.convert(call.target, compute), call.dim, call.index, source,
                              OpKind::kAdd);
  op.result(b.reshape(op.convert(sum, call.self.dtype), call.self.shape()));
}

void index_reduce(Lowering& op) {
  const std::string name = op.string("reduce");
  TORCH_CHECK(name == "prod" || name == "mean" || name == "amax" || name == "amin",
              "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ",
              name);
  const SliceCall call = read_slices(op, "index_reduce");
  const DType compute = compute_type(call.self.dtype);
  Value* source = op.convert(read_slice_source(op, call, "index_reduce"), compute);
  Value* result = reduce_into(op, scatter_slices, op.convert(call.target, compute), call.dim,
                              call.index, source);
  op.result(op.b.reshape(op.convert(result, call.self.dtype), call.self.shape()));
}

void index_copy(Lowering& op) {
  const SliceCall call = read_slices(op, "index_copy");
  Value* source = read_slice_source(op, call, "index_copy");
  Value* copied = scatter_slices(op, call.target, call.dim, call.index, source, OpKind::kReturn);
  op.result(op.b.reshape(copied, call.self.shape()));
}

void index_fill(Lowering& op) {
  const SliceCall call = read_slices(op, "index_fill");
  const Tensor value = op.tensor("value");
  TORCH_CHECK(value.dim() == 0,
              "index_fill_ only supports a 0-dimensional value tensor, but got "
              "tensor with ",
              value.dim(), " dimension(s).");
  Dims shape = call.target->type.shape;
  shape[call.dim] = call.index->type.shape[0];
  Value* source = op.broadcast_to(op.convert(value, call.self.dtype), shape);
  Value* filled = scatter_slices(op, call.target, call.dim, call.index, source, OpKind::kReturn);
  op.result(op.b.reshape(filled, call.self.shape()));
}

}  // namespace

void add_scatter(Table& table) {
  const Table rows = {
      {"scatter.src", scatter(covered_source, OpKind::kReturn)},
      {"scatter.value", scatter(filled_source, OpKind::kReturn)},
      {"scatter.reduce", scatter_named(covered_source)},
      {"scatter.value_reduce", scatter_named(filled_source)},
      {"scatter_add", scatter(covered_source, OpKind::kAdd)},
      {"scatter_reduce.two", scatter_reduce},
      {"index_add", index_add},
      {"index_reduce", index_reduce},
      {"index_copy", index_copy},
      {"index_fill.int_Scalar", index_fill},
      {"index_fill.int_Tensor", index_fill},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
