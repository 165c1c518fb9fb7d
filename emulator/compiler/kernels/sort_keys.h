// Elements as unsigned integers in the order that a comparison gives them.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "emulator/compiler/kernels/region_pattern.h"
#include "emulator/compiler/kernels/strided.h"

namespace tpu::compiler::kernels {

/// Turns the bits of elements of one type into keys: comparing keys says what the comparison says
/// of the elements. Of a partial order of floats this holds as long as no element is NaN.
template <class Key>
class KeyOf {
 public:
  /// `order` is kCompare with kLt or kGt, on an integer, i1, bf16, f16, f32 or f64.
  KeyOf(ElementType element, const RegionPattern& order)
      : float_(hlo::is_float(element)),
        flip_((hlo::is_signed_integer(element) || float_) ? kSign : Key{0}),
        invert_(order.direction == RegionPattern::Direction::kGt ? kAll : Key{0}),
        canonical_zero_(float_ && (order.canonical_zero || !order.total_order)),
        canonical_nan_(float_ && (order.canonical_nan || order.total_order)),
        infinity_(float_ ? infinity(element) : Key{0}) {}

  Key operator()(Key bits) const {
    if (float_) {
      const Key magnitude = bits & Key(~kSign);
      if (canonical_zero_ && magnitude == 0) bits = 0;
      if (canonical_nan_ && magnitude > infinity_) bits = Key(infinity_ | infinity_ >> 1);
      if (bits & kSign) bits ^= Key(~kSign);  // negative numbers count down
    }
    return Key((bits ^ flip_) ^ invert_);
  }

  bool is_nan(Key bits) const { return float_ && Key(bits & Key(~kSign)) > infinity_; }

 private:
  static constexpr Key kAll = std::numeric_limits<Key>::max();
  static constexpr Key kSign = Key(kAll ^ (kAll >> 1));

  static Key infinity(ElementType element) {
    switch (element) {
      case ElementType::kBF16:
        return Key(0x7f80);
      case ElementType::kF16:
        return Key(0x7c00);
      case ElementType::kF32:
        return Key(0x7f800000);
      default:
        return Key(0x7ff0000000000000);
    }
  }

  bool float_;
  Key flip_, invert_;
  bool canonical_zero_, canonical_nan_;
  Key infinity_;
};

/// True for the types that KeyOf orders.
inline bool has_keys(ElementType element) {
  return hlo::is_integer(element) || hlo::is_boolean(element) ||
         (hlo::is_float(element) && !hlo::is_float8(element));
}

}  // namespace tpu::compiler::kernels
