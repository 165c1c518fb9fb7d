// Faults: ways in which the mock backend can be told to be wrong, one at a time.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mock {

class Call;

/// Carries out an operator call, wrongly. It calls `Call::run` itself, or not.
using Change = std::function<void(Call&)>;

/// One fault. `op` and `what` make its name: sub.operands_swapped.
struct Fault {
  std::string op;
  std::string what;
  std::string kind;
  /// Pattern over names of cases, at least one of which must find it.
  std::string cases;
  /// Operators that `change` is for, by base name (sub is also sub_ and sub.out) or overload
  /// (sub.Tensor); empty where the fault sits in the runtime, which asks `is_on`.
  std::vector<std::string> operators;
  Change change;

  std::string name() const { return op + "." + what; }
};

/// All faults, in the order of their tables.
const std::vector<Fault>& all_faults();

/// Switches a fault on, or all off for an empty name. Raises if there is none of the name.
void switch_on(const std::string& name);

/// Whether the fault of this name is on. Cheap where none is.
bool is_on(std::string_view name);

/// The fault that is on, if it changes the operator; else nothing.
const Fault* fault_of(const std::string& overload);

/// Runs the call, as the fault that is on for its operator says if there is one.
void carry_out(Call& call);

}  // namespace mock
