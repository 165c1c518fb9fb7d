// Reductions down columns: the vectorised variable is a kept one. A unit is a chunk of columns,
// whose 32 lanes of accumulators (one a column each) stay in the first-level cache.
#include <algorithm>

#include "emulator/compiler/codegen/kernel_function.h"

namespace tpu::compiler {

using llvm::Value;

void KernelFunction::emit_columns() {
  column_arrays_.assign(kernel_.nodes.size(), {});
  column_ready_.assign(kernel_.nodes.size(), false);
  const int64_t size = schedule_.sizes[schedule_.vector];
  for_units([&](const std::vector<Value*>& digits) {
    for (size_t v = 0; v + 1 < digits.size(); ++v) index_[v] = digits[v];
    chunk_begin_ = b_.CreateMul(digits.back(), b_.getInt64(schedule_.chunk));
    chunk_end_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                          b_.CreateAdd(chunk_begin_, b_.getInt64(schedule_.chunk)),
                                          b_.getInt64(size));
    begin_unit();
    for (int pass = 0; pass < schedule_.passes; ++pass) {
      current_pass_ = pass;
      emit_unit_nodes(pass);
      emit_column_prologue(pass);
      emit_column_pass(pass);
    }
    for_columns([&](const Block& block) {
      std::vector<std::pair<size_t, Lanes>> values;
      for (size_t i = 0; i < kernel_.stores.size(); ++i) {
        if (!is_point_store(i)) values.push_back({i, value(kernel_.stores[i].node, block)});
      }
      for (const auto& [i, lanes] : values) store(i, lanes, block);
    });
  });
}

void KernelFunction::for_columns(const std::function<void(const Block&)>& body) {
  const int64_t size = schedule_.sizes[schedule_.vector];
  for_each(chunk_begin_, chunk_end_, schedule_.width, [&](Value* index) {
    clear_points();
    body(block_at(index, size, schedule_.width, true));
  });
  clear_points();
}

KernelFunction::Accumulator& KernelFunction::column_array(int node) {
  Accumulator& array = column_arrays_[node];
  if (!array.real) {
    array.type = kernel_.nodes[node].type;
    array.real = stack(buffer_type(array.type), schedule_.chunk);
    if (hlo::is_complex(array.type)) array.imag = stack(buffer_type(array.type), schedule_.chunk);
  }
  return array;
}

// Column values that the pass's points need are computed once a column, not once a point.
void KernelFunction::emit_column_prologue(int pass) {
  std::vector<int> work;
  for (const LoopReduction& reduction : kernel_.reductions) {
    if (reduction.stage != pass) continue;
    work.insert(work.end(), reduction.inputs.begin(), reduction.inputs.end());
  }
  for (size_t i = 0; i < kernel_.stores.size(); ++i) {
    if (is_point_store(i) && schedule_.pass_of_store[i] == pass) {
      work.push_back(kernel_.stores[i].node);
    }
  }
  std::vector<bool> seen(kernel_.nodes.size(), false);
  std::vector<int> fresh;
  while (!work.empty()) {
    const int node = work.back();
    work.pop_back();
    if (seen[node]) continue;
    seen[node] = true;
    const LoopNode& what = kernel_.nodes[node];
    if (levels_[node] == Level::kPoint) {
      work.insert(work.end(), what.operands.begin(), what.operands.end());
    } else if (levels_[node] == Level::kColumn && !column_ready_[node] &&
               what.kind != LoopNode::Kind::kLoad) {
      fresh.push_back(node);
    }
  }
  if (fresh.empty()) return;
  std::sort(fresh.begin(), fresh.end());
  for_columns([&](const Block& block) {
    Value* offset = b_.CreateSub(block.index, chunk_begin_);
    for (int node : fresh) {
      const Accumulator& array = column_array(node);
      store_lanes(array.type, value(node, block), array.real, array.imag, offset, block.width);
    }
  });
  for (int node : fresh) column_ready_[node] = true;
}

void KernelFunction::emit_column_pass(int pass) {
  std::vector<std::pair<int, std::vector<Accumulator>>> running;
  for (size_t r = 0; r < kernel_.reductions.size(); ++r) {
    if (kernel_.reductions[r].stage != pass) continue;
    running.push_back({static_cast<int>(r),
                       make_accumulators(static_cast<int>(r), kReduceLanes * schedule_.chunk)});
  }
  if (running.empty() && !pass_has_stores(pass)) return;
  for_reduced(schedule_.num_outer, schedule_.sizes.size(), b_.getInt64(0), [&](Value* position) {
    position_ = position;
    Value* lane = b_.CreateAnd(position, b_.getInt64(kReduceLanes - 1));
    Value* row = b_.CreateMul(lane, b_.getInt64(schedule_.chunk));
    for_columns([&](const Block& block) {
      Value* offset = b_.CreateAdd(row, b_.CreateSub(block.index, chunk_begin_));
      for (const auto& [reduction, accumulators] : running) {
        accumulate(reduction, accumulators, position, offset, block);
      }
      emit_pass_stores(pass, block);
    });
  });
  if (running.empty()) return;
  for_columns([&](const Block& block) {
    for (const auto& [reduction, accumulators] : running) {
      finish_columns(reduction, accumulators, block);
    }
  });
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    if (node.kind != LoopNode::Kind::kReduction) continue;
    if (kernel_.reductions[node.reduction].stage == pass) column_ready_[i] = true;
  }
}

// The declared tree, lane by lane over vectors of columns.
void KernelFunction::finish_columns(int reduction, const std::vector<Accumulator>& accumulators,
                                    const Block& block) {
  Value* column = b_.CreateSub(block.index, chunk_begin_);
  const auto lanes_at = [&](Value* lane) {
    Value* offset = b_.CreateAdd(b_.CreateMul(lane, b_.getInt64(schedule_.chunk)), column);
    std::vector<Lanes> lanes;
    for (const Accumulator& a : accumulators) {
      lanes.push_back(load_lanes(a.type, a.real, a.imag, offset, block.width));
    }
    return std::pair(offset, lanes);
  };
  int64_t count = std::min<int64_t>(schedule_.reduced_count(), kReduceLanes);
  for (int64_t half = kReduceLanes / 2; half >= 1; half /= 2) {
    if (half >= count) continue;
    for_each(b_.getInt64(0), b_.getInt64(count - half), 1, [&](Value* lane) {
      const auto [offset, low] = lanes_at(lane);
      const auto [unused, high] = lanes_at(b_.CreateAdd(lane, b_.getInt64(half)));
      const std::vector<Lanes> joined = apply(reduction, low, high, block.width);
      for (size_t i = 0; i < joined.size(); ++i) {
        const Accumulator& a = accumulators[i];
        store_lanes(a.type, joined[i], a.real, a.imag, offset, block.width);
      }
    });
    count = half;
  }
  const std::vector<Lanes> results =
      with_init(reduction, lanes_at(b_.getInt64(0)).second, block.width);
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    if (node.kind != LoopNode::Kind::kReduction || node.reduction != reduction) continue;
    const Accumulator& array = column_array(static_cast<int>(i));
    store_lanes(array.type, results[node.result], array.real, array.imag, column, block.width);
  }
}

}  // namespace tpu::compiler
