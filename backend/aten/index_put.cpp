// Writing at positions that index tensors or a mask name.
#include <algorithm>

#include "backend/aten/indexing.h"
#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"
#include "backend/aten/scatter.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::OpKind;
using tpu::hlo::ScatterDimensionNumbers;

// self[indices] = values, or += values.
void index_put(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), values = op.tensor("values");
  TORCH_CHECK_INDEX(values.dtype == self.dtype,
                    "Index put requires the source and destination dtypes match, got ",
                    c10::toString(self.dtype), " for the destination and ",
                    c10::toString(values.dtype), " for the source.");
  const AdvancedIndex at = read_advanced_index(op, self, op.tensors("indices"));
  // The indexed result's shape, as `index` would return it.
  Dims kept, shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (std::find(at.dims.begin(), at.dims.end(), d) == at.dims.end()) kept.push_back(d);
  }
  ScatterDimensionNumbers numbers;
  const auto index_rank = static_cast<int64_t>(at.shape.size());
  for (int64_t i = 0; i < static_cast<int64_t>(kept.size()); ++i) {
    numbers.update_window_dims.push_back(i < at.position ? i : i + index_rank);
  }
  for (int64_t i = 0; i < static_cast<int64_t>(kept.size()) + index_rank; ++i) {
    const bool of_index = i >= at.position && i < at.position + index_rank;
    const int64_t k = i < at.position ? i : i - index_rank;
    shape.push_back(of_index ? at.shape[i - at.position] : self.size(kept[k]));
  }
  // values broadcast to the indexed shape; extra leading dimensions of size 1 are dropped.
  Dims value_shape = values.shape();
  while (value_shape.size() > shape.size() && value_shape.front() == 1) {
    value_shape.erase(value_shape.begin());
  }
  Value* source = b.reshape(values.value, value_shape);
  const std::vector<Dims> pair = {shape, value_shape};
  TORCH_CHECK(value_shape.size() <= shape.size() && broadcast_shapes(pair) == shape,
              "shape mismatch: value tensor of shape ", c10::IntArrayRef(values.shape()),
              " cannot be broadcast to indexing result of shape ", c10::IntArrayRef(shape));
  const bool accumulate = op.boolean("accumulate");
  const DType compute = accumulate ? compute_type(self.dtype) : self.dtype;
  source = op.broadcast_to(op.convert(source, compute), shape);
  numbers.inserted_window_dims = at.dims;
  numbers.scatter_dims_to_operand_dims = at.dims;
  numbers.index_vector_dim = index_rank;
  Value* written = scatter_with(b, op.convert(self, compute), at.coordinates, source, numbers,
                                accumulate ? OpKind::kAdd : OpKind::kReturn);
  op.result(op.convert(written, self.dtype));
}

// self.flatten()[index] = source
void put(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), index = op.tensor("index"), source = op.tensor("source");
  TORCH_CHECK(index.numel() == source.numel(),
              "put_(): Expected source and index to have the same "
              "number of elements, but got source.numel() = ",
              source.numel(), ", index.numel() = ", index.numel());
  TORCH_CHECK(self.dtype == source.dtype,
              "put_(): self and source expected to have the same dtype");
  Value* flat = b.reshape(self.value, {self.numel()});
  Value* where = checked_index(op, b.reshape(index.value, {index.numel()}), self.numel(), true, 0);
  const bool accumulate = op.boolean("accumulate");
  const DType compute = accumulate ? compute_type(self.dtype) : self.dtype;
  Value* written = scatter_slices(op, op.convert(flat, compute), 0, where,
                                  op.convert(b.reshape(source.value, {source.numel()}), compute),
                                  accumulate ? OpKind::kAdd : OpKind::kReturn);
  op.result(b.reshape(op.convert(written, self.dtype), self.shape()));
}

// Where the mask holds, the elements of `source` in order.
void masked_scatter(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), mask = op.tensor("mask"), source = op.tensor("source");
  TORCH_CHECK(self.dtype == source.dtype,
              "masked_scatter_: expected self and source to have same dtypes but got ",
              c10::toString(self.dtype), " and ", c10::toString(source.dtype));
  TORCH_CHECK(mask.dtype == DType::Bool,
              "masked_scatter_ only supports boolean masks, but got mask "
              "with dtype ",
              c10::toString(mask.dtype));
  const std::vector<Dims> shapes = {self.shape(), mask.shape()};
  const Dims shape = broadcast_shapes(shapes);
  const int64_t count = tpu::hlo::num_elements(shape);
  Value* target = op.broadcast_to(self.value, shape);
  if (count == 0) return op.result(target);
  Value* chosen = b.reshape(op.broadcast_to(mask.value, shape), {count});
  Value* ordinal = cumulative(op, op.convert(chosen, DType::Long), 0, OpKind::kAdd);
  Value* needed = op.reduce(op.convert(chosen, DType::Long), OpKind::kAdd, {0}, false);
  b.assert_true(b.compare(needed, b.constant(ElementType::kSI64, source.numel()), "LE"),
                "masked_scatter: expected the mask to be true no more often than source has "
                "elements: Number of elements of source < number of ones in mask");
  if (source.numel() == 0) return op.result(target);
  Value* last = b.splat(ordinal->type, source.numel() - 1);
  Value* first = b.splat(ordinal->type, int64_t{0});
  Value* at = b.clamp(first, b.subtract(ordinal, b.splat(ordinal->type, int64_t{1})), last);
  Value* values = take(op, b.reshape(source.value, {source.numel()}), 0, at);
  op.result(b.select(b.reshape(chosen, shape), b.reshape(values, shape), target));
}

}  // namespace

void add_index_put(Table& table) {
  const Table rows = {
      {"_index_put_impl_", index_put, /*takes_masks=*/true},
      {"put_", put},
      {"masked_scatter", masked_scatter},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
