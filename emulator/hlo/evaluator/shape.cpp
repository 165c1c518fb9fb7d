#include "emulator/hlo/evaluator/shape.h"

#include <algorithm>
#include <cstring>

#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/element.h"
#include "emulator/hlo/evaluator/index.h"

namespace tpu::hlo {
namespace {

// to[to_index] = from[from_index], bytes unchanged.
void copy_element(const Literal& from, std::span<const int64_t> from_index, Literal& to,
                  std::span<const int64_t> to_index) {
  const int64_t width = byte_width(to.type().element);
  std::memcpy(to.mutable_bytes().data() + linearize(to_index, to.type().shape) * width,
              from.bytes().data() + linearize(from_index, from.type().shape) * width, width);
}

// A tensor whose element at each index is the operand's at `operand_index(index)`.
template <class OperandIndex>
Literal rearrange(const Literal& operand, Dims shape, OperandIndex operand_index) {
  Literal result(TensorType{operand.type().element, std::move(shape)});
  for_each_index(result.type().shape, [&](const Index& index) {
    copy_element(operand, operand_index(index), result, index);
  });
  return result;
}

}  // namespace

Literal evaluate_iota(int64_t iota_dimension, const TensorType& result_type) {
  Literal result(result_type);
  for_each_index(result_type.shape, [&](const Index& index) {
    const Element value =
        make_integer(ElementType::kSI64, static_cast<uint64_t>(index[iota_dimension]));
    store(result, linearize(index, result_type.shape), convert(value, result_type.element));
  });
  return result;
}

Literal evaluate_broadcast_in_dim(const Literal& operand, const Dims& broadcast_dimensions,
                                  const TensorType& result_type) {
  const Dims& shape = operand.type().shape;
  return rearrange(operand, result_type.shape, [&](const Index& index) {
    Index from = pick(index, broadcast_dimensions);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (shape[d] == 1) from[d] = 0;
    }
    return from;
  });
}

Literal evaluate_reshape(const Literal& operand, const TensorType& result_type) {
  return Literal(result_type, {operand.bytes().begin(), operand.bytes().end()});
}

Literal evaluate_transpose(const Literal& operand, const Dims& permutation) {
  return rearrange(operand, pick(operand.type().shape, permutation), [&](const Index& index) {
    Index from(index.size());
    for (size_t d = 0; d < index.size(); ++d) from[permutation[d]] = index[d];
    return from;
  });
}

Literal evaluate_reverse(const Literal& operand, const Dims& dimensions) {
  const Dims& shape = operand.type().shape;
  return rearrange(operand, shape, [&](const Index& index) {
    Index from = index;
    for (int64_t d : dimensions) from[d] = shape[d] - 1 - index[d];
    return from;
  });
}

Literal evaluate_slice(const Literal& operand, const Dims& start_indices, const Dims& limit_indices,
                       const Dims& strides) {
  Dims shape;
  for (size_t d = 0; d < strides.size(); ++d) {
    shape.push_back((limit_indices[d] - start_indices[d] + strides[d] - 1) / strides[d]);
  }
  return rearrange(operand, shape, [&](const Index& index) {
    Index from = start_indices;
    for (size_t d = 0; d < index.size(); ++d) from[d] += index[d] * strides[d];
    return from;
  });
}

Literal evaluate_concatenate(std::span<const Literal> inputs, int64_t dimension) {
  TensorType type = inputs[0].type();
  for (const Literal& input : inputs.subspan(1)) {
    type.shape[dimension] += input.type().shape[dimension];
  }
  Literal result(type);
  int64_t offset = 0;
  for (const Literal& input : inputs) {
    for_each_index(input.type().shape, [&](const Index& index) {
      Index to = index;
      to[dimension] += offset;
      copy_element(input, index, result, to);
    });
    offset += input.type().shape[dimension];
  }
  return result;
}

Literal evaluate_pad(const Literal& operand, const Literal& padding_value, const Dims& low,
                     const Dims& high, const Dims& interior) {
  const Dims& shape = operand.type().shape;
  Dims padded;
  for (size_t d = 0; d < shape.size(); ++d) {
    padded.push_back(low[d] + shape[d] + std::max<int64_t>(shape[d] - 1, 0) * interior[d] +
                     high[d]);
  }
  Literal result = rearrange(padding_value, padded, [](const Index&) { return Index(); });
  for_each_index(shape, [&](const Index& index) {
    Index to = low;
    for (size_t d = 0; d < index.size(); ++d) to[d] += index[d] * (interior[d] + 1);
    if (in_bounds(to, padded)) copy_element(operand, index, result, to);
  });
  return result;
}

namespace {

Index clamped_start(std::span<const Literal> start_indices, const Dims& shape, const Dims& sizes) {
  Index start;
  for (size_t d = 0; d < shape.size(); ++d) {
    start.push_back(clamp_start(to_element(start_indices[d]), shape[d] - sizes[d]));
  }
  return start;
}

Index sum(const Index& a, const Index& b) {
  Index result = a;
  for (size_t d = 0; d < b.size(); ++d) result[d] += b[d];
  return result;
}

}  // namespace

Literal evaluate_dynamic_slice(const Literal& operand, std::span<const Literal> start_indices,
                               const Dims& slice_sizes) {
  const Index start = clamped_start(start_indices, operand.type().shape, slice_sizes);
  return rearrange(operand, slice_sizes, [&](const Index& index) { return sum(start, index); });
}

Literal evaluate_dynamic_update_slice(const Literal& operand, const Literal& update,
                                      std::span<const Literal> start_indices) {
  const Index start = clamped_start(start_indices, operand.type().shape, update.type().shape);
  Literal result = operand;
  for_each_index(update.type().shape, [&](const Index& index) {
    copy_element(update, index, result, sum(start, index));
  });
  return result;
}

}  // namespace tpu::hlo
