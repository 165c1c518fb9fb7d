#include "emulator/compiler/kernels/op_case.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>

#include "emulator/base/floats.h"
#include "emulator/compiler/kernels/region_pattern.h"
#include "emulator/hlo/evaluator/evaluator.h"
#include "emulator/hlo/text.h"

namespace tpu::compiler::kernels {
namespace {

using hlo::Block;
using hlo::Builder;
using hlo::Module;
using hlo::Value;

std::vector<std::byte> random_real(Choices& choices, ElementType type, Values values) {
  if (values == Values::kSmall) return hlo::encode(type, choices.in(-4, 4));
  if (!hlo::is_float(type)) {
    return hlo::encode(type, static_cast<int64_t>(choices.in(INT64_MIN / 2, INT64_MAX / 2)) * 2 +
                                 choices.in(0, 1));
  }
  switch (choices.in(0, 9)) {
    case 0:
      return hlo::encode(type, choices.coin() ? 0.0 : -0.0);
    case 1:
      return hlo::encode(type, choices.coin() ? INFINITY : -INFINITY);
    case 2:
      return hlo::encode(type, choices.coin() ? NAN : -NAN);
    default:
      return hlo::encode(type, static_cast<double>(choices.in(-1000, 1000)) / 7.0);
  }
}

// A region as a module of its own, so that a plain function can evaluate it.
struct RegionModule {
  Module module;
  std::vector<TensorType> arguments;
};
constexpr size_t kSlots = 2;
std::array<const RegionModule*, kSlots> current_regions;

template <size_t kSlot>
void evaluate_region(const std::byte* const* arguments, std::byte* const* results) {
  const RegionModule& region = *current_regions[kSlot];
  std::vector<Literal> literals;
  for (size_t i = 0; i < region.arguments.size(); ++i) {
    const auto bytes = static_cast<size_t>(hlo::byte_width(region.arguments[i].element));
    literals.emplace_back(region.arguments[i],
                          std::vector<std::byte>(arguments[i], arguments[i] + bytes));
  }
  const std::vector<Literal> values = hlo::evaluate(region.module, literals);
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(results[i], values[i].bytes().data(), values[i].bytes().size());
  }
}
constexpr std::array<RegionFunction, kSlots> kRegionFunctions = {evaluate_region<0>,
                                                                 evaluate_region<1>};

RegionModule make_region_module(const OpCase::Region& region) {
  RegionModule made{Module("region"), region.arguments};
  Builder b(made.module.add_function("main").body);
  std::vector<Value*> arguments;
  for (const TensorType& type : region.arguments) arguments.push_back(b.parameter(type));
  region.body(b, arguments);
  return made;
}

Module make_module(const OpCase& op) {
  Module module("case");
  Builder b(module.add_function("main").body);
  std::vector<Value*> operands;
  for (const Literal& operand : op.operands) operands.push_back(b.parameter(operand.type()));
  std::vector<std::unique_ptr<Block>> regions;
  for (const OpCase::Region& region : op.regions) {
    auto block = std::make_unique<Block>();
    std::vector<Value*> arguments;
    for (const TensorType& type : region.arguments) arguments.push_back(block->add_argument(type));
    Builder inner(*block);
    region.body(inner, arguments);
    regions.push_back(std::move(block));
  }
  hlo::Op* made = b.create(op.kind, operands, op.attributes, std::move(regions), op.result_types);
  std::vector<Value*> results;
  for (int i = 0; i < made->num_results(); ++i) results.push_back(made->result(i));
  b.ret(results);
  return module;
}

Literal filler(const TensorType& type) {
  Literal literal(type);
  std::ranges::fill(literal.mutable_bytes(), std::byte{0xcd});
  return literal;
}

std::vector<TensorType> types_of(std::span<const Literal> literals) {
  std::vector<TensorType> types;
  for (const Literal& literal : literals) types.push_back(literal.type());
  return types;
}

struct Arrays {
  std::vector<LaidOut> operands, results;
  std::vector<ConstView> operand_views;
  std::vector<View> result_views;

  Arrays(Choices& choices, std::span<const Literal> in, const std::vector<TensorType>& out,
         bool alias) {
    operands.reserve(in.size());
    results.reserve(out.size());
    for (const Literal& literal : in) operands.emplace_back(choices, literal);
    for (const TensorType& type : out) results.emplace_back(choices, filler(type));
    for (const LaidOut& operand : operands) operand_views.push_back(operand.const_view());
    for (LaidOut& result : results) result_views.push_back(result.view());
    if (alias) result_views[0] = operands[0].view();
  }
};

std::string check_run(Choices& choices, const OpCase& op, const KernelCall& base,
                      std::span<const Literal> expected, bool alias) {
  Arrays arrays(choices, op.operands, types_of(expected), alias);
  KernelCall call = base;
  call.operands = arrays.operand_views;
  call.results = arrays.result_views;
  find_kernel(op.kind)(call);
  for (size_t i = 0; i < expected.size(); ++i) {
    const LaidOut& result = alias && i == 0 ? arrays.operands[0] : arrays.results[i];
    const std::string problem = difference(result.literal(), expected[i]);
    if (!problem.empty()) return "result " + std::to_string(i) + ": " + problem;
    if (!result.guards_hold()) return "result " + std::to_string(i) + ": wrote outside of it";
  }
  return "";
}

bool same_element(ElementType type, const std::byte* a, const std::byte* b) {
  const auto width = static_cast<size_t>(hlo::byte_width(type));
  if (std::memcmp(a, b, width) == 0) return true;
  const TensorType real{hlo::real_part(type), {}};
  if (!hlo::is_float(real.element)) return false;
  const auto part = static_cast<size_t>(hlo::byte_width(real.element));
  for (size_t at = 0; at < width; at += part) {
    const Literal x(real, {a + at, a + at + part}), y(real, {b + at, b + at + part});
    const bool nans = std::isnan(decode_double(x, 0)) && std::isnan(decode_double(y, 0));
    if (!nans && std::memcmp(a + at, b + at, part) != 0) return false;
  }
  return true;
}

}  // namespace

Literal random_literal(Choices& choices, const TensorType& type, Values values) {
  std::vector<std::byte> bytes;
  const int parts = hlo::is_complex(type.element) ? 2 : 1;
  for (int64_t i = 0; i < parts * type.num_elements(); ++i) {
    const ElementType real = hlo::real_part(type.element);
    const std::vector<std::byte> one = hlo::is_boolean(real) ? hlo::encode(real, choices.in(0, 1))
                                                             : random_real(choices, real, values);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return Literal(type, std::move(bytes));
}

Dims random_shape(Choices& choices, int64_t rank, int64_t largest) {
  Dims shape;
  for (int64_t d = 0; d < rank; ++d) {
    shape.push_back(choices.in(0, 30) == 30 ? 0 : choices.in(1, largest));
  }
  return shape;
}

LaidOut::LaidOut(Choices& choices, const Literal& literal)
    : type_(literal.type()), strides_(hlo::row_major_strides(literal.type().shape)) {
  const size_t rank = type_.shape.size();
  int64_t extent = 1;
  if (choices.coin()) {
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = rank; i > 1; --i) {
      std::swap(order[i - 1],
                order[static_cast<size_t>(choices.in(0, static_cast<int64_t>(i) - 1))]);
    }
    int64_t stride = choices.in(1, 2);
    for (size_t d : order) {
      strides_[d] = stride;
      stride *= type_.shape[d] + choices.in(0, 2);
      stride = std::max<int64_t>(stride, 1);
    }
  }
  for (size_t d = 0; d < rank; ++d)
    extent += std::max<int64_t>(type_.shape[d] - 1, 0) * strides_[d];
  const auto width = static_cast<size_t>(hlo::byte_width(type_.element));
  buffer_.assign((static_cast<size_t>(extent) * width + 7) / 8 + 2, 0xabababababababab);
  auto* bytes = reinterpret_cast<std::byte*>(buffer_.data());
  const std::vector<int64_t> at = offsets();
  for (size_t i = 0; i < at.size(); ++i) {
    std::memcpy(bytes + 8 + static_cast<size_t>(at[i]) * width, literal.bytes().data() + i * width,
                width);
  }
  before_.assign(bytes, bytes + buffer_.size() * 8);
}

std::vector<int64_t> LaidOut::offsets() const {
  std::vector<int64_t> offsets;
  for (int64_t i = 0; i < type_.num_elements(); ++i) {
    int64_t offset = 0, rest = i;
    for (size_t d = type_.shape.size(); d-- > 0;) {
      offset += rest % type_.shape[d] * strides_[d];
      rest /= type_.shape[d];
    }
    offsets.push_back(offset);
  }
  return offsets;
}

ConstView LaidOut::const_view() const {
  return {type_.element, type_.shape, strides_,
          reinterpret_cast<const std::byte*>(buffer_.data()) + 8};
}

View LaidOut::view() {
  return {type_.element, type_.shape, strides_, reinterpret_cast<std::byte*>(buffer_.data()) + 8};
}

Literal LaidOut::literal() const {
  Literal dense(type_);
  const auto width = static_cast<size_t>(hlo::byte_width(type_.element));
  const auto* bytes = reinterpret_cast<const std::byte*>(buffer_.data()) + 8;
  const std::vector<int64_t> at = offsets();
  for (size_t i = 0; i < at.size(); ++i) {
    std::memcpy(dense.mutable_bytes().data() + i * width,
                bytes + static_cast<size_t>(at[i]) * width, width);
  }
  return dense;
}

bool LaidOut::guards_hold() const {
  std::vector<bool> inside(before_.size(), false);
  const auto width = static_cast<size_t>(hlo::byte_width(type_.element));
  for (int64_t offset : offsets()) {
    for (size_t b = 0; b < width; ++b) inside[8 + static_cast<size_t>(offset) * width + b] = true;
  }
  const auto* now = reinterpret_cast<const std::byte*>(buffer_.data());
  for (size_t i = 0; i < before_.size(); ++i) {
    if (!inside[i] && now[i] != before_[i]) return false;
  }
  return true;
}

std::string difference_from_evaluator(Choices& choices, const OpCase& op) {
  const Module module = make_module(op);
  const std::vector<Literal> expected = hlo::evaluate(module, op.operands);

  std::vector<RegionModule> regions;
  std::vector<RegionFunction> functions;
  std::vector<RegionPattern> patterns;
  std::vector<OpKind> no_ops;
  regions.reserve(op.regions.size());
  const hlo::Op& made = *module.main().body.ops()[0];
  for (size_t i = 0; i < op.regions.size(); ++i) {
    regions.push_back(make_region_module(op.regions[i]));
    current_regions[i] = &regions[i];
    functions.push_back(kRegionFunctions[i]);
    patterns.push_back(recognise_region(made.region(static_cast<int>(i))));
    no_ops.push_back(OpKind::kReturn);
  }
  KernelCall call{op.kind, made.attributes(), {}, {}, functions, no_ops, 128, patterns};
  for (const bool alias : {false, true}) {
    if (alias && !op.may_alias) continue;
    for (const bool recognised : {true, false}) {
      if (!recognised) call.region_patterns = {};
      const std::string problem = check_run(choices, op, call, expected, alias);
      if (problem.empty()) continue;
      std::string text = problem + (alias ? " (aliased)" : "") +
                         (recognised ? "" : " (region called)") + "\n" + hlo::print(module);
      for (const Literal& operand : op.operands) {
        text += "\noperand:";
        for (int64_t i = 0; i < std::min<int64_t>(operand.type().num_elements(), 40); ++i) {
          text += " " + std::to_string(hlo::decode_double(operand, i));
        }
      }
      return text;
    }
    call.region_patterns = patterns;
  }
  return "";
}

std::vector<Literal> run_kernel(Choices& choices, Kernel kernel, std::span<const Literal> operands,
                                const std::vector<TensorType>& results,
                                const hlo::Attributes& attributes) {
  Arrays arrays(choices, operands, results, false);
  kernel({OpKind::kCustomCall, attributes, arrays.operand_views, arrays.result_views, {}, {}});
  std::vector<Literal> values;
  for (const LaidOut& result : arrays.results) {
    EXPECT_TRUE(result.guards_hold()) << "a kernel wrote outside of its result";
    values.push_back(result.literal());
  }
  return values;
}

std::string difference(const Literal& actual, const Literal& expected) {
  if (actual.type() != expected.type()) {
    return "got a " + to_string(actual.type()) + ", expected a " + to_string(expected.type());
  }
  const auto width = static_cast<size_t>(hlo::byte_width(actual.type().element));
  for (int64_t i = 0; i < actual.type().num_elements(); ++i) {
    const size_t at = static_cast<size_t>(i) * width;
    if (same_element(actual.type().element, actual.bytes().data() + at,
                     expected.bytes().data() + at)) {
      continue;
    }
    return "element " + std::to_string(i) + " is " + std::to_string(decode_double(actual, i)) +
           ", expected " + std::to_string(decode_double(expected, i));
  }
  return "";
}

}  // namespace tpu::compiler::kernels
