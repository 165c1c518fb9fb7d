// Part of host_kernels-inl.h: products with few rows, which are not worth packing.

// Few rows, straight from memory. Products are rounded before they are added: nobody has looked
// whether they are exact.

/// Bytes ahead of use that lines are asked for.
constexpr int64_t kAhead = 512;

/// k = first, ..., first + kSteps - 1 for all columns; `out` accumulates.
template <class Source, int kLeftRows, int kSteps>
[[gnu::always_inline]] inline void add_lines(const float* const* left, int64_t first,
                                             const std::byte* right, int64_t right_stride,
                                             int64_t columns, float* out, int64_t out_stride) {
  using Element = typename Source::Element;
  for_each_vector(columns, [&](int64_t c, auto count) {
    F acc[kLeftRows];
#pragma GCC unroll 8
    for (int r = 0; r < kLeftRows; ++r) acc[r] = read<FromF32>(out + r * out_stride + c, count);
#pragma GCC unroll 4
    for (int k = 0; k < kSteps; ++k) {
      const auto* line = reinterpret_cast<const Element*>(right + k * right_stride);
      __builtin_prefetch(reinterpret_cast<const std::byte*>(line + c) + kSteps * right_stride);
      const F b = rounded<Source>(read<Source>(line + c, count));
#pragma GCC unroll 8
      for (int r = 0; r < kLeftRows; ++r) {
        acc[r] = Plain::multiply_add(left[r][first + k] - F{}, b, acc[r]);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kLeftRows; ++r) write(out + r * out_stride + c, acc[r], count);
  });
}

template <class Source, int kLeftRows>
void direct_dense_columns(int64_t depth, const float* const* left, const std::byte* right,
                          int64_t right_stride, int64_t columns, float* out, int64_t out_stride) {
  for (int r = 0; r < kLeftRows; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[r * out_stride + c] = 0.0f;
  }
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    add_lines<Source, kLeftRows, 4>(left, k, right + k * right_stride, right_stride, columns, out,
                                    out_stride);
  }
  for (; k < depth; ++k) {
    add_lines<Source, kLeftRows, 1>(left, k, right + k * right_stride, right_stride, columns, out,
                                    out_stride);
  }
}

/// Continues sums of `width` columns with `depth` (up to kFloats) more k.
template <class Source, int kLeftRows, class Depth, class Width>
[[gnu::always_inline]] inline void add_square(const float* const* left, int64_t first,
                                              const std::byte* right, int64_t right_stride,
                                              Depth depth, Width width, F* acc) {
  using Element = typename Source::Element;
  F square[kFloats];
#pragma GCC unroll 16
  for (int i = 0; i < kFloats; ++i) {
    square[i] = F{};
    if (i < width) {
      const auto* line = reinterpret_cast<const Element*>(right + i * right_stride);
      __builtin_prefetch(line + first + kAhead / sizeof(Element));
      square[i] = rounded<Source>(read<Source>(line + first, depth));
    }
  }
  transpose_square(square);
#pragma GCC unroll 16
  for (int i = 0; i < kFloats; ++i) {
    if (i >= depth) break;
#pragma GCC unroll 8
    for (int r = 0; r < kLeftRows; ++r) {
      acc[r] = Plain::multiply_add(left[r][first + i] - F{}, square[i], acc[r]);
    }
  }
}

/// Sums of a single column: its products are independent, its additions follow each other.
template <class Source, int kLeftRows>
void direct_column(int64_t depth, const float* const* left, const std::byte* right, float* out,
                   int64_t out_stride) {
  const auto* line = reinterpret_cast<const typename Source::Element*>(right);
  float sums[kLeftRows] = {};
  for_each_vector(depth, [&](int64_t k, auto count) {
    const F b = rounded<Source>(read<Source>(line + k, count));
    for (int r = 0; r < kLeftRows; ++r) {
      const F products = read<FromF32>(left[r] + k, count) * b;
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        if (i < count) sums[r] = sums[r] + products[i];
      }
    }
  });
  for (int r = 0; r < kLeftRows; ++r) out[r * out_stride] = sums[r];
}

template <class Source, int kLeftRows>
void direct_dense_k(int64_t depth, const float* const* left, const std::byte* right,
                    int64_t right_stride, int64_t columns, float* out, int64_t out_stride) {
  if (columns == 1) return direct_column<Source, kLeftRows>(depth, left, right, out, out_stride);
  for_each_vector(columns, [&](int64_t c, auto width) {
    F acc[kLeftRows] = {};
    for_each_vector(depth, [&](int64_t k, auto count) {
      add_square<Source, kLeftRows>(left, k, right + c * right_stride, right_stride, count, width,
                                    acc);
    });
#pragma GCC unroll 8
    for (int r = 0; r < kLeftRows; ++r) write(out + r * out_stride + c, acc[r], width);
  });
}

template <class Source, int kLeftRows = kDirectRows>
constexpr void fill_direct(DirectKernels& table) {
  table.dense_columns[kLeftRows] = direct_dense_columns<Source, kLeftRows>;
  table.dense_k[kLeftRows] = direct_dense_k<Source, kLeftRows>;
  if constexpr (kLeftRows > 1) fill_direct<Source, kLeftRows / 2>(table);
}
