#include "emulator/hlo/testing/program.h"

#include <algorithm>

#include "emulator/hlo/testing/compare.h"
#include "emulator/hlo/text.h"

namespace tpu::hlo::testing {
namespace {

std::string dims_text(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string layout_text(const Dims& strides) {
  return strides.empty() ? "dense" : "strides " + dims_text(strides);
}

std::string argument_text(const Literal& argument) {
  constexpr int64_t kShown = 64;
  const int64_t count = argument.type().num_elements();
  std::string text;
  for (int64_t i = 0; i < std::min(count, kShown); ++i) {
    text += (i ? ", " : "") + element_text(argument, i);
  }
  return count > kShown ? text + ", ..." : text;
}

}  // namespace

Program Program::clone() const {
  return {module.clone(), arguments, parameter_strides, result_strides, aliases};
}

std::string to_text(const Program& program) {
  std::string text;
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    text += "// %arg" + std::to_string(i) + ": " + layout_text(program.parameter_strides[i]) +
            ", values " + argument_text(program.arguments[i]) + "\n";
  }
  for (size_t i = 0; i < program.result_strides.size(); ++i) {
    text += "// result " + std::to_string(i) + ": " + layout_text(program.result_strides[i]);
    if (program.aliases[i] >= 0) text += ", overwrites %arg" + std::to_string(program.aliases[i]);
    text += "\n";
  }
  return text + print(program.module);
}

}  // namespace tpu::hlo::testing
