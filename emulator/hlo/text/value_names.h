// Names of values in printed programs, numbered as MLIR numbers them.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emulator/hlo/ir.h"
#include "emulator/hlo/text.h"

namespace tpu::hlo::text {

/// Names for all values of a function. Results count up from `%0`, arguments from `%arg0`; the
/// pretty form gives some ops names of their own (`%cst`, `%iterArg`), made unique by a suffix.
/// Regions beside each other reuse numbers.
class ValueNames {
 public:
  ValueNames(const Block& body, TextForm form);

  /// `%0`, `%1#2`, `%arg0`. A value from elsewhere is `%<unknown>`.
  const std::string& operator[](const Value* value) const;
  /// What stands before the op's ` = `: `%0`, `%1:2`, `%values, %indices`. Empty for no results.
  std::string results(const Op& op) const;

 private:
  struct Counters {
    int value = 0, argument = 0, conflict = 0;
  };
  void name_block(const Block& block, const Op* owner, Counters counters);
  void name_results(const Op& op, Counters& counters);
  std::string unique(const std::string& name, Counters& counters);

  TextForm form_;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_set<std::string> used_;  ///< in the block being named and those around it
  std::vector<std::string> in_order_;     ///< the same, oldest first
};

}  // namespace tpu::hlo::text
