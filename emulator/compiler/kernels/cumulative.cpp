#include "emulator/compiler/kernels/cumulative.h"

#include <algorithm>
#include <string>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/lines.h"
#include "emulator/compiler/kernels/scalar_ops.h"

namespace tpu::compiler::kernels {
namespace {

// Whether `x` takes the place of the extreme so far: a NaN always does, nothing but a NaN
// replaces one, and among equals the latest wins.
template <bool kMaximum, class T>
bool replaces(T x, T extreme) {
  if (x != x) return true;
  if (extreme != extreme) return false;
  return kMaximum ? x >= extreme : x <= extreme;
}

template <bool kMaximum, class Element>
void run_lines(const KernelCall& call) {
  using T = typename Element::Storage;
  const ConstView& operand = call.operands[0];
  const View& values = call.results[0];
  const View& indices = call.results[1];
  const Lines<3> lines({{{operand.shape, operand.strides},
                         {values.shape, values.strides},
                         {indices.shape, indices.strides}}},
                       call.attributes.get_or<int64_t>("dimension", -1));
  const int64_t n = lines.size(0);
  parallel_for(lines.count(), std::max<int64_t>(1, 8192 / n), [&](int64_t begin, int64_t end) {
    auto at = lines.from(begin);
    for (int64_t line = begin; line < end; ++line, at.next()) {
      const T* from = reinterpret_cast<const T*>(operand.data) + at.offset(0);
      T* to = reinterpret_cast<T*>(values.data) + at.offset(1);
      auto* to_index = reinterpret_cast<int64_t*>(indices.data) + at.offset(2);
      T extreme = from[0];
      int64_t where = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T x = from[i * lines.step(0)];
        if (replaces<kMaximum>(Element::load(x), Element::load(extreme))) {
          extreme = x;
          where = i;
        }
        to[i * lines.step(1)] = extreme;
        to_index[i * lines.step(2)] = where;
      }
    }
  });
}

template <bool kMaximum>
void run(std::string_view op, const KernelCall& call) {
  if (elements(call.operands[0]) == 0) return;
  bool done = false;
  visit_element(call.operands[0].element, [&]<class Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Compute>) {
      run_lines<kMaximum, Element>(call);
      done = true;
    }
  });
  if (!done) {
    throw Unimplemented(std::string(op) + " of " +
                        std::string(hlo::name(call.operands[0].element)) +
                        " elements; expected integers, i1, bf16, f16, f32 or f64");
  }
}

}  // namespace

void cummax(const KernelCall& call) {
  run<true>("tpu.cummax", call);
}
void cummin(const KernelCall& call) {
  run<false>("tpu.cummin", call);
}

}  // namespace tpu::compiler::kernels
