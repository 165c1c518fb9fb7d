#include "emulator/tensorcore/mxu/channelwise.h"

#include <algorithm>

#include "emulator/base/parallel.h"

namespace tpu::tensorcore {
namespace {

constexpr int64_t kRowBlock = 64;
constexpr int64_t kLaneBlock = 256;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// The input with groups as features; an image is one feature of a group of one batch element.
ImageSource lane_images(const Convolution& c) {
  const hlo::ConvDimensionNumbers& d = c.shape.numbers;
  const int64_t batch_stride = c.lhs.strides[d.input_batch_dimension];
  const int64_t feature_stride = c.lhs.strides[d.input_feature_dimension];
  ImageSource source = image_source(c);
  source.tensor.batch.append(c.shape.features_per_group, feature_stride);
  source.tensor.k = StridedAxis(c.groups(), c.shape.batch_groups > 1
                                                ? c.images() * batch_stride
                                                : c.shape.features_per_group * feature_stride);
  return source;
}

/// The kernel's numbers for all taps of a phase, lanes innermost: [part][output][k][lane].
class LaneWeights {
 public:
  LaneWeights(const Convolution& c, const Phase& phase, int64_t lanes)
      : matrix_(kernel_matrix(c, phase)),
        part_stride_(c.outputs() * matrix_.k.size() * lanes),
        lanes_(lanes),
        data_(part_stride_ * c.plan.parts) {
    std::swap(matrix_.batch, matrix_.lines);
    const StridedOperand<float> operand(matrix_, c.plan, c.host);
    constexpr int64_t kBlock = 64;
    const int64_t k = matrix_.k.size(), blocks = ceil_div(k, kBlock);
    std::vector<MagnitudeRange> ranges(c.outputs() * blocks);
    parallel_for(std::ssize(ranges), 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t output = i / blocks, first = i % blocks * kBlock;
        ranges[i] = operand.pack_columns(output, 0, c.groups(), first, std::min(kBlock, k - first),
                                         data_.data() + (output * k + first) * lanes, lanes, 0,
                                         part_stride_);
      }
    });
    for (const MagnitudeRange& range : ranges) range_.merge(range);
  }

  const float* at(int part, int64_t output, int64_t k, int64_t lane) const {
    return data_.data() + part * part_stride_ + (output * matrix_.k.size() + k) * lanes_ + lane;
  }
  const MagnitudeRange& range() const { return range_; }

 private:
  StridedMatrix matrix_;  ///< batch: outputs of a group; lines: groups
  int64_t part_stride_, lanes_;
  Scratch<float> data_;
  MagnitudeRange range_;
};

/// One phase of a block of images.
class LanePhase {
 public:
  LanePhase(const Convolution& c, const Phase& phase, const PackedImages<float>& images,
            int64_t first_image, int64_t lanes)
      : c_(c),
        images_(images),
        weights_(c, phase, lanes),
        result_(result_matrix(c, phase, first_image,
                              images.layout().images / c.shape.features_per_group)),
        bounds_(chunk_bounds(c.shape, phase, c.depth)) {
    std::swap(result_.batch, result_.columns);
    const ImageLayout& layout = images.layout();
    const int64_t features = c.shape.features_per_group;
    rows_ = StridedAxis(layout.images / features, features * layout.image_stride);
    StridedAxis taps;
    origin_ = layout.origin;
    for (size_t d = 0; d < phase.size(); ++d) {
      rows_.append(phase[d].outputs, phase[d].input_step * layout.strides[d]);
      taps.append(phase[d].taps, phase[d].tap_reach * layout.strides[d]);
      origin_ += phase[d].origin * layout.strides[d];
    }
    taps.append(features, layout.image_stride);
    for (int64_t k = 0; k < taps.size(); ++k) offsets_.push_back(taps.offset(k));
  }

  MagnitudeRange run() const {
    const int64_t width = c_.host.lanes.columns;
    const int64_t lanes = std::min<int64_t>(images_.layout().features, kLaneBlock / width * width);
    const int64_t lane_blocks = ceil_div(images_.layout().features, lanes);
    const int64_t row_blocks = ceil_div(rows_.size(), kRowBlock);
    const int64_t units = c_.outputs() * row_blocks * lane_blocks;
    parallel_for(units, 1, [&](int64_t begin, int64_t end) {
      const Scratch<float> totals(kRowBlock * lanes);
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t output = unit / lane_blocks / row_blocks;
        const int64_t row = unit / lane_blocks % row_blocks * kRowBlock;
        const int64_t lane = unit % lane_blocks * lanes;
        run_block(output, row, lane, std::min(lanes, images_.layout().features - lane),
                  totals.data());
      }
    });
    return weights_.range();
  }

 private:
  void run_block(int64_t output, int64_t row, int64_t lane, int64_t lanes, float* totals) const {
    const int64_t rows = std::min(kRowBlock, rows_.size() - row);
    const float* starts[kRowBlock];
    for (int64_t r = 0; r < rows; ++r) {
      starts[r] = images_.data() + origin_ + rows_.offset(row + r) + lane;
    }
    for (size_t chunk = 0; chunk + 1 < bounds_.size(); ++chunk) {
      for (size_t i = 0; i < c_.plan.passes.size(); ++i) {
        const Pass pass = c_.plan.passes[i];
        add_pass(pass, chunk, {starts, static_cast<size_t>(rows)},
                 weights_.at(pass.rhs_part, output, bounds_[chunk], lane), lanes,
                 chunk == 0 && i == 0, totals);
      }
    }
    const StridedTiles<float> tiles(result_, c_.host);
    tiles.store(output, row, rows, lane, std::min(lanes, c_.groups() - lane), totals, lanes);
  }

  /// One pass of one chunk over all rows of a block.
  void add_pass(const Pass& pass, size_t chunk, std::span<const float* const> starts,
                const float* weights, int64_t lanes, bool first, float* totals) const {
    const LaneKernels& table = c_.host.lanes;
    const auto& kernels =
        products_exact(images_.range(), weights_.range()) ? table.exact : table.plain;
    const std::span<const int64_t> offsets(offsets_.data() + bounds_[chunk],
                                           bounds_[chunk + 1] - bounds_[chunk]);
    for (size_t r = 0; r < starts.size(); r += kLaneRows) {
      const size_t rows = std::min<size_t>(kLaneRows, starts.size() - r);
      const float* left[kLaneRows];
      for (size_t i = 0; i < rows; ++i) {
        left[i] = starts[r + i] + pass.lhs_part * images_.part_stride();
      }
      float* tile = totals + static_cast<int64_t>(r) * lanes;
      kernels[rows](offsets, left, weights, images_.layout().features, lanes,
                    first ? nullptr : tile, tile, lanes);
    }
  }

  const Convolution& c_;
  const PackedImages<float>& images_;
  LaneWeights weights_;
  StridedResult result_;  ///< batch: outputs of a group; columns: groups
  std::vector<int64_t> bounds_;
  StridedAxis rows_;
  int64_t origin_ = 0;
  std::vector<int64_t> offsets_;  ///< of each k, from a row's origin
};

/// Zeros for a phase without any tap inside the input.
void store_zeros(const Convolution& c, const Phase& phase, int64_t first, int64_t count) {
  const StridedResult result = result_matrix(c, phase, first, count);
  const StridedTiles<float> tiles(result, c.host);
  const std::vector<float> zeros(c.outputs());
  for (int64_t group = 0; group < c.groups(); ++group) {
    tiles.store(group, 0, result.rows.size(), 0, c.outputs(), zeros.data(), 0);
  }
}

/// False if padding was multiplied with a kernel that is not finite (convolution.cpp).
bool convolve_phases(const Convolution& c, Padding padding) {
  const std::vector<Phase> phases = phase_combinations(c.shape, padding);
  const ImageSource source = lane_images(c);
  const int64_t width = c.host.lanes.columns, features = c.shape.features_per_group;
  const int64_t lanes = ceil_div(c.groups(), width) * width;
  ImageLayout layout = common_layout(c, phases, lanes);
  const int64_t image_bytes =
      layout.image_stride * features * c.plan.parts * static_cast<int64_t>(sizeof(float));
  const int64_t block =
      std::clamp<int64_t>(kImageBytes / std::max<int64_t>(image_bytes, 1), 1, c.images());
  for (int64_t first = 0; first < c.images(); first += block) {
    const int64_t count = std::min(block, c.images() - first);
    layout.images = count * features;
    const PackedImages<float> images(source, first * features, layout, c.plan, c.host);
    MagnitudeRange range;
    for (const Phase& phase : phases) {
      if (meets_input(phase)) {
        range.merge(LanePhase(c, phase, images, first, lanes).run());
      } else {
        store_zeros(c, phase, first, count);
      }
    }
    if (!range.is_finite() && leaves_input(c, layout)) return false;
  }
  return true;
}

}  // namespace

bool is_channelwise(const ConvolutionShape& shape) {
  constexpr int64_t kFewOutputs = 4, kManyGroups = 8;
  return shape.feature_groups * shape.batch_groups >= kManyGroups &&
         shape.outputs_per_group() <= kFewOutputs && shape.features_per_group > 0;
}

void convolve_channelwise(const Convolution& c) {
  if (!convolve_phases(c, Padding::kAllowed)) convolve_phases(c, Padding::kNever);
}

}  // namespace tpu::tensorcore
