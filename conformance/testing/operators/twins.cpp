#include "testing/operators/twins.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/TensorImpl.h>

#include "testing/runtime/memory.h"

namespace mock {
namespace {

void do_not_free(void*) {}

// Everything but storage and device: sizes, strides, offset, lazy bits.
void copy_metadata(const at::Tensor& from, const at::Tensor& to) {
  c10::TensorImpl* impl = to.unsafeGetTensorImpl();
  impl->set_storage_offset(from.storage_offset());
  impl->set_sizes_and_strides(from.sizes(), from.strides());
  impl->_set_conj(from.is_conj());
  impl->_set_neg(from.is_neg());
  if (from.unsafeGetTensorImpl()->is_wrapped_number()) impl->set_wrapped_number(true);
}

at::Tensor with_storage(const at::Tensor& like, c10::Storage storage, c10::DispatchKey key) {
  TORCH_CHECK_NOT_IMPLEMENTED(like.layout() == c10::kStrided && !like.is_quantized(),
                              "the mock device has dense tensors only, got layout ", like.layout());
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), like.dtype());
  copy_metadata(like, made);
  return made;
}

}  // namespace

bool is_mock(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDeviceType;
}

c10::Storage adopt(const c10::Storage& host) {
  return c10::Storage(c10::Storage::use_byte_size_t(), host.nbytes(), adopt_memory(host),
                      device_allocator(), /*resizable=*/true);
}

const c10::Storage& Twins::host_storage(const c10::Storage& device_storage) {
  for (const StoragePair& pair : storages_) {
    if (pair.device.is_alias_of(device_storage)) return pair.host;
  }
  c10::DataPtr pointer(device_storage.mutable_data(), nullptr, do_not_free, c10::kCPU);
  c10::Storage host(c10::Storage::use_byte_size_t(), device_storage.nbytes(), std::move(pointer),
                    c10::GetDefaultCPUAllocator(), /*resizable=*/true);
  storages_.push_back({device_storage, std::move(host)});
  return storages_.back().host;
}

const c10::Storage& Twins::device_storage(const c10::Storage& host_storage) {
  for (const StoragePair& pair : storages_) {
    if (pair.host.is_alias_of(host_storage)) return pair.device;
  }
  storages_.push_back({adopt(host_storage), host_storage});
  return storages_.back().device;
}

at::Tensor Twins::host(const at::Tensor& device_tensor) {
  for (const TensorPair& pair : tensors_) {
    if (pair.device.is_same(device_tensor)) return pair.host;
  }
  const c10::Storage storage = host_storage(device_tensor.storage());
  at::Tensor made = with_storage(device_tensor, storage, c10::DispatchKey::CPU);
  tensors_.push_back({device_tensor, made});
  return made;
}

at::Tensor Twins::device(const at::Tensor& host_tensor) {
  if (!host_tensor.defined() || is_mock(host_tensor)) return host_tensor;
  for (const TensorPair& pair : tensors_) {
    if (pair.host.is_same(host_tensor)) return pair.device;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(host_tensor.layout() == c10::kStrided,
                              "the mock device has dense tensors only, got layout ",
                              host_tensor.layout());
  const c10::Storage storage = device_storage(host_tensor.storage());
  return with_storage(host_tensor, storage, c10::DispatchKey::PrivateUse1);
}

void Twins::write_back() {
  for (const auto& [device, host] : storages_) {
    const bool moved = device.data() != host.data() && device.device_type() == kDeviceType;
    if (!moved) continue;
    device.set_data_ptr_noswap(adopt_memory(host));
    device.set_nbytes(host.nbytes());
  }
  for (const auto& [device, host] : tensors_) {
    c10::TensorImpl* impl = device.unsafeGetTensorImpl();
    impl->_set_conj(host.is_conj());
    impl->_set_neg(host.is_neg());
    if (device.sizes() == host.sizes() && device.strides() == host.strides()) continue;
    impl->set_sizes_and_strides(host.sizes(), host.strides());
  }
}

}  // namespace mock
