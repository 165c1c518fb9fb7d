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
#include "backend/eager/library_operator.h"
#include "backend/eager/native_functions.h"
#include "backend/eager/operator_info.h"
#include "backend/eager/unboxed.h"

namespace torch_tpu::eager {
namespace {

// The generic kernel bound to one schema.
class GenericKernel final : public c10::OperatorKernel {
 public:
  explicit GenericKernel(std::shared_ptr<const OperatorInfo> info) : info_(std::move(info)) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) {
    run(*info_, *stack);
  }

 private:
  std::shared_ptr<const OperatorInfo> info_;
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

torch::CppFunction generic_kernel(const c10::FunctionSchema& schema, const aten::OpDef& def) {
  std::shared_ptr<const OperatorInfo> info = describe(schema, def);
  if (auto kernel = unboxed_kernel(info)) return std::move(*kernel);
  return torch::CppFunction::makeFromBoxedFunctor(std::make_unique<GenericKernel>(std::move(info)));
}

bool is_own(const aten::OpDef& def) {
  return def.name.starts_with("tpu::");
}

/// An out= form, which is not differentiated.
bool is_written_only(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(),
                     [](const c10::Argument& argument) { return argument.is_out(); });
}

void register_row(torch::Library& library, const aten::OpDef& def,
                  const std::map<std::string, std::vector<c10::OperatorHandle>>& schemas) {
  const std::string name(def.name);
  const std::string base = name.substr(0, name.find('.'));
  const c10::OperatorHandle op = find_operator(def);
  // Such an operator is differentiated through its parts; with a kernel of ours its gradient is
  // lost.
  TORCH_INTERNAL_ASSERT(
      !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) ||
          op.hasKernelForDispatchKey(c10::DispatchKey::Autograd) || is_written_only(op.schema()),
      name, " is composed by PyTorch, which differentiates its parts: it must have no row");
  library.impl(name.c_str(), generic_kernel(op.schema(), def));
  const auto variants = schemas.find(base);
  if (variants == schemas.end()) return;
  for (const c10::OperatorHandle& variant : variants->second) {
    const std::string variant_name = overload(variant.operator_name());
    if (is_variant_of(variant.schema(), op.schema()) && !aten::find_op(variant_name)) {
      library.impl(variant_name.c_str(), generic_kernel(variant.schema(), def));
    }
  }
}

}  // namespace

// Operators that PyTorch has not: parts of those whose results' sizes depend on the data.
TORCH_LIBRARY_FRAGMENT(tpu, library) {
  library.def("_nonzero(Tensor self, int size) -> Tensor");
  library.def("_unique_count(Tensor self) -> Tensor");
  library.def("_unique(Tensor self, int count) -> (Tensor, Tensor, Tensor)");
  library.def("_bincount(Tensor self, Tensor? weights, int size) -> Tensor");
}

TORCH_LIBRARY_IMPL(tpu, PrivateUse1, library) {
  for (const aten::OpDef& def : aten::lowering_table()) {
    if (!is_own(def)) continue;
    const std::string name(def.name);
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), "");
    library.impl(name.substr(5).c_str(), generic_kernel(op.schema(), def));
  }
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, library) {
  register_native_functions(library);
  register_library();
  register_data_dependent_functions(library);
  register_host_functions(library);
  const auto schemas = schemas_by_base();
  for (const aten::OpDef& def : aten::lowering_table()) {
    if (!is_own(def)) register_row(library, def, schemas);
  }
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
