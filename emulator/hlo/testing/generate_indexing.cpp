// gather and scatter with random dimension numbers.
#include <algorithm>

#include "emulator/hlo/evaluator/index.h"
#include "emulator/hlo/testing/block_generator.h"

namespace tpu::hlo::testing {
namespace {

// How an operand's dimensions and those of a tensor of indices meet.
struct IndexPlan {
  Dims window_sizes;  // one a dimension of the operand; 1 where it is dropped
  Dims dropped;       // collapsed or inserted dimensions
  Dims operand_batching, indices_batching;
  Dims index_map;
  Dims indices_shape;
  int64_t index_vector_dim = 0;

  Dims window_shape() const {
    return pick(window_sizes,
                other_dimensions(std::ssize(window_sizes), dropped, operand_batching));
  }
  Dims batch_shape() const {
    Dims shape = indices_shape;
    if (index_vector_dim < std::ssize(shape)) shape.erase(shape.begin() + index_vector_dim);
    return shape;
  }
};

IndexPlan random_plan(Rng& rng, const Dims& operand) {
  IndexPlan plan;
  for (int64_t d = 0; d < std::ssize(operand); ++d) {
    const int64_t role = operand[d] == 0 ? 4 : rng.below(7);
    if (role == 0 && operand[d] <= 5) {
      plan.operand_batching.push_back(d);
    } else if (1 <= role && role <= 3) {
      plan.dropped.push_back(d);
    }
    const bool window = role > 3 || (role == 0 && operand[d] > 5);
    plan.window_sizes.push_back(window ? rng.between(0, operand[d]) : 1);
    if (contains(plan.operand_batching, d)) continue;
    if (!window || rng.coin()) plan.index_map.push_back(d);
  }
  rng.shuffle(plan.index_map);

  for (int64_t n = rng.below(3); n > 0; --n) plan.indices_shape.push_back(rng.between(0, 5));
  for (int64_t d : plan.operand_batching) {
    const int64_t at = rng.between(0, std::ssize(plan.indices_shape));
    plan.indices_shape.insert(plan.indices_shape.begin() + at, operand[d]);
    for (int64_t& other : plan.indices_batching) other += other >= at;
    plan.indices_batching.push_back(at);
  }
  const int64_t components = std::ssize(plan.index_map);
  plan.index_vector_dim = std::ssize(plan.indices_shape);
  if (components != 1 || rng.coin()) {
    const int64_t at = rng.between(0, std::ssize(plan.indices_shape));
    plan.indices_shape.insert(plan.indices_shape.begin() + at, components);
    for (int64_t& other : plan.indices_batching) other += other >= at;
    plan.index_vector_dim = at;
  }
  return plan;
}

// `count` of the dimensions of a tensor of rank `rank`, ascending.
Dims random_positions(Rng& rng, int64_t rank, int64_t count) {
  Dims positions(rank);
  for (int64_t d = 0; d < rank; ++d) positions[d] = d;
  rng.shuffle(positions);
  positions.resize(count);
  std::ranges::sort(positions);
  return positions;
}

// A shape with `window` at the dimensions `window_dims` and `batch` at the others.
Dims interleave(const Dims& window, const Dims& window_dims, const Dims& batch) {
  Dims shape;
  auto w = window.begin(), b = batch.begin();
  for (int64_t d = 0; d < std::ssize(window) + std::ssize(batch); ++d) {
    shape.push_back(contains(window_dims, d) ? *w++ : *b++);
  }
  return shape;
}

ElementType index_type(Rng& rng, bool exact) {
  using enum ElementType;
  // The reference interpreter takes unsigned indices for signed ones.
  if (exact) return rng.pick({kSI32, kSI64, kSI8});
  return rng.pick({kSI32, kSI32, kSI32, kSI64, kUI32, kUI8, kSI8, kSI16});
}

}  // namespace

bool BlockGenerator::gather() {
  Value* x = any_value(is_any, 1);
  const IndexPlan plan = random_plan(rng_, x->type.shape);
  const Dims window = plan.window_shape(), batch = plan.batch_shape();
  const int64_t rank = std::ssize(window) + std::ssize(batch);
  GatherDimensionNumbers numbers;
  numbers.offset_dims = random_positions(rng_, rank, std::ssize(window));
  numbers.collapsed_slice_dims = plan.dropped;
  numbers.operand_batching_dims = plan.operand_batching;
  numbers.start_indices_batching_dims = plan.indices_batching;
  numbers.start_index_map = plan.index_map;
  numbers.index_vector_dim = plan.index_vector_dim;
  if (!small_enough(interleave(window, numbers.offset_dims, batch))) return false;
  Value* indices =
      new_value({index_type(rng_, options_.exact), plan.indices_shape}, ValueStyle::kSmallInt);
  keep(builder_.gather(x, indices, numbers, plan.window_sizes));
  return true;
}

bool BlockGenerator::scatter() {
  Value* x = any_value(is_any, 1);
  const IndexPlan plan = random_plan(rng_, x->type.shape);
  const Dims window = plan.window_shape(), batch = plan.batch_shape();
  const int64_t rank = std::ssize(window) + std::ssize(batch);
  ScatterDimensionNumbers numbers;
  numbers.update_window_dims = random_positions(rng_, rank, std::ssize(window));
  numbers.inserted_window_dims = plan.dropped;
  numbers.input_batching_dims = plan.operand_batching;
  numbers.scatter_indices_batching_dims = plan.indices_batching;
  numbers.scatter_dims_to_operand_dims = plan.index_map;
  numbers.index_vector_dim = plan.index_vector_dim;
  const TensorType update{x->type.element, interleave(window, numbers.update_window_dims, batch)};
  if (!small_enough(update.shape)) return false;
  Value* indices =
      new_value({index_type(rng_, options_.exact), plan.indices_shape}, ValueStyle::kSmallInt);
  const auto overwrite = [](Builder& b, std::span<Value* const> arguments) {
    b.ret({arguments[1]});
  };
  const Builder::Body body = rng_.one_in(3) ? overwrite : random_combiner(x->type.element);
  // The reference interpreter scatters into its operand, so that needs to be a value of its own.
  if (options_.exact) x = builder_.reverse(x, {});
  keep(builder_.scatter({x}, indices, {value_of(update)}, numbers, false, false, body));
  return true;
}

}  // namespace tpu::hlo::testing
