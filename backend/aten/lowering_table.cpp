#include "backend/aten/lowering_table.h"

#include <unordered_map>

namespace torch_tpu::aten {

const Table& lowering_table() {
  static const Table table = [] {
    Table rows;
    for (auto* add_family : {add_pointwise_unary,
                             add_pointwise_binary,
                             add_pointwise_ternary,
                             add_integer,
                             add_float_bits,
                             add_activation,
                             add_glu,
                             add_comparison,
                             add_reduction,
                             add_softmax,
                             add_normalization,
                             add_weight_norm,
                             add_loss,
                             add_margin_loss,
                             add_distance,
                             add_matmul,
                             add_convolution,
                             add_average_pooling,
                             add_max_pooling,
                             add_padding,
                             add_upsampling,
                             add_grid_sampler,
                             add_patches,
                             add_indexing,
                             add_scatter,
                             add_index_put,
                             add_embedding,
                             add_shape,
                             add_sorting,
                             add_order_statistics,
                             add_factory,
                             add_random,
                             add_recurrent,
                             add_optimizer,
                             add_quantization,
                             add_library}) {
      add_family(rows);
    }
    return rows;
  }();
  return table;
}

const OpDef* find_op(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const OpDef*> rows;
    for (const OpDef& row : lowering_table()) {
      const bool added = rows.emplace(row.name, &row).second;
      TORCH_INTERNAL_ASSERT(added, "operator ", row.name, " has two rows");
    }
    return rows;
  }();
  const auto at = index.find(name);
  return at == index.end() ? nullptr : at->second;
}

}  // namespace torch_tpu::aten
