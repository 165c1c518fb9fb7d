#include "backend/eager/operator_info.h"

#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

namespace torch_tpu::eager {
namespace {

using c10::TypeKind;

bool is_written(const c10::Argument& argument) {
  return argument.alias_info() && argument.alias_info()->isWrite();
}

ArgumentKind list_kind(const c10::Type& element) {
  switch (element.kind()) {
    case TypeKind::TensorType:
      return ArgumentKind::kTensorList;
    case TypeKind::OptionalType:
      return ArgumentKind::kTensorList;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgumentKind::kIntegerList;
    case TypeKind::BoolType:
      return ArgumentKind::kBoolList;
    default:
      return ArgumentKind::kNumberList;
  }
}

ArgumentKind kind_of(const c10::Argument& argument) {
  const c10::Type* type = argument.real_type().get();
  if (const auto* optional = type->castRaw<c10::OptionalType>()) {
    type = optional->getElementType().get();
  }
  switch (type->kind()) {
    case TypeKind::TensorType:
      return ArgumentKind::kTensor;
    case TypeKind::NumberType:
    case TypeKind::FloatType:
      return ArgumentKind::kNumber;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgumentKind::kInteger;
    case TypeKind::BoolType:
      return argument.name() == "pin_memory" ? ArgumentKind::kIgnored : ArgumentKind::kBool;
    case TypeKind::ScalarTypeType:
      return ArgumentKind::kDtype;
    case TypeKind::StringType:
      return ArgumentKind::kString;
    case TypeKind::GeneratorType:
      return ArgumentKind::kGenerator;
    case TypeKind::DeviceObjType:
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return ArgumentKind::kIgnored;
    case TypeKind::ListType:
      return list_kind(*type->expectRef<c10::ListType>().getElementType());
    default:
      TORCH_INTERNAL_ASSERT(false, "argument ", argument.name(), " has type ", type->str(),
                            ", which the generic kernel does not take");
  }
}

}  // namespace

c10::OperatorHandle find_operator(const aten::OpDef& def) {
  const std::string name(def.name);
  const size_t dot = name.find('.');
  const std::string overload = dot == std::string::npos ? "" : name.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchemaOrThrow(("aten::" + name.substr(0, dot)).c_str(),
                                                        overload.c_str());
}

namespace {

/// Names of the arguments that the row's own schema writes.
std::vector<std::string> written_by_row(const aten::OpDef& def) {
  std::vector<std::string> names;
  if (def.name.starts_with("tpu::")) return names;
  for (const c10::Argument& argument : find_operator(def).schema().arguments()) {
    if (is_written(argument)) names.push_back(argument.name());
  }
  return names;
}

}  // namespace

std::unique_ptr<OperatorInfo> describe(const c10::FunctionSchema& schema, const aten::OpDef& def) {
  static std::atomic<uint32_t> next_id{1};
  auto info = std::make_unique<OperatorInfo>();
  info->schema = &schema;
  info->def = &def;
  info->name = schema.name() + (schema.overload_name().empty() ? "" : "." + schema.overload_name());
  info->id = next_id++;
  const auto& arguments = schema.arguments();
  TORCH_INTERNAL_ASSERT(arguments.size() <= 64, info->name, " has more than 64 arguments");
  for (size_t i = 0; i < arguments.size(); ++i) {
    info->kinds.push_back(kind_of(arguments[i]));
    info->names.push_back(arguments[i].name());
    if (is_written(arguments[i])) {
      info->written.push_back(static_cast<int>(i));
      info->out_variant |= arguments[i].is_out();
    }
  }
  if (!info->written.empty()) {
    const std::vector<std::string> by_row = written_by_row(def);
    for (int i : info->written) {
      info->written_by_variant.push_back(std::ranges::find(by_row, arguments[i].name()) ==
                                         by_row.end());
    }
  }
  for (const c10::Argument& ret : schema.returns()) {
    int aliased = -1;
    if (ret.alias_info()) {
      for (int i : info->written) {
        if (*arguments[i].alias_info() == *ret.alias_info()) aliased = i;
      }
    }
    info->returned_argument.push_back(aliased);
  }
  return info;
}

bool is_variant_of(const c10::FunctionSchema& variant, const c10::FunctionSchema& functional) {
  const auto& ours = functional.arguments();
  const auto& theirs = variant.arguments();
  std::string base = variant.name();
  const bool in_place = base == functional.name() + "_";
  if (!in_place && base != functional.name()) return false;
  // The out= form lists the same arguments, then the outs; the in-place form the same ones.
  size_t outs = 0;
  for (const c10::Argument& argument : theirs) outs += argument.is_out();
  if (in_place ? outs != 0 : outs == 0) return false;
  size_t at = 0;
  for (const c10::Argument& argument : theirs) {
    if (argument.is_out()) continue;
    if (at == ours.size() || argument.name() != ours[at].name() ||
        *argument.real_type() != *ours[at].real_type()) {
      return false;
    }
    ++at;
  }
  // Functional factories and casts have trailing dtype/layout/device arguments that out= lacks.
  return at == ours.size();
}

}  // namespace torch_tpu::eager
