// Elementary and special functions of elements: the templates of emulator/tensorcore/vpu, run on
// the scalar machine. Types narrower than f32 are computed in f32 and rounded once.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "emulator/hlo/evaluator/element.h"
#include "emulator/tensorcore/vpu/elementary_function.h"

namespace tpu::hlo {

Element atan2(const Element& y, const Element& x);
Element cbrt(const Element& x);
Element cosine(const Element& x);
Element exponential(const Element& x);
Element exponential_minus_one(const Element& x);
Element log(const Element& x);
Element log_plus_one(const Element& x);
Element logistic(const Element& x);
/// Of floats and complex numbers; integer_power is for integers.
Element power(const Element& x, const Element& y);
Element rsqrt(const Element& x);
Element sine(const Element& x);
Element sqrt(const Element& x);
Element tan(const Element& x);
Element tanh(const Element& x);

/// The function behind `custom_call @chlo.<name>`: any of vpu's list, by its name there.
std::optional<tensorcore::ElementaryFunction> chlo_function(std::string_view target);
Element apply_chlo(tensorcore::ElementaryFunction function, std::span<const Element> operands);

}  // namespace tpu::hlo
