// Ops that make values from attributes: constants, counters, random bits, facts of the program.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_constant(const OpView& op) {
  return single(op.attributes.get<Literal>("value").type());
}

std::vector<TensorType> infer_iota(const OpView& op) {
  require_given_results(op);
  const TensorType& result = op.result_types[0];
  require(op, type_class(result.element) & kNumber, "c1", "the result must hold numbers");
  const int64_t dimension = op.attributes.get<int64_t>("iota_dimension");
  require(op, dimension >= 0 && dimension < result.rank(), "c1",
          "iota_dimension must be a dimension of the result " + to_string(result));
  return single(result);
}

std::vector<TensorType> infer_get_dimension_size(const OpView& op) {
  const int64_t dimension = op.attributes.get<int64_t>("dimension");
  require(op, dimension >= 0 && dimension < type_of(op, 0).rank(), "c1",
          "dimension must be a dimension of the operand");
  return single({ElementType::kSI32, {}});
}

std::vector<TensorType> infer_rng(const OpView& op) {
  require_given_results(op);
  for (int i = 0; i < 2; ++i) {
    require_class(op, i, kBits | kFloat);
    require_rank(op, i, 0);
  }
  require_class(op, 2, kInteger);
  require_rank(op, 2, 1);
  const TensorType& result = op.result_types[0];
  require(op, type_of(op, 0) == type_of(op, 1) && result.element == type_of(op, 0).element, "c1",
          "a, b and the result must have the same element type");
  const std::string& distribution = op.attributes.get_enum("rng_distribution");
  require(op, one_of(distribution, {"UNIFORM", "NORMAL"}), "i4",
          "rng_distribution must be UNIFORM or NORMAL");
  require(op, distribution != "NORMAL" || is_float(result.element), "c2",
          "normal random numbers are floats");
  require(op, type_of(op, 2).num_elements() == result.rank(), "c3",
          "shape must have one element for each dimension of the result");
  return single(result);
}

std::vector<TensorType> infer_rng_bit_generator(const OpView& op) {
  require_given_results(op, 2);
  const TensorType& state = type_of(op, 0);
  require(op, state.rank() == 1 && state.element == ElementType::kUI64, "i2",
          "initial_state must be a vector of ui64");
  require(op, op.result_types[0] == state, "c1", "output_state must have initial_state's type");
  const std::string& algorithm = op.attributes.get_enum("rng_algorithm");
  require(op, one_of(algorithm, {"DEFAULT", "THREE_FRY", "PHILOX"}), "i1",
          "rng_algorithm must be DEFAULT, THREE_FRY or PHILOX");
  const int64_t size = state.shape[0];
  require(op, algorithm != "THREE_FRY" || size == 2, "c2", "THREE_FRY has a state of 2 elements");
  require(op, algorithm == "THREE_FRY" || size == 2 || size == 3, "c2",
          "PHILOX, which DEFAULT stands for, has a state of 2 or 3 elements");
  require(op, type_class(op.result_types[1].element) & (kInteger | kFloat), "",
          "the output must hold integers or floats");
  return {op.result_types[0], op.result_types[1]};
}

std::vector<TensorType> infer_id(const OpView&) {
  return single({ElementType::kUI32, {}});
}

}  // namespace

Rows creation_rows() {
  return {
      {.kind = OpKind::kConstant,
       .max_operands = 0,
       .attributes = {{"value", AttributeKind::kLiteral}},
       .implemented = true,
       .infer = infer_constant},
      {.kind = OpKind::kIota,
       .max_operands = 0,
       .attributes = {{"iota_dimension", AttributeKind::kI64}},
       .implemented = true,
       .infer = infer_iota},
      {.kind = OpKind::kGetDimensionSize,
       .min_operands = 1,
       .max_operands = 1,
       .attributes = {{"dimension", AttributeKind::kI64}},
       .implemented = true,
       .infer = infer_get_dimension_size},
      {.kind = OpKind::kRng,
       .min_operands = 3,
       .max_operands = 3,
       .attributes = {{"rng_distribution", AttributeKind::kEnum, true, "rng_distribution"}},
       .side_effects = true,
       .infer = infer_rng},
      {.kind = OpKind::kRngBitGenerator,
       .min_operands = 1,
       .max_operands = 1,
       .attributes = {{"rng_algorithm", AttributeKind::kEnum, true, "rng_algorithm"}},
       .implemented = true,
       .infer = infer_rng_bit_generator},
      {.kind = OpKind::kPartitionId, .max_operands = 0, .infer = infer_id},
      {.kind = OpKind::kReplicaId, .max_operands = 0, .infer = infer_id},
  };
}

}  // namespace tpu::hlo::ops
