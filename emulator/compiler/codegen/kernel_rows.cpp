// Reductions along rows: a unit is a row (all reduced variables at one point of the others). Each
// pass runs over the row's points; between passes, row values are known.
#include <algorithm>
#include <bit>

#include "emulator/compiler/codegen/kernel_function.h"

namespace tpu::compiler {

using hlo::ElementType;
using llvm::Value;

namespace {

constexpr int kSpillCost = 6;      // a value cheaper than this is computed again in a later pass
constexpr int kRegisterCost = 10;  // a pass cheaper than this keeps its accumulators in registers

}  // namespace

// The expensive values that a later pass needs again, and where in the scratch they are kept.
void KernelFunction::find_spills() {
  std::vector<std::vector<int>> roots(schedule_.passes);
  for (const LoopReduction& reduction : kernel_.reductions) {
    auto& of_pass = roots[reduction.stage];
    of_pass.insert(of_pass.end(), reduction.inputs.begin(), reduction.inputs.end());
  }
  for (size_t i = 0; i < kernel_.stores.size(); ++i) {
    const int node = kernel_.stores[i].node;
    if (levels_[node] == Level::kPoint) roots[schedule_.pass_of_store[i]].push_back(node);
  }
  const int64_t count = schedule_.reduced_count();
  for (int pass = schedule_.passes - 1; pass > 0; --pass) {
    std::vector<bool> seen(kernel_.nodes.size(), false);
    std::vector<int> work = roots[pass];
    while (!work.empty()) {
      const int node = work.back();
      work.pop_back();
      if (seen[node] || levels_[node] != Level::kPoint) continue;
      seen[node] = true;
      const LoopNode& what = kernel_.nodes[node];
      const bool keep = what.stage < pass && what.kind == LoopNode::Kind::kOp &&
                        cost(node) > kSpillCost && !hlo::is_complex(what.type);
      if (!keep) {
        work.insert(work.end(), what.operands.begin(), what.operands.end());
      } else if (spill_offset_[node] < 0) {
        spill_offset_[node] = scratch_bytes_;
        spill_pass_[node] = what.stage;
        roots[what.stage].push_back(node);
        scratch_bytes_ += (count * buffer_bytes(what.type) + 127) / 64 * 64;
      }
    }
  }
}

void KernelFunction::emit_rows() {
  find_spills();
  for_units([&](const std::vector<Value*>& digits) {
    for (size_t v = 0; v < digits.size(); ++v) index_[v] = digits[v];
    begin_unit();
    for (int pass = 0; pass < schedule_.passes; ++pass) {
      current_pass_ = pass;
      emit_unit_nodes(pass);
      register_pass(pass) ? emit_register_pass(pass) : emit_memory_pass(pass);
    }
    emit_unit_nodes(schedule_.passes);
    for (size_t i = 0; i < kernel_.stores.size(); ++i) {
      const int node = kernel_.stores[i].node;
      if (is_point_store(i)) continue;
      store(i, levels_[node] == Level::kOnce ? once_values_[node] : unit_values_[node], Block{});
    }
  });
}

// True for a store that writes elements of the row, not one value a row.
bool KernelFunction::is_point_store(size_t i) const {
  const Dims& strides = schedule_.stores[i].strides;
  return std::any_of(strides.begin() + schedule_.num_outer, strides.end(),
                     [](int64_t stride) { return stride != 0; });
}

void KernelFunction::emit_pass_stores(int pass, const Block& block) {
  std::vector<std::pair<size_t, Lanes>> values;
  for (size_t i = 0; i < kernel_.stores.size(); ++i) {
    if (!is_point_store(i) || schedule_.pass_of_store[i] != pass) continue;
    values.push_back({i, value(kernel_.stores[i].node, block)});
  }
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    if (spill_offset_[i] < 0 || spill_pass_[i] != pass) continue;
    const Lanes lanes = value(static_cast<int>(i), block);
    Value* at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_, spill_offset_[i]);
    store_lanes(kernel_.nodes[i].type, lanes, at, nullptr, position_, block.width);
  }
  for (const auto& [i, lanes] : values) store(i, lanes, block);
}

bool KernelFunction::pass_has_stores(int pass) const {
  for (size_t i = 0; i < kernel_.stores.size(); ++i) {
    if (is_point_store(i) && schedule_.pass_of_store[i] == pass) return true;
  }
  return std::find(spill_pass_.begin(), spill_pass_.end(), pass) != spill_pass_.end();
}

// Accumulators in memory
// ---------------------------------------------------------------------------

std::vector<KernelFunction::Accumulator> KernelFunction::make_accumulators(int reduction,
                                                                           int64_t count) {
  std::vector<Accumulator> accumulators;
  for (int input : kernel_.reductions[reduction].inputs) {
    const ElementType type = kernel_.nodes[input].type;
    Accumulator made{type, stack(buffer_type(type), count), nullptr};
    if (hlo::is_complex(type)) made.imag = stack(buffer_type(type), count);
    // What a lane holds before its first element is never used, but has to be something.
    const int64_t bytes = count * buffer_bytes(type);
    b_.CreateMemSet(made.real, b_.getInt8(0), bytes, llvm::Align(64));
    if (made.imag) b_.CreateMemSet(made.imag, b_.getInt8(0), bytes, llvm::Align(64));
    accumulators.push_back(made);
  }
  return accumulators;
}

std::vector<Lanes> KernelFunction::apply(int reduction, std::vector<Lanes> accumulators,
                                         const std::vector<Lanes>& x, int width) {
  accumulators.insert(accumulators.end(), x.begin(), x.end());
  return ops_.apply_region(kernel_.reductions[reduction].op->region(0), accumulators, width);
}

std::vector<Lanes> KernelFunction::input_values(int reduction, const Block& block) {
  std::vector<Lanes> x;
  for (int input : kernel_.reductions[reduction].inputs) x.push_back(value(input, block));
  return x;
}

// Whether a block's elements are the first ones of their lanes: one answer for all of them, or one
// a lane where a block may begin among the first 32 elements and end behind them.
Value* KernelFunction::is_first(Value* position, const Block& block) {
  if (!schedule_.runs_wrap || block.width == 1) {
    return b_.CreateICmpULT(position, b_.getInt64(kReduceLanes));
  }
  // How many lanes are left of the first 32 elements; small numbers make narrow masks.
  Value* end = b_.getInt64(kReduceLanes);
  Value* left = b_.CreateTrunc(
      b_.CreateSub(end, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, position, end)),
      b_.getInt32Ty());
  std::vector<llvm::Constant*> lanes;
  for (int lane = 0; lane < block.width; ++lane) lanes.push_back(b_.getInt32(lane));
  return b_.CreateICmpULT(llvm::ConstantVector::get(lanes),
                          b_.CreateVectorSplat(block.width, left));
}

// Lanes that wrap around: the first ones are repeated behind the last, used there, and put back.
void KernelFunction::move_wrapped(const std::vector<Accumulator>& accumulators, Value* wraps,
                                  bool back) {
  if_then(wraps, [&] {
    Value* front = b_.getInt64(0);
    Value* behind = b_.getInt64(kReduceLanes);
    for (const Accumulator& a : accumulators) {
      const Lanes lanes =
          load_lanes(a.type, a.real, a.imag, back ? behind : front, schedule_.width);
      store_lanes(a.type, lanes, a.real, a.imag, back ? front : behind, schedule_.width);
    }
  });
}

// Takes the block's values into the accumulators from `offset` on; `position` is the number of the
// block's first element (rows) or of all its elements (columns).
void KernelFunction::accumulate(int reduction, const std::vector<Accumulator>& accumulators,
                                Value* position, Value* offset, const Block& block) {
  const std::vector<Lanes> x = input_values(reduction, block);
  std::vector<Lanes> old;
  for (const Accumulator& a : accumulators) {
    old.push_back(load_lanes(a.type, a.real, a.imag, offset, block.width));
  }
  std::vector<Lanes> next = x;
  if (schedule_.reduced_count() > kReduceLanes) {
    Value* first = is_first(position, block);
    next = apply(reduction, old, x, block.width);
    for (size_t i = 0; i < x.size(); ++i) next[i] = ops_.select(first, x[i], next[i]);
  }
  if (block.is_tail && schedule_.form == LoopForm::kRows) {
    std::vector<llvm::Constant*> valid;
    for (int lane = 0; lane < block.width; ++lane) valid.push_back(b_.getInt1(lane < block.tail));
    Value* mask = b_.CreateSelect(
        block.is_tail, llvm::ConstantVector::get(valid),
        llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(block.width), b_.getTrue()));
    for (size_t i = 0; i < x.size(); ++i) next[i] = ops_.select(mask, next[i], old[i]);
  }
  for (size_t i = 0; i < next.size(); ++i) {
    const Accumulator& a = accumulators[i];
    store_lanes(a.type, next[i], a.real, a.imag, offset, block.width);
  }
}

void KernelFunction::emit_memory_pass(int pass) {
  std::vector<std::pair<int, std::vector<Accumulator>>> running;
  for (size_t r = 0; r < kernel_.reductions.size(); ++r) {
    if (kernel_.reductions[r].stage != pass) continue;
    const int64_t lanes = kReduceLanes + (schedule_.runs_wrap ? schedule_.width : 0);
    running.push_back({static_cast<int>(r), make_accumulators(static_cast<int>(r), lanes)});
  }
  if (running.empty() && !pass_has_stores(pass)) return;
  const int64_t size = schedule_.sizes[schedule_.vector];
  for_reduced(schedule_.num_outer, schedule_.sizes.size() - 1, b_.getInt64(0), [&](Value* outer) {
    Value* start = b_.CreateMul(outer, b_.getInt64(size));
    for_each(b_.getInt64(0), b_.getInt64(size), schedule_.width, [&](Value* index) {
      const Block block = block_at(index, size, schedule_.width, true);
      clear_points();
      position_ = b_.CreateAdd(start, index);
      Value* lane = b_.CreateAnd(position_, b_.getInt64(kReduceLanes - 1));
      Value* wraps = nullptr;
      if (schedule_.runs_wrap) {
        wraps = b_.CreateICmpUGT(lane, b_.getInt64(kReduceLanes - schedule_.width));
      }
      for (const auto& [reduction, accumulators] : running) {
        if (wraps) move_wrapped(accumulators, wraps, false);
        accumulate(reduction, accumulators, position_, lane, block);
        if (wraps) move_wrapped(accumulators, wraps, true);
      }
      emit_pass_stores(pass, block);
    });
  });
  clear_points();
  const int64_t count = std::min<int64_t>(schedule_.reduced_count(), kReduceLanes);
  for (const auto& [reduction, accumulators] : running) {
    std::vector<Lanes> lanes;
    for (const Accumulator& a : accumulators) {
      const int width = static_cast<int>(std::bit_ceil(static_cast<uint64_t>(count)));
      lanes.push_back(load_lanes(a.type, a.real, a.imag, b_.getInt64(0), width));
    }
    finish_row(reduction, tree(reduction, std::move(lanes), count));
  }
}

// The declared tree over `count` lanes of vectors of at least as many.
std::vector<Lanes> KernelFunction::tree(int reduction, std::vector<Lanes> lanes, int64_t count) {
  const auto part = [&](Value* from, int first, int width) -> Value* {
    if (width == 1) return b_.CreateExtractElement(from, uint64_t(first));
    const int available =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(from->getType())->getNumElements());
    std::vector<int> mask;
    for (int i = first; i < first + width; ++i) mask.push_back(i < available ? i : first);
    return b_.CreateShuffleVector(from, mask);
  };
  const auto parts = [&](Lanes from, int first, int width) -> Lanes {
    return {part(from.value, first, width), from.imag ? part(from.imag, first, width) : nullptr};
  };
  for (int half = kReduceLanes / 2; half >= 1; half /= 2) {
    if (half >= count) continue;
    const int64_t paired = count - half;  // lanes that have a partner
    std::vector<Lanes> low, high;
    for (const Lanes& from : lanes) {
      low.push_back(parts(from, 0, half));
      high.push_back(parts(from, half, half));
    }
    std::vector<Lanes> joined = apply(reduction, low, high, half);
    if (paired < half) {
      std::vector<llvm::Constant*> mask;
      for (int i = 0; i < half; ++i) mask.push_back(b_.getInt1(i < paired));
      for (size_t i = 0; i < joined.size(); ++i) {
        joined[i] = ops_.select(llvm::ConstantVector::get(mask), joined[i], low[i]);
      }
    }
    lanes = std::move(joined);
    count = half;
  }
  return lanes;
}

std::vector<Lanes> KernelFunction::with_init(int reduction, const std::vector<Lanes>& lanes,
                                             int width) {
  std::vector<Lanes> inits;
  for (int init : kernel_.reductions[reduction].inits) {
    const Lanes scalar = levels_[init] == Level::kOnce ? once_values_[init] : unit_values_[init];
    inits.push_back(ops_.splat(scalar, width));
  }
  return apply(reduction, inits, lanes, width);
}

void KernelFunction::finish_row(int reduction, const std::vector<Lanes>& lanes) {
  const std::vector<Lanes> results = with_init(reduction, lanes, 1);
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    if (node.kind == LoopNode::Kind::kReduction && node.reduction == reduction) {
      unit_values_[i] = results[node.result];
    }
  }
}

// Accumulators in registers
// ------------------------------------------------------------------------

bool KernelFunction::register_pass(int pass) const {
  if (split_) return true;
  if (schedule_.sizes.size() != static_cast<size_t>(schedule_.num_outer) + 1) return false;
  if (schedule_.reduced_count() < 2 * kReduceLanes || pass_has_stores(pass)) return false;
  int total = 0, accumulators = 0;
  for (const LoopReduction& reduction : kernel_.reductions) {
    if (reduction.stage != pass) continue;
    for (int input : reduction.inputs) total += cost(input);
    accumulators += static_cast<int>(reduction.inputs.size());
  }
  return accumulators > 0 && accumulators <= 2 && total <= kRegisterCost;
}

KernelFunction::RowLanes KernelFunction::values_at(const std::vector<int>& reductions,
                                                   const Block& block) {
  clear_points();
  position_ = block.index;
  RowLanes all;
  for (int reduction : reductions) all.push_back(input_values(reduction, block));
  return all;
}

// Takes in the blocks of `width` lanes at first + k for k = begin, begin + 32, ... below `end`.
void KernelFunction::accumulate_run(const std::vector<int>& reductions, RowLanes& lanes,
                                    Value* first, int width, int64_t begin, int64_t end) {
  if (begin >= end) return;
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b_.getContext(), "lanes", function_);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b_.getContext(), "lanes.done", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(b_.getInt64(begin), before);
  std::vector<llvm::PHINode*> carried;
  const auto carry = [&](Value*& value) {
    if (!value) return;
    llvm::PHINode* phi = b_.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    carried.push_back(phi);
    value = phi;
  };
  for (auto& of_reduction : lanes) {
    for (Lanes& one : of_reduction) {
      carry(one.value);
      carry(one.imag);
    }
  }
  const RowLanes x = values_at(reductions, {b_.CreateAdd(first, index), width, nullptr, 0});
  size_t next_phi = 0;
  for (size_t r = 0; r < reductions.size(); ++r) {
    lanes[r] = apply(reductions[r], lanes[r], x[r], width);
    for (const Lanes& one : lanes[r]) {
      carried[next_phi++]->addIncoming(one.value, b_.GetInsertBlock());
      if (one.imag) carried[next_phi++]->addIncoming(one.imag, b_.GetInsertBlock());
    }
  }
  Value* next = b_.CreateNSWAdd(index, b_.getInt64(kReduceLanes));
  index->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, b_.getInt64(end)), loop, done);
  b_.SetInsertPoint(done);
}

void KernelFunction::emit_register_pass(int pass) {
  std::vector<int> running;
  for (size_t r = 0; r < kernel_.reductions.size(); ++r) {
    if (kernel_.reductions[r].stage == pass) running.push_back(static_cast<int>(r));
  }
  const int64_t size = schedule_.reduced_count();
  const int64_t even = size / kReduceLanes * kReduceLanes;
  RowLanes lanes;
  if (split_) {
    int64_t number = 0;
    for (int reduction : running) {
      lanes.emplace_back();
      for (int input : kernel_.reductions[reduction].inputs) {
        lanes.back().push_back(load_lanes(kernel_.nodes[input].type,
                                          split_pointer(row_number(), number++), nullptr,
                                          b_.getInt64(0), kReduceLanes));
      }
    }
  } else {
    lanes = values_at(running, {b_.getInt64(0), kReduceLanes, nullptr, 0});
    accumulate_run(running, lanes, b_.getInt64(0), kReduceLanes, kReduceLanes, even);
  }
  if (even < size) {
    std::vector<llvm::Constant*> valid;
    for (int i = 0; i < kReduceLanes; ++i) valid.push_back(b_.getInt1(i < size - even));
    const RowLanes x =
        values_at(running, {b_.getInt64(even), kReduceLanes, b_.getTrue(), size - even});
    for (size_t r = 0; r < running.size(); ++r) {
      const std::vector<Lanes> next = apply(running[r], lanes[r], x[r], kReduceLanes);
      for (size_t i = 0; i < next.size(); ++i) {
        lanes[r][i] = ops_.select(llvm::ConstantVector::get(valid), next[i], lanes[r][i]);
      }
    }
  }
  clear_points();
  for (size_t r = 0; r < running.size(); ++r) {
    finish_row(running[r], tree(running[r], lanes[r], kReduceLanes));
  }
}

// Rows split by lanes
// ------------------------------------------------------------------------------

Value* KernelFunction::row_number() {
  Value* row = b_.getInt64(0);
  for (int v = 0; v < schedule_.num_outer; ++v) {
    row = b_.CreateAdd(b_.CreateMul(row, b_.getInt64(schedule_.sizes[v])), index_[v]);
  }
  return row;
}

// Where the lanes of a row's reduced value number `value` lie.
Value* KernelFunction::split_pointer(Value* row, int64_t value) {
  int64_t values = 0;
  for (const LoopReduction& reduction : kernel_.reductions) {
    values += static_cast<int64_t>(reduction.inputs.size());
  }
  Value* base =
      b_.CreateConstGEP1_64(b_.getInt8Ty(), base_address(split_->slot), value * kSplitLaneBytes);
  return add_bytes(base, row, values * kSplitLaneBytes);
}

void KernelFunction::emit_lane_groups() {
  std::vector<int> all;
  for (size_t r = 0; r < kernel_.reductions.size(); ++r) all.push_back(static_cast<int>(r));
  const int width = kReduceLanes / split_->groups;
  const int64_t even = schedule_.reduced_count() / kReduceLanes * kReduceLanes;
  for_units([&](const std::vector<Value*>& digits) {
    for (size_t v = 0; v + 1 < digits.size(); ++v) index_[v] = digits[v];
    begin_unit();
    emit_unit_nodes(0);
    Value* first = b_.CreateMul(digits.back(), b_.getInt64(width));
    RowLanes lanes = values_at(all, {first, width, nullptr, 0});
    accumulate_run(all, lanes, first, width, kReduceLanes, even);
    int64_t number = 0;
    for (size_t r = 0; r < all.size(); ++r) {
      for (size_t i = 0; i < lanes[r].size(); ++i) {
        const ElementType type = kernel_.nodes[kernel_.reductions[r].inputs[i]].type;
        store_lanes(type, lanes[r][i], split_pointer(row_number(), number++), nullptr, first,
                    width);
      }
    }
  });
}

}  // namespace tpu::compiler
