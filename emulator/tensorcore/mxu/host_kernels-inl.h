// The body of a host_kernels_<isa>.cpp, which includes it inside an unnamed namespace, under the
// compiler's target pragma, after defining
//   kVectorBytes        bytes of a vector register
//   kRows               rows of a float micro-kernel
//   struct Fma          static multiply_add(a, b, c) for float vectors; kFused
//   struct Half         static widen / narrow between f16 and float vectors
// Everything is GCC vector extensions, which GCC and Clang share: lane-wise IEEE arithmetic.

template <class T, int kLanes>
struct VectorOf {
  typedef T Type __attribute__((vector_size(kLanes * sizeof(T))));
};
template <class T, int kLanes = kVectorBytes / sizeof(T)>
using Vec = typename VectorOf<T, kLanes>::Type;

template <class V, class T>
[[gnu::always_inline]] inline V load(const T* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}
template <class V, class T>
[[gnu::always_inline]] inline void store(T* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

// Micro-kernels.

struct Plain {
  template <class V>
  [[gnu::always_inline]] static V multiply_add(V a, V b, V c) {
    return c + a * b;
  }
};

/// 16-bit pairs: the sum of both products, exact in 32 bits.
struct PairProducts {
  [[gnu::always_inline]] static Vec<uint32_t> multiply_add(Vec<int32_t> a, Vec<int32_t> b,
                                                           Vec<uint32_t> c) {
    return c + reinterpret_cast<Vec<uint32_t>>(Pairwise::multiply_add(a, b));
  }
};

template <class T, class Acc, int kTileRows, int kVectors, class Multiply>
void micro_kernel(std::span<const Segment> segments, const T* const* left, int64_t left_offset,
                  const T* right, const Acc* total, int64_t total_stride, Acc* out,
                  int64_t out_stride) {
  using V = Vec<T>;
  using A = Vec<Acc>;
  constexpr int kLanes = kVectorBytes / sizeof(T);
  A acc[kTileRows][kVectors] = {};
  for (const Segment& segment : segments) {
    const T* rows[kTileRows];
    for (int r = 0; r < kTileRows; ++r) rows[r] = left[r] + left_offset + segment.offset;
#pragma GCC unroll 2
    for (int64_t k = 0; k < segment.length; ++k) {
      V b[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) b[v] = load<V>(right + v * kLanes);
      right += kVectors * kLanes;
#pragma GCC unroll 16
      for (int r = 0; r < kTileRows; ++r) {
        const V a = rows[r][k] - V{};
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) acc[r][v] = Multiply::multiply_add(a, b[v], acc[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      A sum = acc[r][v];
      if (total) sum = load<A>(total + r * total_stride + v * kLanes) + sum;
      store(out + r * out_stride + v * kLanes, sum);
    }
  }
}

template <class T, class Acc, int kTileRows, int kVectors, class Multiply>
constexpr void fill(std::array<typename MicroKernels<T, Acc>::Function, kMaxRows + 1>& table) {
  table[kTileRows] = micro_kernel<T, Acc, kTileRows, kVectors, Multiply>;
  if constexpr (kTileRows > 1) fill<T, Acc, kTileRows - 1, kVectors, Multiply>(table);
}

template <class T, class Acc, int kTileRows, class Slow, class Fast>
constexpr MicroKernels<T, Acc> micro_kernels() {
  constexpr int kVectors = 2;
  MicroKernels<T, Acc> table;
  table.rows = kTileRows;
  table.columns = kVectors * kVectorBytes / sizeof(T);
  fill<T, Acc, kTileRows, kVectors, Slow>(table.plain);
  fill<T, Acc, kTileRows, kVectors, Fast>(table.exact);
  return table;
}

// Floats of any source type.

constexpr int kFloats = kVectorBytes / sizeof(float);
using F = Vec<float>;
using U = Vec<uint32_t>;
using H = Vec<uint16_t, kFloats>;

[[gnu::always_inline]] inline U select(U mask, U yes, U no) {
  return (yes & mask) | (no & ~mask);
}

/// To nearest even; a NaN stays as it is.
[[gnu::always_inline]] inline F round_to_bf16(F x) {
  const U bits = reinterpret_cast<U>(x);
  const U rounded = (bits + (bits >> 16 & 1) + 0x7fff) & 0xffff0000;
  return reinterpret_cast<F>(select(reinterpret_cast<U>(x != x), bits, rounded));
}

struct Range {
  U smallest = U{} - 2;  // of magnitude - 1, so that zero counts as the largest
  U largest = {};

  [[gnu::always_inline]] void add(F x) {
    const U magnitude = reinterpret_cast<U>(x) & 0x7fffffff;
    const U shifted = magnitude - 1;
    smallest = shifted < smallest ? shifted : smallest;
    largest = magnitude > largest ? magnitude : largest;
  }
  MagnitudeRange reduce() const {
    MagnitudeRange range;
    for (int i = 0; i < kFloats; ++i) range.merge({smallest[i] + 1, largest[i]});
    return range;
  }
};

struct FromF32 {
  using Element = float;
  static constexpr bool kRound = true;
  [[gnu::always_inline]] static F widen(const float* from) { return load<F>(from); }
};
struct FromBF16 {
  using Element = uint16_t;
  static constexpr bool kRound = false;
  [[gnu::always_inline]] static F widen(const uint16_t* from) {
    return reinterpret_cast<F>(__builtin_convertvector(load<H>(from), U) << 16);
  }
};
struct FromF16 {
  using Element = uint16_t;
  static constexpr bool kRound = false;
  [[gnu::always_inline]] static F widen(const uint16_t* from) { return Half::widen(load<H>(from)); }
};

/// A vector of elements as floats; `count` < kFloats reads only so many, the rest are 0.
template <class Source>
[[gnu::always_inline]] inline F read(const typename Source::Element* from, int64_t count) {
  if (count >= kFloats) return Source::widen(from);
  typename Source::Element some[kFloats] = {};
  __builtin_memcpy(some, from, count * sizeof(some[0]));
  return Source::widen(some);
}

[[gnu::always_inline]] inline void write(float* to, F value, int64_t count) {
  if (count >= kFloats) return store(to, value);
  __builtin_memcpy(to, &value, count * sizeof(float));
}

template <class Source>
[[gnu::always_inline]] inline F rounded(F x) {
  return Source::kRound ? round_to_bf16(x) : x;
}

// Packing.

/// The parts of a vector, and their magnitudes.
template <class Source, int kParts>
[[gnu::always_inline]] inline void split(F x, F* parts, Range& range) {
  parts[0] = rounded<Source>(x);
  if constexpr (kParts > 1) {
    const U finite =
        reinterpret_cast<U>((reinterpret_cast<U>(parts[0]) & 0x7f800000) != 0x7f800000);
    const F rest = reinterpret_cast<F>(reinterpret_cast<U>(x - parts[0]) & finite);
    parts[1] = round_to_bf16(rest);
    if constexpr (kParts > 2) parts[2] = round_to_bf16(rest - parts[1]);
  }
  for (int p = 0; p < kParts; ++p) range.add(parts[p]);
}

template <class Source, int kParts>
MagnitudeRange pack_dense_columns(const std::byte* source, int64_t source_stride, int64_t rows,
                                  int64_t columns, const PackTarget& target) {
  using Element = typename Source::Element;
  Range range;
  F parts[kParts];
  for (int64_t r = 0; r < rows; ++r) {
    const auto* from = reinterpret_cast<const Element*>(source + r * source_stride);
    float* panel = target.data + r * target.row_stride;
    for (int64_t c = 0; c < columns; c += target.panel, panel += target.panel_stride) {
      const int64_t count = columns - c < target.panel ? columns - c : target.panel;
      for (int64_t i = 0; i < count; i += kFloats) {
        split<Source, kParts>(read<Source>(from + c + i, count - i), parts, range);
        for (int p = 0; p < kParts; ++p) {
          write(panel + p * target.part_stride + i, parts[p], count - i);
        }
      }
    }
  }
  return range.reduce();
}

// Transposition of a square of registers: 4 x 4 in each 128 bits, then the quarters.

/// One vector of lanes chosen from two by Pattern::at(lane), in [0, 2 * kFloats).
template <class Pattern, size_t... kLane>
[[gnu::always_inline]] inline F shuffle(F a, F b, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(a, b, Pattern::at(static_cast<int>(kLane))...);
}
template <class Pattern>
[[gnu::always_inline]] inline F shuffle(F a, F b) {
  return shuffle<Pattern>(a, b, std::make_index_sequence<kFloats>());
}

/// a0 b0 a1 b1 of each quarter, or a2 b2 a3 b3.
template <int kHigh>
struct Interleave {
  static constexpr int at(int lane) {
    const int within = lane % 4;
    return lane - within + within / 2 + 2 * kHigh + (within % 2 ? kFloats : 0);
  }
};
/// a0 a1 b0 b1 of each quarter, or a2 a3 b2 b3.
template <int kHigh>
struct PairsOf {
  static constexpr int at(int lane) {
    const int within = lane % 4;
    return lane - within + within % 2 + 2 * kHigh + (within < 2 ? 0 : kFloats);
  }
};
/// Quarters q of `a` with bit `kStep` clear (or set), each followed at q ^ kStep by `b`'s.
template <int kStep, int kHigh>
struct Quarters {
  static constexpr int at(int lane) {
    const int quarter = lane / 4, within = lane % 4;
    const bool from_b = quarter & kStep;
    return ((quarter & ~kStep) | (kHigh ? kStep : 0)) * 4 + within + (from_b ? kFloats : 0);
  }
};

template <int kStep>
[[gnu::always_inline]] inline void exchange_quarters(F* rows) {
  if constexpr (kStep < kFloats / 4) {
#pragma GCC unroll 16
    for (int g = 0; g < kFloats / 4; ++g) {
      if (g & kStep) continue;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const F a = rows[4 * g + i], b = rows[4 * (g + kStep) + i];
        rows[4 * g + i] = shuffle<Quarters<kStep, 0>>(a, b);
        rows[4 * (g + kStep) + i] = shuffle<Quarters<kStep, 1>>(a, b);
      }
    }
    exchange_quarters<2 * kStep>(rows);
  }
}

/// rows[c] lane r = old rows[r] lane c.
[[gnu::always_inline]] inline void transpose_square(F* rows) {
#pragma GCC unroll 16
  for (int g = 0; g < kFloats; g += 4) {
    const F ab_low = shuffle<Interleave<0>>(rows[g], rows[g + 1]);
    const F ab_high = shuffle<Interleave<1>>(rows[g], rows[g + 1]);
    const F cd_low = shuffle<Interleave<0>>(rows[g + 2], rows[g + 3]);
    const F cd_high = shuffle<Interleave<1>>(rows[g + 2], rows[g + 3]);
    rows[g] = shuffle<PairsOf<0>>(ab_low, cd_low);
    rows[g + 1] = shuffle<PairsOf<1>>(ab_low, cd_low);
    rows[g + 2] = shuffle<PairsOf<0>>(ab_high, cd_high);
    rows[g + 3] = shuffle<PairsOf<1>>(ab_high, cd_high);
  }
  exchange_quarters<1>(rows);
}

template <class Source, int kParts>
MagnitudeRange pack_dense_rows(const std::byte* source, int64_t source_stride, int64_t rows,
                               int64_t columns, const PackTarget& target) {
  using Element = typename Source::Element;
  Range range;
  F squares[kParts][kFloats];
  for (int64_t c = 0; c < columns;) {
    const int64_t in_panel = c % target.panel;
    const int64_t rest =
        columns - c < target.panel - in_panel ? columns - c : target.panel - in_panel;
    const int64_t width = rest < kFloats ? rest : kFloats;
    float* to = target.data + c / target.panel * target.panel_stride + in_panel;
    for (int64_t r = 0; r < rows; r += kFloats) {
      const int64_t height = rows - r < kFloats ? rows - r : kFloats;
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        F x = {};
        if (i < width) {
          x = read<Source>(reinterpret_cast<const Element*>(source + (c + i) * source_stride) + r,
                           height);
        }
        F parts[kParts];
        split<Source, kParts>(x, parts, range);
#pragma GCC unroll 3
        for (int p = 0; p < kParts; ++p) squares[p][i] = parts[p];
      }
#pragma GCC unroll 3
      for (int p = 0; p < kParts; ++p) {
        transpose_square(squares[p]);
        float* part = to + p * target.part_stride + r * target.row_stride;
#pragma GCC unroll 16
        for (int i = 0; i < kFloats; ++i) {
          if (i < height) write(part + i * target.row_stride, squares[p][i], width);
        }
      }
    }
    c += width;
  }
  return range.reduce();
}

template <class Source, bool kDenseRows, int kParts>
MagnitudeRange pack_parts(const std::byte* source, int64_t source_stride, int64_t rows,
                          int64_t columns, const PackTarget& target) {
  if constexpr (kDenseRows) {
    return pack_dense_rows<Source, kParts>(source, source_stride, rows, columns, target);
  } else {
    return pack_dense_columns<Source, kParts>(source, source_stride, rows, columns, target);
  }
}

template <class Source, bool kDenseRows>
MagnitudeRange pack(const std::byte* source, int64_t source_stride, int64_t rows, int64_t columns,
                    const PackTarget& target) {
  if constexpr (Source::kRound) {
    if (target.parts == 3) {
      return pack_parts<Source, kDenseRows, 3>(source, source_stride, rows, columns, target);
    }
    if (target.parts == 2) {
      return pack_parts<Source, kDenseRows, 2>(source, source_stride, rows, columns, target);
    }
  }
  return pack_parts<Source, kDenseRows, 1>(source, source_stride, rows, columns, target);
}

// Few rows, straight from memory. Products are rounded before they are added: nobody has looked
// whether they are exact.

/// kSteps consecutive k for all columns; `out` accumulates.
template <class Source, int kRows_, int kSteps>
[[gnu::always_inline]] inline void add_lines(const float* const* left, int64_t first,
                                             const std::byte* right, int64_t right_stride,
                                             int64_t columns, float* out, int64_t out_stride) {
  using Element = typename Source::Element;
  for (int64_t c = 0; c < columns; c += kFloats) {
    const int64_t count = columns - c;
    F acc[kRows_];
    for (int r = 0; r < kRows_; ++r) acc[r] = read<FromF32>(out + r * out_stride + c, count);
#pragma GCC unroll 4
    for (int k = 0; k < kSteps; ++k) {
      const auto* line = reinterpret_cast<const Element*>(right + k * right_stride);
      const F b = rounded<Source>(read<Source>(line + c, count));
#pragma GCC unroll 4
      for (int r = 0; r < kRows_; ++r) {
        acc[r] = Plain::multiply_add(left[r][first + k] - F{}, b, acc[r]);
      }
    }
    for (int r = 0; r < kRows_; ++r) write(out + r * out_stride + c, acc[r], count);
  }
}

template <class Source, int kRows_>
void direct_dense_columns(int64_t depth, const float* const* left, const std::byte* right,
                          int64_t right_stride, int64_t columns, float* out, int64_t out_stride) {
  for (int r = 0; r < kRows_; ++r) {
    for (int64_t c = 0; c < columns; ++c) out[r * out_stride + c] = 0.0f;
  }
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    add_lines<Source, kRows_, 4>(left, k, right + k * right_stride, right_stride, columns, out,
                                 out_stride);
  }
  for (; k < depth; ++k) {
    add_lines<Source, kRows_, 1>(left, k, right + k * right_stride, right_stride, columns, out,
                                 out_stride);
  }
}

/// kGroups * kFloats columns, of which `columns` exist; lanes are columns.
template <class Source, int kRows_, int kGroups>
[[gnu::always_inline]] inline void direct_columns(int64_t depth, const float* const* left,
                                                  const std::byte* right, int64_t right_stride,
                                                  int64_t columns, float* out, int64_t out_stride) {
  using Element = typename Source::Element;
  F acc[kRows_][kGroups] = {};
  for (int64_t k = 0; k < depth; k += kFloats) {
    const int64_t count = depth - k < kFloats ? depth - k : kFloats;
#pragma GCC unroll 4
    for (int g = 0; g < kGroups; ++g) {
      F square[kFloats];
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        const int64_t c = g * kFloats + i;
        square[i] = F{};
        if (c < columns) {
          const auto* line = reinterpret_cast<const Element*>(right + c * right_stride);
          square[i] = rounded<Source>(read<Source>(line + k, count));
        }
      }
      transpose_square(square);
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        if (i >= count) break;
#pragma GCC unroll 4
        for (int r = 0; r < kRows_; ++r) {
          acc[r][g] = Plain::multiply_add(left[r][k + i] - F{}, square[i], acc[r][g]);
        }
      }
    }
  }
  for (int g = 0; g < kGroups; ++g) {
    const int64_t count = columns - g * kFloats;
    if (count <= 0) break;
    for (int r = 0; r < kRows_; ++r) {
      write(out + r * out_stride + g * kFloats, acc[r][g], count);
    }
  }
}

template <class Source, int kRows_>
void direct_dense_k(int64_t depth, const float* const* left, const std::byte* right,
                    int64_t right_stride, int64_t columns, float* out, int64_t out_stride) {
  constexpr int kGroups = kRows_ <= 2 ? 2 : 1;
  constexpr int64_t kStep = kGroups * kFloats;
  int64_t c = 0;
  for (; c + kStep <= columns; c += kStep) {
    direct_columns<Source, kRows_, kGroups>(depth, left, right + c * right_stride, right_stride,
                                            kStep, out + c, out_stride);
  }
  if (c < columns) {
    direct_columns<Source, kRows_, kGroups>(depth, left, right + c * right_stride, right_stride,
                                            columns - c, out + c, out_stride);
  }
}

template <class Source, int kRows_ = kFewRows>
constexpr void fill_direct(DirectKernels& table) {
  table.dense_columns[kRows_] = direct_dense_columns<Source, kRows_>;
  table.dense_k[kRows_] = direct_dense_k<Source, kRows_>;
  if constexpr (kRows_ > 1) fill_direct<Source, kRows_ - 1>(table);
}

template <class Source>
constexpr SourceKernels source_kernels() {
  SourceKernels table;
  table.pack_dense_columns = pack<Source, false>;
  table.pack_dense_rows = pack<Source, true>;
  fill_direct<Source>(table.direct);
  return table;
}

// Lanes with operands of their own.

constexpr int kLaneVectors = 2;

template <int kRows_, class Multiply>
void lane_kernel(std::span<const int64_t> offsets, const float* const* left, const float* right,
                 int64_t right_stride, const float* total, float* out, int64_t stride) {
  F acc[kRows_][kLaneVectors] = {};
  const float* rows[kRows_];
  for (int r = 0; r < kRows_; ++r) rows[r] = left[r];
  for (const int64_t offset : offsets) {
    F b[kLaneVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kLaneVectors; ++v) b[v] = load<F>(right + v * kFloats);
    right += right_stride;
#pragma GCC unroll 4
    for (int r = 0; r < kRows_; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kLaneVectors; ++v) {
        acc[r][v] =
            Multiply::multiply_add(load<F>(rows[r] + offset + v * kFloats), b[v], acc[r][v]);
      }
    }
  }
  for (int r = 0; r < kRows_; ++r) {
    for (int v = 0; v < kLaneVectors; ++v) {
      const int64_t at = r * stride + v * kFloats;
      store(out + at, total ? load<F>(total + at) + acc[r][v] : acc[r][v]);
    }
  }
}

template <int kRows_ = kFewRows>
constexpr void fill_lanes(LaneKernels& table) {
  table.plain[kRows_] = lane_kernel<kRows_, Plain>;
  table.exact[kRows_] = lane_kernel<kRows_, Fma>;
  if constexpr (kRows_ > 1) fill_lanes<kRows_ - 1>(table);
}

// Results.

struct ToBF16 {
  [[gnu::always_inline]] static H narrow(F x) {
    // A NaN must not lose the last of its payload: that would be an infinity.
    const U quiet = reinterpret_cast<U>(x != x) & 0x400000;
    return __builtin_convertvector((reinterpret_cast<U>(round_to_bf16(x)) | quiet) >> 16, H);
  }
};
struct ToF16 {
  [[gnu::always_inline]] static H narrow(F x) { return Half::narrow(x); }
};

template <class Target>
void store_rounded(const float* source, int64_t count, std::byte* target) {
  auto* to = reinterpret_cast<uint16_t*>(target);
  for (int64_t i = 0; i < count; i += kFloats) {
    const H halves = Target::narrow(read<FromF32>(source + i, count - i));
    if (count - i >= kFloats) {
      store(to + i, halves);
    } else {
      __builtin_memcpy(to + i, &halves, (count - i) * sizeof(uint16_t));
    }
  }
}

void transpose(const float* source, int64_t source_stride, int64_t rows, int64_t columns,
               float* target, int64_t target_stride) {
  F square[kFloats];
  for (int64_t c = 0; c < columns; c += kFloats) {
    const int64_t width = columns - c;
    for (int64_t r = 0; r < rows; r += kFloats) {
      const int64_t height = rows - r;
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        square[i] = F{};
        if (i < height) square[i] = read<FromF32>(source + (r + i) * source_stride + c, width);
      }
      transpose_square(square);
#pragma GCC unroll 16
      for (int i = 0; i < kFloats; ++i) {
        if (i < width) write(target + (c + i) * target_stride + r, square[i], height);
      }
    }
  }
}

constexpr HostKernels make_table(std::string_view name) {
  HostKernels table;
  table.name = name;
  table.f32 = micro_kernels<float, float, kRows, Plain, Fma>();
  table.f64 = micro_kernels<double, double, kRows, Plain, Plain>();
  table.u32 = micro_kernels<uint32_t, uint32_t, 4, Plain, Plain>();
  table.u64 = micro_kernels<uint64_t, uint64_t, 4, Plain, Plain>();
  table.pairs = micro_kernels<int32_t, uint32_t, kRows, PairProducts, PairProducts>();
  table.lanes.columns = kLaneVectors * kFloats;
  fill_lanes(table.lanes);
  table.from_f32 = source_kernels<FromF32>();
  table.from_bf16 = source_kernels<FromBF16>();
  table.from_f16 = source_kernels<FromF16>();
  table.store_bf16 = store_rounded<ToBF16>;
  table.store_f16 = store_rounded<ToF16>;
  table.transpose_f32 = transpose;
  return table;
}
