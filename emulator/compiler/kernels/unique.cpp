#include "emulator/compiler/kernels/unique.h"

#include <numeric>
#include <string>
#include <vector>

#include "emulator/compiler/kernels/sort.h"
#include "emulator/compiler/kernels/value_order.h"

namespace tpu::compiler::kernels {
namespace {

// The elements in an order that puts equal ones side by side, and where each group starts in it.
struct Groups {
  std::vector<uint32_t> order;
  std::vector<int64_t> starts;
};

Groups find_groups(std::string_view op, const ConstView& operand, bool sorted) {
  const int64_t n = elements(operand);
  if (n > UINT32_MAX) {
    throw Unimplemented(std::string(op) + " of " + std::to_string(n) +
                        " elements; at most 2^32 - 1 are supported");
  }
  const int64_t stride = operand.shape.empty() ? 0 : operand.strides[0];
  Groups groups;
  groups.order.resize(static_cast<size_t>(n));
  visit_key(op, operand.element, [&]<class Key>(std::type_identity<Key>) {
    const KeyOf<Key> key_of(operand.element, value_order(false));
    const Key* data = reinterpret_cast<const Key*>(operand.data);
    const std::vector<Key> keys = keys_of(data, stride, n, key_of);
    if (sorted) {
      sort_permutation(std::span<const Key>(keys), groups.order);
    } else {
      std::iota(groups.order.begin(), groups.order.end(), 0u);
    }
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t here = groups.order[static_cast<size_t>(i)];
      const bool starts = i == 0 || keys[here] != keys[groups.order[static_cast<size_t>(i - 1)]] ||
                          key_of.is_nan(data[here * stride]);  // no NaN equals another
      if (starts) groups.starts.push_back(i);
    }
  });
  return groups;
}

void store_count(std::string_view op, const KernelCall& call, bool sorted) {
  const Groups groups = find_groups(op, call.operands[0], sorted);
  *reinterpret_cast<int64_t*>(call.results[0].data) = static_cast<int64_t>(groups.starts.size());
}

void store_groups(std::string_view op, const KernelCall& call, bool sorted) {
  const ConstView& operand = call.operands[0];
  const View& values = call.results[0];
  const View& inverse = call.results[1];
  const View& counts = call.results[2];
  Groups groups = find_groups(op, operand, sorted);
  const auto count = static_cast<int64_t>(groups.starts.size());
  if (count != values.shape[0]) {
    throw DeviceError(std::string(op) + ": the operand has " + std::to_string(count) +
                      " distinct values, but the result is shaped for " +
                      std::to_string(values.shape[0]) + "; count them just before");
  }
  groups.starts.push_back(static_cast<int64_t>(groups.order.size()));
  const int64_t stride = operand.shape.empty() ? 0 : operand.strides[0];
  auto* inverses = reinterpret_cast<int64_t*>(inverse.data);
  auto* sizes = reinterpret_cast<int64_t*>(counts.data);
  visit_width(hlo::byte_width(operand.element), [&]<class T>(std::type_identity<T>) {
    const T* from = reinterpret_cast<const T*>(operand.data);
    T* to = reinterpret_cast<T*>(values.data);
    for (int64_t g = 0; g < count; ++g) {
      const auto at = static_cast<size_t>(g);
      const int64_t begin = groups.starts[at], end = groups.starts[at + 1];
      to[g * values.strides[0]] = from[groups.order[static_cast<size_t>(begin)] * stride];
      sizes[g * counts.strides[0]] = end - begin;
      for (int64_t i = begin; i < end; ++i) {
        inverses[groups.order[static_cast<size_t>(i)] * inverse.strides[0]] = g;
      }
    }
  });
}

}  // namespace

void unique_count(const KernelCall& call) {
  store_count("tpu.unique_count", call, true);
}
void unique(const KernelCall& call) {
  store_groups("tpu.unique", call, true);
}
void unique_consecutive_count(const KernelCall& call) {
  store_count("tpu.unique_consecutive_count", call, false);
}
void unique_consecutive(const KernelCall& call) {
  store_groups("tpu.unique_consecutive", call, false);
}

}  // namespace tpu::compiler::kernels
