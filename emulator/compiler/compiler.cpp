#include "emulator/compiler/compiler.h"

#include <algorithm>
#include <map>

#include "emulator/base/error.h"
#include "emulator/compiler/codegen/code_module.h"
#include "emulator/compiler/compiled_program.h"
#include "emulator/compiler/kernel_key.h"
#include "emulator/compiler/passes/buffers.h"
#include "emulator/compiler/passes/describe.h"
#include "emulator/compiler/passes/fusion.h"
#include "emulator/compiler/passes/op_class.h"
#include "emulator/compiler/passes/simplify.h"
#include "emulator/hlo/op_table.h"

namespace tpu::compiler {
namespace {

using hlo::Op;
using hlo::OpKind;
using hlo::Value;

void check_layout(const Layout& layout, const hlo::TensorType& type, bool is_result,
                  const std::string& what) {
  if (layout.strides.empty()) return;
  const std::string of = "layout of " + what + " (" + hlo::to_string(type) + ")";
  if (layout.strides.size() != type.shape.size()) {
    throw InvalidArgument(of + " has " + std::to_string(layout.strides.size()) +
                          " strides; expected one a dimension");
  }
  for (size_t i = 0; i < layout.strides.size(); ++i) {
    const int64_t stride = layout.strides[i];
    if (stride < 0 || (is_result && stride == 0 && type.shape[i] > 1)) {
      throw InvalidArgument(of + " has stride " + std::to_string(stride) + " in dimension " +
                            std::to_string(i) + "; expected " +
                            (is_result ? "a positive one" : "none below 0"));
    }
  }
}

void check_signature(const Signature& signature, const std::vector<hlo::TensorType>& parameters,
                     const std::vector<hlo::TensorType>& results) {
  const auto check_count = [](const char* what, size_t got, size_t expected) {
    if (got != 0 && got != expected) {
      throw InvalidArgument("the signature has " + std::to_string(got) + " " + what +
                            "; expected none or " + std::to_string(expected));
    }
  };
  check_count("parameter layouts", signature.parameters.size(), parameters.size());
  check_count("result layouts", signature.results.size(), results.size());
  check_count("aliases", signature.aliases.size(), results.size());
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    check_layout(signature.parameters[i], parameters[i], false, "parameter " + std::to_string(i));
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    check_layout(signature.results[i], results[i], true, "result " + std::to_string(i));
  }
  for (int alias : signature.aliases) {
    if (alias < -1 || alias >= static_cast<int>(parameters.size())) {
      throw InvalidArgument("a result is an alias of parameter " + std::to_string(alias) + " of " +
                            std::to_string(parameters.size()));
    }
  }
}

// Strides of parameters, and of results that an op of the program makes where they are wanted.
// (What control flow results in is dense, whatever becomes of it.)
StridesOf strides_of(const hlo::Block& block, const Signature& signature) {
  StridesOf strides;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Value* value = block.argument(static_cast<int>(i));
    strides[value] = strides_of(signature.parameters[i], value->type.shape);
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    const Value* value = block.terminator().operand(static_cast<int>(i));
    const hlo::Dims wanted = strides_of(signature.results[i], value->type.shape);
    const bool made = value->def && value->def->kind() != OpKind::kConstant &&
                      classify(*value->def) != OpClass::kControl;
    if (made && wanted != hlo::row_major_strides(value->type.shape)) {
      strides.try_emplace(value, wanted);
    }
  }
  return strides;
}

// A reshape may have to be written as one dense block. Where a result has other strides, a copy
// (a conversion to the same type) comes between.
void separate_reshapes(hlo::Block& block, const Signature& signature) {
  for (size_t i = 0; i < signature.results.size(); ++i) {
    Op& terminator = block.terminator();
    Value* value = terminator.operand(static_cast<int>(i));
    const bool dense = strides_of(signature.results[i], value->type.shape) ==
                       hlo::row_major_strides(value->type.shape);
    if (dense || !value->def || value->def->kind() != OpKind::kReshape) continue;
    auto copy = std::make_unique<Op>(OpKind::kConvert, std::vector<Value*>{value},
                                     hlo::Attributes{}, std::vector<std::unique_ptr<hlo::Block>>{},
                                     std::vector<hlo::TensorType>{value->type});
    copy->parent = &block;
    terminator.set_operand(static_cast<int>(i), copy->result());
    block.ops().insert(block.ops().end() - 1, std::move(copy));
  }
}

// Turns the plan into steps, and its loops and regions into code.
class Lowering {
 public:
  Lowering(const Placement& placement, const Target& target)
      : placement_(placement),
        target_(target),
        code_(target.isa),
        scratch_bytes_((placement.scratch_bytes + 63) / 64 * 64) {}

  Program lower(const BlockPlan& plan) {
    Program program;
    for (const PlanStep& step : plan.steps) {
      switch (step.kind) {
        case PlanStep::Kind::kLoops:
          lower_loops(step, program);
          break;
        case PlanStep::Kind::kLibrary:
          lower_library(step, program);
          break;
        case PlanStep::Kind::kAssert:
          program.steps.push_back(
              AssertStep{address(step.operands[0]),
                         step.op->attributes().get_or<std::string>("message", "assertion failed")});
          break;
        case PlanStep::Kind::kControl:
          lower_control(step, program);
          break;
      }
    }
    const auto copies = placement_.at_end.find(plan.block);
    if (copies != placement_.at_end.end()) add_copies(copies->second, program);
    return program;
  }

  std::vector<std::byte> object() { return code_.compile(); }
  std::vector<KernelDescription> descriptions() { return std::move(descriptions_); }
  /// Of temporaries, and of what loops keep between kernels.
  int64_t scratch_bytes() const { return scratch_bytes_; }

 private:
  static Address address(const Place& place) { return {place.entry, place.offset}; }
  Address address(const ValueView& view) const {
    Address at = address(placement_.of(view.base));
    at.offset += view.offset * hlo::byte_width(view.base->type.element);
    return at;
  }

  // Loops ----------------------------------------------------------------------------------------

  void lower_loops(const PlanStep& step, Program& program) {
    bool any = false;
    for (const LoopKernel& kernel : step.kernels) {
      if (copies_onto_itself(kernel)) continue;
      any = true;
      if (std::optional<CopyStep> copy = as_copy(kernel)) {
        program.steps.push_back(std::move(*copy));
        continue;
      }
      const Schedule schedule = make_schedule(kernel, placement_, vector_bytes(target_.isa));
      if (should_split_lanes(kernel, schedule)) {
        lower_split(kernel, schedule, program);
        continue;
      }
      program.steps.push_back(
          loop_step(kernel, schedule, std::nullopt, schedule.units, schedule.grain));
    }
    if (any) descriptions_.push_back(describe_loops(step));
  }

  void lower_split(const LoopKernel& kernel, Schedule schedule, Program& program) {
    int64_t values = 0;
    for (const LoopReduction& reduction : kernel.reductions) {
      values += static_cast<int64_t>(reduction.inputs.size());
    }
    LaneSplit split{.slot = static_cast<int>(schedule.bases.size())};
    schedule.bases.push_back({placement_.table.scratch(), scratch_bytes_});
    scratch_bytes_ += schedule.units * values * kSplitLaneBytes;
    SplitStep step;
    step.groups = loop_step(kernel, schedule, split, schedule.units * split.groups, 1);
    split.finishes = true;
    step.tree = loop_step(kernel, schedule, split, schedule.units, 1);
    step.whole = loop_step(kernel, schedule, std::nullopt, schedule.units, 1);
    program.steps.push_back(std::move(step));
  }

  // Kernels that differ in nothing but addresses share a function.
  LoopStep loop_step(const LoopKernel& kernel, const Schedule& schedule,
                     std::optional<LaneSplit> split, int64_t units, int64_t grain) {
    auto [found, fresh] = functions_.try_emplace(kernel_key(kernel, schedule, split));
    if (fresh) found->second = code_.add_loop(kernel, schedule, split);
    LoopStep step;
    step.function = found->second.number;
    step.units = units;
    step.grain = grain;
    step.scratch_bytes = found->second.scratch_bytes;
    for (const BaseAddress& base : schedule.bases) step.bases.push_back({base.entry, base.offset});
    return step;
  }

  bool is_plain_load(const LoopKernel& kernel) const {
    if (kernel.stores.size() != 1 || kernel.reduced) return false;
    const LoopNode& node = kernel.nodes[kernel.stores[0].node];
    return node.kind == LoopNode::Kind::kLoad && node.type == kernel.stores[0].value->type.element;
  }

  // An update whose operand already lies where its result goes.
  bool copies_onto_itself(const LoopKernel& kernel) const {
    if (!is_plain_load(kernel) || kernel.stores[0].shape) return false;
    const LoopNode& node = kernel.nodes[kernel.stores[0].node];
    const Place& from = placement_.of(node.value);
    const Place& to = placement_.of(kernel.stores[0].value);
    const auto memory = [&](const Place& place) {
      return std::pair(placement_.alias_of_entry[place.entry], place.offset);
    };
    return node.index == kernel.stores[0].index && memory(from) == memory(to) &&
           from.strides == to.strides;
  }

  std::optional<CopyStep> as_copy(const LoopKernel& kernel) const {
    if (!is_plain_load(kernel)) return std::nullopt;
    const Schedule schedule = make_schedule(kernel, placement_, 1);
    const MemoryAccess& from = schedule.nodes[kernel.stores[0].node];
    const MemoryAccess& to = schedule.stores[0];
    if (schedule.in_place || !from.starts.empty() || !to.starts.empty()) return std::nullopt;
    for (int64_t stride : from.strides) {
      if (stride < 0) return std::nullopt;
    }
    CopyStep step;
    step.width = hlo::byte_width(kernel.stores[0].value->type.element);
    step.shape = schedule.sizes;
    const BaseAddress& from_base = schedule.bases[from.slot];
    const BaseAddress& to_base = schedule.bases[to.slot];
    step.from = {from_base.entry, from_base.offset};
    step.to = {to_base.entry, to_base.offset};
    step.from_strides = from.strides;
    step.to_strides = to.strides;
    return step;
  }

  void add_copies(const std::vector<PlannedCopy>& copies, Program& program) {
    for (const PlannedCopy& copy : copies) {
      CopyStep step;
      step.width = hlo::byte_width(copy.type.element);
      step.shape = copy.type.shape;
      step.from = address(copy.from);
      step.to = address(copy.to);
      step.from_strides = copy.from.strides;
      step.to_strides = copy.to.strides;
      program.steps.push_back(std::move(step));
      descriptions_.push_back(describe_copy(copy.type));
    }
  }

  // A wide element is as many narrow ones, one after the other: both sides are seen as arrays of
  // the narrower type with one dimension more.
  void lower_bitcast(const PlanStep& step, Program& program) {
    const Op& op = *step.op;
    const hlo::TensorType& from = op.operand(0)->type;
    const hlo::TensorType& to = op.result()->type;
    const int from_width = hlo::byte_width(from.element), to_width = hlo::byte_width(to.element);
    const Place& place = placement_.of(op.result());
    CopyStep copy;
    copy.width = std::min(from_width, to_width);
    copy.shape = from_width > to_width ? to.shape : from.shape;
    copy.from = address(step.operands[0]);
    copy.to = address(place);
    const auto narrowed = [&](hlo::Dims strides, int width) {
      if (width == copy.width) return strides;
      for (int64_t& stride : strides) stride *= width / copy.width;
      strides.push_back(1);
      return strides;
    };
    copy.from_strides = narrowed(step.operands[0].strides, from_width);
    copy.to_strides = narrowed(place.strides, to_width);
    program.steps.push_back(std::move(copy));
    descriptions_.push_back(describe_library(op));
  }

  // Library calls --------------------------------------------------------------------------------

  void lower_library(const PlanStep& step, Program& program) {
    const Op& op = *step.op;
    if (op.kind() == OpKind::kBitcastConvert) return lower_bitcast(step, program);
    LibraryStep call{.kind = op.kind(),
                     .target = {},
                     .attributes = op.attributes(),
                     .operands = {},
                     .results = {},
                     .region_functions = {},
                     .region_ops = {},
                     .region_patterns = {},
                     .mxu_depth = target_.mxu_depth,
                     .regions = {}};
    if (op.kind() == OpKind::kCustomCall) {
      call.target = op.attributes().get<std::string>("call_target_name");
      if (!find_custom_call(call.target)) {
        throw Unimplemented("no kernel is registered for custom call '" + call.target + "'");
      }
    } else if (!find_kernel(op.kind())) {
      throw Unimplemented("the compiler has no '" + std::string(hlo::mnemonic(op.kind())) + "'");
    }
    for (size_t i = 0; i < step.operands.size(); ++i) {
      call.operands.push_back({address(step.operands[i]), op.operand(static_cast<int>(i))->type,
                               step.operands[i].strides});
    }
    for (int i = 0; i < op.num_results(); ++i) {
      const Place& place = placement_.of(op.result(i));
      call.results.push_back({address(place), op.result(i)->type, place.strides});
    }
    for (int i = 0; i < op.num_regions(); ++i) {
      const hlo::Block& region = op.region(i);
      call.region_functions.push_back(region_function(region));
      call.region_patterns.push_back(recognise_region(region));
      call.region_ops.push_back(binary_op_of(region));
    }
    program.steps.push_back(std::move(call));
    descriptions_.push_back(describe_library(op));
  }

  int region_function(const hlo::Block& region) {
    auto [found, fresh] = regions_.try_emplace(region_key(region));
    if (fresh) found->second = code_.add_region(region);
    return found->second;
  }

  // The op of a region that applies it to its two arguments, in order; kReturn for others.
  static OpKind binary_op_of(const hlo::Block& region) {
    if (region.arguments().size() != 2 || region.ops().size() != 2) return OpKind::kReturn;
    const Op& op = *region.ops()[0];
    const auto operands = op.operands();
    const bool plain = operands.size() == 2 && operands[0] == region.argument(0) &&
                       operands[1] == region.argument(1) && op.num_results() == 1 &&
                       region.terminator().operands().size() == 1 &&
                       region.terminator().operand(0) == op.result();
    return plain && op.kind() != OpKind::kCompare ? op.kind() : OpKind::kReturn;
  }

  // Control flow ---------------------------------------------------------------------------------

  void lower_control(const PlanStep& step, Program& program) {
    const Op& op = *step.op;
    const auto nested = [&](int i) { return std::make_unique<Program>(lower(*step.regions[i])); };
    if (op.kind() == OpKind::kWhile) {
      if (const auto copies = placement_.before.find(&op); copies != placement_.before.end()) {
        add_copies(copies->second, program);
      }
      WhileStep loop;
      loop.condition = nested(0);
      loop.body = nested(1);
      loop.predicate = address(placement_.of(op.region(0).terminator().operand(0)));
      program.steps.push_back(std::move(loop));
      return;
    }
    CaseStep branches{.branches = {},
                      .index_type = op.operand(0)->type.element,
                      .index = address(placement_.of(op.operand(0)))};
    for (int i = 0; i < op.num_regions(); ++i) branches.branches.push_back(nested(i));
    program.steps.push_back(std::move(branches));
  }

  const Placement& placement_;
  const Target& target_;
  CodeModule code_;
  std::map<std::string, CodeModule::Function> functions_;
  std::map<std::string, int> regions_;
  int64_t scratch_bytes_;
  std::vector<KernelDescription> descriptions_;
};

}  // namespace

std::shared_ptr<const Executable> compile(const hlo::Module& module, const Signature& signature,
                                          const Target& target) {
  if (target.isa > host_isa()) {
    throw InvalidArgument("the target has a vector extension that this host has not");
  }
  hlo::verify(module);
  hlo::Module work = module.clone();
  simplify(work);
  hlo::Function& main = work.main();
  ProgramImage image;
  image.parameter_types = main.parameter_types();
  image.result_types = main.result_types();
  check_signature(signature, image.parameter_types, image.result_types);

  separate_reshapes(main.body, signature);
  const StridesOf strides = strides_of(main.body, signature);
  const BlockPlan plan = plan_block(main.body, strides);
  const Placement placement = place_buffers(plan, signature, strides);
  Lowering lowering(placement, target);
  image.isa = target.isa;
  image.program = lowering.lower(plan);
  image.scratch_bytes = lowering.scratch_bytes();
  image.constants = placement.constants;
  image.object = lowering.object();
  image.kernels = lowering.descriptions();
  return std::make_shared<CompiledProgram>(std::move(image));
}

}  // namespace tpu::compiler
