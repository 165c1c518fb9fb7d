// Names in force while a block is evaluated.
#pragma once

#include <unordered_map>

#include "emulator/base/error.h"
#include "emulator/hlo/ir.h"
#include "emulator/hlo/literal.h"

namespace tpu::hlo {

/// The values computed so far in a block, and through `parent` those of the blocks around it,
/// which a region may use.
class Scope {
 public:
  explicit Scope(const Scope* parent = nullptr) : parent_(parent) {}

  void bind(const Value* value, Literal literal) { values_[value] = std::move(literal); }

  const Literal& find(const Value* value) const {
    for (const Scope* scope = this; scope; scope = scope->parent_) {
      if (auto at = scope->values_.find(value); at != scope->values_.end()) return at->second;
    }
    throw InvalidArgument("a value of type " + to_string(value->type) +
                          " is used where it is not defined");
  }

 private:
  const Scope* parent_;
  std::unordered_map<const Value*, Literal> values_;
};

}  // namespace tpu::hlo
