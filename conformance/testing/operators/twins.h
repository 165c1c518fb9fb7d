// Tensors of the mock device and their twins on the host: the same memory under another device.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace mock {

/// Whether the tensor is defined and of the mock device.
bool is_mock(const at::Tensor& tensor);

/// A mock storage that owns `host`'s memory from now on; counted in the device's statistics.
c10::Storage adopt(const c10::Storage& host);

/// The pairs of one operator call. Tensors that share a storage on one side do so on the other, so
/// that kernels see aliases as they are.
class Twins {
 public:
  /// The tensor under the CPU's name.
  at::Tensor host(const at::Tensor& device_tensor);

  /// What a kernel's result is on the device: an operand, a view of one, or new memory.
  at::Tensor device(const at::Tensor& host_tensor);

  /// Brings over what kernels did to the twins themselves: new sizes, grown storages.
  void write_back();

 private:
  struct TensorPair {
    at::Tensor device, host;
  };
  struct StoragePair {
    c10::Storage device, host;
  };

  const c10::Storage& host_storage(const c10::Storage& device_storage);
  const c10::Storage& device_storage(const c10::Storage& host_storage);

  std::vector<TensorPair> tensors_;
  std::vector<StoragePair> storages_;
};

}  // namespace mock
