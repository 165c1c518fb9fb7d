#include "emulator/hlo/evaluator/transcendental.h"

#include <string>

#include "emulator/base/error.h"
#include "emulator/tensorcore/vpu/complex_functions.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::hlo {
namespace {

using tensorcore::ComplexFunction;
using tensorcore::ElementaryFunction;

tensorcore::ScalarMachine machine;

Element real_function(ElementaryFunction function, const Element& x) {
  if (x.type == ElementType::kF64) {
    return make_float(x.type, unary_f64(machine, function, std::get<double>(x.value)));
  }
  return make_float(x.type, unary_f32(machine, function, std::get<float>(x.value)));
}

Element real_function(ElementaryFunction function, const Element& x, const Element& y) {
  if (x.type == ElementType::kF64) {
    return make_float(x.type, binary_f64(machine, function, std::get<double>(x.value),
                                         std::get<double>(y.value)));
  }
  return make_float(
      x.type, binary_f32(machine, function, std::get<float>(x.value), std::get<float>(y.value)));
}

Element function_of(ElementaryFunction function, ComplexFunction complex_function,
                    const Element& x) {
  if (!is_complex(x.type)) return real_function(function, x);
  return map_complex([&](auto z) { return complex_unary(machine, complex_function, z); }, x);
}

}  // namespace

Element atan2(const Element& y, const Element& x) {
  if (is_complex(x.type)) throw Unimplemented("atan2 of complex elements");
  return real_function(ElementaryFunction::kAtan2, y, x);
}

Element cbrt(const Element& x) {
  return function_of(ElementaryFunction::kCbrt, ComplexFunction::kCbrt, x);
}
Element cosine(const Element& x) {
  return function_of(ElementaryFunction::kCos, ComplexFunction::kCos, x);
}
Element exponential(const Element& x) {
  return function_of(ElementaryFunction::kExp, ComplexFunction::kExp, x);
}
Element exponential_minus_one(const Element& x) {
  return function_of(ElementaryFunction::kExpm1, ComplexFunction::kExpm1, x);
}
Element log(const Element& x) {
  return function_of(ElementaryFunction::kLog, ComplexFunction::kLog, x);
}
Element log_plus_one(const Element& x) {
  return function_of(ElementaryFunction::kLog1p, ComplexFunction::kLog1p, x);
}
Element logistic(const Element& x) {
  return function_of(ElementaryFunction::kLogistic, ComplexFunction::kLogistic, x);
}
Element rsqrt(const Element& x) {
  return function_of(ElementaryFunction::kRsqrt, ComplexFunction::kRsqrt, x);
}
Element sine(const Element& x) {
  return function_of(ElementaryFunction::kSin, ComplexFunction::kSin, x);
}
Element sqrt(const Element& x) {
  return function_of(ElementaryFunction::kSqrt, ComplexFunction::kSqrt, x);
}
Element tan(const Element& x) {
  return function_of(ElementaryFunction::kTan, ComplexFunction::kTan, x);
}
Element tanh(const Element& x) {
  return function_of(ElementaryFunction::kTanh, ComplexFunction::kTanh, x);
}

Element power(const Element& x, const Element& y) {
  if (!is_complex(x.type)) return real_function(ElementaryFunction::kPow, x, y);
  return map_complex([](auto a, auto b) { return complex_power(machine, a, b); }, x, y);
}

std::optional<ElementaryFunction> chlo_function(std::string_view target) {
  constexpr std::string_view kPrefix = "chlo.";
  if (!target.starts_with(kPrefix)) return std::nullopt;
  return tensorcore::find_elementary_function(target.substr(kPrefix.size()));
}

Element apply_chlo(ElementaryFunction function, std::span<const Element> operands) {
  const tensorcore::ElementaryFunctionInfo& info = tensorcore::info(function);
  if (!is_float(operands[0].type)) {
    throw Unimplemented("chlo." + std::string(info.name) + " of " +
                        std::string(name(operands[0].type)) + " elements");
  }
  if (static_cast<int>(operands.size()) != info.arguments) {
    throw InvalidArgument("chlo." + std::string(info.name) + " takes " +
                          std::to_string(info.arguments) + " operands, got " +
                          std::to_string(operands.size()));
  }
  return info.arguments == 1 ? real_function(function, operands[0])
                             : real_function(function, operands[0], operands[1]);
}

}  // namespace tpu::hlo
