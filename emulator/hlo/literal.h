// A dense host array with an element type: constants, and the evaluator's values.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "emulator/hlo/types.h"

namespace tpu::hlo {

/// Row-major array in the device's own encoding (i1 as bytes 0 and 1; 4-bit values one a byte,
/// sign- or zero-extended). Copies share the bytes; `mutable_bytes` un-shares them first.
class Literal {
 public:
  Literal() = default;
  /// All bytes zero.
  explicit Literal(TensorType type);
  Literal(TensorType type, std::vector<std::byte> bytes);

  const TensorType& type() const { return type_; }
  std::span<const std::byte> bytes() const;
  std::span<std::byte> mutable_bytes();

  /// The elements as `T`; `sizeof(T)` must be the element's byte width.
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes().data()), bytes().size() / sizeof(T)};
  }
  template <class T>
  std::span<T> mutable_as() {
    std::span<std::byte> raw = mutable_bytes();
    return {reinterpret_cast<T*>(raw.data()), raw.size() / sizeof(T)};
  }

  /// True when every element has the same bytes (so that text prints one of them).
  bool is_splat() const;
  /// Same type and same bytes: NaN equals the same NaN, 0.0 differs from -0.0.
  bool operator==(const Literal& other) const;

 private:
  TensorType type_;
  std::shared_ptr<std::vector<std::byte>> bytes_;
};

/// The bytes of `value` converted to `type`: integers wrap, floats round to nearest even.
std::vector<std::byte> encode(ElementType type, double value);
std::vector<std::byte> encode(ElementType type, int64_t value);
/// The real number (of a complex element, the real part) that element `index` stands for.
double decode_double(const Literal& literal, int64_t index);
int64_t decode_int(const Literal& literal, int64_t index);

/// A rank-0 literal, and one of any shape with all elements equal.
Literal scalar(ElementType type, double value);
Literal scalar(ElementType type, int64_t value);
Literal splat(const TensorType& type, double value);
Literal splat(const TensorType& type, int64_t value);
/// A one-dimensional or reshaped i64 literal.
Literal from_ints(ElementType type, const Dims& shape, std::span<const int64_t> values);

}  // namespace tpu::hlo
