// The fast dot_general against the scalar reference, bit for bit, on every host kernel table.
#include "emulator/tensorcore/mxu/dot_general.h"

#include "emulator/tensorcore/mxu/reference.h"
#include "emulator/tensorcore/mxu/test_support.h"

namespace tpu::tensorcore::testing {
namespace {

using compiler::KernelCall;

/// One call, from few numbers: what a failing case is shrunk through.
struct Case {
  ElementType lhs, rhs, result;
  Dims batch, rows, columns, k;
  std::string precision = "DEFAULT";
  int depth = 128;
  Layout layout = Layout::kDense;
  Values values = Values::kNormal;
  uint64_t seed = 0;
};

struct Operands {
  Tensor lhs, rhs;
  hlo::Attributes attributes;
  Dims result_shape;
};

/// A random interleaving of the dimensions of an operand; fills in their numbers by role.
Dims operand_shape(const std::vector<const Dims*>& roles, const std::vector<Dims*>& numbers,
                   bool shuffle, Random& random) {
  std::vector<std::pair<size_t, size_t>> order;  // (role, index in role)
  for (size_t r = 0; r < roles.size(); ++r) {
    for (size_t i = 0; i < roles[r]->size(); ++i) order.push_back({r, i});
  }
  if (shuffle) {
    std::shuffle(order.begin(), order.end(), random);
    // Rows and columns appear in the result in ascending order.
    size_t next = 0;
    for (auto& [role, index] : order) {
      if (role == 1) index = next++;
    }
  }
  Dims shape;
  for (size_t r = 0; r < roles.size(); ++r) numbers[r]->resize(roles[r]->size());
  for (const auto& [role, index] : order) {
    (*numbers[role])[index] = static_cast<int64_t>(shape.size());
    shape.push_back((*roles[role])[index]);
  }
  return shape;
}

Operands make_operands(const Case& c) {
  Random random(c.seed);
  hlo::DotDimensionNumbers numbers;
  const bool shuffle = c.layout == Layout::kStrided;
  Dims rows, columns;
  const Dims lhs =
      operand_shape({&c.batch, &c.rows, &c.k},
                    {&numbers.lhs_batching_dimensions, &rows, &numbers.lhs_contracting_dimensions},
                    shuffle, random);
  const Dims rhs = operand_shape(
      {&c.batch, &c.columns, &c.k},
      {&numbers.rhs_batching_dimensions, &columns, &numbers.rhs_contracting_dimensions}, shuffle,
      random);
  Operands operands{
      make_tensor(c.lhs, lhs, c.layout, random), make_tensor(c.rhs, rhs, c.layout, random), {}, {}};
  fill(operands.lhs, c.values, random);
  fill(operands.rhs, c.values, random);
  operands.attributes.set("dot_dimension_numbers", numbers);
  operands.attributes.set("precision_config", hlo::EnumValues{{c.precision}, {"DEFAULT"}});
  for (const Dims* dims : {&c.batch, &c.rows, &c.columns}) {
    operands.result_shape.insert(operands.result_shape.end(), dims->begin(), dims->end());
  }
  return operands;
}

template <class Function>
Tensor call(const Case& c, const Operands& operands, const Function& function) {
  Random random(c.seed + 1);
  Tensor result = make_tensor(c.result, operands.result_shape, c.layout, random);
  std::fill(result.bytes.begin(), result.bytes.end(), std::byte{0x55});
  const compiler::ConstView inputs[] = {operands.lhs.const_view(), operands.rhs.const_view()};
  const compiler::View outputs[] = {result.view()};
  function(
      KernelCall{hlo::OpKind::kDotGeneral, operands.attributes, inputs, outputs, {}, {}, c.depth});
  return result;
}

std::string disagreement(const Case& c) {
  const Operands operands = make_operands(c);
  const Tensor expected = call(c, operands, reference::dot_general);
  const std::string problem = testing::disagreement(expected, [&](const HostKernels& host) {
    return call(c, operands, [&](const KernelCall& k) { dot_general(k, host); });
  });
  if (problem.empty()) return "";
  return problem + " for " + describe(operands.lhs) + " x " + describe(operands.rhs) +
         " precision " + c.precision + " depth " + std::to_string(c.depth) + " values " +
         std::to_string(static_cast<int>(c.values));
}

Dims choose_role(Choices& choices, int64_t largest) {
  switch (choices.in(0, 9)) {
    case 7:
      return {choices.in(0, 4), choices.in(1, 9)};
    case 8:
      return {choices.in(1, 5), choices.in(1, 3), choices.in(1, 7)};
    case 9:
      return {};
    default:
      return {choices.in(1, choices.coin() ? largest : 9)};
  }
}

Case choose_case(Choices& choices) {
  const Types types = choose(choices, kTypes);
  Case c{types.lhs, types.rhs, types.result, {}, {}, {}, {}};
  if (choices.in(0, 2) == 2) c.batch = {choices.in(1, 3)};
  if (choices.in(0, 9) == 9) c.batch = {2, choices.in(0, 3)};
  c.rows = choose_role(choices, 70);
  c.columns = choose_role(choices, 70);
  c.k = choose_role(choices, 300);
  c.precision = choose(choices, std::vector<std::string>{"DEFAULT", "HIGH", "HIGHEST"});
  c.depth = choose(choices, std::vector<int>{128, 128, 256, 8, 1, 100});
  c.layout = choose(choices, std::vector{Layout::kDense, Layout::kStrided, Layout::kStrided});
  c.values = choose(choices,
                    std::vector{Values::kNormal, Values::kNormal, Values::kWide, Values::kSpecial});
  c.seed = static_cast<uint64_t>(choices.in(0, 1 << 30));
  return c;
}

TEST(DotGeneral, AgreesWithTheReference) {
  tpu::testing::check_property(300,
                               [](Choices& choices) { return disagreement(choose_case(choices)); });
}

TEST(DotGeneral, AgreesWithTheReferenceOnManyRows) {
  tpu::testing::check_property(8, [](Choices& choices) {
    Case c{ElementType::kF32, ElementType::kF32, ElementType::kF32, {}, {}, {}, {}};
    c.rows = {choices.in(257, 420)};
    c.columns = {choices.in(17, 90)};
    c.k = {choices.in(1, 300)};
    c.precision = choose(choices, std::vector<std::string>{"DEFAULT", "HIGH", "HIGHEST"});
    c.layout = choose(choices, std::vector{Layout::kDense, Layout::kStrided});
    c.values = choose(choices, std::vector{Values::kNormal, Values::kSpecial, Values::kWide});
    c.seed = static_cast<uint64_t>(choices.in(0, 1 << 30));
    return disagreement(c);
  });
}

// Rounds of packing: a long contraction with few columns, and totals kept between them.
TEST(DotGeneral, AgreesWithTheReferenceOnLongContractions) {
  Case c{ElementType::kF32, ElementType::kF32, ElementType::kF32, {}, {300}, {20}, {20000}};
  EXPECT_EQ(disagreement(c), "");
  c.rows = {1};
  c.columns = {2};
  EXPECT_EQ(disagreement(c), "");
}

}  // namespace
}  // namespace tpu::tensorcore::testing
