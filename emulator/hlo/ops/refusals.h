// For tests of shape functions: programs that break one constraint, and its label.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "emulator/base/error.h"
#include "emulator/hlo/builder.h"

namespace tpu::hlo::ops {

struct Refusal {
  std::string label;  ///< of the constraint, e.g. "add_c1"; or a part of the message
  std::function<void(Builder&)> build;
};

inline void expect_refused(const std::vector<Refusal>& refusals) {
  for (const Refusal& refusal : refusals) {
    Module module;
    Builder builder(module.add_function("main").body);
    try {
      refusal.build(builder);
      ADD_FAILURE() << refusal.label << ": was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.label), std::string::npos)
          << "expected " << refusal.label << ", got: " << error.what();
    }
  }
}

/// The type of what `build` returns.
inline TensorType type_of_built(const std::function<Value*(Builder&)>& build) {
  Module module;
  Builder builder(module.add_function("main").body);
  return build(builder)->type;
}

/// A body of one argument list that returns constants of the given types.
inline Builder::Body returning(std::vector<TensorType> types) {
  return [types = std::move(types)](Builder& b, std::span<Value* const>) {
    std::vector<Value*> values;
    for (const TensorType& type : types) values.push_back(b.splat(type, int64_t{0}));
    b.ret(std::move(values));
  };
}

}  // namespace tpu::hlo::ops
