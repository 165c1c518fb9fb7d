#include "emulator/tensorcore/mxu/dot_general.h"

#include "emulator/tensorcore/mxu/dot_shape.h"
#include "emulator/tensorcore/mxu/mxu_kernels.h"
#include "emulator/tensorcore/mxu/product.h"

namespace tpu::tensorcore {
namespace {

using compiler::ConstView;
using compiler::KernelCall;
using compiler::View;

template <class V>
StridedAxis axis_of(const V& view, const hlo::Dims& dimensions) {
  StridedAxis axis;
  for (int64_t d : dimensions) axis.append(view.shape[d], view.strides[d]);
  return axis;
}

StridedMatrix matrix_of(const ConstView& view, const hlo::Dims& batch, const hlo::Dims& lines,
                        const hlo::Dims& k) {
  return {
      view.element,         view.data,       hlo::byte_width(view.element), axis_of(view, batch),
      axis_of(view, lines), axis_of(view, k)};
}

/// The result's dimensions are batch, rows, columns, one after the other.
StridedResult result_of(const View& view, const DotShape& shape) {
  StridedAxis axes[3];
  const size_t ends[3] = {shape.lhs_batch.size(), shape.lhs_batch.size() + shape.lhs_rest.size(),
                          view.shape.size()};
  size_t d = 0;
  for (int i = 0; i < 3; ++i) {
    for (; d < ends[i]; ++d) axes[i].append(view.shape[d], view.strides[d]);
  }
  return {view.element, view.data, hlo::byte_width(view.element), axes[0], axes[1], axes[2]};
}

}  // namespace

void dot_general(const KernelCall& call, const HostKernels& host) {
  const ConstView &lhs = call.operands[0], &rhs = call.operands[1];
  const View& result = call.results[0];
  const DotShape shape = dot_shape(call.attributes, lhs.shape, rhs.shape, result.shape);
  multiply({matrix_of(lhs, shape.lhs_batch, shape.lhs_rest, shape.lhs_contracting),
            matrix_of(rhs, shape.rhs_batch, shape.rhs_rest, shape.rhs_contracting),
            result_of(result, shape)},
           precision_of(call.attributes), call.mxu_depth, host);
}

void dot_general(const KernelCall& call) {
  dot_general(call, host_kernels());
}

}  // namespace tpu::tensorcore
