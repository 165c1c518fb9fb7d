// The C++ cases: tables of names and bodies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cpp/trial.h"

namespace conformance {

/// `name` is area.op.variant.dtype.aspect.n, as in the Python front end.
struct CppCase {
  std::string name;
  std::function<void(Trial&)> body;
};

std::vector<CppCase> operator_cases();
std::vector<CppCase> view_cases();
std::vector<CppCase> device_cases();

/// All of them.
std::vector<CppCase> all_cases();

}  // namespace conformance
