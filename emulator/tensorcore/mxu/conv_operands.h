// A convolution in pieces that a matrix product understands: images, kernel and result of a phase.
#pragma once

#include "emulator/compiler/kernels/kernel.h"
#include "emulator/tensorcore/mxu/conv_geometry.h"
#include "emulator/tensorcore/mxu/host_kernels.h"
#include "emulator/tensorcore/mxu/numerics.h"
#include "emulator/tensorcore/mxu/patches.h"

namespace tpu::tensorcore {

/// Bytes of packed images at a time.
inline constexpr int64_t kImageBytes = int64_t{32} << 20;

/// What to compute, and how.
struct Convolution {
  ConvolutionShape shape;
  compiler::ConstView lhs, rhs;
  compiler::View result;
  PassPlan plan;
  int depth;
  const HostKernels& host;

  int64_t images() const { return shape.output_batch; }  ///< of one batch group
  int64_t outputs() const { return shape.outputs_per_group(); }
  int64_t groups() const { return shape.feature_groups * shape.batch_groups; }
};

using Phase = std::vector<PhaseWindow>;

/// The input of the first batch group: batch = images, k = all features.
ImageSource image_source(const Convolution& c);

/// The kernel as a right operand: batch = groups, lines = outputs of a group, k = the phase's taps,
/// then features of a group.
StridedMatrix kernel_matrix(const Convolution& c, const Phase& phase);

/// The phase's outputs of images [first, first + count) as rows, outputs of a group as columns;
/// batch = groups.
StridedResult result_matrix(const Convolution& c, const Phase& phase, int64_t first, int64_t count);

/// True if some tap of the phase meets the input; otherwise its results are zero.
bool meets_input(const Phase& phase);

/// The layout that holds what all phases touch of one image with `features` features.
ImageLayout common_layout(const Convolution& c, const std::vector<Phase>& phases, int64_t features);

/// True if the layout reaches beyond the input: windows lie over padding.
bool leaves_input(const Convolution& c, const ImageLayout& layout);

}  // namespace tpu::tensorcore
