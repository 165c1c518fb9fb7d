#include "backend/eager/copy.h"

#include <ATen/MemoryOverlap.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_conj_physical.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/neg.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <cstring>
#include <memory>

#include "backend/eager/call.h"
#include "backend/eager/operator_info.h"
#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"
#include "emulator/base/parallel.h"

namespace torch_tpu::eager {
namespace {

bool is_tpu(const at::Tensor& tensor) {
  return tensor.device().type() == runtime::kDeviceType;
}

// `copy_` as a row of its own: it is never dispatched to (PyTorch's own kernel calls
// `_copy_from`), but its schema carries the arguments that the generic kernel wants.
const OperatorInfo& copy_operator() {
  static const aten::OpDef def{
      "copy_", [](aten::Lowering& op) {
        const aten::Tensor self = op.tensor("self");
        op.result(op.broadcast_to(op.convert(op.tensor("src"), self.dtype), self.shape()));
      }};
  static const auto info =
      describe(c10::Dispatcher::singleton().findSchemaOrThrow("aten::copy_", "").schema(), def);
  return *info;
}

void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  constexpr int64_t kGrain =
      1 << 20;  // a core moves a MiB in about 100 µs; less is not worth a hand-over
  tpu::parallel_for(static_cast<int64_t>(bytes), kGrain, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, end - begin);
  });
}

std::byte* bytes_of(const at::Tensor& tensor) {
  return static_cast<std::byte*>(tensor.data_ptr());
}

// Same shape, strides and dtype, and no holes: the bytes can be moved as they are.
bool bytes_match(const at::Tensor& a, const at::Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         a.is_non_overlapping_and_dense() && a.is_conj() == b.is_conj() && a.is_neg() == b.is_neg();
}

void host_to_device(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  if (!bytes_match(source, target)) {
    // Cast on the device (where the rounding rules are ours), restride on arrival.
    const at::Tensor dense = source.resolve_conj().resolve_neg().contiguous();
    const at::Tensor arrived = make_strided(dense.sizes(), dense.strides(), dense.scalar_type());
    host_to_device(dense, arrived, non_blocking);
    copy_on_device(arrived, target);
    return;
  }
  const size_t bytes = target.numel() * target.itemsize();
  if (bytes == 0) return;
  std::byte* to = bytes_of(target);
  if (non_blocking && source.is_pinned()) {
    // The user promised to leave pinned memory alone until the copy is done; keep it alive. By its
    // storage: letting go of the last reference to a tensor that Python knew takes the GIL, which
    // a thread that waits for this queue may hold.
    runtime::current_queue().enqueue([keep = source.storage(), from = bytes_of(source), to, bytes] {
      copy_bytes(to, from, bytes);
    });
    return;
  }
  constexpr size_t kSnapshotLimit = 1 << 20;
  if (bytes <= kSnapshotLimit) {
    // Small: a snapshot travels with the task, and the host goes on at once.
    auto snapshot = std::make_unique_for_overwrite<std::byte[]>(bytes);
    std::memcpy(snapshot.get(), bytes_of(source), bytes);
    runtime::current_queue().enqueue([snapshot = std::move(snapshot), to, bytes]() noexcept {
      std::memcpy(to, snapshot.get(), bytes);
    });
    return;
  }
  // Large: a second copy would cost more than waiting for the queue.
  runtime::synchronize_current_queue();
  copy_bytes(to, bytes_of(source), bytes);
}

void device_to_host(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  if (source.sizes() != target.sizes())
    return device_to_host(source.expand_as(target), target, false);
  if (!bytes_match(source, target)) {
    const at::Tensor packed = make_strided(source.sizes(),
                                           c10::IntArrayRef(tpu::hlo::row_major_strides(
                                               Dims(source.sizes().begin(), source.sizes().end()))),
                                           source.scalar_type());
    copy_on_device(source, packed);
    const at::Tensor arrived =
        at::empty_strided(packed.sizes(), packed.strides(), packed.options().device(c10::kCPU));
    device_to_host(packed, arrived, false);
    target.copy_(arrived);
    return;
  }
  const size_t bytes = target.numel() * target.itemsize();
  if (bytes == 0) return;
  if (non_blocking && target.is_pinned()) {
    runtime::current_queue().enqueue([keep = target.storage(), from = bytes_of(source),
                                      to = bytes_of(target),
                                      bytes] { copy_bytes(to, from, bytes); });
    return;
  }
  runtime::synchronize_current_queue();
  copy_bytes(bytes_of(target), bytes_of(source), bytes);
}

// The values that lazy conjugate and negative bits stand for, without the bits.
at::Tensor without_lazy_bits(const at::Tensor& source) {
  at::Tensor plain = source;
  if (plain.is_conj()) {
    plain = plain.conj();  // drops the bit
    plain = at::_conj_physical(plain);
  }
  if (plain.is_neg()) plain = at::neg(plain._neg_view());
  return plain;
}

}  // namespace

void copy_on_device(const at::Tensor& source, const at::Tensor& target) {
  if (source.is_conj() != target.is_conj() || source.is_neg() != target.is_neg()) {
    TORCH_INTERNAL_ASSERT(!target.is_conj() && !target.is_neg(),
                          "the target of a copy must not be lazily conjugated or negated");
    return copy_on_device(without_lazy_bits(source), target);
  }
  torch::jit::Stack stack{target, source, false};
  run(copy_operator(), stack);
}

at::Tensor copy_from(const at::Tensor& source, const at::Tensor& target, bool non_blocking) {
  if (is_tpu(source) && is_tpu(target)) {
    copy_on_device(source, target);
  } else if (is_tpu(target)) {
    at::assert_no_internal_overlap(target);
    host_to_device(source, target, non_blocking);
  } else {
    device_to_host(source, target, non_blocking);
  }
  return target;
}

at::Scalar read_scalar(const at::Tensor& tensor) {
  runtime::synchronize_current_queue();
  // The address is the element's own, offset included, and host code may read emulated HBM.
  const at::Tensor on_host = at::empty_strided({}, {}, tensor.options().device(c10::kCPU));
  std::memcpy(on_host.data_ptr(), tensor.const_data_ptr(), tensor.itemsize());
  at::Scalar value = on_host.item();
  if (tensor.is_conj()) value = value.conj();
  return tensor.is_neg() ? -value : value;
}

}  // namespace torch_tpu::eager
