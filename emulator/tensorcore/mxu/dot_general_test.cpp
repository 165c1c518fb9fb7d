// The fast dot_general against the scalar reference, bit for bit, on every host kernel table.
#include "emulator/tensorcore/mxu/dot_general.h"

#include "emulator/base/parallel.h"
#include "emulator/tensorcore/mxu/numerics.h"
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

/// Empty if all tables and thread counts agree with the reference.
std::string disagreement(const Case& c) {
  const Operands operands = make_operands(c);
  const Tensor expected = call(c, operands, reference::dot_general);
  for (const HostKernels* host : available_host_kernels()) {
    for (int threads : {1, 2}) {
      set_num_threads(threads);
      const Tensor got = call(c, operands, [&](const KernelCall& k) { dot_general(k, *host); });
      // Gaps between elements must stay untouched, so all bytes count.
      const int64_t at = first_difference(got, expected);
      if (at >= 0) {
        return std::string(host->name) + ", " + std::to_string(threads) + " threads, element " +
               std::to_string(at) + " differs: " + describe(operands.lhs) + " x " +
               describe(operands.rhs) + " -> " + describe(got) + " precision " + c.precision +
               " depth " + std::to_string(c.depth) + " values " +
               std::to_string(static_cast<int>(c.values)) + " seed " + std::to_string(c.seed);
      }
    }
  }
  return "";
}

/// Halves sizes while the case still fails.
std::string shrink(Case c) {
  std::string text = disagreement(c);
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (Dims Case::* role : {&Case::batch, &Case::rows, &Case::columns, &Case::k}) {
      for (size_t d = 0; d < (c.*role).size(); ++d) {
        if ((c.*role)[d] <= 1) continue;
        Case candidate = c;
        (candidate.*role)[d] /= 2;
        const std::string shorter = disagreement(candidate);
        if (shorter.empty()) continue;
        c = candidate;
        text = shorter;
        smaller = true;
      }
    }
  }
  return text;
}

void expect_agreement(const Case& c) {
  if (!disagreement(c).empty()) FAIL() << shrink(c);
}

Dims random_role(Random& random, int64_t largest) {
  const int64_t kind = pick(random, 0, 9);
  if (kind == 0) return {};
  if (kind == 1) return {pick(random, 0, 4), pick(random, 1, 9)};
  if (kind == 2) return {pick(random, 1, 5), pick(random, 1, 3), pick(random, 1, 7)};
  return {pick(random, 1, kind < 5 ? 8 : largest)};
}

Case random_case(uint64_t seed) {
  Random random(seed);
  const Types types = pick(random, kTypes);
  Case c{types.lhs, types.rhs, types.result, {}, {}, {}, {}};
  if (pick(random, 0, 2) == 0) c.batch = {pick(random, 0, 3)};
  if (pick(random, 0, 9) == 0) c.batch = {2, 3};
  c.rows = random_role(random, 70);
  c.columns = random_role(random, 70);
  c.k = random_role(random, 300);
  c.precision = pick(random, std::vector<std::string>{"DEFAULT", "HIGH", "HIGHEST"});
  c.depth = pick(random, std::vector<int>{128, 128, 256, 8, 1, 100});
  c.layout = pick(random, 0, 2) ? Layout::kStrided : Layout::kDense;
  c.values = pick(random, std::vector<Values>{Values::kNormal, Values::kNormal, Values::kWide,
                                              Values::kSpecial});
  c.seed = random();
  return c;
}

TEST(DotGeneral, AgreesWithTheReferenceOnRandomCases) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  for (uint64_t i = 0; i < 400 && !HasFatalFailure(); ++i) expect_agreement(random_case(seed + i));
}

TEST(DotGeneral, AgreesWithTheReferenceOnManyRows) {
  const uint64_t seed = test_seed();
  SCOPED_TRACE("TPU_TEST_SEED=" + std::to_string(seed));
  Random random(seed);
  for (const char* precision : {"DEFAULT", "HIGH", "HIGHEST"}) {
    for (Values values : {Values::kNormal, Values::kSpecial, Values::kWide}) {
      Case c{ElementType::kF32, ElementType::kF32, ElementType::kF32, {}, {}, {}, {}};
      c.rows = {pick(random, 257, 420)};
      c.columns = {pick(random, 17, 90)};
      c.k = {pick(random, 1, 300)};
      c.precision = precision;
      c.layout = pick(random, 0, 1) ? Layout::kStrided : Layout::kDense;
      c.values = values;
      c.seed = random();
      expect_agreement(c);
    }
  }
}

}  // namespace
}  // namespace tpu::tensorcore::testing
