// Control flow, calls, barriers, faults.
#include <string>

#include "emulator/hlo/testing/block_generator.h"

namespace tpu::hlo::testing {
namespace {

constexpr int kMaxDepth = 2;

}  // namespace

// A region without arguments that yields values of the given types.
Builder::Body BlockGenerator::random_branch(const std::vector<TensorType>& types) {
  return [this, types](Builder& b, std::span<Value* const>) {
    BlockGenerator inner(rng_, options_, b.block(), this, depth_ + 1);
    inner.run(static_cast<int>(rng_.between(0, 4)));
    std::vector<Value*> results;
    for (const TensorType& type : types) results.push_back(inner.value_of(type));
    inner.builder().ret(results);
  };
}

bool BlockGenerator::conditional() {
  if (depth_ >= kMaxDepth) return false;
  std::vector<TensorType> types;
  for (int64_t n = rng_.between(1, 2); n > 0; --n) types.push_back(any_value(is_any)->type);
  std::vector<Builder::Body> branches;
  if (rng_.coin()) {
    for (int64_t n = rng_.between(1, 3); n > 0; --n) branches.push_back(random_branch(types));
    Value* index = value_of({ElementType::kSI32, {}});
    keep(builder_.case_(index, branches));
    return true;
  }
  std::vector<std::unique_ptr<Block>> regions;
  Value* pred = value_of({ElementType::kI1, {}});
  for (int i = 0; i < 2; ++i) {
    regions.push_back(std::make_unique<Block>());
    Builder inner(*regions.back());
    random_branch(types)(inner, {});
  }
  Op* op = builder_.create(OpKind::kIf, {pred}, {}, std::move(regions));
  for (int i = 0; i < op->num_results(); ++i) keep(op->result(i));
  return true;
}

// for (i = first; i < limit; i += step) carried = body(i, carried), at most a few times.
bool BlockGenerator::loop() {
  if (depth_ >= kMaxDepth) return false;
  const ElementType counter = rng_.pick({ElementType::kSI32, ElementType::kSI64});
  const int64_t limit = rng_.between(0, 5), step = rng_.between(1, 2);
  std::vector<Value*> carried = {builder_.constant(counter, int64_t{0})};
  for (int64_t n = rng_.between(1, 3); n > 0; --n) carried.push_back(any_value(is_any));
  const auto cond = [&](Builder& b, std::span<Value* const> v) {
    b.ret({b.compare(v[0], b.constant(counter, limit), "LT")});
  };
  const auto body = [&](Builder& b, std::span<Value* const> v) {
    BlockGenerator inner(rng_, options_, b.block(), this, depth_ + 1);
    inner.run(static_cast<int>(rng_.between(0, 5)));
    std::vector<Value*> next = {b.add(v[0], b.constant(counter, step))};
    for (Value* value : v.subspan(1)) {
      next.push_back(rng_.one_in(4) ? value : inner.value_of(value->type));
    }
    b.ret(next);
  };
  keep(builder_.while_(carried, cond, body));
  return true;
}

bool BlockGenerator::call() {
  if (!program_) return false;
  const std::string name = "f" + std::to_string(program_->module.functions().size());
  Function& function = program_->module.add_function(name);
  function.is_public = false;
  std::vector<Value*> operands;
  for (int64_t n = rng_.between(1, 3); n > 0; --n) {
    operands.push_back(any_value(is_any));
    function.body.add_argument(operands.back()->type);
  }
  BlockGenerator inner(rng_, options_, function.body, nullptr, depth_ + 1);
  inner.run(static_cast<int>(rng_.between(1, 5)));
  std::vector<Value*> results;
  for (int64_t n = rng_.between(1, 2); n > 0; --n) results.push_back(inner.any_value(is_any));
  inner.builder().ret(results);
  for (int64_t n = rng_.between(1, 2); n > 0; --n) {
    const Op* op = builder_.create(OpKind::kCall, operands, {{"callee", SymbolRef{name}}}, {},
                                   function.result_types());
    for (int i = 0; i < op->num_results(); ++i) keep(op->result(i));
  }
  return true;
}

bool BlockGenerator::barrier() {
  std::vector<Value*> operands;
  for (int64_t n = rng_.between(1, 3); n > 0; --n) operands.push_back(any_value(is_any));
  keep(builder_.optimization_barrier(operands));
  return true;
}

bool BlockGenerator::fault() {
  if (!options_.faults) return false;
  Value* x = any_value(is_real);
  Value* ok = builder_.compare(x, x, "EQ");  // false for a NaN
  Dims all;
  for (int64_t d = 0; d < ok->type.rank(); ++d) all.push_back(d);
  Value* init = builder_.constant(ElementType::kI1, int64_t{1});
  Value* every = builder_.reduce({ok}, {init}, all, Builder::combiner(OpKind::kAnd))[0];
  builder_.assert_true(every, "not a number in value " + std::to_string(pool_.size()));
  return true;
}

}  // namespace tpu::hlo::testing
