// From a call to a program: the slow path, once for each new key.

#include <algorithm>
#include <unordered_map>

#include "backend/eager/call.h"
#include "backend/eager/library_operator.h"
#include "backend/eager/result_layout.h"
#include "backend/runtime/settings.h"

namespace torch_tpu::eager {
namespace {

using aten::Argument;
using aten::Result;
using aten::Tensor;
using tpu::hlo::Builder;
using tpu::hlo::Value;

Dims to_dims(c10::IntArrayRef values) {
  return {values.begin(), values.end()};
}

// Makes program parameters of a call's operands and numbers, and the arguments that refer to them.
class ProgramBuilder : public aten::LoweringHost {
 public:
  explicit ProgramBuilder(const Call& call)
      : call_(call),
        program_(std::make_unique<Program>()),
        builder_(program_->module.add_function("main").body) {
    add_operands();
    add_numbers();
  }

  std::unique_ptr<Program> build() {
    const OperatorInfo& info = call_.info();
    aten::Lowering op(info.name, info.names, make_arguments(), builder_, *this);
    info.def->lower(op);
    add_results(op);
    add_assignments(op);
    builder_.ret(values_);
    program_->may_fault = can_fault(program_->module.main().body);
    program_->nothing_to_run = !program_->may_fault && all_empty();
    return std::move(program_);
  }

  void pin_scalar(int index) override {
    call_.info().pinned.fetch_or(uint64_t{1} << index, std::memory_order_relaxed);
  }

  void require_fits(const Value* number, aten::DType dtype) override {
    const auto found = number_of_.find(number);
    TORCH_INTERNAL_ASSERT(found != number_of_.end(), call_.info().name, ": not a number");
    program_->fitting.push_back({found->second, dtype});
  }

  Value* philox_state(int64_t blocks) override {
    TORCH_INTERNAL_ASSERT(program_->philox_blocks == 0, call_.info().name,
                          " draws from the generator twice");
    program_->philox_blocks = blocks;
    program_->parameters.push_back({ParameterSource::Kind::kPhilox, 0});
    program_->signature.parameters.emplace_back();
    return builder_.parameter({tpu::hlo::ElementType::kUI64, {2}});
  }

  std::string_view matmul_precision() override {
    call_.info().reads_matmul_precision.store(true, std::memory_order_relaxed);
    switch (runtime::matmul_precision()) {
      case at::Float32MatmulPrecision::HIGHEST:
        return "HIGHEST";
      case at::Float32MatmulPrecision::HIGH:
        return "HIGH";
      case at::Float32MatmulPrecision::MEDIUM:
        return "DEFAULT";
    }
    return "DEFAULT";
  }

  aten::LibraryCall library_call() override {
    const auto& op = LibraryOperator::of(*call_.info().def);
    return plan_library_call(op, call_.info().out_variant && !op.info().out_variant
                                     ? call_.arguments().slice(0, op.num_arguments())
                                     : call_.arguments());
  }

 private:
  void add_operands() {
    for (int i = 0; i < static_cast<int>(call_.operands().size()); ++i) {
      const at::Tensor& t = *call_.operands()[i];
      const int twin = call_.twin_of(i);
      Tensor tensor{nullptr,
                    t.scalar_type(),
                    to_dims(t.strides()),
                    t.unsafeGetTensorImpl()->is_wrapped_number(),
                    {}};
      if (twin >= 0) {
        tensor.value = operands_[twin].value;
        parameter_of_operand_.push_back(parameter_of_operand_[twin]);
      } else {
        tensor.value = builder_.parameter({aten::to_element(t.scalar_type()), to_dims(t.sizes())});
        parameter_of_operand_.push_back(static_cast<int>(program_->parameters.size()));
        program_->parameters.push_back({ParameterSource::Kind::kOperand, i});
        program_->signature.parameters.push_back({to_dims(t.strides())});
      }
      operands_.push_back(std::move(tensor));
    }
  }

  void add_numbers() {
    for (int i = 0; i < static_cast<int>(call_.numbers().size()); ++i) {
      const CallNumber& number = call_.numbers()[i];
      const auto element = aten::to_element(number.value.carrier());
      numbers_.push_back({number.value, builder_.parameter({element, {}})});
      number_of_[numbers_.back().value] = i;
      program_->parameters.push_back({ParameterSource::Kind::kNumber, i});
      program_->signature.parameters.emplace_back();
    }
  }

  // Walks the arguments in the order in which Call flattened them.
  std::vector<Argument> make_arguments() {
    std::vector<Argument> arguments;
    for (size_t i = 0; i < call_.info().kinds.size(); ++i) {
      arguments.push_back(make_argument(call_.arguments()[i], call_.info().kinds[i], i));
    }
    return arguments;
  }

  Argument make_argument(const c10::IValue& value, ArgumentKind kind, size_t index) {
    if (value.isNone() || kind == ArgumentKind::kIgnored || kind == ArgumentKind::kGenerator) {
      return aten::None{};
    }
    switch (kind) {
      case ArgumentKind::kTensor:
        return make_tensor(value.toTensor(), index);
      case ArgumentKind::kTensorList:
        return make_tensor_list(value, index);
      case ArgumentKind::kNumber:
        return numbers_[next_number_++];
      case ArgumentKind::kInteger:
        return value.toInt();
      case ArgumentKind::kBool:
        return value.toBool();
      case ArgumentKind::kDtype:
        return static_cast<aten::DType>(value.toInt());
      case ArgumentKind::kString:
        return value.toStringRef();
      case ArgumentKind::kIntegerList:
      case ArgumentKind::kBoolList:
        return make_integers(value);
      case ArgumentKind::kNumberList:
        return make_doubles(value);
      default:
        return aten::None{};
    }
  }

  Argument make_tensor(const at::Tensor& tensor, size_t index) {
    if (!tensor.defined()) return aten::None{};
    const std::string& name = call_.info().names[index];
    if (tensor.device().type() == c10::DeviceType::PrivateUse1) {
      Tensor operand = operands_[next_operand_++];
      operand.argument = name;
      return operand;
    }
    // A 0-d CPU tensor: its value arrives as a number and keeps the tensor's dtype. A Python
    // number stays in its carrier, for it is not to be rounded before it meets its operands.
    const aten::ScalarArgument& number = numbers_[next_number_++];
    const bool wrapped = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    const aten::DType dtype = wrapped ? number.number.carrier() : tensor.scalar_type();
    Value* value = builder_.convert(number.value, aten::to_element(dtype));
    number_of_[value] = static_cast<int>(next_number_) - 1;
    return Tensor{value, dtype, {}, wrapped, name};
  }

  Argument make_tensor_list(const c10::IValue& list, size_t index) {
    aten::TensorList tensors;
    for (const c10::IValue& item : list.toListRef()) {
      const Argument made =
          item.isNone() ? Argument(aten::None{}) : make_tensor(item.toTensor(), index);
      if (const Tensor* tensor = std::get_if<Tensor>(&made)) {
        tensors.emplace_back(*tensor);
      } else {
        tensors.emplace_back(std::nullopt);
      }
    }
    return tensors;
  }

  static Argument make_integers(const c10::IValue& list) {
    if (list.isInt()) return Dims{list.toInt()};
    Dims values;
    for (const c10::IValue& item : list.toListRef()) values.push_back(scalar_value(item).to_int());
    return values;
  }

  static Argument make_doubles(const c10::IValue& list) {
    std::vector<double> values;
    for (const c10::IValue& item : list.toListRef())
      values.push_back(scalar_value(item).to_double());
    return values;
  }

  // What the row's own schema writes takes the first results; then what only this variant writes
  // (the `self` of an in-place form, `out=`); what is left is returned fresh.
  void add_results(const aten::Lowering& op) {
    const OperatorInfo& info = call_.info();
    size_t next = 0;
    for (const bool by_variant : {false, true}) {
      for (int operand : call_.written_operands()) {
        const auto at = std::ranges::find(info.written, call_.argument_of(operand));
        if (info.written_by_variant[at - info.written.begin()] != by_variant) continue;
        if (next < op.results().size()) write_operand(operand, op.results()[next++].value);
      }
    }
    for (; next < op.results().size(); ++next) add_fresh(op.results()[next]);
    size_t fresh = 0;
    for (int aliased : info.returned_argument) {
      if (aliased < 0) program_->returns.push_back(fresh_results_.at(fresh++));
    }
  }

  void add_assignments(const aten::Lowering& op) {
    for (const auto& [argument, value] : op.assignments()) {
      for (int i = 0; i < static_cast<int>(operands_.size()); ++i) {
        if (call_.argument_of(i) == argument) write_operand(i, value);
      }
    }
  }

  void add_fresh(const Result& result) {
    if (!result.value) {
      fresh_results_.push_back(-1);
      return;
    }
    const Dims& shape = result.value->type.shape;
    fresh_results_.push_back(static_cast<int>(values_.size()));
    add_value(result.value, {ResultTarget::Kind::kFresh, program_->num_fresh++},
              result_strides(result, shape), -1);
  }

  void write_operand(int operand, Value* value) {
    const at::Tensor& target = *call_.operands()[operand];
    const Dims target_shape = to_dims(target.sizes());
    const aten::DType from = aten::to_dtype(value->type.element);
    TORCH_CHECK(c10::canCast(from, target.scalar_type()), "result type ", c10::toString(from),
                " can't be cast to the desired output type ", c10::toString(target.scalar_type()));
    Value* cast = builder_.convert(value, aten::to_element(target.scalar_type()));
    if (value->type.shape != target_shape) {
      TORCH_CHECK(call_.info().out_variant, "output with shape ", target.sizes(),
                  " doesn't match the broadcast shape ", c10::IntArrayRef(value->type.shape));
      program_->resize_operands.push_back(static_cast<int>(values_.size()));
    }
    const bool aside = call_.is_hazardous(operand);
    const auto kind = aside ? ResultTarget::Kind::kTemporary : ResultTarget::Kind::kOperand;
    const Dims strides =
        aside ? tpu::hlo::row_major_strides(target_shape) : to_dims(target.strides());
    add_value(cast, {kind, operand}, strides, aside ? -1 : parameter_of_operand_[operand]);
  }

  void add_value(Value* value, ResultTarget target, Dims strides, int alias) {
    const Dims& shape = value->type.shape;
    ResultSpec spec;
    spec.dtype = aten::to_dtype(value->type.element);
    spec.sizes = shape;
    spec.strides = strides;
    int64_t extent = value->type.num_elements() == 0 ? 0 : 1;
    for (size_t d = 0; extent && d < shape.size(); ++d) extent += (shape[d] - 1) * strides[d];
    spec.bytes = static_cast<size_t>(extent * tpu::hlo::byte_width(value->type.element));
    spec.allocation = {value->type.element, shape};
    program_->specs.push_back(std::move(spec));
    program_->targets.push_back(target);
    program_->signature.results.push_back({std::move(strides)});
    program_->signature.aliases.push_back(alias);
    values_.push_back(value);
  }

  bool all_empty() const {
    return std::all_of(values_.begin(), values_.end(),
                       [](const Value* value) { return value->type.num_elements() == 0; });
  }

  // Assertions fault, and what PyTorch's kernels check.
  static bool can_fault(const tpu::hlo::Block& block) {
    return std::any_of(block.ops().begin(), block.ops().end(), [](const auto& op) {
      if (op->kind() != tpu::hlo::OpKind::kCustomCall) return false;
      const auto& target = op->attributes().template get<std::string>("call_target_name");
      return target == "tpu.assert" || target.starts_with("aten.");
    });
  }

  const Call& call_;
  std::unique_ptr<Program> program_;
  Builder builder_;
  std::vector<Tensor> operands_;
  std::vector<int> parameter_of_operand_;
  std::vector<aten::ScalarArgument> numbers_;
  std::unordered_map<const Value*, int> number_of_;
  std::vector<Value*> values_;
  std::vector<int> fresh_results_;
  size_t next_operand_ = 0, next_number_ = 0;
};

}  // namespace

std::unique_ptr<Program> lower(const Call& call) {
  return ProgramBuilder(call).build();
}

}  // namespace torch_tpu::eager
