#include "emulator/hlo/testing/generator.h"

#include <algorithm>
#include <numeric>

#include "emulator/hlo/op_table.h"
#include "emulator/hlo/testing/block_generator.h"

namespace tpu::hlo::testing {

bool is_any(ElementType type) {
  return type != ElementType::kToken;
}
bool is_number(ElementType type) {
  return is_any(type) && !is_boolean(type);
}
bool is_real(ElementType type) {
  return is_integer(type) || is_float(type);
}

BlockGenerator::BlockGenerator(Rng& rng, const GeneratorOptions& options, Block& block,
                               const BlockGenerator* outer, int depth)
    : rng_(rng), options_(options), builder_(block), depth_(depth) {
  if (outer) pool_ = outer->pool_;
  for (const auto& argument : block.arguments()) pool_.push_back(argument.get());
}

const std::vector<BlockGenerator::Step>& BlockGenerator::steps() {
  using G = BlockGenerator;
  static const std::vector<Step> table = {
      {10, &G::unary},
      {2, &G::chlo_function, false},
      {14, &G::binary},
      {4, &G::comparison},
      {5, &G::choice},
      {5, &G::conversion},
      {1, &G::complex_parts, false},
      {5, &G::broadcast},
      {3, &G::reshape},
      {3, &G::transpose},
      {2, &G::reverse},
      {3, &G::slice},
      {3, &G::concatenate},
      {3, &G::pad},
      {2, &G::iota},
      {2, &G::dynamic_slice},
      {2, &G::dynamic_update_slice},
      {1, &G::bitcast_input},
      {3, &G::gather},
      {3, &G::scatter},
      {5, &G::reduce},
      {2, &G::arg_reduce},
      {2, &G::reduce_window},
      {1, &G::cumulative},
      {1, &G::select_and_scatter},
      {2, &G::sort},
      {1, &G::map},
      {4, &G::dot_general},
      {2, &G::convolution},
      {1, &G::matrix_op, false},
      {1, &G::fft, false},
      {1, &G::random_bits, false},
      {2, &G::conditional},
      {2, &G::loop},
      {1, &G::call},
      {1, &G::barrier},
      {1, &G::fault, false},
  };
  return table;
}

void BlockGenerator::run(int count) {
  const std::vector<Step>& table = steps();
  int64_t total = 0;
  const auto allowed = [&](const Step& step) { return step.exact || !options_.exact; };
  for (const Step& step : table) total += allowed(step) ? step.weight : 0;
  for (int done = 0; done < count;) {
    int64_t ticket = rng_.below(total);
    const Step* chosen = table.data();
    while (!allowed(*chosen) || ticket >= chosen->weight) {
      if (allowed(*chosen)) ticket -= chosen->weight;
      ++chosen;
    }
    if ((this->*chosen->generate)()) ++done;
  }
}

ElementType BlockGenerator::random_element(TypePredicate allowed) {
  using enum ElementType;
  static const std::vector<ElementType> kTypes = {
      kF32,        kF32,       kF32,    kF32,        kF32,        kF32,
      kF32,        kBF16,      kBF16,   kBF16,       kBF16,       kF16,
      kF16,        kF64,       kF64,    kSI32,       kSI32,       kSI32,
      kSI32,       kI1,        kI1,     kI1,         kSI8,        kSI16,
      kUI8,        kUI16,      kUI32,   kSI64,       kUI64,       kSI4,
      kUI4,        kF8E4M3FN,  kF8E5M2, kF8E4M3FNUZ, kF8E5M2FNUZ, kF8E4M3B11FNUZ,
      kComplexF32, kComplexF64};
  for (;;) {
    const ElementType type = rng_.pick(kTypes);
    if (allowed(type) && !(options_.exact && is_complex(type))) return type;
  }
}

int64_t BlockGenerator::random_size() {
  static const std::vector<int64_t> kSizes = {
      0, 1,  1,  1,  2,  2,  2,  3,  3,  3,   4,   4,   5,   5,   7,    8,    8,
      9, 16, 17, 31, 32, 33, 40, 64, 65, 100, 129, 200, 257, 512, 1000, 2049, 4100};
  return rng_.pick(kSizes);
}

bool BlockGenerator::small_enough(const Dims& shape) const {
  return static_cast<int>(shape.size()) <= options_.max_rank + 2 &&
         num_elements(shape) <= options_.max_elements;
}

Dims BlockGenerator::random_shape() {
  if (!pool_.empty() && rng_.one_in(3)) return rng_.pick(pool_)->type.shape;
  for (;;) {
    Dims shape(rng_.below(options_.max_rank + 1));
    for (int64_t& size : shape) size = random_size();
    if (small_enough(shape)) return shape;
  }
}

Value* BlockGenerator::any_value(TypePredicate allowed, int min_rank) {
  // Two looks at random, the later value of the two, so that programs grow deep.
  std::vector<Value*> candidates;
  for (Value* value : pool_) {
    if (allowed(value->type.element) && value->type.rank() >= min_rank) {
      candidates.push_back(value);
    }
  }
  if (!candidates.empty() && !rng_.one_in(6)) {
    const int64_t count = std::ssize(candidates);
    return candidates[std::max(rng_.below(count), rng_.below(count))];
  }
  Dims shape = random_shape();
  while (std::ssize(shape) < min_rank) {
    shape = random_shape();
    if (std::ssize(shape) < min_rank) shape = Dims(min_rank, rng_.between(1, 4));
  }
  return new_value({random_element(allowed), shape});
}

Value* BlockGenerator::new_value(const TensorType& type, ValueStyle style) {
  Literal literal = random_literal(rng_, type, style);
  Value* value = nullptr;
  if (program_ && !rng_.one_in(5)) {
    program_->arguments.push_back(std::move(literal));
    value = builder_.parameter(type);
  } else if (rng_.coin() && is_number(type.element)) {
    value = is_integer(type.element) ? builder_.splat(type, rng_.between(-3, 3))
                                     : builder_.splat(type, 0.25 * double(rng_.between(-8, 8)));
  } else {
    value = builder_.constant(std::move(literal));
  }
  keep(value);
  return value;
}

Value* BlockGenerator::value_of(const TensorType& type) {
  std::vector<Value*> same, scalars;
  for (Value* value : pool_) {
    if (value->type == type) same.push_back(value);
    if (value->type.rank() == 0 && value->type.element == type.element) scalars.push_back(value);
  }
  if (!same.empty() && !rng_.one_in(4)) return rng_.pick(same);
  if (!scalars.empty() && type.rank() > 0 && rng_.one_in(4)) {
    Value* value = builder_.broadcast_in_dim(rng_.pick(scalars), type.shape, {});
    keep(value);
    return value;
  }
  return new_value(type);
}

Value* BlockGenerator::scalar_index() {
  static const std::vector<ElementType> kTypes = {ElementType::kSI32, ElementType::kSI32,
                                                  ElementType::kSI64, ElementType::kUI32,
                                                  ElementType::kSI8,  ElementType::kUI8};
  const ElementType type = options_.exact ? ElementType::kSI32 : rng_.pick(kTypes);
  return new_value({type, {}}, ValueStyle::kSmallInt);
}

Dims BlockGenerator::random_permutation(int64_t count) {
  Dims permutation(count);
  std::iota(permutation.begin(), permutation.end(), 0);
  rng_.shuffle(permutation);
  return permutation;
}

Dims BlockGenerator::random_subset(int64_t count) {
  Dims subset;
  for (int64_t i = 0; i < count; ++i) {
    if (rng_.coin()) subset.push_back(i);
  }
  return subset;
}

void BlockGenerator::keep(const std::vector<Value*>& values) {
  pool_.insert(pool_.end(), values.begin(), values.end());
}

namespace {

// Values of the block that no op uses, or some others, as results: at least one.
std::vector<Value*> choose_results(Rng& rng, const Block& block, const std::vector<Value*>& pool) {
  std::vector<Value*> unused = pool;
  for (const auto& op : block.ops()) {
    for (const Value* operand : op->operands()) std::erase(unused, operand);
  }
  std::erase_if(unused, [](const Value* value) { return value->def == nullptr; });
  std::vector<Value*> results;
  for (Value* value : unused) {
    if (results.size() < 6 && !rng.one_in(8)) results.push_back(value);
  }
  while (results.empty() || rng.one_in(4)) results.push_back(rng.pick(pool));
  rng.shuffle(results);
  return results;
}

// Strides of an array whose dimensions lie in any order, some with gaps.
Dims random_strides(Rng& rng, const Dims& shape, bool allow_zero) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (rng.coin()) rng.shuffle(order);
  Dims strides(shape.size(), 1);
  int64_t stride = rng.one_in(4) ? 2 : 1;
  for (size_t i = order.size(); i-- > 0;) {
    const size_t d = order[i];
    if (allow_zero && rng.one_in(6)) {
      strides[d] = 0;
      continue;
    }
    strides[d] = stride;
    stride *= std::max<int64_t>(shape[d], 1);
    if (rng.one_in(4)) stride += rng.between(1, 3);
  }
  return strides;
}

// Makes the argument equal along dimensions with stride 0.
Literal repeat_along(const Literal& argument, const Dims& strides) {
  Literal result = argument;
  const TensorType& type = argument.type();
  const Dims dense = row_major_strides(type.shape);
  const int64_t width = byte_width(type.element);
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    int64_t from = i;
    for (size_t d = 0; d < strides.size(); ++d) {
      if (strides[d] == 0) from -= i / dense[d] % type.shape[d] * dense[d];
    }
    std::copy_n(argument.bytes().data() + from * width, width,
                result.mutable_bytes().data() + i * width);
  }
  return result;
}

void choose_layouts(Rng& rng, Program& program) {
  const std::vector<TensorType> parameters = program.module.main().parameter_types();
  const std::vector<TensorType> results = program.module.main().result_types();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!rng.one_in(3)) continue;
    program.parameter_strides[i] = random_strides(rng, parameters[i].shape, true);
    program.arguments[i] = repeat_along(program.arguments[i], program.parameter_strides[i]);
  }
  std::vector<bool> taken(parameters.size(), false);
  for (size_t r = 0; r < results.size(); ++r) {
    if (rng.one_in(3)) program.result_strides[r] = random_strides(rng, results[r].shape, false);
    for (size_t p = 0; p < parameters.size(); ++p) {
      const Dims& strides = program.parameter_strides[p];
      const bool broadcast = std::ranges::find(strides, 0) != strides.end();
      if (taken[p] || broadcast || parameters[p] != results[r] || !rng.one_in(3)) continue;
      taken[p] = true;
      program.aliases[r] = static_cast<int>(p);
      program.result_strides[r] = strides;
      break;
    }
  }
}

}  // namespace

Program random_program(Rng& rng, const GeneratorOptions& options) {
  Program program;
  Function& main = program.module.add_function("main");
  BlockGenerator generator(rng, options, main.body, program);
  generator.run(static_cast<int>(rng.between(options.min_ops, options.max_ops)));
  generator.builder().ret(choose_results(rng, main.body, generator.pool()));
  verify(program.module);

  program.parameter_strides.resize(main.body.arguments().size());
  program.result_strides.resize(main.result_types().size());
  program.aliases.assign(main.result_types().size(), -1);
  if (options.layouts) choose_layouts(rng, program);
  return program;
}

}  // namespace tpu::hlo::testing
