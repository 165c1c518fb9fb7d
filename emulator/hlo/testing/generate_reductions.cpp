// Reductions, windows, sorting.
#include <algorithm>

#include "emulator/hlo/testing/block_generator.h"
#include "emulator/hlo/window.h"

namespace tpu::hlo::testing {
namespace {

std::vector<OpKind> combiner_kinds(ElementType type, bool exact) {
  using enum OpKind;
  if (is_float(type) && exact) return {kMaximum, kMinimum};
  if (is_boolean(type)) return {kAnd, kOr, kXor, kAdd, kMultiply, kMaximum, kMinimum};
  if (is_complex(type)) return {kAdd, kMultiply};
  if (is_float(type)) return {kAdd, kAdd, kAdd, kMultiply, kMaximum, kMinimum};
  return {kAdd, kMultiply, kMaximum, kMinimum, kAnd, kOr, kXor};
}

}  // namespace

Builder::Body BlockGenerator::random_combiner(ElementType type) {
  const OpKind kind = rng_.pick(combiner_kinds(type, options_.exact));
  if (options_.exact || !rng_.one_in(5)) return Builder::combiner(kind);
  if (is_number(type) && rng_.coin()) {
    // Not commutative, with a constant.
    return [kind, type](Builder& b, std::span<Value* const> arguments) {
      Value* two = is_integer(type) ? b.constant(type, int64_t{2}) : b.constant(type, 2.0);
      b.ret({b.binary(kind, b.multiply(arguments[0], two), arguments[1])});
    };
  }
  return [kind](Builder& b, std::span<Value* const> arguments) {
    Value* both = b.binary(kind, arguments[1], arguments[0]);
    b.ret({b.select(b.compare(both, arguments[0], "EQ"), arguments[1], both)});
  };
}

Value* BlockGenerator::init_value(ElementType type) {
  if (rng_.one_in(3)) return value_of({type, {}});
  const double value = rng_.pick({0.0, 0.0, 1.0, -1.0});
  return is_integer(type) || is_boolean(type)
             ? builder_.constant(type, static_cast<int64_t>(value) & (is_boolean(type) ? 1 : -1))
             : builder_.constant(type, value);
}

bool BlockGenerator::reduce() {
  Value* x = any_value(is_any);
  Dims dimensions = random_subset(x->type.rank());
  if (rng_.one_in(4)) rng_.shuffle(dimensions);
  Value* init = init_value(x->type.element);
  keep(builder_.reduce({x}, {init}, dimensions, random_combiner(x->type.element)));
  return true;
}

bool BlockGenerator::arg_reduce() {
  Value* x = any_value(options_.exact ? is_integer : is_real, 1);
  const int64_t dimension = rng_.below(x->type.rank());
  const ElementType index_type = rng_.pick({ElementType::kSI32, ElementType::kSI64});
  Value* index = builder_.iota({index_type, x->type.shape}, dimension);
  const std::string_view direction = options_.exact ? "GT" : rng_.pick({"GT", "LT", "GE"});
  const auto body = [direction](Builder& b, std::span<Value* const> v) {
    Value* better = b.compare(v[0], v[2], direction);
    Value *const equal = b.compare(v[0], v[2], "EQ"), *const earlier = b.compare(v[1], v[3], "LT");
    Value* tie = b.and_(equal, earlier);
    b.ret({b.select(better, v[0], v[2]), b.select(b.or_(better, tie), v[1], v[3])});
  };
  keep(builder_.reduce({x, index},
                       {init_value(x->type.element), builder_.constant(index_type, int64_t{0})},
                       {dimension}, body));
  return true;
}

bool BlockGenerator::reduce_window() {
  Value* x = any_value(is_any);
  Builder::Window window;
  const int64_t rank = x->type.rank();
  window.padding = {rank, 2, {}};
  Dims result;
  int64_t work = 1;
  for (int64_t size : x->type.shape) {
    WindowDimension d;
    d.size = rng_.coin() ? 1 : rng_.between(1, 4);
    d.stride = rng_.between(1, 3);
    d.base_dilation = rng_.one_in(4) ? 2 : 1;
    d.window_dilation = rng_.one_in(4) ? 2 : 1;
    d.low_padding = rng_.coin() ? 0 : rng_.between(-1, 2);
    d.high_padding = rng_.coin() ? 0 : rng_.between(-1, 2);
    window.dimensions.push_back(d.size);
    window.strides.push_back(d.stride);
    window.base_dilations.push_back(d.base_dilation);
    window.window_dilations.push_back(d.window_dilation);
    window.padding.values.insert(window.padding.values.end(), {d.low_padding, d.high_padding});
    result.push_back(num_windows(size, d));
    work *= d.size;
  }
  if (!small_enough(result) || num_elements(result) * work > options_.max_work) return false;
  std::vector<Value*> inputs = {x}, inits = {init_value(x->type.element)};
  Builder::Body body = random_combiner(x->type.element);
  if (rng_.one_in(4)) {
    inputs.push_back(value_of(x->type));
    inits.push_back(init_value(x->type.element));
    const OpKind kind = rng_.pick(combiner_kinds(x->type.element, options_.exact));
    body = [kind](Builder& b, std::span<Value* const> v) {
      b.ret({b.binary(kind, v[0], v[2]), b.binary(kind, v[1], v[2])});
    };
  }
  keep(builder_.reduce_window(inputs, inits, window, body));
  return true;
}

bool BlockGenerator::cumulative() {
  Value* x = any_value(is_any, 1);
  const int64_t rank = x->type.rank();
  const int64_t dimension = rng_.below(rank);
  const int64_t size = x->type.shape[dimension];
  if (size == 0 || x->type.num_elements() * size > options_.max_work) return false;
  Builder::Window window{
      Dims(rank, 1), Dims(rank, 1), Dims(rank, 1), Dims(rank, 1), {rank, 2, Dims(2 * rank, 0)}};
  window.dimensions[dimension] = size;
  window.padding.values[2 * dimension + rng_.below(2)] = size - 1;
  Value* init = init_value(x->type.element);
  keep(builder_.reduce_window({x}, {init}, window, random_combiner(x->type.element)));
  return true;
}

bool BlockGenerator::select_and_scatter() {
  Value* x = any_value(is_real, 1);
  const int64_t rank = x->type.rank();
  Dims sizes, strides, source;
  IntMatrix padding{rank, 2, {}};
  for (int64_t size : x->type.shape) {
    WindowDimension d;
    d.size = rng_.between(1, 3);
    d.stride = rng_.between(1, 3);
    d.low_padding = rng_.one_in(3) ? 1 : 0;
    d.high_padding = rng_.one_in(3) ? 1 : 0;
    sizes.push_back(d.size);
    strides.push_back(d.stride);
    padding.values.insert(padding.values.end(), {d.low_padding, d.high_padding});
    source.push_back(num_windows(size, d));
  }
  if (!small_enough(source) || num_elements(source) * num_elements(sizes) > options_.max_work)
    return false;
  const std::string_view direction = rng_.pick({"GE", "GT", "LE", "LT"});
  const auto select = [direction](Builder& b, std::span<Value* const> v) {
    b.ret({b.compare(v[0], v[1], direction)});
  };
  // The reference interpreter folds init_value in twice: there it must not matter.
  const ElementType type = x->type.element;
  Value* init =
      options_.exact && is_integer(type) ? builder_.constant(type, int64_t{0}) : init_value(type);
  const Builder::Body fold =
      options_.exact && is_integer(type) ? Builder::combiner(OpKind::kAdd) : random_combiner(type);
  keep(builder_.select_and_scatter(x, value_of({type, source}), init, sizes, strides, padding,
                                   select, fold));
  return true;
}

bool BlockGenerator::sort() {
  Value* key = any_value(options_.exact ? is_integer : is_real, 1);
  std::vector<Value*> inputs = {key};
  for (int64_t n = rng_.below(3); n > 0; --n) {
    inputs.push_back(value_of({random_element(is_any), key->type.shape}));
  }
  const bool descending = rng_.coin();
  const bool two_keys = inputs.size() > 1 &&
                        (options_.exact ? is_integer : is_real)(inputs[1]->type.element) &&
                        rng_.one_in(3);
  // TOTALORDER makes floats with NaNs strictly and weakly ordered.
  const auto less = [descending](Builder& b, Value* lhs, Value* rhs) {
    const Attributes attributes{{"comparison_direction", EnumValue{descending ? "GT" : "LT"}},
                                {"compare_type", EnumValue{"TOTALORDER"}}};
    return is_float(lhs->type.element)
               ? b.create(OpKind::kCompare, {lhs, rhs}, attributes)->result()
               : b.compare(lhs, rhs, descending ? "GT" : "LT");
  };
  const auto comparator = [&](Builder& b, std::span<Value* const> v) {
    Value* first = less(b, v[0], v[1]);
    if (!two_keys) return b.ret({first});
    Value* tie = b.not_(b.or_(first, less(b, v[1], v[0])));
    b.ret({b.or_(first, b.and_(tie, less(b, v[2], v[3])))});
  };
  const int64_t rank = key->type.rank();
  const int64_t dimension = rng_.below(rank), offset = rng_.one_in(4) ? rank : 0;
  const bool stable = options_.exact || rng_.coin();
  keep(builder_.sort(inputs, dimension - offset, stable, comparator));
  return true;
}

bool BlockGenerator::map() {
  Value* x = any_value(options_.exact ? is_integer : is_number);
  std::vector<std::unique_ptr<Block>> regions;
  regions.push_back(std::make_unique<Block>());
  Builder inner(*regions[0]);
  Value* a = inner.parameter({x->type.element, {}});
  Value* b = inner.parameter({x->type.element, {}});
  Value *const product = inner.multiply(a, b), *const negative = inner.negate(a);
  inner.ret({inner.add(product, negative)});
  Dims dimensions;
  for (int64_t d = 0; d < x->type.rank(); ++d) dimensions.push_back(d);
  keep(builder_
           .create(OpKind::kMap, {x, value_of(x->type)}, {{"dimensions", dimensions}},
                   std::move(regions))
           ->result());
  return true;
}

}  // namespace tpu::hlo::testing
