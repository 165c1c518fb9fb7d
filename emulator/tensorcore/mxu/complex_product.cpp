#include "emulator/tensorcore/mxu/complex_product.h"

#include "emulator/tensorcore/mxu/scratch.h"

namespace tpu::tensorcore {
namespace {

template <class T>
void combine(int64_t count, const std::function<void(const RealProduct&)>& real,
             const std::function<void(int64_t, const std::byte*)>& store) {
  const Scratch<T> products(4 * count);
  T* const re_re = products.data();
  T *const im_im = re_re + count, *const re_im = im_im + count, *const im_re = re_im + count;
  const auto bytes = [](T* data) { return reinterpret_cast<std::byte*>(data); };
  real({0, 0, bytes(re_re)});
  real({1, 1, bytes(im_im)});
  real({0, 1, bytes(re_im)});
  real({1, 0, bytes(im_re)});
  for (int64_t i = 0; i < count; ++i) {
    const T number[2] = {re_re[i] - im_im[i], re_im[i] + im_re[i]};
    store(i, reinterpret_cast<const std::byte*>(number));
  }
}

}  // namespace

void multiply_complex(hlo::ElementType element, int64_t count,
                      const std::function<void(const RealProduct&)>& real,
                      const std::function<void(int64_t, const std::byte*)>& store) {
  if (element == hlo::ElementType::kComplexF32) return combine<float>(count, real, store);
  combine<double>(count, real, store);
}

}  // namespace tpu::tensorcore
