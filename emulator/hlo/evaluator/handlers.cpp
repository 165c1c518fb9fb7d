#include "emulator/hlo/evaluator/handlers.h"

#include <array>

#include "emulator/base/error.h"
#include "emulator/hlo/evaluator/contraction.h"
#include "emulator/hlo/evaluator/conversion.h"
#include "emulator/hlo/evaluator/fourier.h"
#include "emulator/hlo/evaluator/indexing.h"
#include "emulator/hlo/evaluator/linear_algebra.h"
#include "emulator/hlo/evaluator/random.h"
#include "emulator/hlo/evaluator/reduction.h"
#include "emulator/hlo/evaluator/shape.h"

namespace tpu::hlo {
namespace {

using Results = std::vector<Literal>;

// Attributes that may be left out.

Dims dims_or(const OpCall& call, std::string_view name, size_t size, int64_t value) {
  return call.op.attributes().get_or(name, Dims(size, value));
}

IntMatrix padding_or_zero(const OpCall& call, size_t rank) {
  const int64_t rows = static_cast<int64_t>(rank);
  return call.op.attributes().get_or("padding", IntMatrix{rows, 2, Dims(2 * rank, 0)});
}

bool flag(const OpCall& call, std::string_view name) {
  return call.op.attributes().get_or(name, false);
}

std::string enum_or(const OpCall& call, std::string_view name, std::string_view fallback) {
  return call.op.attributes().get_or(name, EnumValue{std::string(fallback)}).value;
}

// Constants and shape.

Results constant(const OpCall& call) {
  return {call.attribute<Literal>("value")};
}

Results iota(const OpCall& call) {
  return {evaluate_iota(call.attribute<int64_t>("iota_dimension"), call.result_type())};
}

Results bitcast_convert(const OpCall& call) {
  return {evaluate_bitcast_convert(call.operands[0], call.result_type())};
}

Results broadcast_in_dim(const OpCall& call) {
  return {evaluate_broadcast_in_dim(call.operands[0], call.dims("broadcast_dimensions"),
                                    call.result_type())};
}

Results reshape(const OpCall& call) {
  return {evaluate_reshape(call.operands[0], call.result_type())};
}

Results transpose(const OpCall& call) {
  return {evaluate_transpose(call.operands[0], call.dims("permutation"))};
}

Results reverse(const OpCall& call) {
  return {evaluate_reverse(call.operands[0], call.dims("dimensions"))};
}

Results slice(const OpCall& call) {
  return {evaluate_slice(call.operands[0], call.dims("start_indices"), call.dims("limit_indices"),
                         call.dims("strides"))};
}

Results concatenate(const OpCall& call) {
  return {evaluate_concatenate(call.operands, call.attribute<int64_t>("dimension"))};
}

Results pad(const OpCall& call) {
  return {evaluate_pad(call.operands[0], call.operands[1], call.dims("edge_padding_low"),
                       call.dims("edge_padding_high"), call.dims("interior_padding"))};
}

Results dynamic_slice(const OpCall& call) {
  return {
      evaluate_dynamic_slice(call.operands[0], call.operands.subspan(1), call.dims("slice_sizes"))};
}

Results dynamic_update_slice(const OpCall& call) {
  return {
      evaluate_dynamic_update_slice(call.operands[0], call.operands[1], call.operands.subspan(2))};
}

Results get_dimension_size(const OpCall& call) {
  const int64_t size = call.operands[0].type().shape[call.attribute<int64_t>("dimension")];
  return {scalar(ElementType::kSI32, size)};
}

// Indexing.

Results gather(const OpCall& call) {
  return {evaluate_gather(call.operands[0], call.operands[1],
                          call.attribute<GatherDimensionNumbers>("dimension_numbers"),
                          call.dims("slice_sizes"), call.result_type())};
}

Results scatter(const OpCall& call) {
  const size_t count = call.operands.size() / 2;
  return evaluate_scatter(
      call.operands.first(count), call.operands[count], call.operands.last(count),
      call.attribute<ScatterDimensionNumbers>("scatter_dimension_numbers"), call.scalar_region());
}

// Reductions.

Results reduce(const OpCall& call) {
  const size_t count = call.operands.size() / 2;
  return evaluate_reduce(call.operands.first(count), call.operands.last(count),
                         call.dims("dimensions"), call.scalar_region());
}

Results reduce_window(const OpCall& call) {
  const size_t count = call.operands.size() / 2;
  const size_t rank = call.result_type().shape.size();
  const WindowSpec window{call.dims("window_dimensions"), dims_or(call, "window_strides", rank, 1),
                          dims_or(call, "base_dilations", rank, 1),
                          dims_or(call, "window_dilations", rank, 1), padding_or_zero(call, rank)};
  return evaluate_reduce_window(call.operands.first(count), call.operands.last(count), window,
                                call.scalar_region(), call.result_type().shape);
}

Results select_and_scatter(const OpCall& call) {
  const size_t rank = call.result_type().shape.size();
  return {evaluate_select_and_scatter(
      call.operands[0], call.operands[1], call.operands[2],
      dims_or(call, "window_dimensions", rank, 1), dims_or(call, "window_strides", rank, 1),
      padding_or_zero(call, rank), call.scalar_region(0), call.scalar_region(1))};
}

Results map(const OpCall& call) {
  return evaluate_map(call.operands, call.scalar_region(), call.result_type());
}

Results sort(const OpCall& call) {
  const int64_t rank = call.operands[0].type().rank();
  const int64_t dimension = call.op.attributes().get_or("dimension", int64_t{-1});
  return evaluate_sort(call.operands, dimension < 0 ? dimension + rank : dimension,
                       call.scalar_region());
}

// Contractions.

ContractionSpec contraction_spec(const OpCall& call) {
  return {passes(call.op.attributes().get_or("precision_config", EnumValues())),
          call.interpreter.options().mxu_depth, call.result_type().element};
}

Results dot_general(const OpCall& call) {
  return {evaluate_dot_general(call.operands[0], call.operands[1],
                               call.attribute<DotDimensionNumbers>("dot_dimension_numbers"),
                               contraction_spec(call), call.result_type())};
}

Results convolution(const OpCall& call) {
  const size_t rank = call.result_type().shape.size() - 2;
  const ConvolutionSpec window{
      dims_or(call, "window_strides", rank, 1),
      padding_or_zero(call, rank),
      dims_or(call, "lhs_dilation", rank, 1),
      dims_or(call, "rhs_dilation", rank, 1),
      call.op.attributes().get_or("window_reversal", std::vector<bool>(rank, false)),
      call.attribute<ConvDimensionNumbers>("dimension_numbers"),
      call.attribute<int64_t>("feature_group_count"),
      call.attribute<int64_t>("batch_group_count")};
  return {evaluate_convolution(call.operands[0], call.operands[1], window, contraction_spec(call),
                               call.result_type())};
}

// Linear algebra and random bits.

Results cholesky(const OpCall& call) {
  return {evaluate_cholesky(call.operands[0], flag(call, "lower"))};
}

Results triangular_solve(const OpCall& call) {
  return {evaluate_triangular_solve(call.operands[0], call.operands[1], flag(call, "left_side"),
                                    flag(call, "lower"), flag(call, "unit_diagonal"),
                                    enum_or(call, "transpose_a", "NO_TRANSPOSE"))};
}

Results fft(const OpCall& call) {
  return {evaluate_fft(call.operands[0], call.op.attributes().get_enum("fft_type"),
                       call.dims("fft_length"), call.result_type())};
}

Results rng_bit_generator(const OpCall& call) {
  return evaluate_rng_bit_generator(call.operands[0], enum_or(call, "rng_algorithm", "DEFAULT"),
                                    call.result_type(1));
}

// Control flow.

Results optimization_barrier(const OpCall& call) {
  return {call.operands.begin(), call.operands.end()};
}

Results call_function(const OpCall& call) {
  return call.interpreter.call(call.attribute<SymbolRef>("callee").name, call.operands);
}

Results while_loop(const OpCall& call) {
  Results carried(call.operands.begin(), call.operands.end());
  int64_t rounds = 0;
  while (to_element(call.run_region(0, carried)[0]).truth()) {
    if (rounds++ == call.interpreter.options().max_iterations) {
      throw InvalidArgument("a loop took more than " + std::to_string(rounds - 1) + " rounds");
    }
    carried = call.run_region(1, carried);
  }
  return carried;
}

// An index out of range takes the last branch.
Results case_branch(const OpCall& call) {
  const int64_t index = to_element(call.operands[0]).integer();
  const int last = call.op.num_regions() - 1;
  return call.run_region(index < 0 || index > last ? last : static_cast<int>(index), {});
}

Results if_branch(const OpCall& call) {
  return call.run_region(to_element(call.operands[0]).truth() ? 0 : 1, {});
}

Results assert_true(const OpCall& call) {
  if (!to_element(call.operands[0]).truth()) {
    throw DeviceError(call.attribute<std::string>("message"));
  }
  return {};
}

using Table = std::array<OpHandler, kNumOpKinds>;

Table make_table() {
  Table table{};
  const auto set = [&](OpKind kind, OpHandler handler) {
    table[static_cast<size_t>(kind)] = handler;
  };
  set(OpKind::kBitcastConvert, bitcast_convert);
  set(OpKind::kBroadcastInDim, broadcast_in_dim);
  set(OpKind::kCall, call_function);
  set(OpKind::kCase, case_branch);
  set(OpKind::kCholesky, cholesky);
  set(OpKind::kConcatenate, concatenate);
  set(OpKind::kConstant, constant);
  set(OpKind::kConvolution, convolution);
  set(OpKind::kDotGeneral, dot_general);
  set(OpKind::kDynamicSlice, dynamic_slice);
  set(OpKind::kDynamicUpdateSlice, dynamic_update_slice);

  set(OpKind::kFft, fft);
  set(OpKind::kGather, gather);
  set(OpKind::kGetDimensionSize, get_dimension_size);
  set(OpKind::kIf, if_branch);
  set(OpKind::kIota, iota);
  set(OpKind::kMap, map);
  set(OpKind::kOptimizationBarrier, optimization_barrier);
  set(OpKind::kPad, pad);
  set(OpKind::kReduce, reduce);
  set(OpKind::kReduceWindow, reduce_window);
  set(OpKind::kReshape, reshape);
  set(OpKind::kReverse, reverse);
  set(OpKind::kRngBitGenerator, rng_bit_generator);
  set(OpKind::kScatter, scatter);
  set(OpKind::kSelectAndScatter, select_and_scatter);
  set(OpKind::kSlice, slice);
  set(OpKind::kSort, sort);
  set(OpKind::kTranspose, transpose);
  set(OpKind::kTriangularSolve, triangular_solve);
  set(OpKind::kWhile, while_loop);
  return table;
}

}  // namespace

OpHandler find_handler(const Op& op) {
  static const Table table = make_table();
  if (op.kind() == OpKind::kCustomCall) {
    const bool is_assert = op.attributes().get<std::string>("call_target_name") == "tpu.assert";
    return is_assert ? assert_true : nullptr;
  }
  return table[static_cast<size_t>(op.kind())];
}

}  // namespace tpu::hlo
