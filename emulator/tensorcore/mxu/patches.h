// A convolution's left operand: rows of input patches, copied out of a packed image.
#pragma once

#include <vector>

#include "emulator/tensorcore/mxu/conv_geometry.h"
#include "emulator/tensorcore/mxu/gemm.h"
#include "emulator/tensorcore/mxu/scratch.h"
#include "emulator/tensorcore/mxu/strided_matrix.h"

namespace tpu::tensorcore {

/// Where element (image, p0, p1, ..., feature) lies in packed images: features innermost, with as
/// much padding around an image as the windows reach.
struct ImageLayout {
  std::vector<int64_t> low;      ///< first spatial position kept, may be negative
  std::vector<int64_t> extent;   ///< positions kept
  std::vector<int64_t> strides;  ///< between neighbours along a spatial dimension
  int64_t images = 1;
  int64_t features = 1;  ///< of the packed image; where the source has fewer, zeros follow
  int64_t image_stride = 1;
  int64_t origin = 0;  ///< offset of position (0, 0, ...) in the input's own numbering
};

/// `low` and `high` bound the positions touched in each spatial dimension (PhaseWindow), which may
/// lie beyond the input or leave parts of it out.
ImageLayout image_layout(std::span<const int64_t> low, std::span<const int64_t> high,
                         int64_t images, int64_t features);

/// A tensor as images: `tensor.batch` numbers them, `tensor.k` the features; `tensor.lines` is not
/// used. `spatial` holds size and stride of the spatial dimensions.
struct ImageSource {
  StridedMatrix tensor;
  std::vector<StridedAxis> spatial;
};

/// Images converted to packed elements and their parts.
template <class T>
class PackedImages {
 public:
  /// Packs images [first, first + layout.images) of the source.
  PackedImages(const ImageSource& source, int64_t first, ImageLayout layout, const PassPlan& plan,
               const HostKernels& host);

  const ImageLayout& layout() const { return layout_; }
  int parts() const { return parts_; }
  int64_t part_stride() const { return layout_.images * layout_.image_stride; }
  const T* data() const { return data_.data(); }
  const MagnitudeRange& range() const { return range_; }

 private:
  MagnitudeRange pack_line(const ImageSource& source, int64_t image, int64_t line,
                           const StridedOperand<T>& operand, T* target) const;

  ImageLayout layout_;
  int parts_;
  Scratch<T> data_;
  MagnitudeRange range_;
};

/// Row (image, j0, j1, ...) and contraction (i0, i1, ..., feature) of one phase. Views point into
/// the images, unless taps are so short that copying pays.
template <class T>
class Patches final : public LeftOperand<T> {
 public:
  /// `group_features`: features of one group, the batch of the product.
  Patches(const PackedImages<T>& images, const std::vector<PhaseWindow>& phase,
          int64_t group_features);

  LeftView<T> view(int64_t group, int64_t row, int64_t rows, int64_t k, int64_t depth,
                   LeftBuffer<T>& buffer) const override;

 private:
  /// Contraction indices from `k` on lie one after the other at `offset` from a row's origin.
  struct Run {
    int64_t k, offset;
  };

  std::vector<Segment> segments(int64_t k, int64_t depth) const;

  const PackedImages<T>& images_;
  std::vector<Run> runs_;  ///< with a last one that marks the end
  StridedAxis rows_;
  int64_t group_features_;
  int64_t origin_ = 0;  ///< of row 0
};

}  // namespace tpu::tensorcore
