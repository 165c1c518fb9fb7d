#include "backend/eager/native_functions.h"

#include <ATen/EmptyTensor.h>
#include <ATen/InferSize.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_ctc_loss_backward_native.h>
#include <ATen/ops/_ctc_loss_native.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/all.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DefaultDtype.h>

#include <cstring>

#include "backend/eager/copy.h"
#include "backend/eager/tensor_factory.h"
#include "backend/runtime/device.h"

namespace torch_tpu::eager {
namespace {

using c10::IntArrayRef;
using c10::Layout;
using c10::MemoryFormat;
using c10::ScalarType;
using std::optional;

void check_options(optional<Layout> layout, optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout || *layout == Layout::Strided,
                              "device tpu has strided tensors only, got layout ",
                              layout.value_or(Layout::Strided));
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::Tensor empty_strided(IntArrayRef size, IntArrayRef stride, optional<ScalarType> dtype,
                         optional<Layout> layout, optional<c10::Device> device,
                         optional<bool> pin_memory) {
  check_options(layout, pin_memory);
  runtime::check_device(device);
  return make_strided(size, stride, dtype.value_or(c10::get_default_dtype_as_scalartype()));
}

at::Tensor empty(IntArrayRef size, optional<ScalarType> dtype, optional<Layout> layout,
                 optional<c10::Device> device, optional<bool> pin_memory,
                 optional<MemoryFormat> format) {
  check_options(layout, pin_memory);
  runtime::check_device(device);
  const ScalarType type = dtype.value_or(c10::get_default_dtype_as_scalartype());
  if (format == MemoryFormat::ChannelsLast) {
    return make_strided(size, c10::get_channels_last_strides_2d(size), type);
  }
  if (format == MemoryFormat::ChannelsLast3d) {
    return make_strided(size, c10::get_channels_last_strides_3d(size), type);
  }
  return make_strided(size, c10::contiguous_strides(size), type);
}

// Gives the storage `bytes` bytes, with what it held; the old block is freed in queue order, so
// work under way still finds it.
void grow_storage(c10::StorageImpl& storage, size_t bytes) {
  if (bytes <= storage.nbytes()) return;
  c10::DataPtr grown =
      runtime::allocate(bytes, {tpu::hlo::ElementType::kUI8, {static_cast<int64_t>(bytes)}});
  if (const size_t kept = storage.nbytes(); kept > 0) {
    runtime::current_queue().enqueue(
        [to = grown.get(), from = storage.data(), kept] { std::memcpy(to, from, kept); });
  }
  storage.set_data_ptr_noswap(std::move(grown));
  storage.set_nbytes(bytes);
}

void set_geometry(const at::Tensor& self, IntArrayRef size, IntArrayRef stride, int64_t offset) {
  c10::TensorImpl* impl = self.unsafeGetTensorImpl();
  const size_t bytes = at::detail::computeStorageNbytes(size, stride, self.itemsize(), offset);
  TORCH_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  if (bytes > impl->storage().nbytes()) {
    grow_storage(*impl->unsafe_storage().unsafeGetStorageImpl(), bytes);
  }
  impl->set_sizes_and_strides(size, stride, offset);
}

const at::Tensor& resize_(const at::Tensor& self, IntArrayRef size, optional<MemoryFormat> format) {
  if (self.sizes() != size) {
    set_geometry(self, size, c10::contiguous_strides(size), self.storage_offset());
  }
  if (format) {
    TORCH_CHECK(*format != MemoryFormat::Preserve, "Unsupported memory format ", *format);
    self.unsafeGetTensorImpl()->empty_tensor_restride(*format);
  }
  return self;
}

at::Tensor& set_storage(at::Tensor& self, at::Storage source, int64_t offset, IntArrayRef size,
                        IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  const auto dense = c10::contiguous_strides(size);
  set_geometry(self, size, stride.data() ? stride : IntArrayRef(dense), offset);
  return self;
}

at::Tensor& set_whole_storage(at::Tensor& self, at::Storage source) {
  const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage(self, std::move(source), 0, {count}, {});
}

at::Tensor& set_tensor(at::Tensor& self, const at::Tensor& source) {
  return set_storage(self, source.storage(), source.storage_offset(), source.sizes(),
                     source.strides());
}

at::Tensor& set_empty(at::Tensor& self) {
  return set_storage(self, make_strided({0}, {1}, self.scalar_type()).storage(), 0, {0}, {});
}

at::Tensor copy_from_and_resize(const at::Tensor& source, const at::Tensor& target) {
  at::native::resize_output(target, source.sizes());
  return copy_from(source, target, false);
}

bool equal(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK(a.device() == b.device(), "Expected all tensors to be on the same device, but found ",
              a.device(), " and ", b.device());
  TORCH_CHECK(a.scalar_type() == b.scalar_type(), "Expected object of data type ", a.scalar_type(),
              " but got data type ", b.scalar_type(), " for argument 'other'");
  if (a.sizes() != b.sizes()) return false;
  return at::all(at::eq(a, b)).item<bool>();
}

// Module.to() asks whether a parameter may take over the data of its copy on the other device, so
// that it stays the same object (optimizers and tied weights hold on to it). PyTorch's own answer
// knows its in-tree devices only; between dense tensors of the host and this device it is yes.
bool has_compatible_shallow_copy_type(const at::Tensor& self, const at::Tensor& from) {
  const auto dense = [](const at::Tensor& t) {
    return t.layout() == Layout::Strided &&
           (t.device().is_cpu() || t.device().type() == runtime::kDeviceType);
  };
  if (dense(self) && dense(from)) return true;
  return self.unsafeGetTensorImpl()->has_compatible_shallow_copy_type(from.key_set());
}

// A tensor that is known to be 0 and has no memory.
at::Tensor efficient_zeros(at::IntArrayRef size, std::optional<at::ScalarType> dtype,
                           std::optional<at::Layout>, std::optional<at::Device>,
                           std::optional<bool>) {
  static at::native::ZeroTensorAllocator allocator(runtime::device());
  const at::DispatchKeySet keys({c10::DispatchKey::PrivateUse1, c10::DispatchKey::ZeroTensor});
  return at::detail::empty_generic(size, &allocator, keys, c10::dtype_or_default(dtype),
                                   std::nullopt);
}

/// Attention is composed of the device's own operators: SDPBackend::math.
int64_t sdp_choice(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                   const std::optional<at::Tensor>&, double, bool, std::optional<double>, bool) {
  return 0;
}

at::Tensor dep_token(std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                     std::optional<at::Device>, std::optional<bool>,
                     std::optional<at::MemoryFormat>) {
  return make_strided({}, {}, c10::dtype_or_default(dtype));
}

void record_stream(at::Tensor& self, at::Stream stream) {
  if (self.numel() == 0) return;
  runtime::chip().hbm().record_queue(static_cast<std::byte*>(self.storage().mutable_data()),
                                     static_cast<uint32_t>(stream.id()));
}

}  // namespace

void register_native_functions(torch::Library& m) {
  m.impl("empty.memory_format", empty);
  m.impl("empty_strided", empty_strided);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage", set_whole_storage);
  m.impl("set_.source_Storage_storage_offset", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_", set_empty);
  // Views are metadata: PyTorch's own kernels serve any strided tensor.
  m.impl("as_strided", at::native::as_strided_tensorimpl);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("is_set_to", at::native::is_set_to);
  m.impl("_copy_from", copy_from);
  m.impl("_copy_from_and_resize", copy_from_and_resize);
  m.impl("_local_scalar_dense", read_scalar);
  m.impl("equal", equal);
  m.impl("_has_compatible_shallow_copy_type", has_compatible_shallow_copy_type);
  m.impl("record_stream", record_stream);
  m.impl("_efficientzerotensor", efficient_zeros);
  m.impl("_make_dep_token", dep_token);
  m.impl("_fused_sdp_choice", sdp_choice);
  // These read the lengths and call the operator that takes them as numbers.
  m.impl("_ctc_loss.Tensor", at::native::ctc_loss_tensor);
  m.impl("_ctc_loss_backward.Tensor", at::native::ctc_loss_backward_tensor);
}

}  // namespace torch_tpu::eager
