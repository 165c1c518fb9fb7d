// The order that PyTorch sorts by: numbers ascending, -0 equal to +0, NaN above everything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/compiler/kernels/sort_keys.h"

namespace tpu::compiler::kernels {

/// As a pattern for KeyOf.
inline RegionPattern value_order(bool descending) {
  RegionPattern pattern;
  pattern.kind = RegionPattern::Kind::kCompare;
  pattern.direction = descending ? RegionPattern::Direction::kGt : RegionPattern::Direction::kLt;
  pattern.total_order = pattern.canonical_zero = pattern.canonical_nan = true;
  return pattern;
}

/// Calls `body(std::type_identity<Key>{})` with the key type of `element`. Throws Unimplemented,
/// naming `op`, for types without keys.
template <class Body>
void visit_key(std::string_view op, ElementType element, Body&& body) {
  if (!has_keys(element)) {
    throw Unimplemented(std::string(op) + " of " + std::string(hlo::name(element)) +
                        " elements; expected integers, i1, bf16, f16, f32 or f64");
  }
  visit_width(hlo::byte_width(element), [&]<class T>(std::type_identity<T> type) {
    if constexpr (!std::is_same_v<T, Wide>) body(type);
  });
}

/// The keys of `n` elements from `data` on, `stride` apart.
template <class Key>
std::vector<Key> keys_of(const Key* data, int64_t stride, int64_t n, const KeyOf<Key>& key_of) {
  std::vector<Key> keys(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) keys[static_cast<size_t>(i)] = key_of(data[i * stride]);
  return keys;
}

}  // namespace tpu::compiler::kernels
