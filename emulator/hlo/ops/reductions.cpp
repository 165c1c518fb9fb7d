// reduce, sort, map: ops that apply a region along whole dimensions.
#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

std::vector<TensorType> infer_reduce(const OpView& op) {
  const int count = static_cast<int>(op.operands.size()) / 2;
  require(op, static_cast<int>(op.operands.size()) == 2 * count, "c3",
          "there must be as many init_values as inputs");
  const TensorType& input = type_of(op, 0);
  for (int i = 0; i < count; ++i) {
    require(op, type_of(op, i).shape == input.shape, "c1", "inputs must have the same shape");
    require(op, type_of(op, count + i) == TensorType{type_of(op, i).element, {}}, "c2",
            "an init_value must be a scalar of its input's element type");
  }
  const Dims& dimensions = op.attributes.get<Dims>("dimensions");
  require(op, all_within(dimensions, 0, input.rank()), "c4",
          "dimensions must be dimensions of the inputs");
  require(op, is_unique(dimensions), "c5", "dimensions must differ");
  Dims shape;
  for (int d = 0; d < input.rank(); ++d) {
    if (!contains(dimensions, d)) shape.push_back(input.shape[d]);
  }
  std::vector<TensorType> results;
  for (ElementType element : require_combiner(op, 0, count, "c6")) {
    results.push_back({element, shape});
  }
  return results;
}

std::vector<TensorType> infer_sort(const OpView& op) {
  const TensorType& first = type_of(op, 0);
  std::vector<TensorType> arguments;
  for (const Value* input : op.operands) {
    require(op, input->type.shape == first.shape, "c3", "inputs must have the same shape");
    arguments.insert(arguments.end(), 2, TensorType{input->type.element, {}});
  }
  const int64_t dimension = op.attributes.get_or<int64_t>("dimension", -1);
  // A scalar has no dimension to name, and sorting it is a no-op; the default -1 is let through.
  require(op,
          (-first.rank() <= dimension && dimension < first.rank()) ||
              (first.rank() == 0 && dimension == -1),
          "c4", "dimension must be a dimension of the inputs");
  const TensorType predicate[] = {{ElementType::kI1, {}}};
  require_signature(op, 0, arguments, predicate, "c5");
  return operand_types(op);
}

std::vector<TensorType> infer_map(const OpView& op) {
  const TensorType& first = type_of(op, 0);
  std::vector<TensorType> arguments;
  for (const Value* input : op.operands) {
    require(op, input->type.shape == first.shape, "c1", "inputs must have the same shape");
    arguments.push_back({input->type.element, {}});
  }
  const Dims& dimensions = op.attributes.get<Dims>("dimensions");
  bool is_range = static_cast<int>(dimensions.size()) == first.rank();
  for (size_t d = 0; is_range && d < dimensions.size(); ++d) {
    is_range = dimensions[d] == static_cast<int64_t>(d);
  }
  require(op, is_range, "c3", "dimensions must be all dimensions of the inputs, ascending");
  const std::vector<TensorType> results = block_result_types(op, 0);
  require(op, results.size() == 1 && results[0].rank() == 0, "c4",
          "the computation must return one scalar");
  require_signature(op, 0, arguments, results, "c4");
  return single({results[0].element, first.shape});
}

}  // namespace

Rows reduction_rows() {
  return {
      {.kind = OpKind::kReduce,
       .min_operands = 2,
       .num_regions = 1,
       .attributes = {{"dimensions", AttributeKind::kI64Array}},
       .implemented = true,
       .infer = infer_reduce},
      {.kind = OpKind::kSort,
       .min_operands = 1,
       .num_regions = 1,
       .attributes = {{"dimension", AttributeKind::kI64, false},
                      {"is_stable", AttributeKind::kBool, false}},
       .implemented = true,
       .infer = infer_sort},
      {.kind = OpKind::kMap,
       .min_operands = 1,
       .num_regions = 1,
       .attributes = {{"dimensions", AttributeKind::kI64Array}},
       .implemented = true,
       .infer = infer_map},
  };
}

}  // namespace tpu::hlo::ops
