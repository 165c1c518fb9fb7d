#include "emulator/hlo/testing/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tpu::hlo::testing {
namespace {

// The real parts of an element: one, or two of a complex number.
Literal as_real(const Literal& literal) {
  if (!is_complex(literal.type().element)) return literal;
  TensorType type{real_part(literal.type().element), literal.type().shape};
  type.shape.push_back(2);
  return Literal(type, {literal.bytes().begin(), literal.bytes().end()});
}

bool equal_elements(const Literal& actual, const Literal& expected, int64_t i) {
  const int64_t width = byte_width(actual.type().element);
  if (std::memcmp(actual.bytes().data() + i * width, expected.bytes().data() + i * width, width) ==
      0) {
    return true;
  }
  return is_float(actual.type().element) && std::isnan(decode_double(actual, i)) &&
         std::isnan(decode_double(expected, i));
}

std::string index_text(int64_t position, const Dims& shape) {
  std::string text = "]";
  for (size_t d = shape.size(); d-- > 0;) {
    text.insert(0, std::to_string(position % shape[d]) + (d + 1 < shape.size() ? ", " : ""));
    position /= shape[d];
  }
  return "[" + text;
}

}  // namespace

std::string element_text(const Literal& literal, int64_t position) {
  const ElementType type = literal.type().element;
  if (is_complex(type)) {
    const Literal parts = as_real(literal);
    return "(" + element_text(parts, 2 * position) + ", " + element_text(parts, 2 * position + 1) +
           ")";
  }
  if (!is_float(type)) return std::to_string(decode_int(literal, position));
  uint64_t bits = 0;
  std::memcpy(&bits, literal.bytes().data() + position * byte_width(type), byte_width(type));
  char text[64];
  std::snprintf(text, sizeof text, "%.9g (0x%llx)", decode_double(literal, position),
                static_cast<unsigned long long>(bits));
  return text;
}

std::string difference(const Literal& actual, const Literal& expected) {
  if (actual.type() != expected.type()) {
    return "type " + to_string(actual.type()) + ", expected " + to_string(expected.type());
  }
  const Literal a = as_real(actual), e = as_real(expected);
  int64_t different = 0, first = -1;
  for (int64_t i = 0; i < a.type().num_elements(); ++i) {
    if (equal_elements(a, e, i)) continue;
    if (different++ == 0) first = i;
  }
  if (different == 0) return "";
  return std::to_string(different) + " of " + std::to_string(a.type().num_elements()) +
         " numbers differ; first at " + index_text(first, a.type().shape) + ": " +
         element_text(a, first) + ", expected " + element_text(e, first);
}

}  // namespace tpu::hlo::testing
