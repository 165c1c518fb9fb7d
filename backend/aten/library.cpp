// Operators that PyTorch's CPU kernels run, as custom calls on the device's memory.
//
// A name moves from here to a file of lowerings when StableHLO can say what it does.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "backend/aten/lowering_table.h"
#include "emulator/hlo/literal.h"

namespace torch_tpu::aten {
namespace {

using tpu::hlo::Attributes;
using tpu::hlo::Literal;

/// Takes a call apart: tensors and numbers become operands, the rest attributes by argument name.
class Unpacking {
 public:
  void add(std::string_view name, const Argument& argument) {
    const size_t before = operands_.size();
    std::visit([&](const auto& value) { take(name, value); }, argument);
    segments_.push_back(static_cast<int64_t>(operands_.size() - before));
  }

  std::vector<Value*> operands() const { return operands_; }
  void add_operand(Value* value) { operands_.push_back(value); }

  /// How many operands each argument has; which of them are Python numbers; the other arguments.
  Attributes attributes() const {
    Attributes all = attributes_;
    all.set("operand_segment_sizes", segments_);
    if (!wrapped_.empty()) all.set("wrapped_numbers", wrapped_);
    return all;
  }

 private:
  void take(std::string_view, const None&) {}
  void take(std::string_view, const Tensor& tensor) {
    if (tensor.wrapped_number) wrapped_.push_back(static_cast<int64_t>(operands_.size()));
    operands_.push_back(tensor.value);
  }
  void take(std::string_view name, const TensorList& tensors) {
    for (const auto& tensor : tensors) {
      TORCH_CHECK_NOT_IMPLEMENTED(tensor, "an undefined tensor among ", name);
      take(name, *tensor);
    }
  }
  void take(std::string_view, const ScalarArgument& number) { operands_.push_back(number.value); }
  void take(std::string_view name, const std::vector<double>& numbers) {
    Literal literal({ElementType::kF64, {static_cast<int64_t>(numbers.size())}});
    std::memcpy(literal.mutable_bytes().data(), numbers.data(), literal.bytes().size());
    attributes_.set(name, std::move(literal));
  }
  void take(std::string_view name, const std::vector<ScalarArgument>&) {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "the library takes no list of numbers: ", name);
  }
  void take(std::string_view name, DType dtype) {
    attributes_.set(name, static_cast<int64_t>(dtype));
  }
  template <class T>
  void take(std::string_view name, const T& value) {
    attributes_.set(name, value);
  }

  std::vector<Value*> operands_;
  Dims segments_, wrapped_;
  Attributes attributes_;
};

constexpr std::array kOperators = std::to_array<std::string_view>({
    // Linear algebra.
    "_cholesky_solve_helper",
    "_compute_linear_combination",
    "_linalg_det",
    "_linalg_eigh",
    "_linalg_eigvals",
    "_linalg_slogdet",
    "_linalg_solve_ex",
    "_linalg_svd",
    "cholesky",
    "cholesky_inverse",
    "geqrf",
    "linalg_cholesky_ex",
    "linalg_cross",
    "linalg_eig",
    "linalg_eigvals.out",
    "linalg_householder_product",
    "linalg_inv_ex",
    "linalg_ldl_factor_ex",
    "linalg_ldl_solve",
    "linalg_lu",
    "linalg_lu_factor_ex",
    "linalg_lu_solve",
    "linalg_matrix_exp",
    "linalg_qr",
    "linalg_solve_triangular",
    "lu_unpack",
    "ormqr",
    "triangular_solve",
    // Fourier transforms.
    "_fft_c2c",
    "_fft_c2r",
    "_fft_r2c",
    // Special functions.
    "_logcumsumexp",
    "hash_tensor",
    "i0",
    "igamma",
    "igammac",
    "mvlgamma",
    "polygamma",
    "special_airy_ai",
    "special_bessel_j0",
    "special_bessel_j1",
    "special_bessel_y0",
    "special_bessel_y1",
    "special_chebyshev_polynomial_t",
    "special_chebyshev_polynomial_u",
    "special_chebyshev_polynomial_v",
    "special_chebyshev_polynomial_w",
    "special_erfcx",
    "special_hermite_polynomial_h",
    "special_hermite_polynomial_he",
    "special_i0e",
    "special_i1",
    "special_i1e",
    "special_laguerre_polynomial_l",
    "special_legendre_polynomial_p",
    "special_log_ndtr",
    "special_modified_bessel_i0",
    "special_modified_bessel_i1",
    "special_modified_bessel_k0",
    "special_modified_bessel_k1",
    "special_ndtri",
    "special_scaled_modified_bessel_k0",
    "special_scaled_modified_bessel_k1",
    "special_shifted_chebyshev_polynomial_t",
    "special_shifted_chebyshev_polynomial_u",
    "special_shifted_chebyshev_polynomial_v",
    "special_shifted_chebyshev_polynomial_w",
    "special_spherical_bessel_j0",
    "special_zeta",
    // Sampling.
    "_dirichlet_grad",
    "_sample_dirichlet",
    "_standard_gamma",
    "_standard_gamma_grad",
    "binomial",
    "poisson",
    "rrelu_with_noise",
    // Order statistics, histograms, sets.
    "_histogramdd_from_bin_cts",
    "_histogramdd_from_bin_tensors",
    "histogram.bin_ct",
    "histogram.bins_tensor",
    "nonzero_static",
    // Padding, patches, pooling.
    "_jagged_to_padded_dense_forward",
    "_padded_dense_to_jagged_forward",
    // Losses and distances.
    "_ctc_loss",
    "_ctc_loss_backward",
    // Normalization and activation.
    "_addmm_activation",
    // Attention and recurrence.
    "_native_multi_head_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_flash_attention_for_cpu_backward",
    "_transform_bias_rescale_qkv",
    "_transformer_encoder_layer_fwd",
    "mkldnn_rnn_layer",
    "mkldnn_rnn_layer_backward",
    // Embedding bags, segments, jagged tensors.
    "_segment_reduce_backward",
    "segment_reduce",
    // Quantization.
    "_convert_weight_to_int4pack_for_cpu",
    "_dyn_quant_matmul_4bit",
    "_dyn_quant_pack_4bit_weight",
    "_fake_quantize_learnable_per_channel_affine",
    "_fake_quantize_learnable_per_channel_affine_backward",
    "_fake_quantize_learnable_per_tensor_affine",
    "_fake_quantize_learnable_per_tensor_affine_backward",
    "_fused_moving_avg_obs_fq_helper",
    "_scaled_mm",
    "_scaled_mm_v2",
    "_weight_int4pack_mm_for_cpu",
    "_weight_int8pack_mm",
    // Others.
    "_convert_indices_from_csr_to_coo",
    "_foobar",
    "_test_functorch_fallback",
    "_test_optional_filled_intlist",
    "_test_optional_floatlist",
    "_test_optional_intlist",
    "narrow_copy",
});

}  // namespace

void Lowering::call_library() {
  const LibraryCall call = host_.library_call();
  Unpacking unpacked;
  for (int i = 0; i < call.num_arguments; ++i) unpacked.add(argument_names_[i], arguments_[i]);
  if (call.draws) unpacked.add_operand(philox_state(1));
  std::vector<tpu::hlo::TensorType> types;
  for (const auto& result : call.results) {
    if (result) types.push_back(result->type);
  }
  const auto values = b.custom_call(call.target, unpacked.operands(), types, unpacked.attributes());
  auto next = values.begin();
  for (const auto& result : call.results) {
    if (result) {
      results_.push_back({*next++, ResultLayout::kGiven, {}, result->strides});
    } else {
      undefined_result();
    }
  }
}

bool Lowering::has_complex_operand() const {
  return std::ranges::any_of(arguments_, [](const Argument& argument) {
    const auto* tensor = std::get_if<Tensor>(&argument);
    return tensor && c10::isComplexType(tensor->dtype);
  });
}

LowerFunction real_or_library(LowerFunction lower) {
  return [lower = std::move(lower)](Lowering& op) {
    op.has_complex_operand() ? op.call_library() : lower(op);
  };
}

void add_library(Table& table) {
  for (std::string_view name : kOperators) {
    table.push_back({name, [](Lowering& op) { op.call_library(); }, false, /*from_library=*/true});
  }
}

}  // namespace torch_tpu::aten
