// Modules, functions, regions, and the ops whose form has regions.
#include <algorithm>
#include <string>

#include "emulator/hlo/text.h"
#include "emulator/hlo/text/chlo.h"
#include "emulator/hlo/text/dictionary_text.h"
#include "emulator/hlo/text/pretty_printer.h"
#include "emulator/hlo/text/type_text.h"

namespace tpu::hlo {
namespace text {
namespace {

// The inner op if the reduction's body is only that: a commutative op on the two arguments.
const Op* single_combiner(const Op& reduce) {
  if (reduce.operands().size() != 2) return nullptr;
  const Block& body = reduce.region(0);
  if (body.arguments().size() != 2 || body.ops().size() != 2) return nullptr;
  const Op& inner = *body.ops()[0];
  const Op& result = *body.ops()[1];
  switch (inner.kind()) {
    case OpKind::kAdd:
    case OpKind::kAnd:
    case OpKind::kMaximum:
    case OpKind::kMinimum:
    case OpKind::kMultiply:
    case OpKind::kOr:
    case OpKind::kXor:
      break;
    default:
      return nullptr;
  }
  const TensorType scalar{reduce.operand(0)->type.element, {}};
  const bool takes_arguments = inner.operands().size() == 2 &&
                               inner.operand(0) == body.argument(0) &&
                               inner.operand(1) == body.argument(1);
  const bool returns_inner = result.kind() == OpKind::kReturn && result.operands().size() == 1 &&
                             result.operand(0) == inner.result();
  const bool is_scalar = body.argument(0)->type == scalar && body.argument(1)->type == scalar &&
                         inner.result()->type == scalar;
  return takes_arguments && returns_inner && is_scalar && inner.attributes().empty() ? &inner
                                                                                     : nullptr;
}

class FunctionPrinter {
 public:
  FunctionPrinter(const Function& function, TextForm form, std::string& out)
      : function_(function), form_(form), names_(function.body, form), out_(out) {}

  void print();

 private:
  bool is_pretty() const { return form_ == TextForm::kPretty; }
  void print_pretty_header();
  void print_generic_header();
  void print_ops(const Block& block, int indent);
  void print_op(const Op& op, int indent);
  bool print_pretty(const Op& op, int indent);
  void print_return(const Op& op);
  void print_while(const Op& op, int indent);
  bool print_reduce(const Op& op, int indent);
  void print_generic(const Op& op, int indent);
  void print_region(const Block& block, int indent, bool with_arguments);
  std::string arguments_text(const Block& block) const;
  /// `stablehlo.add`, `func.call`, `chlo.erf`.
  std::string full_name(const Op& op) const;
  bool is_in_function(const Op& op) const { return op.parent == &function_.body; }

  const Function& function_;
  TextForm form_;
  ValueNames names_;
  std::string& out_;
};

std::string FunctionPrinter::full_name(const Op& op) const {
  const bool is_func =
      op.kind() == OpKind::kCall || (op.kind() == OpKind::kReturn && is_in_function(op));
  if (const auto chlo = chlo_name(op)) return "chlo." + *chlo;
  return (is_func ? "func." : "stablehlo.") + std::string(mnemonic(op.kind()));
}

std::string FunctionPrinter::arguments_text(const Block& block) const {
  std::string text;
  for (const auto& argument : block.arguments()) {
    if (!text.empty()) text += ", ";
    text += names_[argument.get()] + ": " + to_string(argument->type);
  }
  return text;
}

void FunctionPrinter::print_pretty_header() {
  const std::vector<TensorType> results = function_.result_types();
  out_ += "  func.func " + std::string(function_.is_public ? "public" : "private") + " " +
          symbol(function_.name) + "(" + arguments_text(function_.body) + ")";
  if (results.size() == 1) out_ += " -> " + types_text(results);
  if (results.size() > 1) out_ += " -> (" + types_text(results) + ")";
  out_ += " {\n";
}

void FunctionPrinter::print_generic_header() {
  out_ += "  \"func.func\"() <{function_type = " +
          function_type_text({function_.parameter_types(), function_.result_types()}) +
          ", sym_name = " + quoted(function_.name) +
          ", sym_visibility = " + quoted(function_.is_public ? "public" : "private") + "}> (";
}

void FunctionPrinter::print() {
  if (is_pretty()) {
    print_pretty_header();
    print_ops(function_.body, 4);
    out_ += "  }\n";
  } else {
    print_generic_header();
    print_region(function_.body, 2, true);
    out_ += ") : () -> ()\n";
  }
}

void FunctionPrinter::print_ops(const Block& block, int indent) {
  for (const auto& op : block.ops()) print_op(*op, indent);
}

void FunctionPrinter::print_op(const Op& op, int indent) {
  out_.append(indent, ' ');
  const std::string results = names_.results(op);
  if (!results.empty()) out_ += results + " = ";
  if (!is_pretty() || !print_pretty(op, indent)) print_generic(op, indent);
  out_ += '\n';
}

bool FunctionPrinter::print_pretty(const Op& op, int indent) {
  if (op.kind() == OpKind::kReturn && op.attributes().empty()) return print_return(op), true;
  if (op.kind() == OpKind::kWhile && op.num_regions() == 2) return print_while(op, indent), true;
  if (op.kind() == OpKind::kReduce) return print_reduce(op, indent);
  const auto chlo = chlo_name(op);
  const Syntax* syntax = chlo ? find_chlo_syntax(*chlo) : find_syntax(op.kind());
  if (!syntax) return false;
  const std::optional<std::string> text = pretty_text(op, *syntax, names_);
  if (!text) return false;
  const bool short_name = op.kind() == OpKind::kCall && is_in_function(op);
  out_ += (short_name ? "call" : full_name(op)) + *text;
  return true;
}

void FunctionPrinter::print_return(const Op& op) {
  out_ += is_in_function(op) ? "return" : full_name(op);
  if (op.operands().empty()) return;
  out_ += " " + operands_text(op, names_) + " : " + types_text(operand_types(op));
}

void FunctionPrinter::print_while(const Op& op, int indent) {
  const std::string margin(indent, ' ');
  // The condition's arguments are numbered like the body's: one list names both.
  const Block& body = op.region(1);
  out_ += full_name(op) + "(";
  for (size_t i = 0; i < op.operands().size() && i < body.arguments().size(); ++i) {
    if (i) out_ += ", ";
    out_ += names_[body.argument(static_cast<int>(i))] + " = " +
            names_[op.operand(static_cast<int>(i))];
  }
  out_ += ")";
  if (!op.operands().empty()) out_ += " : " + types_text(operand_types(op));
  out_ += "\n" + margin + "cond ";
  print_region(op.region(0), indent, false);
  out_ += " do ";
  print_region(body, indent, false);
}

bool FunctionPrinter::print_reduce(const Op& op, int indent) {
  const size_t pairs = op.operands().size() / 2;
  const Attribute* dimensions = op.attributes().find("dimensions");
  const bool fits = op.num_regions() == 1 && op.operands().size() == 2 * pairs && pairs > 0 &&
                    dimensions && std::holds_alternative<Dims>(*dimensions) &&
                    op.region(0).arguments().size() == 2 * pairs;
  if (!fits) return false;
  out_ += full_name(op);
  for (size_t i = 0; i < pairs; ++i) {
    out_ += (i ? ", (" : "(") + names_[op.operands()[i]] +
            " init: " + names_[op.operands()[i + pairs]] + ")";
  }
  const Op* inner = single_combiner(op);
  if (inner) out_ += " applies " + full_name(*inner);
  out_ += " across dimensions = " + list(std::get<Dims>(*dimensions));
  const std::string_view in_place[] = {"dimensions"};
  out_ += dictionary_text(op.kind(), op.attributes(), in_place) + " : " +
          function_type_text({operand_types(op), result_types(op)});
  if (inner) return true;
  out_ += "\n" + std::string(indent, ' ') + " reducer";
  const Block& body = op.region(0);
  const auto argument = [&](size_t i) {
    const Value* value = body.argument(static_cast<int>(i));
    return names_[value] + ": " + to_string(value->type);
  };
  for (size_t i = 0; i < pairs; ++i) {
    out_ += "(" + argument(i) + ", " + argument(i + pairs) + ") ";
  }
  out_ += " ";
  print_region(body, indent, false);
  return true;
}

void FunctionPrinter::print_generic(const Op& op, int indent) {
  out_ += "\"" + full_name(op) + "\"(" + operands_text(op, names_) + ")";
  const bool is_chlo = chlo_name(op).has_value();
  Attributes properties, others;
  for (const auto& [name, value] : op.attributes()) {
    if (is_chlo && name == "call_target_name") continue;
    const bool is_property = !is_chlo && is_inherent(op.kind(), name);
    (is_property ? properties : others).set(name, value);
  }
  const std::string text = dictionary_text(op.kind(), properties, {});
  if (!text.empty()) out_ += " <" + text.substr(1) + ">";
  if (op.num_regions() > 0) {
    out_ += " (";
    for (int i = 0; i < op.num_regions(); ++i) {
      if (i) out_ += ", ";
      print_region(op.region(i), indent, true);
    }
    out_ += ")";
  }
  out_ += dictionary_text(op.kind(), others, {}) + " : " +
          function_type_text({operand_types(op), result_types(op)});
}

void FunctionPrinter::print_region(const Block& block, int indent, bool with_arguments) {
  const std::string margin(indent, ' ');
  out_ += "{\n";
  if (with_arguments && !block.arguments().empty()) {
    out_ += margin + "^bb0(" + arguments_text(block) + "):\n";
  }
  print_ops(block, indent + 2);
  out_ += margin + "}";
}

}  // namespace
}  // namespace text

std::string print(const Module& module, TextForm form) {
  const bool pretty = form == TextForm::kPretty;
  const std::string& name = module.name();
  std::string out;
  if (pretty) {
    out = name.empty() ? "module {\n" : "module " + text::symbol(name) + " {\n";
  } else {
    out = "\"builtin.module\"() ";
    if (!name.empty()) out += "<{sym_name = " + text::quoted(name) + "}> ";
    out += "({\n";
  }
  for (const auto& function : module.functions()) {
    text::FunctionPrinter(*function, form, out).print();
  }
  return out + (pretty ? "}\n" : "}) : () -> ()\n");
}

}  // namespace tpu::hlo
