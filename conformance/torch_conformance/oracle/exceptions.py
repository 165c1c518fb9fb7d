"""Operators whose reference is not simply the float64 result, each with the reason."""

from __future__ import annotations

from ..words import words

TYPED_REFERENCE: dict[str, str] = {
    "nan_to_num": "replaces infinities by the largest number of its dtype",
    "nextafter": "steps to the neighbour in its dtype",
    "frexp": "the mantissa is exact in any dtype; the exponent of 0 and of subnormals is the dtype's",
    "view_as_complex": "a view",
    "masked.amax": "an empty slice gives the smallest number of the dtype",
    "masked.amin": "an empty slice gives the largest number of the dtype",
    "masked.argmax": "compares with the smallest number of the dtype",
    "masked.argmin": "compares with the largest number of the dtype",
    "linalg.pinv": "the cut-off is a multiple of the dtype's eps",
    "linalg.matrix_rank": "the cut-off is a multiple of the dtype's eps",
}
"""The reference is the CPU's result in the same dtype."""

RANDOM: dict[str, str] = dict.fromkeys(
    words(
        """
    bernoulli cauchy exponential geometric log_normal multinomial normal normal.in_place normal.number_mean uniform
    rand_like randn_like randint randint_like randn nn.functional.dropout nn.functional.dropout2d
    nn.functional.dropout3d nn.functional.alpha_dropout nn.functional.feature_alpha_dropout.with_train
    nn.functional.feature_alpha_dropout.without_train nn.functional.rrelu nn.functional.fractional_max_pool2d
    nn.functional.fractional_max_pool3d svd_lowrank pca_lowrank nn.functional.gumbel_softmax randperm rand
    """
    ),
    "draws random numbers: only shapes and dtypes are compared here, distributions in area random",
)

UNINITIALISED: dict[str, str] = dict.fromkeys(
    ["empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"],
    "leaves its result uninitialised: only shape, dtype and strides are compared",
)

KINKS: dict[str, str] = {
    "corrcoef": "its diagonal is clipped at 1, where it lies: a rounding decides whether a tangent passes",
}
"""No forward-mode derivative is asked for, as it does not exist."""

CONSTANT: dict[str, str] = {
    "linalg.norm.subgradients_at_zero": "its operands are zeros",
    "special.entr.bool": "it is 0 for 0 and for 1",
    "sparse.sampled_addmm": "the first samples of the database are empty",
} | dict.fromkeys(
    words(
        """
    zeros zeros_like new_zeros ones ones_like new_ones full full_like new_full zero_ fill eye isreal is_complex
    isinf isposinf isneginf isnan isfinite signbit angle resize_ resize_as_ tril_indices triu_indices arange
    linspace logspace
    """
    ),
    "its result does not depend on the elements of its operand, or is false for all ordinary ones",
)
