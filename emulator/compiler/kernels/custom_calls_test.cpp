// The calls that StableHLO has not, against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emulator/base/error.h"
#include "emulator/compiler/kernels/op_case.h"

namespace tpu::compiler::kernels {
namespace {

using tpu::testing::check_property;

const std::vector<ElementType> kTypes = {ElementType::kI1,   ElementType::kSI8,  ElementType::kUI16,
                                         ElementType::kSI32, ElementType::kSI64, ElementType::kBF16,
                                         ElementType::kF16,  ElementType::kF32,  ElementType::kF64};

std::vector<Literal> run(Choices& choices, std::string_view target,
                         const std::vector<Literal>& operands,
                         const std::vector<TensorType>& results,
                         const hlo::Attributes& attributes = {}) {
  return run_kernel(choices, find_custom_call(target), operands, results, attributes);
}

Literal ints(const Dims& shape, const std::vector<int64_t>& values) {
  return hlo::from_ints(ElementType::kSI64, shape, values);
}

// Element `i` as a number. All types here but 64-bit integers fit a double; those are drawn small.
double number(const Literal& x, int64_t i) {
  return hlo::decode_double(x, i);
}

// PyTorch's order: NaN last, -0 equal to +0.
bool below(double a, double b) {
  return a < b || (!std::isnan(a) && std::isnan(b));
}

Literal random_values(Choices& choices, const Dims& shape) {
  const ElementType element = pick(choices, kTypes);
  const bool small = !hlo::is_float(element) || choices.coin();
  return random_literal(choices, {element, shape}, small ? Values::kSmall : Values::kAnything);
}

// Elements of `x` at `positions`, as an array of `shape`.
Literal taken(const Literal& x, const std::vector<int64_t>& positions, const Dims& shape) {
  Literal result({x.type().element, shape});
  const auto width = static_cast<size_t>(hlo::byte_width(x.type().element));
  for (size_t i = 0; i < positions.size(); ++i) {
    const std::byte* from = x.bytes().data() + static_cast<size_t>(positions[i]) * width;
    std::copy(from, from + width, result.mutable_bytes().data() + i * width);
  }
  return result;
}

std::string all_equal(const std::vector<Literal>& actual, const std::vector<Literal>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string problem = difference(actual[i], expected[i]);
    if (!problem.empty()) return "result " + std::to_string(i) + ": " + problem;
  }
  return "";
}

std::vector<int64_t> true_positions(const Literal& x) {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    if (number(x, i) != 0) positions.push_back(i);
  }
  return positions;
}

TEST(Nonzero, ListsIndicesRowMajor) {
  check_property(150, [](Choices& choices) {
    const Literal x = random_values(choices, random_shape(choices, choices.in(0, 3), 6));
    const std::vector<int64_t> positions = true_positions(x);
    const int64_t rank = x.type().rank();
    std::vector<int64_t> indices;
    for (int64_t position : positions) {
      const Dims strides = hlo::row_major_strides(x.type().shape);
      for (size_t d = 0; d < strides.size(); ++d) {
        indices.push_back(position / strides[d] % x.type().shape[d]);
      }
    }
    const Dims shape = {static_cast<int64_t>(positions.size()), rank};
    return all_equal(run(choices, "tpu.nonzero", {x}, {{ElementType::kSI64, shape}}),
                     {ints(shape, indices)});
  });
}

TEST(Nonzero, CountsEitherPartOfAComplexNumber) {
  Literal x({ElementType::kComplexF32, {4}});
  const std::vector<float> parts = {0, 0, 0, 2, -0.0f, 0, 1, -0.0f};
  std::ranges::copy(parts, x.mutable_as<float>().begin());
  Choices choices(tpu::testing::seed());
  const Literal found = run(choices, "tpu.nonzero", {x}, {{ElementType::kSI64, {2, 1}}})[0];
  EXPECT_EQ(difference(found, ints({2, 1}, {1, 3})), "");
}

TEST(Nonzero, LongArraysKeepTheirOrder) {
  const int64_t n = 100000;
  Literal x({ElementType::kI1, {n}});
  std::vector<int64_t> expected;
  for (int64_t i = 0; i < n; i += 1 + i % 5) {
    x.mutable_bytes()[static_cast<size_t>(i)] = std::byte{1};
    expected.push_back(i);
  }
  Choices choices(tpu::testing::seed());
  const Dims shape = {static_cast<int64_t>(expected.size()), 1};
  const auto found = run(choices, "tpu.nonzero", {x}, {{ElementType::kSI64, shape}});
  EXPECT_EQ(difference(found[0], ints(shape, expected)), "");
}

TEST(Nonzero, FaultsOnAWrongCount) {
  Choices choices(tpu::testing::seed());
  const Literal x = hlo::splat({ElementType::kF32, {3}}, 1.0);
  EXPECT_THROW(run(choices, "tpu.nonzero", {x}, {{ElementType::kSI64, {2, 1}}}), DeviceError);
  EXPECT_THROW(run(choices, "tpu.masked_select", {x, x}, {{ElementType::kF32, {4}}}), DeviceError);
}

TEST(MaskedSelect, TakesElementsRowMajor) {
  check_property(150, [](Choices& choices) {
    const Dims shape = random_shape(choices, choices.in(0, 3), 6);
    const Literal x = random_values(choices, shape);
    const Literal mask = random_literal(choices, {ElementType::kI1, shape}, Values::kSmall);
    const std::vector<int64_t> positions = true_positions(mask);
    const Dims result = {static_cast<int64_t>(positions.size())};
    return all_equal(run(choices, "tpu.masked_select", {x, mask}, {{x.type().element, result}}),
                     {taken(x, positions, result)});
  });
}

// values, inverse and counts of groups of equal neighbours in `order`.
std::vector<Literal> groups(const Literal& x, const std::vector<int64_t>& order) {
  std::vector<int64_t> firsts, counts, inverse(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || number(x, order[i]) != number(x, order[i - 1])) {
      firsts.push_back(order[i]);
      counts.push_back(0);
    }
    ++counts.back();
    inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(firsts.size()) - 1;
  }
  const Dims count = {static_cast<int64_t>(firsts.size())};
  return {taken(x, firsts, count), ints({static_cast<int64_t>(order.size())}, inverse),
          ints(count, counts)};
}

std::string check_unique(Choices& choices, const std::string& target, bool sorted) {
  const Literal x = random_values(choices, {choices.in(0, 40)});
  std::vector<int64_t> order(static_cast<size_t>(x.type().num_elements()));
  std::iota(order.begin(), order.end(), 0);
  if (sorted) {
    std::ranges::stable_sort(
        order, [&](int64_t a, int64_t b) { return below(number(x, a), number(x, b)); });
  }
  const std::vector<Literal> expected = groups(x, order);
  std::vector<TensorType> types;
  for (const Literal& literal : expected) types.push_back(literal.type());
  const Literal count = run(choices, target + "_count", {x}, {{ElementType::kSI64, {}}})[0];
  if (count.as<int64_t>()[0] != expected[0].type().shape[0]) return target + "_count is wrong";
  return all_equal(run(choices, target, {x}, types), expected);
}

TEST(Unique, GroupsEqualValuesAscending) {
  check_property(150, [](Choices& choices) { return check_unique(choices, "tpu.unique", true); });
}

TEST(Unique, ConsecutiveGroupsRuns) {
  check_property(
      150, [](Choices& choices) { return check_unique(choices, "tpu.unique_consecutive", false); });
}

TEST(Unique, FaultsOnAWrongCount) {
  Choices choices(tpu::testing::seed());
  const TensorType i64{ElementType::kSI64, {3}}, two{ElementType::kSI64, {2}};
  EXPECT_THROW(run(choices, "tpu.unique", {ints({3}, {1, 2, 3})}, {two, i64, two}), DeviceError);
}

TEST(TopK, SortedWithTiesByLowerIndex) {
  check_property(200, [](Choices& choices) {
    Dims shape = random_shape(choices, choices.in(0, 3), 4);
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t dimension = choices.in(0, std::max<int64_t>(rank - 1, 0));
    if (rank > 0) shape[static_cast<size_t>(dimension)] = choices.in(1, 60);
    const Literal x = random_values(choices, shape);
    const bool largest = choices.coin();
    const int64_t n = rank == 0 ? 1 : shape[static_cast<size_t>(dimension)];
    const int64_t k = rank == 0 ? 1 : choices.in(0, n);
    Dims result = shape;
    if (rank > 0) result[static_cast<size_t>(dimension)] = k;

    const int64_t inner =
        rank == 0 ? 1 : hlo::row_major_strides(shape)[static_cast<size_t>(dimension)];
    std::vector<int64_t> positions(static_cast<size_t>(hlo::num_elements(result)));
    std::vector<int64_t> indices(positions.size());
    for (int64_t line = 0; line < x.type().num_elements() / n; ++line) {
      const int64_t base = line / inner * n * inner + line % inner;
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
        const double u = number(x, base + a * inner), v = number(x, base + b * inner);
        return largest ? below(v, u) : below(u, v);
      });
      for (int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<size_t>(line / inner * k * inner + i * inner + line % inner);
        indices[at] = order[static_cast<size_t>(i)];
        positions[at] = base + indices[at] * inner;
      }
    }
    return all_equal(
        run(choices, "tpu.topk", {x}, {{x.type().element, result}, {ElementType::kSI64, result}},
            {{"largest", largest}, {"dimension", dimension}}),
        {taken(x, positions, result), ints(result, indices)});
  });
}

TEST(SelectRank, IsOneEntryOfTheStableSort) {
  check_property(150, [](Choices& choices) {
    const int64_t lines = choices.in(1, 4), n = choices.in(1, 40);
    const Literal x = random_values(choices, {lines, n});
    std::vector<int64_t> ranks, chosen, positions;
    for (int64_t line = 0; line < lines; ++line) {
      std::vector<int64_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int64_t a, int64_t b) {
        return below(number(x, line * n + a), number(x, line * n + b));
      });
      ranks.push_back(choices.in(0, n - 1));
      chosen.push_back(order[static_cast<size_t>(ranks.back())]);
      positions.push_back(line * n + chosen.back());
    }
    return all_equal(run(choices, "tpu.select_rank", {x, ints({lines}, ranks)},
                         {{x.type().element, {lines}}, {ElementType::kSI64, {lines}}}),
                     {taken(x, positions, {lines}), ints({lines}, chosen)});
  });
}

TEST(Randperm, SortsKeysStably) {
  check_property(50, [](Choices& choices) {
    const int64_t n = choices.in(0, 50);
    const Literal keys = random_literal(choices, {ElementType::kUI32, {n}}, Values::kSmall);
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(
        order, [&](int64_t a, int64_t b) { return number(keys, a) < number(keys, b); });
    return all_equal(run(choices, "tpu.randperm", {keys}, {{ElementType::kSI64, {n}}}),
                     {ints({n}, order)});
  });
}

TEST(Cumulative, ExtremeSoFarAndItsLatestPosition) {
  check_property(150, [](Choices& choices) {
    const int64_t n = choices.in(1, 20), columns = choices.in(1, 3);
    const bool maximum = choices.coin();
    const Literal x = random_values(choices, {n, columns});
    std::vector<int64_t> positions, indices;
    std::vector<int64_t> best(static_cast<size_t>(columns), 0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < columns; ++c) {
        int64_t& at = best[static_cast<size_t>(c)];
        const double u = number(x, i * columns + c), v = number(x, at * columns + c);
        const bool better = maximum ? u >= v : u <= v;
        if (std::isnan(u) || (better && !std::isnan(v))) at = i;
        indices.push_back(at);
        positions.push_back(at * columns + c);
      }
    }
    const Dims shape = {n, columns};
    return all_equal(
        run(choices, maximum ? "tpu.cummax" : "tpu.cummin", {x},
            {{x.type().element, shape}, {ElementType::kSI64, shape}}, {{"dimension", int64_t{0}}}),
        {taken(x, positions, shape), ints(shape, indices)});
  });
}

TEST(SearchSorted, CountsElementsBelow) {
  check_property(150, [](Choices& choices) {
    const int64_t rows = choices.in(1, 3), n = choices.in(0, 20), m = choices.in(0, 5);
    const ElementType element = pick(choices, kTypes);
    const Literal sequence = random_literal(choices, {element, {rows, n}}, Values::kSmall);
    const Literal values = random_literal(choices, {element, {rows, m}}, Values::kSmall);
    const bool right = choices.coin(), by_order = choices.coin();
    std::vector<int64_t> order, positions, expected;
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<int64_t> row(static_cast<size_t>(n));
      std::iota(row.begin(), row.end(), 0);
      std::ranges::stable_sort(row, [&](int64_t a, int64_t b) {
        return number(sequence, r * n + a) < number(sequence, r * n + b);
      });
      for (int64_t i : row) {
        order.push_back(i);
        positions.push_back(r * n + i);
      }
      for (int64_t j = 0; j < m; ++j) {
        const double value = number(values, r * m + j);
        expected.push_back(std::ranges::count_if(row, [&](int64_t i) {
          const double x = number(sequence, r * n + i);
          return right ? x <= value : x < value;
        }));
      }
    }
    std::vector<Literal> operands = {taken(sequence, positions, {rows, n}), values};
    if (by_order) operands = {sequence, values, ints({rows, n}, order)};
    const ElementType index = choices.coin() ? ElementType::kSI32 : ElementType::kSI64;
    return all_equal(
        run(choices, "tpu.searchsorted", operands, {{index, {rows, m}}}, {{"right", right}}),
        {hlo::from_ints(index, {rows, m}, expected)});
  });
}

TEST(SearchSorted, OneSequenceForAllValues) {
  Choices choices(tpu::testing::seed());
  const Literal sequence = ints({4}, {1, 3, 3, 8});
  const Literal values = ints({2, 2}, {3, 0, 9, 8});
  const auto found =
      run(choices, "tpu.searchsorted", {sequence, values}, {{ElementType::kSI64, {2, 2}}});
  EXPECT_EQ(difference(found[0], ints({2, 2}, {1, 0, 4, 3})), "");
}

TEST(Bincount, CountsOrAddsWeightsInOrder) {
  check_property(100, [](Choices& choices) {
    const int64_t n = choices.in(0, 60), size = choices.in(1, 9);
    std::vector<int64_t> bins(static_cast<size_t>(n)), counts(static_cast<size_t>(size), 0);
    for (int64_t& bin : bins) ++counts[static_cast<size_t>(bin = choices.in(0, size - 1))];
    const Literal x = hlo::from_ints(ElementType::kSI32, {n}, bins);
    const auto counted = run(choices, "tpu.bincount", {x}, {{ElementType::kSI64, {size}}});
    if (const auto problem = all_equal(counted, {ints({size}, counts)}); !problem.empty()) {
      return problem;
    }
    Literal weights({ElementType::kF32, {n}}), sums({ElementType::kF32, {size}});
    for (int64_t i = 0; i < n; ++i) {
      const float weight = static_cast<float>(choices.in(0, 1000)) / 7.0f;
      weights.mutable_as<float>()[static_cast<size_t>(i)] = weight;
      sums.mutable_as<float>()[static_cast<size_t>(bins[static_cast<size_t>(i)])] += weight;
    }
    return all_equal(run(choices, "tpu.bincount", {x, weights}, {sums.type()}), {sums});
  });
}

TEST(Bincount, FaultsOutsideOfTheBins) {
  Choices choices(tpu::testing::seed());
  const TensorType result{ElementType::kSI64, {3}};
  EXPECT_THROW(run(choices, "tpu.bincount", {ints({2}, {0, 3})}, {result}), DeviceError);
  EXPECT_THROW(run(choices, "tpu.bincount", {ints({2}, {0, -1})}, {result}), DeviceError);
}

TEST(CustomCalls, RefuseTypesWithoutAnOrder) {
  Choices choices(tpu::testing::seed());
  const TensorType complex{ElementType::kComplexF32, {3}}, i64{ElementType::kSI64, {3}};
  EXPECT_THROW(run(choices, "tpu.topk", {Literal(complex)}, {complex, i64}), Unimplemented);
  EXPECT_THROW(run(choices, "tpu.cummax", {Literal(complex)}, {complex, i64}), Unimplemented);
}

void nothing(const KernelCall&) {}

TEST(Registry, TheLastRegistrationWins) {
  EXPECT_EQ(find_custom_call("test.unknown"), nullptr);
  register_custom_call("test.unknown", nothing);
  EXPECT_EQ(find_custom_call("test.unknown"), &nothing);
  const Kernel topk = find_custom_call("tpu.topk");
  register_custom_call("tpu.topk", nothing);
  EXPECT_EQ(find_custom_call("tpu.topk"), &nothing);
  register_custom_call("tpu.topk", topk);
}

TEST(Registry, HasNoKernelForElementwiseOps) {
  EXPECT_EQ(find_kernel(OpKind::kAdd), nullptr);
  EXPECT_NE(find_kernel(OpKind::kDotGeneral), nullptr);
}

}  // namespace
}  // namespace tpu::compiler::kernels
