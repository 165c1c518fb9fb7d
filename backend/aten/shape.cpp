// Operators that move elements without computing with them.
#include <algorithm>

#include "backend/aten/lowering_table.h"
#include "backend/aten/reduction.h"

namespace torch_tpu::aten {
namespace {

/// A legacy exception of torch.cat: a 1-d tensor without elements fits anywhere.
bool is_legacy_empty(const Tensor& x) {
  return x.dim() == 1 && x.size(0) == 0;
}

void cat(Lowering& op) {
  Builder& b = op.b;
  const TensorList list = op.tensors("tensors");
  TORCH_CHECK(!list.empty(), "torch.cat(): expected a non-empty list of Tensors");
  std::vector<Promoted> seen;
  std::vector<Tensor> parts, all;
  for (const auto& item : list) {
    TORCH_CHECK(item.has_value(), "torch.cat(): expected tensors, got an undefined one");
    TORCH_CHECK(item->dim() > 0, "zero-dimensional tensor (at position ", seen.size(),
                ") cannot be concatenated");
    seen.push_back(item->promoted());
    all.push_back(*item);
    if (!is_legacy_empty(*item)) parts.push_back(*item);
  }
  const DType common = result_type(seen);
  if (parts.empty()) return op.result(op.full({0}, common, int64_t{0}));
  const int64_t dim = wrap_dim(op.integer("dim"), parts[0].dim());
  std::vector<Value*> values;
  for (const Tensor& part : parts) {
    bool fits = part.dim() == parts[0].dim();
    for (int64_t d = 0; fits && d < part.dim(); ++d) {
      fits = d == dim || part.size(d) == parts[0].size(d);
    }
    TORCH_CHECK(fits, "Sizes of tensors must match except in dimension ", dim, ". Expected shape ",
                c10::IntArrayRef(parts[0].shape()), " but got ", c10::IntArrayRef(part.shape()));
    values.push_back(op.convert(part, common));
  }
  op.result(b.concatenate(values, dim), ResultLayout::kFirstOperand, {all[0]});
}

void flip(Lowering& op) {
  const Tensor self = op.tensor("self");
  const Dims asked = op.integers("dims");
  const Dims dims = asked.empty() ? Dims{} : wrap_dims(asked, self.dim());
  op.result(dims.empty() ? self.value : op.b.reverse(self.value, dims), ResultLayout::kOperands,
            {self});
}

/// `x` moved by `shift` along `dim`, the end coming back at the front.
Value* rolled(Builder& b, Value* x, int64_t shift, int64_t dim) {
  const int64_t size = x->type.shape[dim];
  if (size == 0) return x;
  const int64_t cut = ((size - shift) % size + size) % size;
  if (cut == 0) return x;
  const auto part = [&](int64_t begin, int64_t end) {
    Dims low(x->type.rank(), 0), high = x->type.shape;
    low[dim] = begin;
    high[dim] = end;
    return b.slice(x, low, high, Dims(x->type.rank(), 1));
  };
  return b.concatenate({part(cut, size), part(0, cut)}, dim);
}

void roll(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Dims shifts = op.integers("shifts"), dims = op.integers("dims");
  if (dims.empty()) {
    TORCH_CHECK(shifts.size() == 1, "roll: with no dims, one shift is expected, got ",
                shifts.size());
    Value* flat = b.reshape(self.value, {self.numel()});
    return op.result(b.reshape(rolled(b, flat, shifts[0], 0), self.shape()));
  }
  TORCH_CHECK(shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Value* x = self.value;
  for (size_t i = 0; i < dims.size(); ++i) {
    x = rolled(b, x, shifts[i], wrap_dim(dims[i], self.dim()));
  }
  op.result(x);
}

/// Keeps what lies on one side of a diagonal of the last two dimensions.
LowerFunction triangle(bool lower) {
  return [lower](Lowering& op) {
    Builder& b = op.b;
    const Tensor self = op.tensor("self");
    TORCH_CHECK(self.dim() >= 2, lower ? "tril" : "triu",
                ": input tensor must have at least 2 dimensions");
    const auto rank = self.dim();
    const tpu::hlo::TensorType index{ElementType::kSI64, self.shape()};
    Value* row = b.add(b.iota(index, rank - 2), b.splat(index, op.integer("diagonal")));
    Value* keep = b.compare(b.iota(index, rank - 1), row, lower ? "LE" : "GE");
    op.result(b.select(keep, self.value, b.splat(self.value->type, int64_t{0})));
  };
}

/// [before, after] pairs from the last dimension backwards, as torch.nn.functional.pad lists them.
void constant_pad(Lowering& op) {
  Builder& b = op.b;
  const Tensor self = op.tensor("self");
  const Dims pad = op.integers("pad");
  TORCH_CHECK(pad.size() % 2 == 0 && static_cast<int64_t>(pad.size()) <= 2 * self.dim(),
              "Length of pad should be even and no more than twice the number of dimensions, got ",
              pad.size(), " for ", self.dim(), " dimensions");
  Dims low(self.dim(), 0), high(self.dim(), 0);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t d = self.dim() - 1 - static_cast<int64_t>(i);
    low[d] = pad[2 * i];
    high[d] = pad[2 * i + 1];
    TORCH_CHECK(self.size(d) + low[d] + high[d] >= 0, "The input size ", self.size(d),
                ", plus negative padding ", low[d], " and ", high[d],
                ", resulted in a negative output size");
  }
  Value* value = op.convert(op.scalar("value"), self.dtype);
  op.result(b.pad(self.value, value, low, high, Dims(self.dim(), 0)), ResultLayout::kFirstOperand,
            {self});
}

}  // namespace

void add_shape(Table& table) {
  const Table rows = {
      {"cat", cat},
      {"flip", flip},
      {"roll", roll},
      {"tril", triangle(/*lower=*/true)},
      {"triu", triangle(/*lower=*/false)},
      {"constant_pad_nd", constant_pad},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
