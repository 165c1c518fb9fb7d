// Elementwise comparisons: the result is bool.
#include <limits>

#include "backend/aten/pointwise.h"

namespace torch_tpu::aten {
namespace {

LowerFunction comparison(std::string_view direction) {
  return binary(
      Promotion::kDefault,
      [direction](const Pointwise& p) { return p.b.compare(p.x[0], p.x[1], direction); },
      PointwiseResult::kBool);
}

LowerFunction is_infinity(double infinity) {
  return unary(
      Promotion::kDefault,
      [infinity](const Pointwise& p) {
        return p.is_float() ? p.b.compare(p.x[0], p.full(infinity), "EQ") : p.mask(false);
      },
      PointwiseResult::kBool);
}

/// The program faults unless the one element is true.
void assert_element(Lowering& op) {
  const Tensor self = op.tensor("self");
  TORCH_CHECK(self.numel() != 0, "Boolean value of Tensor with no values is ambiguous");
  TORCH_CHECK(self.numel() < 2, "Boolean value of Tensor with more than one value is ambiguous");
  Value* element = op.b.reshape(self.value, {});
  Value* holds = op.b.compare(element, op.b.splat(element->type, int64_t{0}), "NE");
  op.b.assert_true(holds, op.has("assert_msg")
                              ? op.string("assert_msg")
                              : "Expected Tensor with single nonzero value, but got zero");
  if (op.has("dep_token")) op.result(op.tensor("dep_token").value);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void add_comparison(Table& table) {
  const Table rows = {
      {"eq.Tensor", comparison("EQ")},
      {"eq.Scalar", comparison("EQ")},
      {"ne.Tensor", comparison("NE")},
      {"ne.Scalar", comparison("NE")},
      {"ge.Tensor", comparison("GE")},
      {"ge.Scalar", comparison("GE")},
      {"gt.Tensor", comparison("GT")},
      {"gt.Scalar", comparison("GT")},
      {"le.Tensor", comparison("LE")},
      {"le.Scalar", comparison("LE")},
      {"isposinf", is_infinity(kInfinity)},
      {"isneginf", is_infinity(-kInfinity)},
      {"lt.Tensor", comparison("LT")},
      {"lt.Scalar", comparison("LT")},
      {"_assert_async", assert_element},
      {"_assert_async.msg", assert_element},
      {"_functional_assert_async.msg", assert_element},
  };
  table.insert(table.end(), rows.begin(), rows.end());
}

}  // namespace torch_tpu::aten
