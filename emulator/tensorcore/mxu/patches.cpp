#include "emulator/tensorcore/mxu/patches.h"

#include <algorithm>
#include <cstring>

#include "emulator/base/parallel.h"

namespace tpu::tensorcore {
namespace {

/// Room behind a buffer for copies in whole vectors.
constexpr int64_t kSlack = 64;
/// Segments of a chunk are on average this long, or rows are copied.
constexpr int64_t kLongRun = 24;

/// Copies `count` elements and perhaps a few more behind them.
template <class T>
[[gnu::always_inline]] inline void copy_run(const T* from, T* to, int64_t count) {
  constexpr int64_t kStep = 32 / sizeof(T);
  for (int64_t i = 0; i < count; i += kStep) std::memcpy(to + i, from + i, kStep * sizeof(T));
}

}  // namespace

ImageLayout image_layout(std::span<const int64_t> low, std::span<const int64_t> high,
                         int64_t images, int64_t features) {
  ImageLayout layout;
  layout.low.assign(low.begin(), low.end());
  layout.extent.resize(low.size());
  layout.strides.resize(low.size());
  layout.images = images;
  layout.features = features;
  layout.image_stride = features;
  for (size_t d = low.size(); d-- > 0;) {
    layout.strides[d] = layout.image_stride;
    layout.extent[d] = high[d] - low[d];
    layout.origin -= low[d] * layout.image_stride;
    layout.image_stride *= layout.extent[d];
  }
  return layout;
}

/// Packs line by line: a line is the last spatial dimension.
template <class T>
PackedImages<T>::PackedImages(const ImageSource& source, int64_t first, ImageLayout layout,
                              const PassPlan& plan, const HostKernels& host)
    : layout_(std::move(layout)), parts_(plan.parts), data_(part_stride() * plan.parts + kSlack) {
  StridedMatrix tensor = source.tensor;
  if (!source.spatial.empty()) tensor.lines = source.spatial.back();
  const StridedOperand<T> operand(tensor, plan, host);
  const int64_t line_size = layout_.features * (layout_.extent.empty() ? 1 : layout_.extent.back());
  if (part_stride() == 0) return;
  const int64_t lines = layout_.image_stride / line_size;
  std::vector<MagnitudeRange> ranges(layout_.images * lines);
  const int64_t grain = std::max<int64_t>(1, 16384 / line_size);
  parallel_for(layout_.images * lines, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ranges[i] =
          pack_line(source, first + i / lines, i % lines, operand, data_.data() + i * line_size);
    }
  });
  for (const MagnitudeRange& range : ranges) range_.merge(range);
  std::fill_n(data_.data() + part_stride() * parts_, kSlack, T{});
}

template <class T>
MagnitudeRange PackedImages<T>::pack_line(const ImageSource& source, int64_t image, int64_t line,
                                          const StridedOperand<T>& operand, T* target) const {
  const int last = static_cast<int>(layout_.low.size()) - 1;
  // The spatial dimensions before the last lead to an offset, or outside of the input.
  bool inside = true;
  int64_t offset = source.tensor.batch.offset(image);
  for (int d = last - 1; d >= 0; line /= layout_.extent[d--]) {
    const int64_t at = layout_.low[d] + line % layout_.extent[d];
    inside = inside && at >= 0 && at < source.spatial[d].size();
    if (inside) offset += source.spatial[d].offset(at);
  }
  const int64_t low = last < 0 ? 0 : layout_.low[last];
  const int64_t high = low + (last < 0 ? 1 : layout_.extent[last]);
  const int64_t size = last < 0 ? 1 : source.spatial[last].size();
  const int64_t begin = inside ? std::clamp<int64_t>(0, low, high) : high;
  const int64_t end = inside ? std::clamp<int64_t>(size, begin, high) : begin;
  const int64_t features = layout_.features;
  for (int p = 0; p < parts_; ++p) {
    T* to = target + p * part_stride();
    std::fill(to, to + (begin - low) * features, T{});
    std::fill(to + (end - low) * features, to + (high - low) * features, T{});
  }
  if (begin == end) return {};
  const int64_t filled = source.tensor.k.size();
  T* to = target + (begin - low) * features;
  if (filled < features) {
    for (int64_t i = 0; i < (end - begin) * parts_; ++i) {
      T* position = to + i / (end - begin) * part_stride() + i % (end - begin) * features;
      std::fill(position + filled, position + features, T{});
    }
  }
  return operand.pack_rows(offset, begin, end - begin, 0, filled, to, features, part_stride());
}

template <class T>
Patches<T>::Patches(const PackedImages<T>& images, const std::vector<PhaseWindow>& phase,
                    int64_t group_features)
    : images_(images), group_features_(group_features) {
  const ImageLayout& layout = images.layout();
  const int rank = static_cast<int>(phase.size());
  rows_ = StridedAxis(layout.images, layout.image_stride);
  origin_ = layout.origin;
  int64_t taps = 1;
  for (int d = 0; d < rank; ++d) {
    rows_.append(phase[d].outputs, phase[d].input_step * layout.strides[d]);
    origin_ += phase[d].origin * layout.strides[d];
    taps *= phase[d].taps;
  }
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t offset = 0, rest = tap;
    for (int d = rank - 1; d >= 0; rest /= phase[d--].taps) {
      offset += rest % phase[d].taps * phase[d].tap_reach * layout.strides[d];
    }
    const int64_t k = tap * group_features;
    const bool continues = !runs_.empty() && offset == runs_.back().offset + (k - runs_.back().k);
    if (!continues) runs_.push_back({k, offset});
  }
  runs_.push_back({taps * group_features, 0});
}

template <class T>
std::vector<Segment> Patches<T>::segments(int64_t k, int64_t depth) const {
  std::vector<Segment> segments;
  auto run = std::ranges::upper_bound(runs_, k, {}, &Run::k) - 1;
  for (int64_t at = k; at < k + depth; at = (++run)->k) {
    segments.push_back({run->offset + (at - run->k), std::min(run[1].k, k + depth) - at});
  }
  return segments;
}

template <class T>
LeftView<T> Patches<T>::view(int64_t group, int64_t row, int64_t rows, int64_t k, int64_t depth,
                             LeftBuffer<T>& buffer) const {
  const T* data = images_.data() + origin_ + group * group_features_;
  rows_.for_each_run(row, row + rows, [&](int64_t r, int64_t offset, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      buffer.rows()[r - row + i] = data + offset + i * rows_.stride();
    }
  });
  buffer.segments() = segments(k, depth);
  const auto& parts = buffer.segments();
  if (depth >= kLongRun * std::ssize(parts)) {
    return {buffer.rows(), parts, images_.part_stride(), images_.range()};
  }
  for (int p = 0; p < images_.parts(); ++p) {
    T* to = buffer.data() + p * rows * buffer.depth();
    for (int64_t r = 0; r < rows; ++r, to += buffer.depth()) {
      const T* from = buffer.rows()[r] + p * images_.part_stride();
      T* end = to;
      for (const Segment& part : parts) {
        copy_run(from + part.offset, end, part.length);
        end += part.length;
      }
    }
  }
  return buffer.packed(rows, depth, images_.range());
}

template class PackedImages<float>;
template class PackedImages<double>;
template class PackedImages<uint32_t>;
template class PackedImages<uint64_t>;
template class Patches<float>;
template class Patches<double>;
template class Patches<uint32_t>;
template class Patches<uint64_t>;

}  // namespace tpu::tensorcore
