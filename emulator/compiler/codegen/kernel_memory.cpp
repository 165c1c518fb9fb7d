// Addresses, loads and stores of a loop kernel.
#include <algorithm>

#include "emulator/base/seeded_fault.h"
#include "emulator/compiler/codegen/kernel_function.h"

namespace tpu::compiler {

using hlo::ElementType;
using llvm::Value;

// Base addresses are loaded once, at the top of the function, where they dominate all uses.
Value* KernelFunction::base_address(int slot) {
  if (slot >= static_cast<int>(bases_.size())) bases_.resize(slot + 1, nullptr);
  if (!bases_[slot]) {
    llvm::IRBuilder<>::InsertPointGuard guard(b_);
    b_.SetInsertPoint(entry_, entry_->begin());
    Value* at = b_.CreateConstInBoundsGEP1_64(b_.getPtrTy(), table_, slot);
    bases_[slot] = b_.CreateLoad(b_.getPtrTy(), at);
  }
  return bases_[slot];
}

Value* KernelFunction::add_bytes(Value* pointer, Value* count, int64_t bytes) {
  return b_.CreateGEP(b_.getInt8Ty(), pointer, b_.CreateMul(count, b_.getInt64(bytes)));
}

// The address at the unit's outer indices, with the inner ones at 0.
Value* KernelFunction::unit_pointer(const MemoryAccess& access, ElementType type) {
  const int64_t bytes = hlo::byte_width(type);
  Value* pointer = base_address(access.slot);
  for (const MemoryAccess::Start& start : access.starts) {
    pointer = add_bytes(pointer, once_values_[start.node].value, start.stride * bytes);
  }
  for (int v = 0; v < schedule_.num_outer; ++v) {
    if (v == schedule_.vector || v == schedule_.cross) continue;
    if (access.strides[v] == 0 || !index_[v]) continue;
    pointer = add_bytes(pointer, index_[v], access.strides[v] * bytes);
  }
  return pointer;
}

Value* KernelFunction::point_pointer(Value* unit, const MemoryAccess& access, ElementType type,
                                     Value* index) {
  const int64_t bytes = hlo::byte_width(type);
  for (int v = 0; v < static_cast<int>(schedule_.sizes.size()); ++v) {
    if (access.strides[v] == 0) continue;
    if (v == schedule_.vector) {
      unit = add_bytes(unit, index, access.strides[v] * bytes);
    } else if (v >= schedule_.num_outer || v == schedule_.cross) {
      unit = add_bytes(unit, index_[v], access.strides[v] * bytes);
    }
  }
  return unit;
}

Lanes KernelFunction::load(int node, const Block& block) {
  const LoopNode& what = kernel_.nodes[node];
  const MemoryAccess& access = schedule_.nodes[node];
  const Level at = levels_[node];
  if (!tile_buffers_.empty() && tile_buffers_[node]) {
    llvm::Type* stored = ops_.memory_type(what.type);
    Value* from = b_.CreateGEP(stored, tile_buffers_[node], tile_offset_);
    const llvm::Align align(hlo::byte_width(what.type));
    Value* lanes = b_.CreateAlignedLoad(ElementOps::widened(stored, block.width), from, align);
    return ops_.from_memory(what.type, lanes, block.width);
  }
  Value* pointer = at == Level::kOnce ? unit_pointer(access, what.type) : node_pointers_[node];
  int64_t stride = 0;
  if (at >= Level::kColumn) {
    pointer = point_pointer(pointer, access, what.type, block.index);
    stride = access.strides[schedule_.vector];
  }
  const int64_t bytes = hlo::byte_width(what.type);
  const Block one{block.index, 1, nullptr, 0};
  const Block& lanes = stride == 0 ? one : block;
  llvm::Type* element = ops_.memory_type(what.type);
  Lanes loaded;
  if (hlo::is_complex(what.type)) {
    Value* imag = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, bytes / 2);
    loaded = {load_part(pointer, element, stride * bytes, lanes),
              load_part(imag, element, stride * bytes, lanes)};
  } else {
    Value* stored = load_part(pointer, element, stride * bytes, lanes);
    loaded = ops_.from_memory(what.type, stored, lanes.width);
  }
  return lanes.width == block.width ? loaded : ops_.splat(loaded, block.width);
}

void KernelFunction::store(size_t i, Lanes lanes, const Block& block) {
  const ElementType type = kernel_.stores[i].value->type.element;
  const MemoryAccess& access = schedule_.stores[i];
  const int64_t bytes = hlo::byte_width(type);
  const bool inner = block.index != nullptr;
  Value* pointer = store_pointers_[i];
  if (inner) pointer = point_pointer(pointer, access, type, block.index);
  const int64_t stride = inner ? access.strides[schedule_.vector] * bytes : 0;
  llvm::Type* element = ops_.memory_type(type);
  if (hlo::is_complex(type)) {
    Value* imag = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, bytes / 2);
    store_part(pointer, lanes.value, element, stride, block);
    store_part(imag, lanes.imag, element, stride, block);
  } else {
    store_part(pointer, ops_.to_memory(type, lanes.value, block.width), element, stride, block);
  }
}

// A block's lanes from memory. A tail's bytes go through a buffer: nothing behind the row is read.
Value* KernelFunction::load_part(Value* pointer, llvm::Type* element, int64_t stride,
                                 const Block& block) {
  const int64_t bytes = element->getPrimitiveSizeInBits() / 8;
  const llvm::Align align(bytes);
  if (block.width == 1) return b_.CreateAlignedLoad(element, pointer, align);
  llvm::Type* type = ElementOps::widened(element, block.width);
  if (stride == bytes) {
    if (block.is_tail) {
      Value* buffer = tail_buffer(block.width * bytes);
      llvm::BasicBlock* before = b_.GetInsertBlock();
      llvm::BasicBlock* copied = nullptr;
      if_then(block.is_tail, [&] {
        const int64_t lanes = seeded("codegen.tail_one_lane_short") ? block.tail - 1 : block.tail;
        b_.CreateMemCpy(buffer, llvm::Align(64), pointer, align, lanes * bytes);
        copied = b_.GetInsertBlock();
      });
      llvm::PHINode* from = b_.CreatePHI(b_.getPtrTy(), 2);
      from->addIncoming(pointer, before);
      from->addIncoming(buffer, copied);
      pointer = from;
    }
    return b_.CreateAlignedLoad(type, pointer, align);
  }
  Value* result = llvm::PoisonValue::get(type);
  for (int lane = 0; lane < block.width; ++lane) {
    Value* offset = b_.getInt64(lane * stride);
    if (block.is_tail && lane >= block.tail) {
      offset = b_.CreateSelect(block.is_tail, b_.getInt64((block.tail - 1) * stride), offset);
    }
    Value* at = b_.CreateGEP(b_.getInt8Ty(), pointer, offset);
    result =
        b_.CreateInsertElement(result, b_.CreateAlignedLoad(element, at, align), uint64_t(lane));
  }
  return result;
}

void KernelFunction::store_part(Value* pointer, Value* lanes, llvm::Type* element, int64_t stride,
                                const Block& block) {
  const int64_t bytes = element->getPrimitiveSizeInBits() / 8;
  const llvm::Align align(bytes);
  if (block.width == 1) {
    b_.CreateAlignedStore(lanes, pointer, align);
    return;
  }
  if (stride == bytes) {
    Value* target = pointer;
    Value* buffer = nullptr;
    if (block.is_tail) {
      buffer = tail_buffer(block.width * bytes);
      target = b_.CreateSelect(block.is_tail, buffer, pointer);
    }
    b_.CreateAlignedStore(lanes, target, align);
    if (block.is_tail && !seeded("codegen.tail_not_stored")) {
      if_then(block.is_tail, [&] {
        b_.CreateMemCpy(pointer, align, buffer, llvm::Align(64), block.tail * bytes);
      });
    }
    return;
  }
  const auto store_lane = [&](int lane) {
    Value* at = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, lane * stride);
    b_.CreateAlignedStore(b_.CreateExtractElement(lanes, uint64_t(lane)), at, align);
  };
  const int always = block.is_tail ? static_cast<int>(block.tail) : block.width;
  for (int lane = 0; lane < always; ++lane) store_lane(lane);
  if (always == block.width) return;
  if_then(b_.CreateNot(block.is_tail), [&] {
    for (int lane = always; lane < block.width; ++lane) store_lane(lane);
  });
}

Value* KernelFunction::stack(llvm::Type* element, int64_t count, unsigned alignment) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(entry_, entry_->begin());
  llvm::AllocaInst* memory = b_.CreateAlloca(llvm::ArrayType::get(element, count));
  memory->setAlignment(llvm::Align(alignment));
  return memory;
}

Value* KernelFunction::tail_buffer(int64_t) {
  if (!tail_buffer_) tail_buffer_ = stack(b_.getInt8Ty(), 16 * kReduceLanes);
  return tail_buffer_;
}

// Buffers of the kernel's own hold lanes as registers do, except that i1 takes a byte.
llvm::Type* KernelFunction::buffer_type(ElementType type) {
  return hlo::is_boolean(type) ? b_.getInt8Ty() : ops_.lane_type(type);
}

int64_t KernelFunction::buffer_bytes(ElementType type) {
  return buffer_type(type)->getPrimitiveSizeInBits() / 8;
}

Lanes KernelFunction::load_lanes(ElementType type, Value* buffer, Value* imag_buffer, Value* offset,
                                 int width) {
  llvm::Type* element = buffer_type(type);
  const llvm::Align align(buffer_bytes(type));
  const auto part = [&](Value* from) {
    return b_.CreateAlignedLoad(ElementOps::widened(element, width),
                                b_.CreateGEP(element, from, offset), align);
  };
  Value* real = part(buffer);
  if (hlo::is_boolean(type)) {
    return {b_.CreateICmpNE(real, llvm::Constant::getNullValue(real->getType()))};
  }
  return {real, hlo::is_complex(type) ? part(imag_buffer) : nullptr};
}

void KernelFunction::store_lanes(ElementType type, Lanes lanes, Value* buffer, Value* imag_buffer,
                                 Value* offset, int width) {
  llvm::Type* element = buffer_type(type);
  const llvm::Align align(buffer_bytes(type));
  Value* real = lanes.value;
  if (hlo::is_boolean(type)) real = b_.CreateZExt(real, ElementOps::widened(element, width));
  b_.CreateAlignedStore(real, b_.CreateGEP(element, buffer, offset), align);
  if (lanes.imag) {
    b_.CreateAlignedStore(lanes.imag, b_.CreateGEP(element, imag_buffer, offset), align);
  }
}

}  // namespace tpu::compiler
