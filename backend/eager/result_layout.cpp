#include "backend/eager/result_layout.h"

#include <algorithm>
#include <optional>

namespace torch_tpu::eager {
namespace {

using aten::Tensor;
using tpu::hlo::Dims;

Dims contiguous(const Dims& shape) {
  return tpu::hlo::row_major_strides(shape);
}

Dims channels_last(const Dims& shape) {
  const size_t rank = shape.size();
  Dims strides(rank);
  strides[1] = 1;
  int64_t next = std::max<int64_t>(shape[1], 1);
  for (size_t d = rank - 1; d >= 2; --d) {
    strides[d] = next;
    next *= std::max<int64_t>(shape[d], 1);
  }
  strides[0] = next;
  return strides;
}

// Strides of `operand` seen at `shape`: 0 where it is broadcast or where the dimension is missing.
Dims broadcast_strides(const Tensor& operand, const Dims& shape) {
  Dims strides(shape.size(), 0);
  const size_t lead = shape.size() - operand.shape().size();
  for (size_t i = 0; i < operand.shape().size() && i < operand.strides.size(); ++i) {
    if (operand.shape()[i] != 1 || shape[lead + i] == 1) strides[lead + i] = operand.strides[i];
  }
  return strides;
}

// TensorIterator's comparison of two dimensions: 1 if `a` varies slower than `b`, -1 if faster,
// 0 if the operands do not say.
int compare_dims(std::span<const Dims> strides, const Dims& shape, int64_t a, int64_t b) {
  for (const Dims& s : strides) {
    if (s[a] == 0 || s[b] == 0) continue;
    if (s[a] != s[b]) return s[a] < s[b] ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

// Dimensions from fastest to slowest varying, by insertion sort as TensorIterator does it: ties
// keep the row-major order.
std::vector<int64_t> fastest_first(std::span<const Dims> strides, const Dims& shape) {
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<int64_t> order(rank);
  for (int64_t i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  for (int64_t i = 1; i < rank; ++i) {
    int64_t dim1 = i;
    for (int64_t dim0 = i - 1; dim0 >= 0; --dim0) {
      const int comparison = compare_dims(strides, shape, order[dim0], order[dim1]);
      if (comparison > 0) {
        std::swap(order[dim0], order[dim1]);
        dim1 = dim0;
      } else if (comparison < 0) {
        break;
      }
    }
  }
  return order;
}

// True if walking `order` (fastest dimension first) meets the elements one after the other. The
// stride of a dimension of size 1 does not matter.
bool is_dense_in_order(const Tensor& x, std::span<const int64_t> order) {
  int64_t expected = 1;
  for (int64_t d : order) {
    if (x.shape()[d] == 1) continue;
    if (x.strides[d] != expected) return false;
    expected *= x.shape()[d];
  }
  return true;
}

bool is_contiguous(const Tensor& x) {
  std::vector<int64_t> order;
  for (int64_t d = x.dim() - 1; d >= 0; --d) order.push_back(d);
  return x.numel() == 0 || is_dense_in_order(x, order);
}

bool is_channels_last_contiguous(const Tensor& x) {
  if (x.dim() != 4 && x.dim() != 5) return false;
  std::vector<int64_t> order = {1};
  for (int64_t d = x.dim() - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  return is_dense_in_order(x, order);
}

bool is_dense(const Tensor& x) {
  std::vector<int64_t> order = aten::iota_dims(x.dim());
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return x.strides[a] < x.strides[b]; });
  return is_dense_in_order(x, order);
}

// TensorIterator's short cut for operands of one shape that agree on an order: nullopt if they do
// not.
std::optional<Dims> agreed_strides(const std::vector<Tensor>& operands, const Dims& shape) {
  const auto all = [&](auto&& holds) {
    return std::all_of(operands.begin(), operands.end(), holds);
  };
  if (!all([&](const Tensor& x) {
        return x.shape() == shape && x.strides.size() == shape.size();
      })) {
    return std::nullopt;
  }
  if (all(is_contiguous)) return contiguous(shape);
  if (all(is_channels_last_contiguous)) return channels_last(shape);
  const Dims& first = operands.front().strides;
  if (all([&](const Tensor& x) { return x.strides == first && is_dense(x); })) return first;
  return std::nullopt;
}

Dims like_operands(const std::vector<Tensor>& operands, const Dims& shape) {
  if (const auto agreed = agreed_strides(operands, shape)) return *agreed;
  std::vector<Dims> strides;
  for (const Tensor& operand : operands) {
    if (!operand.strides.empty()) strides.push_back(broadcast_strides(operand, shape));
  }
  Dims out(shape.size());
  int64_t next = 1;
  for (int64_t dim : fastest_first(strides, shape)) {
    out[dim] = next;
    next *= std::max<int64_t>(shape[dim], 1);
  }
  return out;
}

// PyTorch's test whether 4-d or 5-d strides mean channels last.
bool is_channels_last(const Dims& shape, const Dims& strides) {
  const size_t rank = shape.size();
  if ((rank != 4 && rank != 5) || strides.size() != rank) return false;
  std::vector<size_t> order = {1};  // channels, then the spatial dimensions inwards out, then batch
  for (size_t d = rank - 1; d >= 2; --d) order.push_back(d);
  order.push_back(0);
  if (strides[1] == 0) return false;
  int64_t min = 0;
  for (size_t d : order) {
    if (shape[d] == 0 || strides[d] < min) return false;
    if (d == 0 && min == strides[1]) return false;  // N1HW-like: ambiguous, counts as contiguous
    min = strides[d] * (shape[d] > 1 ? shape[d] : 1);
  }
  return true;
}

}  // namespace

Dims result_strides(const aten::Result& result, const Dims& shape) {
  switch (result.layout) {
    case aten::ResultLayout::kContiguous:
      return contiguous(shape);
    case aten::ResultLayout::kOperands:
      return like_operands(result.layout_operands, shape);
    case aten::ResultLayout::kGiven:
      return result.strides;
    case aten::ResultLayout::kFirstOperand: {
      const Tensor& first = result.layout_operands.at(0);
      const bool last =
          shape.size() == first.shape().size() && is_channels_last(first.shape(), first.strides);
      return last ? channels_last(shape) : contiguous(shape);
    }
  }
  return contiguous(shape);
}

}  // namespace torch_tpu::eager
