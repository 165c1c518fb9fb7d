// Maps with loads that run across: two variables are visited in square tiles. A tile of such a load
// is read along its own direction, whole cache lines at a time, and transposed in registers into a
// buffer that the points then read along theirs.
#include <algorithm>

#include "emulator/compiler/codegen/kernel_function.h"

namespace tpu::compiler {

using llvm::Value;

namespace {

constexpr int kBlock = 8;  // side of what is transposed in registers at a time

}  // namespace

void KernelFunction::emit_tiles() {
  const int vector = schedule_.vector, cross = schedule_.cross, tile = schedule_.tile;
  const int64_t columns = schedule_.sizes[vector], rows = schedule_.sizes[cross];
  tile_buffers_.assign(kernel_.nodes.size(), nullptr);
  for (size_t i = 0; i < kernel_.nodes.size(); ++i) {
    const LoopNode& node = kernel_.nodes[i];
    if (!needed_[i] || node.kind != LoopNode::Kind::kLoad || hlo::is_complex(node.type)) continue;
    const Dims& strides = schedule_.nodes[i].strides;
    if (strides[cross] != 1 || strides[vector] == 0 || strides[vector] == 1) continue;
    tile_buffers_[i] = stack(ops_.memory_type(node.type), int64_t{tile} * tile);
  }
  // The last tile of a row or column is moved back to end where the array does.
  const auto within = [&](Value* index, int64_t size) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, index, b_.getInt64(size - tile));
  };
  for_units([&](const std::vector<Value*>& digits) {
    Value* row = nullptr;
    for (int v = 0; v + 1 < static_cast<int>(digits.size()); ++v) {
      index_[v] = digits[v];
      if (v == cross) row = within(b_.CreateMul(digits[v], b_.getInt64(tile)), rows);
    }
    chunk_begin_ = b_.CreateMul(digits.back(), b_.getInt64(schedule_.chunk));
    chunk_end_ = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin,
                                          b_.CreateAdd(chunk_begin_, b_.getInt64(schedule_.chunk)),
                                          b_.getInt64(columns));
    begin_unit();
    emit_unit_nodes(0);
    for_each(chunk_begin_, chunk_end_, tile, [&](Value* first_column) {
      Value* column = within(first_column, columns);
      for (size_t i = 0; i < tile_buffers_.size(); ++i) {
        if (tile_buffers_[i]) load_tile(static_cast<int>(i), row, column);
      }
      for_each(b_.getInt64(0), b_.getInt64(tile), 1, [&](Value* in_row) {
        index_[cross] = b_.CreateAdd(row, in_row);
        Value* line = b_.CreateMul(in_row, b_.getInt64(tile));
        for_each(b_.getInt64(0), b_.getInt64(tile), schedule_.width, [&](Value* in_column) {
          const Block block{b_.CreateAdd(column, in_column), schedule_.width, nullptr, 0};
          tile_offset_ = b_.CreateAdd(line, in_column);
          clear_points();
          std::vector<Lanes> values;
          for (const LoopStore& store : kernel_.stores) values.push_back(value(store.node, block));
          for (size_t i = 0; i < values.size(); ++i) store(i, values[i], block);
        });
      });
    });
  });
}

// Fills the node's buffer with the tile at (row, column), one line a row of the cross variable.
void KernelFunction::load_tile(int node, Value* row, Value* column) {
  const LoopNode& what = kernel_.nodes[node];
  const MemoryAccess& access = schedule_.nodes[node];
  llvm::Type* element = ops_.memory_type(what.type);
  llvm::Type* lanes = ElementOps::widened(element, kBlock);
  const int64_t bytes = hlo::byte_width(what.type);
  const llvm::Align align(bytes);
  const int64_t step = access.strides[schedule_.vector] * bytes;
  index_[schedule_.cross] = row;
  Value* corner = point_pointer(node_pointers_[node], access, what.type, column);
  for_each(b_.getInt64(0), b_.getInt64(schedule_.tile), kBlock, [&](Value* j) {
    Value* from = add_bytes(corner, j, step);
    for (int64_t i = 0; i < schedule_.tile; i += kBlock) {
      std::vector<Value*> along;
      for (int64_t k = 0; k < kBlock; ++k) {
        Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), from, k * step + i * bytes);
        along.push_back(b_.CreateAlignedLoad(lanes, at, align));
      }
      const std::vector<Value*> across = transposed(std::move(along));
      for (int64_t k = 0; k < kBlock; ++k) {
        Value* offset = b_.CreateAdd(j, b_.getInt64((i + k) * schedule_.tile));
        b_.CreateAlignedStore(across[k], b_.CreateGEP(element, tile_buffers_[node], offset), align);
      }
    }
  });
}

// The transpose of a square of vectors: log2 rounds of interleaving vectors half a square apart.
std::vector<Value*> KernelFunction::transposed(std::vector<Value*> rows) {
  const int n = static_cast<int>(rows.size());
  std::vector<int> low, high;
  for (int i = 0; i < n / 2; ++i) {
    low.insert(low.end(), {i, n + i});
    high.insert(high.end(), {n / 2 + i, n + n / 2 + i});
  }
  for (int round = 1; round < n; round *= 2) {
    std::vector<Value*> next(rows.size());
    for (int i = 0; i < n / 2; ++i) {
      next[2 * i] = b_.CreateShuffleVector(rows[i], rows[i + n / 2], low);
      next[2 * i + 1] = b_.CreateShuffleVector(rows[i], rows[i + n / 2], high);
    }
    rows = std::move(next);
  }
  return rows;
}

}  // namespace tpu::compiler
