// Sums, products, extremes, norms and other reductions over dimensions.
#include "backend/aten/reduction.h"

#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/aten/lowering_table.h"

namespace torch_tpu::aten {

using tpu::hlo::OpKind;

Value* widened(Lowering& op, const Tensor& x) {
  return op.convert(x, compute_type(x.dtype));
}

int64_t count_of(const Dims& shape, const Dims& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= shape[d];
  return count;
}

Value* mean_keepdim(Lowering& op, Value* x, const Dims& dims) {
  Value* sum = op.reduce(x, OpKind::kAdd, dims, /*keepdim=*/true);
  const double count = static_cast<double>(count_of(x->type.shape, dims));
  return op.b.divide(sum, op.b.splat(sum->type, count));
}

std::pair<Value*, Value*> extreme_with_index(Lowering& op, Value* x, int64_t dim, bool largest) {
  Builder& b = op.b;
  const ElementType element = x->type.element;
  Value* positions = b.iota({ElementType::kSI64, x->type.shape}, dim);
  Value* init = identity_of(b, largest ? OpKind::kMaximum : OpKind::kMinimum, element);
  Value* no_position = b.constant(ElementType::kSI64, std::numeric_limits<int64_t>::max());
  const bool is_float = tpu::hlo::is_float(element);
  // Order-free by construction: NaN before numbers, then value, then the lower position.
  const auto body = [&](Builder& r, std::span<Value* const> a) {
    Value* better = r.compare(a[0], a[2], largest ? "GT" : "LT");
    Value* equal = r.compare(a[0], a[2], "EQ");
    if (is_float) {
      Value* left_nan = r.compare(a[0], a[0], "NE");
      Value* right_nan = r.compare(a[2], a[2], "NE");
      better = r.or_(better, r.and_(left_nan, r.not_(right_nan)));
      equal = r.or_(equal, r.and_(left_nan, right_nan));
    }
    Value* first = r.compare(a[1], a[3], "LT");
    Value* left = r.or_(better, r.and_(equal, first));
    r.ret({r.select(left, a[0], a[2]), r.select(left, a[1], a[3])});
  };
  const auto results = b.reduce({x, positions}, {init, no_position}, {dim}, body);
  return {results[0], results[1]};
}

Value* vector_norm(Lowering& op, Value* x, const Dims& dims, bool keepdim, double p) {
  Builder& b = op.b;
  Value* magnitude = b.abs(x);
  const auto reduce = [&](Value* v, OpKind kind) { return op.reduce(v, kind, dims, keepdim); };
  if (std::isinf(p)) {
    // The norm of nothing is 0.
    Value* largest = p > 0 ? b.maximum(magnitude, b.splat(x->type, 0.0)) : magnitude;
    return reduce(largest, p > 0 ? OpKind::kMaximum : OpKind::kMinimum);
  }
  if (p == 0) {
    Value* nonzero = b.compare(magnitude, b.splat(x->type, 0.0), "NE");
    return reduce(b.convert(nonzero, x->type.element), OpKind::kAdd);
  }
  if (p == 1) return reduce(magnitude, OpKind::kAdd);
  if (p == 2) return b.sqrt(reduce(b.multiply(x, x), OpKind::kAdd));
  Value* powers = reduce(b.power(magnitude, b.splat(x->type, p)), OpKind::kAdd);
  return b.power(powers, b.splat(powers->type, 1 / p));
}

// A window as long as the dimension, padded on the left.
Value* cumulative(Lowering& op, Value* x, int64_t dim, OpKind kind) {
  const int64_t rank = x->type.rank(), length = x->type.shape[dim];
  if (x->type.num_elements() == 0) return x;
  Builder::Window window{
      Dims(rank, 1), Dims(rank, 1), Dims(rank, 1), Dims(rank, 1), {rank, 2, Dims(2 * rank, 0)}};
  window.dimensions[dim] = length;
  window.padding.values[2 * dim] = length - 1;
  return op.b.reduce_window({x}, {identity_of(op.b, kind, x->type.element)}, window,
                            Builder::combiner(kind))[0];
}

namespace {

struct Reduction {
  Tensor self;
  Dims dims;
  bool keepdim;
};

Reduction read(Lowering& op, std::string_view dim_name = "dim") {
  Reduction r{op.tensor("self"), {}, false};
  r.dims =
      wrap_dims(op.has(dim_name) ? op.optional_integers(dim_name) : std::nullopt, r.self.dim());
  r.keepdim = op.has("keepdim") && op.boolean("keepdim");
  return r;
}

/// The single wrapped dimension; a 0-d tensor is seen as having one of size 1.
Tensor with_dims(Lowering& op, Tensor x) {
  if (x.dim() == 0) x.value = op.b.reshape(x.value, {1});
  return x;
}

DType sum_type(Lowering& op, DType self) {
  if (const auto dtype = op.dtype("dtype")) return *dtype;
  return c10::isIntegralType(self, /*includeBool=*/true) ? DType::Long : self;
}

void sum(Lowering& op) {
  const Reduction r = read(op);
  const DType out = sum_type(op, r.self.dtype);
  Value* x = op.convert(op.convert(r.self, out), compute_type(out));
  op.result(op.convert(op.reduce(x, OpKind::kAdd, r.dims, r.keepdim), out));
}

// Integers are summed in int64.
void trace(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.dim() == 2, "trace: expected a matrix, but got tensor with dim ", self.dim());
  const DType out = c10::isIntegralType(self.dtype, true) ? DType::Long : self.dtype;
  Value* x = op.convert(self, c10::isIntegralType(out, true) ? out : compute_type(out));
  // Gathered, so that nothing but the diagonal is read.
  const int64_t length = std::min(self.size(0), self.size(1));
  if (length == 0) return op.result(op.full({}, out, int64_t{0}));
  tpu::hlo::GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = numbers.start_index_map = {0, 1};
  numbers.index_vector_dim = 1;
  Value* diagonal = b.gather(x, b.iota({ElementType::kSI64, {length, 2}}, 0), numbers, {1, 1});
  op.result(op.convert(op.reduce(diagonal, OpKind::kAdd, {0}, false), out));
}

void nansum(Lowering& op) {
  const Reduction r = read(op);
  const DType out = sum_type(op, r.self.dtype);
  Value* x = op.convert(r.self, compute_type(out));
  if (c10::isFloatingType(r.self.dtype)) {
    x = op.b.select(op.b.compare(x, x, "NE"), op.b.splat(x->type, 0.0), x);
  }
  op.result(op.convert(op.reduce(x, OpKind::kAdd, r.dims, r.keepdim), out));
}

void mean(Lowering& op) {
  const Reduction r = read(op);
  const DType out = op.dtype("dtype").value_or(r.self.dtype);
  TORCH_CHECK(c10::isFloatingType(out) || c10::isComplexType(out),
              "mean(): could not infer output dtype. Input dtype must be either a floating point "
              "or complex dtype. Got: ",
              c10::toString(out));
  Value* x = op.convert(r.self, compute_type(out));
  Value* total = op.reduce(x, OpKind::kAdd, r.dims, r.keepdim);
  const double count = static_cast<double>(count_of(r.self.shape(), r.dims));
  op.result(op.convert(op.b.divide(total, op.b.splat(total->type, count)), out));
}

void product(Lowering& op) {
  const Reduction r = read(op);
  const DType out = sum_type(op, r.self.dtype);
  Value* x = op.convert(op.convert(r.self, out), compute_type(out));
  op.result(op.convert(op.reduce(x, OpKind::kMultiply, r.dims, r.keepdim), out));
}

void check_not_empty(const Reduction& r, std::string_view name) {
  for (int64_t d : r.dims) {
    TORCH_CHECK_INDEX(r.self.size(d) != 0, name, "(): Expected reduction dim ", d,
                      " to have non-zero size.");
  }
}

LowerFunction extreme(OpKind kind, std::string_view name) {
  return [=](Lowering& op) {
    const Reduction r = read(op);
    TORCH_CHECK(r.self.numel() > 0 || !r.dims.empty(), name,
                "(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                "reduction dim with the 'dim' argument.");
    check_not_empty(r, name);
    op.result(op.reduce(r.self.value, kind, r.dims, r.keepdim));
  };
}

void aminmax(Lowering& op) {
  Reduction r = read(op);
  check_not_empty(r, "aminmax");
  op.result(op.reduce(r.self.value, OpKind::kMinimum, r.dims, r.keepdim));
  op.result(op.reduce(r.self.value, OpKind::kMaximum, r.dims, r.keepdim));
}

// max.dim and min.dim: values and positions.
LowerFunction extreme_along(bool largest) {
  return [largest](Lowering& op) {
    const Tensor self = with_dims(op, op.tensor("self"));
    const bool was_scalar = op.tensor("self").dim() == 0;
    const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
    TORCH_CHECK_INDEX(self.size(dim) > 0, largest ? "max" : "min", "(): Expected reduction dim ",
                      dim, " to have non-zero size.");
    auto [values, indices] = extreme_with_index(op, self.value, dim, largest);
    if (op.boolean("keepdim") && !was_scalar) {
      values = op.keep_dims(values, self.shape(), {dim});
      indices = op.keep_dims(indices, self.shape(), {dim});
    }
    op.result(values);
    op.result(indices);
  };
}

LowerFunction arg_extreme(bool largest) {
  return [largest](Lowering& op) {
    const Tensor self = op.tensor("self");
    const bool keepdim = op.boolean("keepdim");
    if (!op.has("dim")) {
      TORCH_CHECK_INDEX(self.numel() > 0, largest ? "argmax" : "argmin",
                        "(): Expected reduction dim to be specified for input.numel() == 0. "
                        "Specify the reduction dim with the 'dim' argument.");
      Value* flat = op.b.reshape(self.value, {self.numel()});
      Value* index = extreme_with_index(op, flat, 0, largest).second;
      return op.result(keepdim ? op.b.reshape(index, Dims(self.dim(), 1)) : index);
    }
    const Tensor x = with_dims(op, self);
    const int64_t dim = wrap_dim(op.integer("dim"), x.dim());
    TORCH_CHECK_INDEX(x.size(dim) > 0, largest ? "argmax" : "argmin", "(): Expected reduction dim ",
                      dim, " to have non-zero size.");
    Value* index = extreme_with_index(op, x.value, dim, largest).second;
    op.result(keepdim && self.dim() > 0 ? op.keep_dims(index, x.shape(), {dim}) : index);
  };
}

LowerFunction logical_reduction(OpKind kind) {
  return [kind](Lowering& op) {
    const Reduction r = read(op);
    Value* truth = op.b.compare(r.self.value, op.b.splat(r.self.value->type, int64_t{0}), "NE");
    Value* reduced = op.reduce(truth, kind, r.dims, r.keepdim);
    // uint8 predates bool: any and all of it stay uint8.
    op.result(op.convert(reduced, r.self.dtype == DType::Byte ? DType::Byte : DType::Bool));
  };
}

void count_nonzero(Lowering& op) {
  const Reduction r = read(op);
  Value* truth = op.b.compare(r.self.value, op.b.splat(r.self.value->type, int64_t{0}), "NE");
  op.result(op.reduce(op.convert(truth, DType::Long), OpKind::kAdd, r.dims, false));
}

// Two passes: the mean, then the sum of squared deviations.
struct Moments {
  Value *variance, *mean;  ///< with size-1 dims kept
};

Moments moments(Lowering& op, const Reduction& r) {
  Builder& b = op.b;
  TORCH_CHECK(c10::isFloatingType(r.self.dtype),
              "std and var only support floating point and complex dtypes");
  Value* x = widened(op, r.self);
  Value* mean = mean_keepdim(op, x, r.dims);
  Value* deviation = b.subtract(x, op.broadcast_to(mean, r.self.shape()));
  Value* squares = op.reduce(b.multiply(deviation, deviation), OpKind::kAdd, r.dims, true);
  const double correction = op.has("correction") ? op.number_as_double("correction") : 1.0;
  const double count = static_cast<double>(count_of(r.self.shape(), r.dims));
  const double freedom = std::max(0.0, count - correction);
  return {b.divide(squares, b.splat(squares->type, freedom)), mean};
}

Value* finish(Lowering& op, const Reduction& r, Value* kept) {
  Value* value = op.convert(kept, r.self.dtype);
  if (r.keepdim) return value;
  Dims shape;
  for (int64_t d = 0; d < r.self.dim(); ++d) {
    if (std::find(r.dims.begin(), r.dims.end(), d) == r.dims.end()) shape.push_back(r.self.size(d));
  }
  return op.b.reshape(value, shape);
}

void variance(Lowering& op) {
  const Reduction r = read(op);
  op.result(finish(op, r, moments(op, r).variance));
}

void standard_deviation(Lowering& op) {
  const Reduction r = read(op);
  op.result(finish(op, r, op.b.sqrt(moments(op, r).variance)));
}

void variance_and_mean(Lowering& op) {
  const Reduction r = read(op);
  const Moments m = moments(op, r);
  op.result(finish(op, r, m.variance));
  op.result(finish(op, r, m.mean));
}

void deviation_and_mean(Lowering& op) {
  const Reduction r = read(op);
  const Moments m = moments(op, r);
  op.result(finish(op, r, op.b.sqrt(m.variance)));
  op.result(finish(op, r, m.mean));
}

void linalg_vector_norm(Lowering& op) {
  const Reduction r = read(op);
  const DType out = op.dtype("dtype").value_or(r.self.dtype);
  TORCH_CHECK(c10::isFloatingType(out),
              "linalg.vector_norm: Expected a floating point or complex tensor as input. Got ",
              c10::toString(out));
  Value* x = op.convert(r.self, compute_type(out));
  op.result(op.convert(vector_norm(op, x, r.dims, r.keepdim, op.number_as_double("ord")), out));
}

void norm(Lowering& op) {
  const Reduction r = read(op);
  const DType out = op.dtype("dtype").value_or(r.self.dtype);
  const double p = op.has("p") ? op.number_as_double("p") : 2.0;
  Value* x = op.convert(r.self, compute_type(out));
  op.result(op.convert(vector_norm(op, x, r.dims, r.keepdim, p), out));
}

void log_sum_exp(Lowering& op) {
  Builder& b = op.b;
  Reduction r = read(op);
  // Integers are promoted, as by exp.
  if (c10::isIntegralType(r.self.dtype, true))
    r.self.dtype = c10::get_default_dtype_as_scalartype();
  Value* x = op.convert(r.self, compute_type(r.self.dtype));
  Value* largest = op.reduce(x, OpKind::kMaximum, r.dims, true);
  const double inf = std::numeric_limits<double>::infinity();
  Value* infinite = b.compare(b.abs(largest), b.splat(largest->type, inf), "EQ");
  Value* shift = b.select(infinite, b.splat(largest->type, 0.0), largest);
  Value* exps = b.exponential(b.subtract(x, op.broadcast_to(shift, r.self.shape())));
  Value* total = b.add(b.log(op.reduce(exps, OpKind::kAdd, r.dims, true)), shift);
  op.result(finish(op, r, total));
}

LowerFunction cumulative_op(OpKind kind) {
  return [kind](Lowering& op) {
    const Tensor self = op.tensor("self");
    const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
    const DType out = sum_type(op, self.dtype);
    Value* x = op.convert(op.convert(self, out), compute_type(out));
    if (self.dim() > 0) x = cumulative(op, x, dim, kind);
    op.result(op.convert(x, out));
  };
}

}  // namespace

void add_reduction(Table& table) {
  const Table rows = {
      {"sum", sum},
      {"sum.dim_IntList", sum},
      {"nansum", nansum},
      {"trace", trace},
      {"mean", mean},
      {"mean.dim", mean},
      {"prod", product},
      {"prod.dim_int", product},
      {"amax", extreme(OpKind::kMaximum, "amax")},
      {"amin", extreme(OpKind::kMinimum, "amin")},
      {"max", extreme(OpKind::kMaximum, "max")},
      {"min", extreme(OpKind::kMinimum, "min")},
      {"aminmax", aminmax},
      {"_aminmax", aminmax},
      {"_aminmax.dim", aminmax},
      {"max.dim", extreme_along(true)},
      {"min.dim", extreme_along(false)},
      {"argmax", arg_extreme(true)},
      {"argmin", arg_extreme(false)},
      {"any", logical_reduction(OpKind::kOr)},
      {"any.dim", logical_reduction(OpKind::kOr)},
      {"any.dims", logical_reduction(OpKind::kOr)},
      {"all", logical_reduction(OpKind::kAnd)},
      {"all.dim", logical_reduction(OpKind::kAnd)},
      {"all.dims", logical_reduction(OpKind::kAnd)},
      {"count_nonzero.dim_IntList", count_nonzero},
      {"var.correction", real_or_library(variance)},
      {"std.correction", real_or_library(standard_deviation)},
      {"var_mean.correction", real_or_library(variance_and_mean)},
      {"std_mean.correction", real_or_library(deviation_and_mean)},
      {"linalg_vector_norm", real_or_library(linalg_vector_norm)},
      {"norm.ScalarOpt_dim", real_or_library(norm)},
      {"norm.ScalarOpt_dim_dtype", real_or_library(norm)},
      {"logsumexp", real_or_library(log_sum_exp)},
      {"cumsum", cumulative_op(OpKind::kAdd)},
      {"cumprod", cumulative_op(OpKind::kMultiply)},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
