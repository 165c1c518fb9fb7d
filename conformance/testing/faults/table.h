// A table of faults of one kind.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "testing/faults/change.h"
#include "testing/faults/tables.h"

namespace mock {

/// Rows are written op, what is wrong, the change, and the cases that must find it; those are the
/// operator's own unless given.
class Table {
 public:
  explicit Table(std::string kind) : kind_(std::move(kind)) {}

  Table& row(const std::string& op, const std::string& what, Change change,
             const std::string& cases = "", std::vector<std::string> operators = {}) {
    if (operators.empty()) operators = {op};
    const std::string wanted = cases.empty() ? "op." + op + ".*" : cases;
    faults_.push_back({op, what, kind_, wanted, std::move(operators), std::move(change)});
    return *this;
  }

  /// A fault that the runtime asks for by name.
  Table& place(const std::string& op, const std::string& what, const std::string& cases) {
    faults_.push_back({op, what, kind_, cases, {}, nullptr});
    return *this;
  }

  std::vector<Fault> done() { return std::move(faults_); }

 private:
  std::string kind_;
  std::vector<Fault> faults_;
};

}  // namespace mock
