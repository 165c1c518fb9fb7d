#include "emulator/compiler/kernels/window.h"

namespace tpu::compiler::kernels {

Window::Window(const hlo::Attributes& attributes, size_t rank)
    : size(attributes.get_or<Dims>("window_dimensions", Dims(rank, 1))),
      stride(attributes.get_or<Dims>("window_strides", Dims(rank, 1))),
      base_dilation(attributes.get_or<Dims>("base_dilations", Dims(rank, 1))),
      dilation(attributes.get_or<Dims>("window_dilations", Dims(rank, 1))),
      low(rank, 0),
      high(rank, 0) {
  const auto padding = attributes.get_or<hlo::IntMatrix>("padding", {});
  for (size_t d = 0; d < rank && 2 * d + 1 < padding.values.size(); ++d) {
    low[d] = padding.values[2 * d];
    high[d] = padding.values[2 * d + 1];
  }
}

}  // namespace tpu::compiler::kernels
