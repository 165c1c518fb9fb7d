// Collectives, channels, infeed and outfeed: typed here, run by whoever owns several chips.
#include <algorithm>

#include "emulator/hlo/ops/checks.h"
#include "emulator/hlo/ops/families.h"

namespace tpu::hlo::ops {
namespace {

// Each process is in one group; shorter groups are filled up with -1.
const IntMatrix& check_groups(const OpView& op, std::string_view unique_label,
                              std::string_view range_label) {
  const IntMatrix& groups = op.attributes.get<IntMatrix>("replica_groups");
  Dims ids;
  std::ranges::copy_if(groups.values, std::back_inserter(ids), [](int64_t id) { return id != -1; });
  require(op, is_unique(ids), unique_label, "replica_groups must not repeat a process");
  require(op, all_within(ids, 0, INT64_MAX), range_label,
          "replica_groups must not hold negative ids");
  return groups;
}

void check_channel(const OpView& op, std::string_view label) {
  if (!op.attributes.get_or<bool>("use_global_device_ids", false)) return;
  require(op, op.attributes.get_or<int64_t>("channel_id", 0) > 0, label,
          "use_global_device_ids needs a positive channel_id");
}

int64_t checked_dimension(const OpView& op, std::string_view name, std::string_view label) {
  const int64_t dimension = op.attributes.get<int64_t>(name);
  for (const Value* operand : op.operands) {
    require(op, dimension >= 0 && dimension < operand->type.rank(), label,
            std::string(name) + " must be a dimension of the operands");
  }
  return dimension;
}

std::vector<TensorType> infer_all_gather(const OpView& op) {
  const int64_t dimension = checked_dimension(op, "all_gather_dim", "c1");
  const IntMatrix& groups = check_groups(op, "c2", "c4");
  check_channel(op, "c5");
  std::vector<TensorType> results = operand_types(op);
  for (TensorType& result : results) result.shape[dimension] *= groups.columns;
  return results;
}

std::vector<TensorType> infer_all_reduce(const OpView& op) {
  check_groups(op, "c1", "c3");
  check_channel(op, "c4");
  const ElementType element = require_combiner(op, 0, 1, "c5")[0];
  std::vector<TensorType> results = operand_types(op);
  for (TensorType& result : results) {
    require(op, is_promotable(result.element, element), "c5",
            "the operands' element types must be promotable to the computation's");
    result.element = element;
  }
  return results;
}

std::vector<TensorType> infer_reduce_scatter(const OpView& op) {
  const int64_t dimension = checked_dimension(op, "scatter_dimension", "c2");
  const IntMatrix& groups = check_groups(op, "c3", "c5");
  check_channel(op, "c6");
  TensorType result = type_of(op, 0);
  require(op, groups.columns > 0 && result.shape[dimension] % groups.columns == 0, "c1",
          "the group's size must divide the scattered dimension");
  result.shape[dimension] /= groups.columns;
  result.element = require_combiner(op, 0, 1, "c7")[0];
  return single(std::move(result));
}

std::vector<TensorType> infer_all_to_all(const OpView& op) {
  const int64_t split = checked_dimension(op, "split_dimension", "c1");
  const int64_t concat = checked_dimension(op, "concat_dimension", "c3");
  const int64_t count = op.attributes.get<int64_t>("split_count");
  const IntMatrix& groups = check_groups(op, "c5", "c7");
  require(op, count > 0, "c4", "split_count must be positive");
  require(op, groups.columns == count, "c8", "split_count must be the groups' size");
  std::vector<TensorType> results = operand_types(op);
  for (TensorType& result : results) {
    require(op, result.shape[split] % count == 0, "c2", "split_count must divide the dimension");
    result.shape[split] /= count;
    result.shape[concat] *= count;
  }
  return results;
}

std::vector<TensorType> infer_collective_broadcast(const OpView& op) {
  check_groups(op, "c1", "c2");
  return operand_types(op);
}

// Pairs (source, target) in which no process sends or receives twice.
void check_pairs(const OpView& op) {
  const IntMatrix& pairs = op.attributes.get<IntMatrix>("source_target_pairs");
  require(op, pairs.columns == 2 || pairs.rows == 0, "c1",
          "source_target_pairs must have two columns");
  Dims sources, targets;
  for (int64_t i = 0; i < pairs.rows; ++i) {
    sources.push_back(pairs.values[2 * i]);
    targets.push_back(pairs.values[2 * i + 1]);
  }
  require(op, is_unique(sources), "c2", "sources must differ");
  require(op, is_unique(targets), "c3", "targets must differ");
  require(op, all_within(pairs.values, 0, INT64_MAX), "c4", "ids must not be negative");
}

std::vector<TensorType> infer_collective_permute(const OpView& op) {
  check_pairs(op);
  return single(type_of(op, 0));
}

TensorType token() {
  return {ElementType::kToken, {}};
}

std::vector<TensorType> infer_send(const OpView& op) {
  require_class(op, static_cast<int>(op.operands.size()) - 1, kToken);
  return single(token());
}

// recv and infeed: the writer says what arrives; a token comes last.
std::vector<TensorType> infer_arrival(const OpView& op) {
  require_class(op, 0, kToken);
  require(op, !op.result_types.empty() && op.result_types.back() == token(), "c3",
          "the last result must be a token");
  return {op.result_types.begin(), op.result_types.end()};
}

}  // namespace

Rows communication_rows() {
  const AttributeSpec groups{"replica_groups", AttributeKind::kI64Matrix};
  const AttributeSpec channel{"channel_id", AttributeKind::kI64, false};
  const AttributeSpec global{"use_global_device_ids", AttributeKind::kBool, false};
  const AttributeSpec pairs{"source_target_pairs", AttributeKind::kI64Matrix};
  const AttributeSpec optional_pairs{"source_target_pairs", AttributeKind::kI64Matrix, false};
  const AttributeSpec to_host{"is_host_transfer", AttributeKind::kBool, false};
  const auto row = [](OpKind kind, int min, int max, int regions,
                      std::vector<AttributeSpec> attributes, InferTypes infer) {
    return OpInfo{.kind = kind,
                  .min_operands = min,
                  .max_operands = max,
                  .num_regions = regions,
                  .attributes = std::move(attributes),
                  .side_effects = true,
                  .infer = infer};
  };
  return {
      row(OpKind::kAllGather, 1, -1, 0,
          {{"all_gather_dim", AttributeKind::kI64}, groups, channel, global}, infer_all_gather),
      row(OpKind::kAllReduce, 1, -1, 1, {groups, channel, global}, infer_all_reduce),
      row(OpKind::kReduceScatter, 1, 1, 1,
          {{"scatter_dimension", AttributeKind::kI64}, groups, channel, global},
          infer_reduce_scatter),
      row(OpKind::kAllToAll, 1, -1, 0,
          {{"split_dimension", AttributeKind::kI64},
           {"concat_dimension", AttributeKind::kI64},
           {"split_count", AttributeKind::kI64},
           groups,
           channel},
          infer_all_to_all),
      row(OpKind::kCollectiveBroadcast, 1, -1, 0, {groups, channel}, infer_collective_broadcast),
      row(OpKind::kCollectivePermute, 1, 1, 0, {pairs, channel}, infer_collective_permute),
      row(OpKind::kSend, 1, -1, 0, {channel, to_host, optional_pairs}, infer_send),
      row(OpKind::kRecv, 1, 1, 0, {channel, to_host, optional_pairs}, infer_arrival),
      row(OpKind::kInfeed, 1, 1, 0, {{"infeed_config", AttributeKind::kString, false}},
          infer_arrival),
      row(OpKind::kOutfeed, 1, -1, 0, {{"outfeed_config", AttributeKind::kString, false}},
          infer_send),
  };
}

}  // namespace tpu::hlo::ops
