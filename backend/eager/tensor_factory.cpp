#include "backend/eager/tensor_factory.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarTypeToTypeMeta.h>
#include <c10/core/TensorImpl.h>

#include "backend/aten/dtype.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

constexpr c10::DispatchKeySet kKeys{c10::DispatchKey::PrivateUse1};

at::Tensor make(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype,
                size_t bytes, const tpu::memory::AllocationShape& shape) {
  auto storage = c10::make_intrusive<c10::StorageImpl>(
      c10::StorageImpl::use_byte_size_t(), bytes, runtime::allocate(bytes, shape),
      c10::GetAllocator(runtime::kDeviceType), /*resizable=*/true);
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), kKeys,
                                                         c10::scalarTypeToTypeMeta(dtype));
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  // A fresh TensorImpl is already an empty, contiguous 1-d tensor.
  if (sizes.size() != 1 || sizes[0] != 0) impl->set_sizes_and_strides(sizes, strides);
  return tensor;
}

}  // namespace

at::Tensor make_tensor(const ResultSpec& spec) {
  return runtime::translating(
      [&] { return make(spec.sizes, spec.strides, spec.dtype, spec.bytes, spec.allocation); });
}

at::Tensor make_strided(c10::IntArrayRef sizes, c10::IntArrayRef strides, c10::ScalarType dtype) {
  ResultSpec spec;
  spec.dtype = dtype;
  spec.sizes.assign(sizes.begin(), sizes.end());
  spec.strides.assign(strides.begin(), strides.end());
  int64_t extent = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    TORCH_CHECK(sizes[d] >= 0, "Trying to create tensor with negative dimension ", sizes[d], ": ",
                sizes);
    extent = sizes[d] == 0 || extent == 0 ? 0 : extent + (sizes[d] - 1) * strides[d];
  }
  const auto element = aten::to_element(dtype);
  spec.bytes = static_cast<size_t>(extent) * c10::elementSize(dtype);
  spec.allocation = {element, spec.sizes};
  return make_tensor(spec);
}

at::Tensor host_view(const at::Tensor& tensor) {
  return at::from_blob(tensor.data_ptr(), tensor.sizes(), tensor.strides(),
                       at::TensorOptions().dtype(tensor.scalar_type()));
}

}  // namespace torch_tpu::eager
