// Elementary functions: the templates of emulator/tensorcore/vpu, run on the code generator's
// machine.
#include <optional>
#include <string>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/element_ops.h"
#include "emulator/compiler/codegen/llvm_machine.h"
#include "emulator/tensorcore/vpu/complex_functions.h"
#include "emulator/tensorcore/vpu/elementary.h"

namespace tpu::compiler {

using hlo::ElementType;
using hlo::Op;
using hlo::OpKind;
using tensorcore::ComplexFunction;
using tensorcore::ElementaryFunction;

namespace {

std::string name_of(const Op& op) {
  if (op.kind() == OpKind::kCustomCall) return op.attributes().get<std::string>("call_target_name");
  return std::string(hlo::mnemonic(op.kind()));
}

std::optional<ElementaryFunction> find_function(const Op& op) {
  const std::string name = name_of(op);
  if (name.starts_with("chlo.")) {
    return tensorcore::find_elementary_function(std::string_view(name).substr(5));
  }
  for (const auto& info : tensorcore::kElementaryFunctions) {
    if (info.hlo_name == "stablehlo." + name) return info.function;
  }
  return std::nullopt;
}

struct ComplexRow {
  OpKind kind;
  ComplexFunction function;
};
constexpr ComplexRow kComplexFunctions[] = {
    {OpKind::kCbrt, ComplexFunction::kCbrt},
    {OpKind::kCosine, ComplexFunction::kCos},
    {OpKind::kExponential, ComplexFunction::kExp},
    {OpKind::kExponentialMinusOne, ComplexFunction::kExpm1},
    {OpKind::kLog, ComplexFunction::kLog},
    {OpKind::kLogPlusOne, ComplexFunction::kLog1p},
    {OpKind::kLogistic, ComplexFunction::kLogistic},
    {OpKind::kRsqrt, ComplexFunction::kRsqrt},
    {OpKind::kSine, ComplexFunction::kSin},
    {OpKind::kSqrt, ComplexFunction::kSqrt},
    {OpKind::kTan, ComplexFunction::kTan},
    {OpKind::kTanh, ComplexFunction::kTanh},
};

}  // namespace

llvm::Value* ElementOps::elementary(const Op& op, std::span<const Lanes> x, ElementType type,
                                    int width) {
  const std::optional<ElementaryFunction> function = find_function(op);
  const int arguments = function ? tensorcore::info(*function).arguments : -1;
  if (static_cast<int>(x.size()) != arguments) {
    throw Unimplemented("the compiler has no '" + name_of(op) + "' of " +
                        std::string(hlo::name(type)) + " elements");
  }
  LlvmMachine machine(b_, width);
  const auto run = [&]<class T>(T) -> llvm::Value* {
    using Vector = tensorcore::Value<LlvmMachine, T>;
    using Native = typename Vector::Native;
    const Vector a(machine, Native{x[0].value});
    if (arguments == 1) return tensorcore::unary(*function, a).native().value;
    const Vector b(machine, Native{x[1].value});
    return tensorcore::binary(*function, a, b).native().value;
  };
  return type == ElementType::kF64 ? run(double{}) : run(float{});
}

Lanes ElementOps::complex_elementary(const Op& op, std::span<const Lanes> x, ElementType type,
                                     int width) {
  LlvmMachine machine(b_, width);
  const auto run = [&]<class T>(T) -> Lanes {
    using Complex = tensorcore::Complex<T>;
    const auto lanes = [](Complex z) { return Lanes{z.re.value, z.im.value}; };
    const Complex a{T{x[0].value}, T{x[0].imag}};
    if (op.kind() == OpKind::kAbs) return {complex_abs(machine, a).value};
    if (op.kind() == OpKind::kSign) return lanes(complex_sign(machine, a));
    if (op.kind() == OpKind::kPower) {
      return lanes(complex_power(machine, a, Complex{T{x[1].value}, T{x[1].imag}}));
    }
    for (const ComplexRow& row : kComplexFunctions) {
      if (row.kind == op.kind()) return lanes(complex_unary(machine, row.function, a));
    }
    throw Unimplemented("the compiler has no '" + name_of(op) + "' of complex elements");
  };
  if (type == ElementType::kComplexF64) return run(LlvmMachine::F64{});
  return run(LlvmMachine::F32{});
}

}  // namespace tpu::compiler
