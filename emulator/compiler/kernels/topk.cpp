#include "emulator/compiler/kernels/topk.h"

#include <algorithm>
#include <string>
#include <vector>

#include "emulator/base/parallel.h"
#include "emulator/compiler/kernels/lines.h"
#include "emulator/compiler/kernels/sort.h"
#include "emulator/compiler/kernels/value_order.h"

namespace tpu::compiler::kernels {

void topk(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const View& values = call.results[0];
  const View& indices = call.results[1];
  if (elements(values) == 0) return;
  const bool largest = call.attributes.get_or<bool>("largest", true);
  const Lines<3> lines({{{operand.shape, operand.strides},
                         {values.shape, values.strides},
                         {indices.shape, indices.strides}}},
                       call.attributes.get_or<int64_t>("dimension", -1));
  const int64_t n = lines.size(0), k = lines.size(1);
  if (k > n || n > UINT32_MAX) {
    throw InvalidArgument("tpu.topk of " + std::to_string(k) + " elements out of " +
                          std::to_string(n) + "; expected no more than there are (below 2^32)");
  }
  auto* to_index = reinterpret_cast<int64_t*>(indices.data);
  visit_key("tpu.topk", operand.element, [&]<class Key>(std::type_identity<Key>) {
    const KeyOf<Key> key_of(operand.element, value_order(largest));
    parallel_for(lines.count(), std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
      KeySorter<Key> sorter;
      std::vector<uint32_t> order(static_cast<size_t>(k));
      auto at = lines.from(begin);
      for (int64_t line = begin; line < end; ++line, at.next()) {
        const Key* from = reinterpret_cast<const Key*>(operand.data) + at.offset(0);
        Key* to = reinterpret_cast<Key*>(values.data) + at.offset(1);
        const std::vector<Key> keys = keys_of(from, lines.step(0), n, key_of);
        sorter.sort_smallest(keys, order);
        for (int64_t i = 0; i < k; ++i) {
          const uint32_t chosen = order[static_cast<size_t>(i)];
          to[i * lines.step(1)] = from[chosen * lines.step(0)];
          to_index[at.offset(2) + i * lines.step(2)] = chosen;
        }
      }
    });
  });
}

void select_rank(const KernelCall& call) {
  const ConstView& operand = call.operands[0];
  const ConstView& ranks = call.operands[1];
  const View& values = call.results[0];
  const View& positions = call.results[1];
  const int64_t lines = operand.shape[0], n = operand.shape[1];
  visit_key("tpu.select_rank", operand.element, [&]<class Key>(std::type_identity<Key>) {
    const KeyOf<Key> key_of(operand.element, value_order(false));
    const Key* from = reinterpret_cast<const Key*>(operand.data);
    const auto* rank_of = reinterpret_cast<const int64_t*>(ranks.data);
    Key* to = reinterpret_cast<Key*>(values.data);
    auto* to_position = reinterpret_cast<int64_t*>(positions.data);
    parallel_for(lines, std::max<int64_t>(1, 4096 / n), [&](int64_t begin, int64_t end) {
      KeySorter<Key> sorter;
      for (int64_t line = begin; line < end; ++line) {
        const Key* row = from + line * operand.strides[0];
        const int64_t rank =
            std::clamp<int64_t>(rank_of[line * ranks.strides[0]], 0, std::max<int64_t>(n - 1, 0));
        const std::vector<Key> keys = keys_of(row, operand.strides[1], n, key_of);
        const uint32_t chosen = sorter.select(keys, static_cast<size_t>(rank));
        to[line * values.strides[0]] = row[chosen * operand.strides[1]];
        to_position[line * positions.strides[0]] = chosen;
      }
    });
  });
}

void randperm(const KernelCall& call) {
  const ConstView& keys = call.operands[0];
  const View& result = call.results[0];
  const int64_t n = elements(keys);
  auto* to = reinterpret_cast<int64_t*>(result.data);
  std::vector<uint32_t> order(static_cast<size_t>(n));
  visit_key("tpu.randperm", keys.element, [&]<class Key>(std::type_identity<Key>) {
    const KeyOf<Key> key_of(keys.element, value_order(false));
    const Key* from = reinterpret_cast<const Key*>(keys.data);
    const auto sortable = keys_of(from, keys.strides[0], n, key_of);
    sort_permutation(std::span<const Key>(sortable), order);
  });
  for (int64_t i = 0; i < n; ++i) to[i * result.strides[0]] = order[static_cast<size_t>(i)];
}

}  // namespace tpu::compiler::kernels
