#include "backend/aten/pooling.h"

#include "backend/aten/reduction.h"

namespace torch_tpu::aten {

Dims Image::with_leading(const Dims& spatial) const {
  Dims shape = leading;
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

Image read_image(Lowering& op, const Tensor& input, int64_t spatial) {
  const int64_t rank = input.dim();
  TORCH_CHECK(rank == spatial + 1 || rank == spatial + 2, "pooling: Expected ", spatial + 1,
              "D or ", spatial + 2,
              "D (batch mode) tensor, but got input of size: ", c10::IntArrayRef(input.shape()));
  Image image{nullptr,
              {input.shape().begin(), input.shape().end() - spatial},
              {input.shape().end() - spatial, input.shape().end()}};
  Dims shape = {image.planes()};
  shape.insert(shape.end(), image.sizes.begin(), image.sizes.end());
  image.x = op.b.reshape(input.value, shape);
  return image;
}

namespace {

int64_t pooled_size(int64_t size, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil_mode) {
  TORCH_CHECK(kernel > 0, "kernel size should be greater than zero, but got ", kernel);
  TORCH_CHECK(stride > 0, "stride should not be zero");
  TORCH_CHECK(dilation > 0, "dilation should be greater than zero, but got ", dilation);
  TORCH_CHECK(padding >= 0 && padding <= (dilation * (kernel - 1) + 1) / 2,
              "pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel, " and dilation=", dilation);
  const int64_t span = size + 2 * padding - dilation * (kernel - 1) - 1;
  int64_t out = (span + (ceil_mode ? stride - 1 : 0)) / stride + 1;
  // The last window must start inside the image or its left padding.
  if (ceil_mode && (out - 1) * stride >= size + padding) --out;
  TORCH_CHECK(span >= 0 && out >= 1, "Given input size: ", size,
              ". Calculated output size is too small");
  return out;
}

}  // namespace

std::vector<PoolAxis> read_axes(Lowering& op, const Image& image) {
  const size_t spatial = image.sizes.size();
  const auto numbers = [&](std::string_view name, const Dims& fallback) {
    Dims v = op.has(name) ? op.integers(name) : fallback;
    if (v.empty()) v = fallback;
    TORCH_CHECK(v.size() == 1 || v.size() == spatial, name,
                " must either be a single int, or a tuple of ", spatial, " ints, got ",
                c10::IntArrayRef(v));
    v.resize(spatial, v[0]);
    return v;
  };
  const Dims kernel = numbers("kernel_size", Dims(spatial, 1)), stride = numbers("stride", kernel),
             padding = numbers("padding", Dims(spatial, 0)),
             dilation = numbers("dilation", Dims(spatial, 1));
  const bool ceil_mode = op.boolean("ceil_mode");
  std::vector<PoolAxis> axes;
  for (size_t i = 0; i < spatial; ++i) {
    axes.push_back(
        {image.sizes[i], kernel[i], stride[i], padding[i], dilation[i],
         pooled_size(image.sizes[i], kernel[i], stride[i], padding[i], dilation[i], ceil_mode)});
  }
  return axes;
}

Dims output_sizes(const std::vector<PoolAxis>& axes) {
  Dims sizes;
  for (const PoolAxis& axis : axes) sizes.push_back(axis.out);
  return sizes;
}

Builder::Window pooling_window(const std::vector<PoolAxis>& axes) {
  const auto rank = static_cast<int64_t>(axes.size()) + 1;
  Builder::Window window{{1}, {1}, Dims(rank, 1), {1}, {rank, 2, {0, 0}}};
  for (const PoolAxis& axis : axes) {
    window.dimensions.push_back(axis.kernel);
    window.strides.push_back(axis.stride);
    window.window_dilations.push_back(axis.dilation);
    window.padding.values.push_back(axis.padding);
    window.padding.values.push_back(axis.high());
  }
  return window;
}

Bin adaptive_bin(int64_t i, int64_t size, int64_t out) {
  return {i * size / out, ((i + 1) * size + out - 1) / out};
}

}  // namespace torch_tpu::aten
