#include "emulator/compiler/kernels/nonzero.h"

#include "emulator/compiler/kernels/strided.h"
#include "emulator/compiler/kernels/truth.h"

namespace tpu::compiler::kernels {

void nonzero(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  const size_t rank = operand.shape.size();
  const TrueElements truth(operand);
  truth.require_count(result.shape[0], "tpu.nonzero");
  auto* to = reinterpret_cast<int64_t*>(result.data);
  truth.for_each_run([&](std::span<const int64_t> positions, int64_t row) {
    for (int64_t position : positions) {
      int64_t* at = to + row++ * result.strides[0];
      for (size_t d = rank; d-- > 0;) {
        at[static_cast<int64_t>(d) * result.strides[1]] = position % operand.shape[d];
        position /= operand.shape[d];
      }
    }
  });
}

void masked_select(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& result = call.results[0];
  const TrueElements truth(call.operands[1]);
  truth.require_count(result.shape[0], "tpu.masked_select");
  visit_width(hlo::byte_width(operand.element), [&]<class T>(std::type_identity<T>) {
    const T* from = reinterpret_cast<const T*>(operand.data);
    T* to = reinterpret_cast<T*>(result.data);
    truth.for_each_run([&](std::span<const int64_t> positions, int64_t rank) {
      for (int64_t position : positions) {
        int64_t offset = 0;
        for (size_t d = operand.shape.size(); d-- > 0;) {
          offset += position % operand.shape[d] * operand.strides[d];
          position /= operand.shape[d];
        }
        to[rank++ * result.strides[0]] = from[offset];
      }
    });
  });
}

}  // namespace tpu::compiler::kernels
