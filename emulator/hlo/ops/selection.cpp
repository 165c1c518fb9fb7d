// compare, select, clamp.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

bool compare_type_fits(ElementType element, std::string_view compare_type) {
  switch (type_class(element)) {
    case kSigned:
      return compare_type == "SIGNED";
    case kBool:
    case kUnsigned:
      return compare_type == "UNSIGNED";
    case kFloat:
      return one_of(compare_type, {"FLOAT", "TOTALORDER"});
    default:
      return compare_type == "FLOAT";
  }
}

std::vector<TensorType> infer_compare(const OpView& op) {
  const TensorType& lhs = type_of(op, 0);
  const TensorType& rhs = type_of(op, 1);
  require_class(op, 0, kTensor);
  require(op, lhs.element == rhs.element, "c1", "lhs and rhs must have the same element type");
  require(op, lhs.shape == rhs.shape, "c2", "lhs and rhs must have the same shape");
  const std::string& direction = op.attributes.get_enum("comparison_direction");
  require(op, one_of(direction, {"EQ", "NE", "GE", "GT", "LE", "LT"}), "i3",
          "comparison_direction must be EQ, NE, GE, GT, LE or LT");
  if (is_complex(lhs.element)) {
    require(op, one_of(direction, {"EQ", "NE"}), "i3", "complex numbers have no order");
  }
  if (op.attributes.contains("compare_type")) {
    require(op, compare_type_fits(lhs.element, op.attributes.get_enum("compare_type")), "c3",
            "compare_type must be SIGNED for signed, UNSIGNED for unsigned integers and i1, FLOAT "
            "or TOTALORDER for floats, FLOAT for complex numbers");
  }
  return single({ElementType::kI1, lhs.shape});
}

std::vector<TensorType> infer_select(const OpView& op) {
  const TensorType& pred = type_of(op, 0);
  const TensorType& on_true = type_of(op, 1);
  require_class(op, 0, kBool);
  require(op, pred.rank() == 0 || pred.shape == on_true.shape, "c1",
          "pred must be a scalar or have on_true's shape");
  require(op, on_true == type_of(op, 2), "c2", "on_true and on_false must have the same type");
  return single(on_true);
}

std::vector<TensorType> infer_clamp(const OpView& op) {
  const TensorType& min = type_of(op, 0);
  const TensorType& operand = type_of(op, 1);
  const TensorType& max = type_of(op, 2);
  require_class(op, 1, kTensor);
  require(op, min.rank() == 0 || min.shape == operand.shape, "c1",
          "min must be a scalar or have the operand's shape");
  require(op, max.rank() == 0 || max.shape == operand.shape, "c2",
          "max must be a scalar or have the operand's shape");
  require(op, min.element == operand.element && operand.element == max.element, "c3",
          "min, operand and max must have the same element type");
  return single(operand);
}

}  // namespace

Rows selection_rows() {
  return {
      {.kind = OpKind::kCompare,
       .min_operands = 2,
       .max_operands = 2,
       .attributes = {{"comparison_direction", AttributeKind::kEnum, true, "comparison_direction"},
                      {"compare_type", AttributeKind::kEnum, false, "comparison_type"}},
       .elementwise = true,
       .implemented = true,
       .infer = infer_compare},
      {.kind = OpKind::kSelect,
       .min_operands = 3,
       .max_operands = 3,
       .elementwise = true,
       .implemented = true,
       .infer = infer_select},
      {.kind = OpKind::kClamp,
       .min_operands = 3,
       .max_operands = 3,
       .elementwise = true,
       .implemented = true,
       .infer = infer_clamp},
  };
}

}  // namespace tpu::hlo::ops
