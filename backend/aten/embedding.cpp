// The gradient of embeddings, and embedding bags: rows looked up by index and summed, averaged or
// maximised bag by bag.
#include <tuple>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"
#include "backend/aten/sorting.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;

/// How many times each of the indices occurs, for each of them, in `like`'s type.
Value* frequencies(Lowering& op, Value* indices, int64_t num_rows, ElementType type) {
  Builder& b = op.b;
  Value* none = b.splat({ElementType::kSI64, {num_rows}}, int64_t{0});
  Value* ones = b.splat(indices->type, int64_t{1});
  Value* counts = scatter_slices(op, none, 0, indices, ones, OpKind::kAdd);
  return b.convert(take(op, counts, 0, indices), type);
}

// Rows of the gradient, added up by the index they came from.
void embedding_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad_output"), indices = op.tensor("indices");
  const int64_t rows = op.integer("num_weights"), padding = op.integer("padding_idx");
  const int64_t width = grad.size(grad.dim() - 1), count = indices.numel();
  Value* index = op.convert(b.reshape(indices.value, {count}), DType::Long);
  Value* updates = b.reshape(widened(op, grad), {count, width});
  const ElementType element = updates->type.element;
  if (op.boolean("scale_grad_by_freq")) {
    Value* divisor = frequencies(op, index, rows, element);
    updates = b.divide(updates, b.broadcast_in_dim(divisor, updates->type.shape, {0}));
  }
  if (padding >= 0) {
    Value* skip = b.compare(index, b.splat(index->type, padding), "EQ");
    updates = b.select(b.broadcast_in_dim(skip, updates->type.shape, {0}),
                       b.splat(updates->type, 0.0), updates);
  }
  Value* zeros = b.splat({element, {rows, width}}, 0.0);
  op.result(op.convert(scatter_slices(op, zeros, 0, index, updates, OpKind::kAdd), grad.dtype));
}

enum class BagMode : int64_t { kSum = 0, kMean = 1, kMax = 2 };

BagMode read_mode(Lowering& op) {
  const int64_t mode = op.integer("mode");
  TORCH_CHECK(mode >= 0 && mode <= 2,
              "embedding_bag: mode must be 0 (sum), 1 (mean) or 2 (max), got ", mode);
  return static_cast<BagMode>(mode);
}

void check_dense(Lowering& op) {
  TORCH_CHECK_NOT_IMPLEMENTED(!op.boolean("sparse"), op.op_name(),
                              ": sparse gradients are not supported on device tpu; use "
                              "sparse=False");
}

/// Indices that are the padding's row take no part.
Value* takes_part(Lowering& op, Value* indices) {
  Builder& b = op.b;
  const int64_t padding = op.integer("padding_idx");
  return b.compare(indices, b.splat(indices->type, padding), "NE");
}

Value* rows_where(Builder& b, Value* mask, Value* rows, Value* otherwise) {
  return b.select(b.broadcast_in_dim(mask, rows->type.shape, {0}), rows, otherwise);
}

struct Bags {
  int64_t count;   ///< how many bags
  Value* indices;  ///< i64 [n], in range
  Value* bag_of;   ///< i64 [n]
  Value* taken;    ///< i1 [n]: takes part
  Value* sizes;    ///< i64 [count], of those that take part
};

Bags read_bags(Lowering& op, int64_t num_rows) {
  Builder& b = op.b;
  const Tensor indices = op.tensor("indices"), offsets = op.tensor("offsets");
  for (const Tensor* x : {&indices, &offsets}) {
    TORCH_CHECK(x->dtype == DType::Long || x->dtype == DType::Int,
                "expected scalar type Long or "
                "Int for ",
                x->argument, ", got ", c10::toString(x->dtype));
    TORCH_CHECK(x->dim() == 1, x->argument, " has to be a 1D Tensor, but got Tensor of dimension ",
                x->dim());
  }
  Bags bags{};
  const int64_t n = indices.numel();
  bags.count = offsets.numel() - (op.boolean("include_last_offset") ? 1 : 0);
  TORCH_CHECK(bags.count >= 0, "include_last_offset: numel in offsets should be at least 1");
  Value* starts = op.convert(offsets, DType::Long);
  if (offsets.numel() > 0) {
    Value* first = b.reshape(b.slice(starts, {0}, {1}, {1}), {});
    b.assert_true(b.compare(first, b.constant(ElementType::kSI64, int64_t{0}), "EQ"),
                  "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                  "from position 0");
    Value* last = b.reshape(b.slice(starts, {offsets.numel() - 1}, {offsets.numel()}, {1}), {});
    b.assert_true(b.compare(last, b.constant(ElementType::kSI64, n), "LE"),
                  "offsets[-1] can not be greater than input's length");
  }
  bags.indices = op.convert(indices, DType::Long);
  assert_in_range(op, bags.indices, 0, num_rows,
                  "embedding_bag: Expected idx >= 0 && idx < num_embeddings");
  Value* position = b.iota({ElementType::kSI64, {n}}, 0);
  Value* starts_of_bags = crop(b, starts, {bags.count});
  Value* after = position_in(b, starts_of_bags, position, /*right=*/true);
  bags.bag_of = b.subtract(after, b.splat(after->type, int64_t{1}));
  bags.taken = takes_part(op, bags.indices);
  bags.sizes = scatter_slices(op, b.splat({ElementType::kSI64, {bags.count}}, int64_t{0}), 0,
                              bags.bag_of, op.convert(bags.taken, DType::Long), OpKind::kAdd);
  return bags;
}

/// The largest of each bag's rows, component by component (0 of an empty bag), and the index of the
/// first row that has it.
std::pair<Value*, Value*> maximum_of(Lowering& op, const Bags& bags, Value* rows) {
  Builder& b = op.b;
  const int64_t width = rows->type.shape[1], n = rows->type.shape[0];
  const tpu::hlo::TensorType grid{ElementType::kSI64, {bags.count, width}};
  Value* lowest = op.broadcast_to(identity_of(b, OpKind::kMaximum, rows->type.element), grid.shape);
  Value* largest = scatter_slices(
      op, lowest, 0, bags.bag_of,
      rows_where(
          b, bags.taken, rows,
          op.broadcast_to(identity_of(b, OpKind::kMaximum, rows->type.element), rows->type.shape)),
      OpKind::kMaximum);
  Value* nothing = b.splat(grid, n);
  Value* position = b.iota({ElementType::kSI64, rows->type.shape}, 0);
  Value* reaches = b.compare(rows, take(op, largest, 0, bags.bag_of), "EQ");
  reaches = b.and_(reaches, b.broadcast_in_dim(bags.taken, rows->type.shape, {0}));
  Value* candidate = b.select(reaches, position, b.splat(position->type, n));
  Value* first = scatter_slices(op, nothing, 0, bags.bag_of, candidate, OpKind::kMinimum);
  Value* found = b.compare(first, nothing, "LT");
  Value* at = b.select(found, first, b.splat(grid, int64_t{0}));
  Value* index = n == 0 ? b.splat(grid, int64_t{0}) : take(op, bags.indices, 0, at);
  Value* empty = b.compare(bags.sizes, b.splat(bags.sizes->type, int64_t{0}), "EQ");
  return {rows_where(b, empty, b.splat(largest->type, 0.0), largest),
          b.select(found, index, b.splat(grid, int64_t{-1}))};
}

// Results: the bags; the bag of each index; the size of each bag; of max the winners' indices.
void embedding_bag(Lowering& op) {
  Builder& b = op.b;
  const Tensor weight = op.tensor("weight");
  TORCH_CHECK(weight.dim() == 2, "weight has to be a 2D Tensor, but got Tensor of dimension ",
              weight.dim());
  const BagMode mode = read_mode(op);
  const Bags bags = read_bags(op, weight.size(0));
  const DType index_dtype = op.tensor("indices").dtype;
  Value* rows = take(op, widened(op, weight), 0, bags.indices);
  if (const auto factors = op.optional_tensor("per_sample_weights")) {
    TORCH_CHECK(mode == BagMode::kSum,
                "embedding_bag: per_sample_weights was not None. "
                "per_sample_weights is only supported for mode='sum'");
    TORCH_CHECK(factors->dtype == weight.dtype, "expected scalar type ",
                c10::toString(weight.dtype), " for per_sample_weights but found ",
                c10::toString(factors->dtype));
    rows = b.multiply(rows, b.broadcast_in_dim(widened(op, *factors), rows->type.shape, {0}));
  }
  const Dims shape = {bags.count, weight.size(1)};
  Value *result = nullptr, *winners = nullptr;
  if (mode == BagMode::kMax) {
    std::tie(result, winners) = maximum_of(op, bags, rows);
  } else {
    Value* zeros = b.splat({rows->type.element, shape}, 0.0);
    rows = rows_where(b, bags.taken, rows, b.splat(rows->type, 0.0));
    result = scatter_slices(op, zeros, 0, bags.bag_of, rows, OpKind::kAdd);
    if (mode == BagMode::kMean) {
      Value* divisor = b.maximum(bags.sizes, b.splat(bags.sizes->type, int64_t{1}));
      divisor = b.convert(divisor, rows->type.element);
      result = b.divide(result, b.broadcast_in_dim(divisor, shape, {0}));
    }
    winners = bags.sizes;
  }
  op.result(op.convert(result, weight.dtype));
  for (Value* numbers : {bags.bag_of, bags.sizes, winners}) {
    op.result(op.convert(numbers, index_dtype));
  }
}

// Every row that took part gets its bag's gradient; of max, only the winners.
void embedding_bag_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad");
  const BagMode mode = read_mode(op);
  const int64_t num_rows = op.integer("num_weights"), width = grad.size(1);
  if (op.has("sparse")) check_dense(op);
  Value* g = widened(op, grad);
  Value* zeros = b.splat({g->type.element, {num_rows, width}}, 0.0);
  if (mode == BagMode::kMax) {
    Value* winners = op.convert(op.tensor("maximum_indices"), DType::Long);
    Value* none = b.splat(winners->type, int64_t{0});
    Value* won = b.compare(winners, none, "GE");
    Value* updates = b.select(won, g, b.splat(g->type, 0.0));
    Value* dw = scatter_along(op, zeros, 0, b.maximum(winners, none), updates, OpKind::kAdd);
    return op.result(op.convert(dw, grad.dtype));
  }
  Value* indices = op.convert(op.tensor("indices"), DType::Long);
  Value* bag_of = op.convert(op.tensor("offset2bag"), DType::Long);
  Value* updates = take(op, g, 0, bag_of);
  const auto each = [&](Value* x) { return b.broadcast_in_dim(x, updates->type.shape, {0}); };
  if (const auto factors = op.optional_tensor("per_sample_weights")) {
    updates = b.multiply(updates, each(widened(op, *factors)));
  }
  if (op.boolean("scale_grad_by_freq")) {
    updates = b.divide(updates, each(frequencies(op, indices, num_rows, g->type.element)));
  }
  if (mode == BagMode::kMean) {
    Value* sizes = op.convert(op.tensor("bag_size"), DType::Long);
    sizes = b.maximum(sizes, b.splat(sizes->type, int64_t{1}));
    updates = b.divide(updates, each(b.convert(take(op, sizes, 0, bag_of), g->type.element)));
  }
  updates = rows_where(b, takes_part(op, indices), updates, b.splat(updates->type, 0.0));
  op.result(op.convert(scatter_slices(op, zeros, 0, indices, updates, OpKind::kAdd), grad.dtype));
}

// The factor of a row has that row times its bag's gradient.
void embedding_bag_factors_backward(Lowering& op) {
  Builder& b = op.b;
  const Tensor grad = op.tensor("grad"), weight = op.tensor("weight");
  TORCH_CHECK(read_mode(op) == BagMode::kSum,
              "embedding_bag_backward: per_sample_weights only supported for mode='sum'");
  Value* indices = op.convert(op.tensor("indices"), DType::Long);
  Value* bag_of = op.convert(op.tensor("offset2bag"), DType::Long);
  Value* gradients = take(op, widened(op, grad), 0, bag_of);
  Value* products = b.multiply(gradients, take(op, widened(op, weight), 0, indices));
  Value* sums = op.reduce(products, OpKind::kAdd, {1}, false);
  Value* taken = takes_part(op, indices);
  op.result(op.convert(b.select(taken, sums, b.splat(sums->type, 0.0)), grad.dtype));
}

}  // namespace

void add_embedding(Table& table) {
  const Table rows = {
      {"embedding_dense_backward", embedding_backward},
      {"_embedding_bag", embedding_bag},
      {"_embedding_bag_forward_only", embedding_bag},
      {"_embedding_bag_backward", embedding_bag_backward},
      {"_embedding_bag_dense_backward", embedding_bag_backward},
      {"_embedding_bag_per_sample_weights_backward", embedding_bag_factors_backward},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
