#include "emulator/hlo/text/module_difference.h"

#include <unordered_map>

#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo::text {
namespace {

class Comparison {
 public:
  std::string functions(const Function& a, const Function& b) {
    if (a.name != b.name) return "function @" + a.name + " against @" + b.name;
    if (a.is_public != b.is_public) return "visibility of @" + a.name;
    const std::string found = blocks(a.body, b.body);
    return found.empty() ? "" : "in @" + a.name + ": " + found;
  }

 private:
  // Values that stand at the same place of both programs.
  std::string pair(const Value& a, const Value& b) {
    partner_[&a] = &b;
    return a.type == b.type ? "" : to_string(a.type) + " against " + to_string(b.type);
  }

  std::string blocks(const Block& a, const Block& b) {
    if (a.arguments().size() != b.arguments().size()) return "number of arguments";
    for (size_t i = 0; i < a.arguments().size(); ++i) {
      const std::string found = pair(*a.arguments()[i], *b.arguments()[i]);
      if (!found.empty()) return "argument " + std::to_string(i) + ": " + found;
    }
    if (a.ops().size() != b.ops().size()) {
      return std::to_string(a.ops().size()) + " against " + std::to_string(b.ops().size()) + " ops";
    }
    for (size_t i = 0; i < a.ops().size(); ++i) {
      const std::string found = ops(*a.ops()[i], *b.ops()[i]);
      if (!found.empty()) {
        return "op " + std::to_string(i) + ", " + std::string(mnemonic(a.ops()[i]->kind())) + ": " +
               found;
      }
    }
    return "";
  }

  std::string ops(const Op& a, const Op& b) {
    if (a.kind() != b.kind()) return "against " + std::string(mnemonic(b.kind()));
    if (a.operands().size() != b.operands().size()) return "number of operands";
    for (size_t i = 0; i < a.operands().size(); ++i) {
      const auto found = partner_.find(a.operands()[i]);
      if (found == partner_.end() || found->second != b.operands()[i]) {
        return "operand " + std::to_string(i) + " is another value";
      }
    }
    std::string found = attributes(a.attributes(), b.attributes());
    if (!found.empty()) return found;
    if (a.num_regions() != b.num_regions()) return "number of regions";
    for (int i = 0; i < a.num_regions(); ++i) {
      const std::string inside = blocks(a.region(i), b.region(i));
      if (!inside.empty()) return "region " + std::to_string(i) + ": " + inside;
    }
    if (a.num_results() != b.num_results()) return "number of results";
    for (int i = 0; i < a.num_results(); ++i) {
      const std::string type = pair(*a.result(i), *b.result(i));
      if (!type.empty()) return "result " + std::to_string(i) + ": " + type;
    }
    return "";
  }

  static std::string attributes(const Attributes& a, const Attributes& b) {
    for (const auto& [name, value] : a) {
      const Attribute* other = b.find(name);
      if (!other) return "attribute '" + name + "' is missing from the second";
      if (*other != value) return "attribute '" + name + "' has another value";
    }
    for (const auto& [name, value] : b) {
      if (!a.contains(name)) return "attribute '" + name + "' is missing from the first";
    }
    return "";
  }

  std::unordered_map<const Value*, const Value*> partner_;
};

}  // namespace

std::string module_difference(const Module& a, const Module& b) {
  if (a.name() != b.name()) return "module @" + a.name() + " against @" + b.name();
  if (a.functions().size() != b.functions().size()) return "number of functions";
  for (size_t i = 0; i < a.functions().size(); ++i) {
    const std::string found = Comparison().functions(*a.functions()[i], *b.functions()[i]);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace tpu::hlo::text
