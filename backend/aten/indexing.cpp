// Reading by index.
#include "backend/aten/indexing.h"

#include <algorithm>
#include <string>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {

using tpu::hlo::GatherDimensionNumbers;
using tpu::hlo::OpKind;

void assert_all_between(Lowering& op, Value* index, int64_t begin, int64_t end,
                        std::string_view message) {
  if (index->type.num_elements() == 0) return;
  Builder& b = op.b;
  Value* low = b.compare(index, b.splat(index->type, begin), "GE");
  Value* high = b.compare(index, b.splat(index->type, end), "LT");
  Value* all = op.reduce(b.and_(low, high), OpKind::kAnd, iota_dims(index->type.rank()), false);
  b.assert_true(all, message);
}

void assert_in_range(Lowering& op, Value* index, int64_t begin, int64_t end,
                     std::string_view message) {
  assert_all_between(op, index, begin, end, "IndexError: " + std::string(message));
}

Value* checked_index(Lowering& op, Value* index, int64_t size, bool wrap, int64_t dim) {
  Builder& b = op.b;
  index = op.convert(index, DType::Long);
  assert_in_range(op, index, wrap ? -size : 0, size,
                  "index out of range for dimension " + std::to_string(dim) + " with size " +
                      std::to_string(size));
  if (!wrap) return index;
  Value* negative = b.compare(index, b.splat(index->type, int64_t{0}), "LT");
  return b.select(negative, b.add(index, b.splat(index->type, size)), index);
}

Value* crop(Builder& b, Value* x, const Dims& sizes) {
  if (x->type.shape == sizes) return x;
  return b.slice(x, Dims(sizes.size(), 0), sizes, Dims(sizes.size(), 1));
}

Value* take(Lowering& op, Value* x, int64_t dim, Value* index) {
  const int64_t rank = x->type.rank(), index_rank = index->type.rank();
  if (x->type.num_elements() == 0) {
    // No slice of size 1 exists to gather; whatever was asked for has no elements, or faulted.
    Dims shape = x->type.shape;
    shape.erase(shape.begin() + dim);
    shape.insert(shape.begin() + dim, index->type.shape.begin(), index->type.shape.end());
    return op.b.splat({x->type.element, shape}, int64_t{0});
  }
  GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = {dim};
  numbers.start_index_map = {dim};
  numbers.index_vector_dim = index_rank;
  Dims slice = x->type.shape;
  slice[dim] = 1;
  // The result's dimensions: those before `dim`, the index's, those after.
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dim) numbers.offset_dims.push_back(d < dim ? d : d + index_rank - 1);
  }
  return op.b.gather(x, index, numbers, slice);
}

Value* gather_along(Lowering& op, Value* x, int64_t dim, Value* index) {
  Builder& b = op.b;
  const int64_t rank = x->type.rank();
  // Other dimensions of the index may be shorter than x's: the rest of x is not read.
  Dims window = index->type.shape;
  window[dim] = x->type.shape[dim];
  if (tpu::hlo::num_elements(window) == 0) {
    return b.splat({x->type.element, index->type.shape}, int64_t{0});
  }
  GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = {dim};
  numbers.start_index_map = {dim};
  numbers.index_vector_dim = rank;
  for (int64_t d = 0; d < rank; ++d) {
    if (d == dim) continue;
    numbers.operand_batching_dims.push_back(d);
    numbers.start_indices_batching_dims.push_back(d);
  }
  return b.gather(crop(b, x, window), index, numbers, Dims(rank, 1));
}

Value* pick_along(Lowering& op, Value* x, int64_t dim, Value* index) {
  Dims with_dim = index->type.shape;
  with_dim.insert(with_dim.begin() + dim, 1);
  Value* picked = gather_along(op, x, dim, op.b.reshape(index, with_dim));
  return op.b.reshape(picked, index->type.shape);
}

AdvancedIndex read_advanced_index(Lowering& op, const Tensor& self, const TensorList& indices) {
  Builder& b = op.b;
  TORCH_CHECK_INDEX(static_cast<int64_t>(indices.size()) <= self.dim(),
                    "too many indices for tensor of dimension ", self.dim(), " (got ",
                    indices.size(), ")");
  AdvancedIndex out{{}, nullptr, {}, 0};
  std::vector<Value*> parts;
  std::vector<Dims> shapes;
  for (size_t d = 0; d < indices.size(); ++d) {
    if (!indices[d]) continue;
    TORCH_CHECK_INDEX(c10::isIntegralType(indices[d]->dtype, false),
                      "tensors used as indices must be long, int, byte or bool tensors");
    out.dims.push_back(static_cast<int64_t>(d));
    parts.push_back(indices[d]->value);
    shapes.push_back(indices[d]->shape());
  }
  try {
    out.shape = broadcast_shapes(shapes);
  } catch (const c10::Error&) {
    std::string text;
    for (const Dims& shape : shapes)
      text += (text.empty() ? "[" : ", [") + c10::str(c10::IntArrayRef(shape)).substr(1);
    TORCH_CHECK_INDEX(false,
                      "shape mismatch: indexing tensors could not be broadcast together "
                      "with shapes ",
                      text);
  }
  Dims vector_shape = out.shape;
  vector_shape.push_back(1);
  std::vector<Value*> columns;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t dim = out.dims[i];
    Value* index = checked_index(op, parts[i], self.size(dim), /*wrap=*/true, dim);
    columns.push_back(b.reshape(op.broadcast_to(index, out.shape), vector_shape));
  }
  out.coordinates = columns.size() == 1
                        ? columns[0]
                        : b.concatenate(columns, static_cast<int64_t>(out.shape.size()));
  // NumPy's rule: indexed dimensions that stand together keep their place, others move to front.
  const bool together =
      out.dims.back() - out.dims.front() + 1 == static_cast<int64_t>(out.dims.size());
  out.position = together ? out.dims.front() : 0;
  return out;
}

namespace {

void index_select(Lowering& op) {
  const Tensor self = op.tensor("self"), index = op.tensor("index");
  TORCH_CHECK_INDEX(index.dim() <= 1,
                    "index_select(): Index is supposed to be a vector, but got dim: ", index.dim());
  TORCH_CHECK(index.dtype == DType::Long || index.dtype == DType::Int,
              "index_select(): Expected dtype int32 or int64 for index but got: ",
              c10::toString(index.dtype));
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  Value* x = self.dim() == 0 ? op.b.reshape(self.value, {1}) : self.value;
  Value* vector = op.b.reshape(index.value, {index.numel()});
  Value* taken = take(op, x, dim, checked_index(op, vector, x->type.shape[dim], false, dim));
  op.result(self.dim() == 0 ? op.b.reshape(taken, {}) : taken);
}

void gather(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), index = op.tensor("index");
  TORCH_CHECK(c10::isIntegralType(index.dtype, /*includeBool=*/false),
              "gather(): Expected an integer dtype for index, got ", c10::toString(index.dtype));
  if (self.dim() == 0 && index.dim() <= 1) {
    Value* checked = checked_index(op, b.reshape(index.value, {index.numel()}), 1, false, 0);
    Value* taken = take(op, b.reshape(self.value, {1}), 0, checked);
    return op.result(b.reshape(taken, index.shape()));
  }
  if (index.numel() == 0) return op.result(op.full(index.shape(), self.dtype, int64_t{0}));
  const int64_t dim = wrap_dim(op.integer("dim"), self.dim());
  TORCH_CHECK(index.dim() == self.dim(),
              "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t d = 0; d < self.dim(); ++d) {
    TORCH_CHECK(d == dim || index.size(d) <= self.size(d), "Size does not match at dimension ", d,
                " expected index ", c10::IntArrayRef(index.shape()), " to be no larger than self ",
                c10::IntArrayRef(self.shape()), " apart from dimension ", dim);
  }
  op.result(gather_along(op, self.value, dim,
                         checked_index(op, index.value, self.size(dim), false, dim)));
}

// self[indices]: masks are positions by now (see the eager side), so every index is an integer.
void index(Lowering& op) {
  const Tensor self = op.tensor("self");
  const AdvancedIndex at = read_advanced_index(op, self, op.tensors("indices"));
  const auto index_rank = static_cast<int64_t>(at.shape.size());
  if (self.numel() == 0) {
    Dims shape;
    for (int64_t d = 0; d < self.dim(); ++d) {
      if (std::find(at.dims.begin(), at.dims.end(), d) == at.dims.end())
        shape.push_back(self.size(d));
    }
    shape.insert(shape.begin() + at.position, at.shape.begin(), at.shape.end());
    return op.result(op.full(shape, self.dtype, int64_t{0}));
  }
  GatherDimensionNumbers numbers;
  numbers.collapsed_slice_dims = at.dims;
  numbers.start_index_map = at.dims;
  numbers.index_vector_dim = index_rank;
  Dims slice = self.shape();
  for (int64_t d : at.dims) slice[d] = 1;
  const int64_t kept = self.dim() - static_cast<int64_t>(at.dims.size());
  for (int64_t i = 0; i < kept; ++i) {
    numbers.offset_dims.push_back(i < at.position ? i : i + index_rank);
  }
  op.result(op.b.gather(self.value, at.coordinates, numbers, slice));
}

// self.flatten()[index]
void take_flat(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self"), index = op.tensor("index");
  TORCH_CHECK(index.dtype == DType::Long, "take(): Expected a long tensor for index, but got ",
              c10::toString(index.dtype));
  Value* flat = b.reshape(self.value, {self.numel()});
  Value* checked = checked_index(op, index.value, self.numel(), /*wrap=*/true, 0);
  op.result(take(op, flat, 0, checked));
}

// Positions of the non-zero elements; their number is known (counted by the caller).
void nonzero_static(Lowering& op) {
  const Tensor self = op.tensor("self");
  const int64_t size = op.integer("size");
  // As PyTorch has it: the positions along one dimension lie together.
  op.result(
      op.b.custom_call("tpu.nonzero", {self.value}, {{ElementType::kSI64, {size, self.dim()}}})[0],
      Dims{1, size});
}

}  // namespace

void add_indexing(Table& table) {
  const Table rows = {
      {"index_select", index_select},
      {"gather", gather},
      {"index.Tensor", index, /*takes_masks=*/true},
      {"take", take_flat},
      {"tpu::_nonzero", nonzero_static},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
