#include "emulator/compiler/kernels/searchsorted.h"

#include <string>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/combiner.h"
#include "emulator/compiler/kernels/copy.h"
#include "emulator/compiler/kernels/scalar_ops.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {
namespace {

// The sequence that a value is looked up in, possibly by way of the order that sorts it.
template <class Element>
struct Sequence {
  const typename Element::Storage* data;
  int64_t step, size;
  const int64_t* order;  // null if the sequence is sorted as it is
  int64_t order_step;

  typename Element::Compute at(int64_t i) const {
    return Element::load(data[(order ? order[i * order_step] : i) * step]);
  }
};

// The first position whose element is not below `value` (or, from the right, above it). A NaN
// counts as above all numbers, as where sorting puts it.
template <class Element>
int64_t position(const Sequence<Element>& sequence, typename Element::Compute value, bool right) {
  int64_t begin = 0, end = sequence.size;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    const auto x = sequence.at(middle);
    const bool stays = right ? x > value : x >= value;
    if (stays) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

// Strides over the values' dimensions at which an array of sequences moves on.
Dims sequence_strides(std::span<const int64_t> strides, size_t rank) {
  Dims outer(rank, 0);
  if (strides.size() > 1) std::copy(strides.begin(), strides.end() - 1, outer.begin());
  return outer;
}

template <class Element>
void search(const KernelCall& call, bool right) {
  const ConstView& sorted = call.operands[0];
  const ConstView& values = call.operands[1];
  const View& result = call.results[0];
  const ConstView* order = call.operands.size() > 2 ? &call.operands[2] : nullptr;
  const size_t rank = values.shape.size();
  const Dims sequence_step = sequence_strides(sorted.strides, rank);
  const Dims order_step = order ? sequence_strides(order->strides, rank) : Dims(rank, 0);
  using T = typename Element::Storage;
  parallel_for(elements(values), 1024, [&](int64_t begin, int64_t end) {
    Odometer<4> at(values.shape, {sequence_step, order_step, values.strides, result.strides},
                   begin);
    for (int64_t i = begin; i < end; ++i, at.next()) {
      Sequence<Element> sequence{reinterpret_cast<const T*>(sorted.data) + at.offset(0),
                                 sorted.strides.back(), sorted.shape.back(), nullptr, 0};
      if (order) {
        sequence.order = reinterpret_cast<const int64_t*>(order->data) + at.offset(1);
        sequence.order_step = order->strides.back();
      }
      const auto value = Element::load(reinterpret_cast<const T*>(values.data)[at.offset(2)]);
      const int64_t found = position(sequence, value, right);
      if (result.element == ElementType::kSI32) {
        reinterpret_cast<int32_t*>(result.data)[at.offset(3)] = static_cast<int32_t>(found);
      } else {
        reinterpret_cast<int64_t*>(result.data)[at.offset(3)] = found;
      }
    }
  });
}

}  // namespace

void searchsorted(const KernelCall& call) {
  const bool right = call.attributes.get_or<bool>("right", false);
  bool done = false;
  visit_element(call.operands[0].element, [&]<class Element>(Element) {
    if constexpr (!kIsComplex<typename Element::Compute>) {
      search<Element>(call, right);
      done = true;
    }
  });
  if (!done) {
    throw Unimplemented("tpu.searchsorted of " + std::string(hlo::name(call.operands[0].element)) +
                        " elements; expected integers, i1, bf16, f16, f32 or f64");
  }
}

void bincount(const KernelCall& call) {
  const ConstView& bins = call.operands[0];
  const View& result = call.results[0];
  const int64_t n = elements(bins), size = result.shape[0];
  const std::vector<std::byte> zero(16, std::byte{0});
  fill(zero.data(), result);
  std::vector<int64_t> offsets(static_cast<size_t>(n));
  visit_integer(bins.element, [&]<class T>(std::type_identity<T>) {
    const T* data = reinterpret_cast<const T*>(bins.data);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t bin = saturated(data[i * bins.strides[0]]);
      if (bin < 0 || bin >= size) {
        throw DeviceError("tpu.bincount: element " + std::to_string(i) + " is " +
                          std::to_string(bin) + "; expected 0 to " + std::to_string(size - 1));
      }
      offsets[static_cast<size_t>(i)] = bin * result.strides[0];
    }
  });
  RegionPattern add;
  add.kind = RegionPattern::Kind::kBinary;
  add.op = hlo::OpKind::kAdd;
  const Combiner combiner(result.element, add, nullptr);
  const std::vector<std::byte> one = hlo::encode(result.element, int64_t{1});
  const bool weighted = call.operands.size() > 1;
  combiner.indexed(result.data, offsets.data(), 0, INT64_MAX,
                   weighted ? call.operands[1].data : one.data(),
                   weighted ? call.operands[1].strides[0] : 0, n);
}

}  // namespace tpu::compiler::kernels
