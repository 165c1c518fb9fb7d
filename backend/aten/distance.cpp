// Distances between rows of matrices, and their gradients.
#include <cmath>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// Every row of one matrix beside every row of the other: x1 [..., P, M] and x2 [..., R, M] as
/// [batch..., P, R, M].
struct RowPairs {
  Value *left, *right;
  Dims shape;
};

RowPairs pair_rows(Lowering& op, const Tensor& x1, const Tensor& x2) {
  TORCH_CHECK(x1.dim() >= 2, "cdist only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TORCH_CHECK(x2.dim() >= 2, "cdist only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  const int64_t columns = x1.size(x1.dim() - 1);
  TORCH_CHECK(columns == x2.size(x2.dim() - 1),
              "X1 and X2 must have the same number of columns. X1: ", columns,
              " X2: ", x2.size(x2.dim() - 1));
  const auto spread = [&](const Tensor& x, int64_t before) {
    Dims shape = x.shape();
    shape.insert(shape.end() - before, 1);
    return op.b.reshape(widened(op, x), shape);
  };
  Value* left = spread(x1, 1);   // [..., P, 1, M]
  Value* right = spread(x2, 2);  // [..., 1, R, M]
  const std::vector<Dims> shapes = {left->type.shape, right->type.shape};
  const Dims shape = broadcast_shapes(shapes);
  return {op.broadcast_to(left, shape), op.broadcast_to(right, shape), shape};
}

void check_floating(const Tensor& x, std::string_view name) {
  TORCH_CHECK(c10::isFloatingType(x.dtype), name,
              " only supports floating-point dtypes, got: ", c10::toString(x.dtype));
}

/// The slope of the p-norm of a vector with regard to each of its components, times the gradient:
/// |d|^(p-1) sign(d) / norm^(p-1); 0 at norm 0. `norm` and `grad` have d's shape.
Value* norm_gradient(Builder& b, Value* d, Value* norm, Value* grad, double p) {
  Value* zero = b.splat(d->type, 0.0);
  Value* sign = b.select(b.compare(d, zero, "GT"), b.splat(d->type, 1.0),
                         b.select(b.compare(d, zero, "LT"), b.splat(d->type, -1.0), zero));
  const auto where_positive = [&](Value* x) {
    return b.select(b.compare(norm, zero, "EQ"), zero, x);
  };
  const auto raised = [&](Value* x, double power) { return b.power(x, b.splat(x->type, power)); };
  if (p == 0) return zero;
  if (p == 1) return b.multiply(grad, sign);
  if (p == 2) return where_positive(b.divide(b.multiply(grad, d), norm));
  if (std::isinf(p)) {
    // Every component as large as the largest has its share.
    Value* is_largest = b.compare(b.abs(d), norm, "GE");
    return b.select(is_largest, b.multiply(grad, sign), zero);
  }
  Value* scale = b.divide(grad, raised(norm, p - 1));
  Value* slope =
      p < 2 ? b.multiply(sign, raised(b.abs(d), p - 1)) : b.multiply(d, raised(b.abs(d), p - 2));
  Value* product = where_positive(b.multiply(slope, scale));
  return p < 1 ? b.select(b.compare(d, zero, "EQ"), zero, product) : product;
}

double read_power(Lowering& op, std::string_view name) {
  const double p = op.number_as_double("p");
  TORCH_CHECK(p >= 0, name, " only supports non-negative p values");
  return p;
}

void cdist(Lowering& op) {
  const Tensor x1 = op.tensor("x1"), x2 = op.tensor("x2");
  check_floating(x1, "cdist");
  check_floating(x2, "cdist");
  const double p = read_power(op, "cdist");
  const RowPairs pairs = pair_rows(op, x1, x2);
  Value* difference = op.b.subtract(pairs.left, pairs.right);
  const auto last = static_cast<int64_t>(pairs.shape.size()) - 1;
  op.result(op.convert(vector_norm(op, difference, {last}, false, p), x1.dtype));
}

void cdist_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor x1 = op.tensor("x1");
  const RowPairs pairs = pair_rows(op, x1, op.tensor("x2"));
  const auto rank = static_cast<int64_t>(pairs.shape.size());
  const auto along_columns = [&](std::string_view name) {
    Value* x = widened(op, op.tensor(name));
    Dims with_column = x->type.shape;
    with_column.push_back(1);
    return op.broadcast_to(b.reshape(x, with_column), pairs.shape);
  };
  Value* terms = norm_gradient(b, b.subtract(pairs.left, pairs.right), along_columns("cdist"),
                               along_columns("grad"), op.number_as_double("p"));
  op.result(op.convert(op.reduce(terms, OpKind::kAdd, {rank - 2}, false), x1.dtype));
}

/// The rows of `self` [N, M] in pairs i < j, in the order (0, 1), (0, 2), ..., (1, 2), ...
struct OwnPairs {
  Value *i, *j;       ///< i64 [N (N - 1) / 2]
  Value* difference;  ///< [N (N - 1) / 2, M], in the compute type
};

OwnPairs pair_own_rows(Lowering& op, const Tensor& self) {
  TORCH_CHECK(self.dim() == 2, "pdist only supports 2D tensors, got: ", self.dim(), "D");
  std::vector<int64_t> i, j;
  for (int64_t a = 0; a < self.size(0); ++a) {
    for (int64_t z = a + 1; z < self.size(0); ++z) {
      i.push_back(a);
      j.push_back(z);
    }
  }
  const auto vector = [&](const std::vector<int64_t>& values) {
    const Dims shape = {static_cast<int64_t>(values.size())};
    return op.b.constant(tpu::hlo::from_ints(ElementType::kSI64, shape, values));
  };
  OwnPairs pairs{vector(i), vector(j), nullptr};
  Value* x = widened(op, self);
  Value* left = take(op, x, 0, pairs.i);
  pairs.difference = op.b.subtract(left, take(op, x, 0, pairs.j));
  return pairs;
}

void pdist(Lowering& op) {
  const Tensor self = op.tensor("self");
  check_floating(self, "pdist");
  const double p = read_power(op, "pdist");
  const OwnPairs pairs = pair_own_rows(op, self);
  op.result(op.convert(vector_norm(op, pairs.difference, {1}, false, p), self.dtype));
}

void pdist_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const OwnPairs pairs = pair_own_rows(op, self);
  const auto along_columns = [&](std::string_view name) {
    return b.broadcast_in_dim(widened(op, op.tensor(name)), pairs.difference->type.shape, {0});
  };
  Value* terms = norm_gradient(b, pairs.difference, along_columns("pdist"), along_columns("grad"),
                               op.number_as_double("p"));
  Value* sum = b.splat({terms->type.element, self.shape()}, 0.0);
  sum = scatter_slices(op, sum, 0, pairs.i, terms, OpKind::kAdd);
  sum = scatter_slices(op, sum, 0, pairs.j, b.negate(terms), OpKind::kAdd);
  op.result(op.convert(sum, self.dtype));
}

}  // namespace

void add_distance(Table& table) {
  const Table rows = {
      {"_cdist_forward", cdist},
      {"_cdist_backward", cdist_backward},
      {"_pdist_forward", pdist},
      {"_pdist_backward", pdist_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
