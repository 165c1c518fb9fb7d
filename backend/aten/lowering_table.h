// The table of operators: one row gives an operator all its forms in all modes.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "backend/aten/lowering.h"

namespace torch_tpu::aten {

using LowerFunction = std::function<void(Lowering&)>;

/// One operator. `name` is the schema's, without `aten::`; the backend's own start with `tpu::`.
/// The functional form's row also serves the in-place form and the `out=` form of the same
/// arguments; operators that exist only with a written argument (`uniform_`, `arange.start_out`)
/// have a row of their own, whose results go to the written arguments in order.
struct OpDef {
  std::string_view name;
  LowerFunction lower;
  /// `indices` may hold masks and host tensors, which become positions on the device first.
  bool takes_masks = false;
  /// `lower` is `Lowering::call_library`: PyTorch's CPU kernel runs it.
  bool from_library = false;
};

using Table = std::vector<OpDef>;

/// `lower` for real operands; PyTorch's CPU kernel where one is complex.
LowerFunction real_or_library(LowerFunction lower);

/// All rows; built once.
const Table& lowering_table();
/// The row of that name, or null.
const OpDef* find_op(std::string_view name);

// One function a family, each in the file of its name.
void add_pointwise_unary(Table& table);
void add_pointwise_binary(Table& table);
void add_pointwise_ternary(Table& table);
void add_integer(Table& table);
void add_float_bits(Table& table);
void add_activation(Table& table);
void add_comparison(Table& table);
void add_reduction(Table& table);
void add_glu(Table& table);
void add_softmax(Table& table);
void add_normalization(Table& table);
void add_weight_norm(Table& table);
void add_loss(Table& table);
void add_margin_loss(Table& table);
void add_distance(Table& table);
void add_matmul(Table& table);
void add_convolution(Table& table);
void add_average_pooling(Table& table);
void add_max_pooling(Table& table);
void add_padding(Table& table);
void add_upsampling(Table& table);
void add_grid_sampler(Table& table);
void add_patches(Table& table);
void add_indexing(Table& table);
void add_scatter(Table& table);
void add_index_put(Table& table);
void add_shape(Table& table);
void add_embedding(Table& table);
void add_sorting(Table& table);
void add_order_statistics(Table& table);
void add_factory(Table& table);
void add_random(Table& table);
void add_recurrent(Table& table);
void add_optimizer(Table& table);
void add_quantization(Table& table);
void add_library(Table& table);

}  // namespace torch_tpu::aten
