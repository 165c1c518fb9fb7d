#include "emulator/compiler/codegen/kernel_function.h"

#include <algorithm>

#include "emulator/compiler/passes/op_class.h"

namespace tpu::compiler {

using hlo::ElementType;
using llvm::Value;

KernelFunction::KernelFunction(llvm::Module& module, const LoopKernel& kernel,
                               const Schedule& schedule, HostIsa isa, const std::string& name,
                               std::optional<LaneSplit> split)
    : kernel_(kernel),
      schedule_(schedule),
      split_(split),
      module_(module),
      b_(module.getContext()),
      ops_(b_, isa) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* count = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, count, count, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  table_ = function_->getArg(0);
  begin_ = function_->getArg(1);
  end_ = function_->getArg(2);
  scratch_ = function_->getArg(3);
  entry_ = llvm::BasicBlock::Create(b_.getContext(), "entry", function_);
  b_.SetInsertPoint(entry_);
}

int64_t KernelFunction::emit() {
  find_dependences();
  find_needed();
  index_.assign(schedule_.sizes.size(), nullptr);
  once_values_.resize(kernel_.nodes.size());
  unit_values_.resize(kernel_.nodes.size());
  spill_offset_.assign(kernel_.nodes.size(), -1);
  spill_pass_.assign(kernel_.nodes.size(), -1);
  clear_points();
  emit_once();
  switch (schedule_.form) {
    case LoopForm::kMap:
      emit_map();
      break;
    case LoopForm::kRows:
      split_ && !split_->finishes ? emit_lane_groups() : emit_rows();
      break;
    case LoopForm::kColumns:
      emit_columns();
      break;
    case LoopForm::kTiles:
      emit_tiles();
      break;
  }
  b_.CreateRetVoid();
  return scratch_bytes_;
}

// Preparation
// --------------------------------------------------------------------------------------

void KernelFunction::find_dependences() {
  const uint64_t outer = (uint64_t{1} << schedule_.num_outer) - 1;
  uint64_t vector = schedule_.vector < 0 ? 0 : uint64_t{1} << schedule_.vector;
  if (schedule_.cross >= 0) vector |= uint64_t{1} << schedule_.cross;
  const bool columns = schedule_.form == LoopForm::kColumns;
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    uint64_t depends = 0;
    Level level = Level::kOnce;
    const Dims& strides = schedule_.nodes[i].strides;
    for (size_t v = 0; v < strides.size(); ++v) {
      if (strides[v] != 0) depends |= uint64_t{1} << v;
    }
    for (int operand : node.operands) {
      depends |= depends_[operand];
      level = std::max(level, levels_[operand]);
    }
    if (node.kind == LoopNode::Kind::kReduction) {
      for (int input : kernel_.reductions[node.reduction].inputs) depends |= depends_[input];
      depends &= outer;
      level = columns ? Level::kColumn : Level::kUnit;
    } else if (depends & ~outer) {
      level = Level::kPoint;
    } else if (depends & vector) {
      level = std::max(level, columns ? Level::kColumn : Level::kPoint);
    } else if (depends) {
      level = std::max(level, Level::kUnit);
    }
    depends_.push_back(depends);
    levels_.push_back(level);
  }
}

void KernelFunction::find_needed() {
  needed_.assign(kernel_.nodes.size(), false);
  std::vector<int> work;
  const auto need = [&](int node) {
    if (!needed_[node]) work.push_back(node);
    needed_[node] = true;
  };
  for (const LoopStore& store : kernel_.stores) need(store.node);
  const auto need_starts = [&](const MemoryAccess& access) {
    for (const MemoryAccess::Start& start : access.starts) need(start.node);
  };
  for (const MemoryAccess& store : schedule_.stores) need_starts(store);
  for (const LoopReduction& reduction : kernel_.reductions) {
    for (int node : reduction.inputs) need(node);
    for (int node : reduction.inits) need(node);
  }
  while (!work.empty()) {
    const int node = work.back();
    work.pop_back();
    for (int operand : kernel_.nodes[node].operands) need(operand);
    need_starts(schedule_.nodes[node]);
  }
}

void KernelFunction::emit_once() {
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    if (!needed_[i] || levels_[i] != Level::kOnce) continue;
    once_values_[i] = compute(static_cast<int>(i), Block{});
  }
}

void KernelFunction::begin_unit() {
  node_pointers_.assign(kernel_.nodes.size(), nullptr);
  store_pointers_.clear();
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    if (!needed_[i] || kernel_.nodes[i].kind != LoopNode::Kind::kLoad) continue;
    if (levels_[i] == Level::kOnce) continue;
    node_pointers_[i] = unit_pointer(schedule_.nodes[i], kernel_.nodes[i].type);
  }
  for (size_t i = 0; i < kernel_.stores.size(); ++i) {
    store_pointers_.push_back(
        unit_pointer(schedule_.stores[i], kernel_.stores[i].value->type.element));
  }
}

void KernelFunction::emit_unit_nodes(int pass) {
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    if (!needed_[i] || levels_[i] != Level::kUnit || node.stage > pass) continue;
    if (unit_values_[i].value || node.kind == LoopNode::Kind::kReduction) continue;
    unit_values_[i] = compute(static_cast<int>(i), Block{});
  }
}

// Loops
// --------------------------------------------------------------------------------------------

void KernelFunction::for_each(Value* begin, Value* end, int64_t step,
                              const std::function<void(Value*)>& body) {
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b_.getContext(), "loop", function_);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b_.getContext(), "done", function_);
  Value* any = b_.CreateICmpSLT(begin, end);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(any); known && known->isOne()) {
    b_.CreateBr(loop);
  } else {
    b_.CreateCondBr(any, loop, done);
  }
  b_.SetInsertPoint(loop);
  llvm::PHINode* index = b_.CreatePHI(b_.getInt64Ty(), 2);
  index->addIncoming(begin, before);
  body(index);
  Value* next = b_.CreateNSWAdd(index, b_.getInt64(step));
  index->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpSLT(next, end), loop, done);
  b_.SetInsertPoint(done);
}

void KernelFunction::if_then(Value* condition, const std::function<void()>& body) {
  llvm::BasicBlock* then = llvm::BasicBlock::Create(b_.getContext(), "then", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(b_.getContext(), "after", function_);
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  body();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// Units are numbered row-major over `sizes`; the digits of the number count up like an odometer.
void KernelFunction::for_units(const std::function<void(const std::vector<Value*>&)>& body) {
  std::vector<int64_t> sizes;
  const bool chunked = schedule_.form != LoopForm::kRows && schedule_.vector >= 0;
  for (int v = 0; v < schedule_.num_outer; ++v) {
    if (chunked && v == schedule_.vector) continue;
    const int64_t step = v == schedule_.cross ? schedule_.tile : 1;
    sizes.push_back((schedule_.sizes[v] + step - 1) / step);
  }
  if (chunked) {
    const int64_t size = schedule_.sizes[schedule_.vector];
    sizes.push_back((size + schedule_.chunk - 1) / schedule_.chunk);
  }
  if (split_ && !split_->finishes) sizes.push_back(split_->groups);
  std::vector<Value*> first(sizes.size());
  Value* rest = begin_;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (i == 0) {
      first[0] = rest;
    } else {
      first[i] = b_.CreateURem(rest, b_.getInt64(sizes[i]));
      rest = b_.CreateUDiv(rest, b_.getInt64(sizes[i]));
    }
  }
  llvm::BasicBlock* before = b_.GetInsertBlock();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(b_.getContext(), "units", function_);
  llvm::BasicBlock* done = llvm::BasicBlock::Create(b_.getContext(), "units.done", function_);
  b_.CreateCondBr(b_.CreateICmpSLT(begin_, end_), loop, done);
  b_.SetInsertPoint(loop);
  llvm::PHINode* unit = b_.CreatePHI(b_.getInt64Ty(), 2);
  unit->addIncoming(begin_, before);
  std::vector<llvm::PHINode*> digits;
  for (Value* value : first) {
    digits.push_back(b_.CreatePHI(b_.getInt64Ty(), 2));
    digits.back()->addIncoming(value, before);
  }
  std::fill(unit_values_.begin(), unit_values_.end(), Lanes{});
  body({digits.begin(), digits.end()});
  llvm::BasicBlock* last = b_.GetInsertBlock();
  Value* carry = b_.getInt64(1);
  for (size_t i = digits.size(); i-- > 0;) {
    Value* next = b_.CreateAdd(digits[i], carry);
    if (i > 0) {
      Value* full = b_.CreateICmpEQ(next, b_.getInt64(sizes[i]));
      next = b_.CreateSelect(full, b_.getInt64(0), next);
      carry = b_.CreateZExt(full, b_.getInt64Ty());
    }
    digits[i]->addIncoming(next, last);
  }
  Value* next_unit = b_.CreateNSWAdd(unit, b_.getInt64(1));
  unit->addIncoming(next_unit, last);
  b_.CreateCondBr(b_.CreateICmpSLT(next_unit, end_), loop, done);
  b_.SetInsertPoint(done);
}

// Loops over the reduced variables [first, last); `position` numbers their points row-major.
void KernelFunction::for_reduced(size_t first, size_t last, Value* position,
                                 const std::function<void(Value*)>& body) {
  if (first == last) {
    body(position);
    return;
  }
  const int64_t size = schedule_.sizes[first];
  for_each(b_.getInt64(0), b_.getInt64(size), 1, [&](Value* index) {
    index_[first] = index;
    Value* inner = b_.CreateAdd(b_.CreateMul(position, b_.getInt64(size)), index);
    for_reduced(first + 1, last, inner, body);
  });
}

KernelFunction::Block KernelFunction::block_at(Value* index, int64_t size, int width,
                                               bool partial) {
  Block block{index, width, nullptr, 0};
  if (partial && size % width != 0) {
    block.is_tail = b_.CreateICmpSGT(b_.CreateAdd(index, b_.getInt64(width)), b_.getInt64(size));
    block.tail = size % width;
  }
  return block;
}

// Maps
// ---------------------------------------------------------------------------------------------

void KernelFunction::emit_map() {
  if (schedule_.vector < 0) {
    begin_unit();
    for (size_t i = 0; i < kernel_.stores.size(); ++i) {
      store(i, value(kernel_.stores[i].node, Block{}), Block{});
    }
    return;
  }
  const int64_t size = schedule_.sizes[schedule_.vector];
  const int width = schedule_.width;
  for_units([&](const std::vector<Value*>& digits) {
    for (size_t v = 0; v + 1 < digits.size(); ++v) index_[v] = digits[v];
    chunk_begin_ = b_.CreateMul(digits.back(), b_.getInt64(schedule_.chunk));
    Value* limit = b_.CreateAdd(chunk_begin_, b_.getInt64(schedule_.chunk));
    const bool whole = size % schedule_.chunk == 0;
    chunk_end_ =
        whole ? limit : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, limit, b_.getInt64(size));
    begin_unit();
    emit_unit_nodes(0);
    for_each(chunk_begin_, chunk_end_, width, [&](Value* index) {
      // The last block of a row that its width does not divide is moved back to end with the row:
      // elements computed twice come out the same, unless they were overwritten.
      const bool overlap = size % width != 0 && !schedule_.in_place;
      if (overlap) {
        index = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.getInt64(size - width));
      }
      const Block block = block_at(index, size, width, !overlap);
      clear_points();
      std::vector<Lanes> values;
      for (const LoopStore& store : kernel_.stores) values.push_back(value(store.node, block));
      for (size_t i = 0; i < values.size(); ++i) store(i, values[i], block);
    });
  });
}

// Values
// -------------------------------------------------------------------------------------------

Lanes KernelFunction::value(int node, const Block& block) {
  Lanes& known = point_values_[node];
  if (known.value) return known;
  const LoopNode& what = kernel_.nodes[node];
  Lanes made;
  switch (levels_[node]) {
    case Level::kOnce:
      made = ops_.splat(once_values_[node], block.width);
      break;
    case Level::kUnit:
      made = ops_.splat(unit_values_[node], block.width);
      break;
    case Level::kColumn: {
      if (!column_ready_[node]) {
        made = compute(node, block);
        break;
      }
      const Accumulator& array = column_arrays_[node];
      Value* offset = b_.CreateSub(block.index, chunk_begin_);
      made = load_lanes(array.type, array.real, array.imag, offset, block.width);
      break;
    }
    case Level::kPoint:
      if (spill_offset_[node] >= 0 && current_pass_ > spill_pass_[node]) {
        Value* at = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), scratch_, spill_offset_[node]);
        made = load_lanes(what.type, at, nullptr, position_, block.width);
      } else {
        made = compute(node, block);
      }
      break;
  }
  point_values_[node] = made;
  return made;
}

Lanes KernelFunction::compute(int node, const Block& block) {
  const LoopNode& what = kernel_.nodes[node];
  const bool outside = levels_[node] <= Level::kUnit;
  const auto operand = [&](int i) {
    const int id = what.operands[i];
    if (!outside) return value(id, block);
    return levels_[id] == Level::kOnce ? once_values_[id] : unit_values_[id];
  };
  switch (what.kind) {
    case LoopNode::Kind::kLoad:
      return load(node, block);
    case LoopNode::Kind::kConstant:
      return ops_.constant(what.constant, block.width);
    case LoopNode::Kind::kIota:
      return iota(node, block);
    case LoopNode::Kind::kStart: {
      const ElementType type = kernel_.nodes[what.operands[0]].type;
      Value* index = operand(0).value;
      Value* limit = b_.getInt64(what.limit);
      if (!hlo::is_signed_integer(type)) {
        index = b_.CreateZExt(index, b_.getInt64Ty());
        return {b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, index, limit)};
      }
      index = b_.CreateSExt(index, b_.getInt64Ty());
      index = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, index, b_.getInt64(0));
      return {b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, limit)};
    }
    case LoopNode::Kind::kOp: {
      std::vector<Lanes> operands;
      for (size_t i = 0; i < what.operands.size(); ++i) {
        operands.push_back(operand(static_cast<int>(i)));
      }
      return ops_.apply(*what.op, operands, block.width);
    }
    case LoopNode::Kind::kRegion: {
      std::vector<Lanes> arguments;
      for (size_t i = 0; i < what.operands.size(); ++i) {
        arguments.push_back(operand(static_cast<int>(i)));
      }
      return ops_.apply_region(what.op->region(0), arguments, block.width)[what.result];
    }
    case LoopNode::Kind::kReduction:
      break;  // set when its pass is done
  }
  return {};
}

Lanes KernelFunction::iota(int node, const Block& block) {
  const MemoryAccess& access = schedule_.nodes[node];
  int64_t reach = std::abs(access.offset);
  for (size_t v = 0; v < access.strides.size(); ++v) {
    reach += std::abs(access.strides[v]) * schedule_.sizes[v];
  }
  const bool small = access.starts.empty() && reach < INT32_MAX;
  llvm::Type* type = small ? b_.getInt32Ty() : b_.getInt64Ty();
  Value* base = llvm::ConstantInt::getSigned(type, access.offset);
  for (size_t v = 0; v < access.strides.size(); ++v) {
    if (access.strides[v] == 0) continue;
    Value* index = static_cast<int>(v) == schedule_.vector ? block.index : index_[v];
    Value* factor = llvm::ConstantInt::getSigned(type, access.strides[v]);
    base = b_.CreateAdd(base, b_.CreateMul(b_.CreateTrunc(index, type), factor));
  }
  for (const MemoryAccess::Start& start : access.starts) {
    Value* offset = b_.CreateMul(once_values_[start.node].value, b_.getInt64(start.stride));
    base = b_.CreateAdd(base, offset);
  }
  if (block.width > 1) {
    base = b_.CreateVectorSplat(block.width, base);
    const int64_t stride = schedule_.vector < 0 ? 0 : access.strides[schedule_.vector];
    if (stride != 0) {
      std::vector<llvm::Constant*> steps;
      for (int lane = 0; lane < block.width; ++lane) {
        steps.push_back(llvm::ConstantInt::getSigned(type, lane * stride));
      }
      base = b_.CreateAdd(base, llvm::ConstantVector::get(steps));
    }
  }
  return ops_.from_index(kernel_.nodes[node].type, base, block.width);
}

int KernelFunction::cost(int node) const {
  const LoopNode& what = kernel_.nodes[node];
  if (levels_[node] != Level::kPoint) return 0;
  int total = 1;
  if (what.kind == LoopNode::Kind::kOp) {
    total = is_expensive(*what.op) ? 10 : 1;
  } else if (what.kind == LoopNode::Kind::kLoad) {
    const int64_t stride = schedule_.nodes[node].strides[schedule_.vector];
    if (stride != 0 && stride != 1) total = 6;
  }
  for (int operand : what.operands) total = std::min(total + cost(operand), 1000);
  return total;
}

}  // namespace tpu::compiler
