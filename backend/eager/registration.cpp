// Registers the lowering table with PyTorch's dispatcher: the generic kernel for each row, and for
// the in-place and out= forms of the same operator.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/library.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/eager/call.h"
#include "backend/eager/native_functions.h"
#include "backend/eager/operator_info.h"

namespace torch_tpu::eager {
namespace {

// The generic kernel bound to one schema.
class GenericKernel final : public c10::OperatorKernel {
 public:
  explicit GenericKernel(std::unique_ptr<OperatorInfo> info) : info_(std::move(info)) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    run(*info_, *stack);
  }

 private:
  std::unique_ptr<OperatorInfo> info_;
};

std::string overload(const c10::OperatorName& name) {
  const std::string base = name.name.substr(name.name.find("::") + 2);
  return name.overload_name.empty() ? base : base + "." + name.overload_name;
}

// Schemas by base name: `add` also holds those of `add_`.
std::map<std::string, std::vector<c10::OperatorHandle>> schemas_by_base() {
  std::map<std::string, std::vector<c10::OperatorHandle>> schemas;
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const c10::OperatorName& name : dispatcher.getAllOpNames()) {
    if (name.name.rfind("aten::", 0) != 0) continue;
    const auto handle = dispatcher.findSchema(name);
    if (!handle) continue;
    std::string base = name.name.substr(6);
    if (base.size() > 2 && base.back() == '_' && base[base.size() - 2] != '_') base.pop_back();
    schemas[base].push_back(*handle);
  }
  return schemas;
}

void register_schema(torch::Library& library, const c10::OperatorHandle& op,
                     const aten::OpDef& def) {
  library.impl(overload(op.operator_name()).c_str(),
               torch::CppFunction::makeFromBoxedFunctor(
                   std::make_unique<GenericKernel>(describe(op.schema(), def))));
}

void register_table(torch::Library& library) {
  const auto schemas = schemas_by_base();
  auto& dispatcher = c10::Dispatcher::singleton();
  for (const aten::OpDef& def : aten::lowering_table()) {
    const std::string name(def.name);
    const size_t dot = name.find('.');
    const std::string base = name.substr(0, dot);
    const std::string suffix = dot == std::string::npos ? "" : name.substr(dot + 1);
    const auto op = dispatcher.findSchemaOrThrow(("aten::" + base).c_str(), suffix.c_str());
    register_schema(library, op, def);
    const auto variants = schemas.find(base);
    if (variants == schemas.end()) continue;
    for (const c10::OperatorHandle& variant : variants->second) {
      if (is_variant_of(variant.schema(), op.schema()) &&
          !aten::find_op(overload(variant.operator_name()))) {
        register_schema(library, variant, def);
      }
    }
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  register_native_functions(library);
  register_table(library);
}

// A lazy conjugate or negative bit is resolved inside the copy itself. Left to PyTorch's fallback,
// which resolves by copying, the copy would call itself without end.
TORCH_LIBRARY_IMPL(aten, Conjugate, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, library) {
  library.impl("_copy_from", torch::CppFunction::makeFallthrough());
  library.impl("_copy_from_and_resize", torch::CppFunction::makeFallthrough());
}

}  // namespace torch_tpu::eager
