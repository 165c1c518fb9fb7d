// Ops that move elements.
#include <algorithm>

#include "emulator/hlo/testing/block_generator.h"

namespace tpu::hlo::testing {

bool BlockGenerator::broadcast() {
  Value* x = any_value(is_any);
  const int64_t rank = x->type.rank();
  const int64_t result_rank = rank + rng_.below(3);
  Dims dimensions = random_permutation(result_rank);
  dimensions.resize(rank);
  if (!rng_.one_in(4)) std::ranges::sort(dimensions);
  Dims shape(result_rank);
  for (int64_t& size : shape) size = random_size();
  for (int64_t d = 0; d < rank; ++d) {
    if (x->type.shape[d] != 1) shape[dimensions[d]] = x->type.shape[d];
  }
  if (!small_enough(shape)) return false;
  keep(builder_.broadcast_in_dim(x, shape, dimensions));
  return true;
}

bool BlockGenerator::reshape() {
  Value* x = any_value(is_any);
  int64_t rest = x->type.num_elements();
  Dims shape;
  if (rest == 0) {
    shape = {0, rng_.between(1, 3)};
  } else {
    for (int64_t p = 2; rest > 1; ++p) {
      for (; rest % p == 0; rest /= p) {
        if (!shape.empty() && rng_.coin()) {
          rng_.pick(std::vector<int64_t*>{&shape.front(), &shape.back()})[0] *= p;
        } else {
          shape.push_back(p);
        }
      }
    }
    while (rng_.one_in(4)) shape.push_back(1);
  }
  rng_.shuffle(shape);
  if (!small_enough(shape)) return false;
  keep(builder_.reshape(x, shape));
  return true;
}

bool BlockGenerator::transpose() {
  Value* x = any_value(is_any, 1);
  keep(builder_.transpose(x, random_permutation(x->type.rank())));
  return true;
}

bool BlockGenerator::reverse() {
  Value* x = any_value(is_any, 1);
  keep(builder_.reverse(x, random_subset(x->type.rank())));
  return true;
}

bool BlockGenerator::slice() {
  Value* x = any_value(is_any);
  Dims start, limit, strides;
  for (int64_t size : x->type.shape) {
    start.push_back(rng_.coin() ? 0 : rng_.between(0, size));
    limit.push_back(rng_.coin() ? size : rng_.between(start.back(), size));
    strides.push_back(rng_.coin() ? 1 : rng_.between(1, 3));
  }
  keep(builder_.slice(x, start, limit, strides));
  return true;
}

bool BlockGenerator::concatenate() {
  Value* x = any_value(is_any, 1);
  const int64_t dimension = rng_.below(x->type.rank());
  std::vector<Value*> inputs = {x};
  TensorType total = x->type;
  for (int64_t n = rng_.between(0, 2); n > 0; --n) {
    TensorType type = x->type;
    if (rng_.coin()) type.shape[dimension] = rng_.between(0, 5);
    total.shape[dimension] += type.shape[dimension];
    inputs.push_back(value_of(type));
  }
  if (!small_enough(total.shape)) return false;
  rng_.shuffle(inputs);
  keep(builder_.concatenate(inputs, dimension));
  return true;
}

bool BlockGenerator::pad() {
  Value* x = any_value(is_any);
  Dims low, high, interior, shape;
  for (int64_t size : x->type.shape) {
    low.push_back(rng_.between(-1, 2));
    high.push_back(rng_.between(-2, 2));
    interior.push_back(rng_.one_in(3) ? rng_.between(1, 2) : 0);
    shape.push_back(low.back() + high.back() + size +
                    std::max<int64_t>(size - 1, 0) * interior.back());
    if (shape.back() < 0) return false;
  }
  if (!small_enough(shape)) return false;
  keep(builder_.pad(x, value_of({x->type.element, {}}), low, high, interior));
  return true;
}

bool BlockGenerator::iota() {
  Dims shape = random_shape();
  if (shape.empty()) return false;
  const ElementType element = random_element(is_number);
  keep(builder_.iota({element, shape}, rng_.below(std::ssize(shape))));
  return true;
}

namespace {

// Start indices of one type, as the specification wants them.
std::vector<Value*> same_type_indices(Builder& builder, Value* first, int64_t rank, Rng& rng) {
  std::vector<Value*> indices;
  for (int64_t d = 0; d < rank; ++d) {
    indices.push_back(rng.coin() ? first
                                 : builder.constant(first->type.element, rng.between(0, 5)));
  }
  return indices;
}

}  // namespace

bool BlockGenerator::dynamic_slice() {
  Value* x = any_value(is_any, 1);
  Dims sizes;
  for (int64_t size : x->type.shape) sizes.push_back(rng_.between(0, size));
  keep(builder_.dynamic_slice(x, same_type_indices(builder_, scalar_index(), x->type.rank(), rng_),
                              sizes));
  return true;
}

bool BlockGenerator::dynamic_update_slice() {
  Value* x = any_value(is_any, 1);
  TensorType update = x->type;
  for (int64_t& size : update.shape) size = rng_.between(0, size);
  Value* value = value_of(update);
  keep(builder_.dynamic_update_slice(
      x, value, same_type_indices(builder_, scalar_index(), x->type.rank(), rng_)));
  return true;
}

bool BlockGenerator::bitcast_input() {
  // Only of a new value: the bits of a NaN that arithmetic made are not defined.
  const TensorType type{random_element(is_number), random_shape()};
  if (bit_width(type.element) < 8 || is_complex(type.element)) return false;
  Value* x = new_value(type, ValueStyle::kMild);
  using enum ElementType;
  const ElementType to = rng_.pick({kSI8, kUI8, kSI16, kUI16, kSI32, kUI32, kSI64, kUI64});
  TensorType result{to, type.shape};
  const int from_width = bit_width(type.element), to_width = bit_width(to);
  if (from_width > to_width) {
    result.shape.push_back(from_width / to_width);
  } else if (from_width < to_width) {
    if (result.shape.empty() || result.shape.back() != to_width / from_width) return false;
    result.shape.pop_back();
  }
  keep(builder_.bitcast_convert(x, result));
  return true;
}

}  // namespace tpu::hlo::testing
