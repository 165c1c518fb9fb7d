// sort (specification, section "sort"), and the stable key sort that other kernels use too.
#pragma once

#include <cstdint>
#include <span>

#include "emulator/compiler/kernels/kernel.h"

namespace tpu::compiler::kernels {

/// Any number of operands, sorted together along `dimension`. Always stable. A comparator that
/// recognise_region knows sorts integer keys; others are called.
void sort(const KernelCall& call);

/// Fills `permutation` with the numbers 0 .. n - 1 so that keys ascend, equal keys in their
/// original order. `Key` is uint8_t, uint16_t, uint32_t or uint64_t; n is below 2^32.
template <class Key>
void sort_permutation(std::span<const Key> keys, std::span<uint32_t> permutation);

extern template void sort_permutation(std::span<const uint8_t>, std::span<uint32_t>);
extern template void sort_permutation(std::span<const uint16_t>, std::span<uint32_t>);
extern template void sort_permutation(std::span<const uint32_t>, std::span<uint32_t>);
extern template void sort_permutation(std::span<const uint64_t>, std::span<uint32_t>);

}  // namespace tpu::compiler::kernels
