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

/// To nearest even; a NaN stays as it is.
[[gnu::always_inline]] inline F round_to_bf16(F x) {
  const U bits = reinterpret_cast<U>(x);
  const U rounded = (bits + (bits >> 16 & 1) + 0x7fff) & 0xffff0000;
  return x != x ? x : reinterpret_cast<F>(rounded);
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

/// How many lanes of a vector exist: a number, or this where all of them do.
using Whole = std::integral_constant<int64_t, kFloats>;

/// Copies `count` < kFloats elements in pieces of a power of two.
template <class T>
[[gnu::always_inline]] inline void copy_few(const T* from, T* to, int64_t count) {
#pragma GCC unroll 4
  for (int64_t piece = kFloats / 2; piece > 0; piece /= 2) {
    if (count & piece) {
      __builtin_memcpy(to, from, piece * sizeof(T));
      from += piece;
      to += piece;
    }
  }
}

/// A vector of elements as floats; lanes beyond `count` are 0.
template <class Source, class Count>
[[gnu::always_inline]] inline F read(const typename Source::Element* from, Count count) {
  if (count >= kFloats) return Source::widen(from);
  typename Source::Element some[kFloats] = {};
  copy_few(from, some, count);
  return Source::widen(some);
}

template <class Count>
[[gnu::always_inline]] inline void write(float* to, F value, Count count) {
  if (count >= kFloats) return store(to, value);
  float some[kFloats];
  store(some, value);
  copy_few(some, to, count);
}

/// Calls body(i, count) for the vectors of [0, size): first whole ones, then perhaps a part.
template <class Body>
[[gnu::always_inline]] inline void for_each_vector(int64_t size, const Body& body) {
  int64_t i = 0;
  for (; i + kFloats <= size; i += kFloats) body(i, Whole());
  if (i < size) body(i, size - i);
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
  const int64_t panel = target.panel, panel_stride = target.panel_stride;
  const int64_t part_stride = target.part_stride;
  Range range;
  for (int64_t r = 0; r < rows; ++r) {
    const auto* from = reinterpret_cast<const Element*>(source + r * source_stride);
    float* to = target.data + r * target.row_stride;
    for (int64_t c = 0; c < columns; c += panel, from += panel, to += panel_stride) {
      for_each_vector(columns - c < panel ? columns - c : panel, [&](int64_t i, auto count) {
        F parts[kParts];
        split<Source, kParts>(read<Source>(from + i, count), parts, range);
        for (int p = 0; p < kParts; ++p) write(to + p * part_stride + i, parts[p], count);
      });
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

/// A square of `height` x `width` elements from dense rows to dense columns.
template <class Source, int kParts, class Height, class Width>
[[gnu::always_inline]] inline void pack_square(const std::byte* source, int64_t source_stride,
                                               Height height, Width width, const PackTarget& target,
                                               float* to, Range& range) {
  using Element = typename Source::Element;
  F squares[kParts][kFloats];
#pragma GCC unroll 16
  for (int i = 0; i < kFloats; ++i) {
    F x = {};
    if (i < width) x = read<Source>(reinterpret_cast<const Element*>(source), height);
    source += source_stride;
    F parts[kParts];
    split<Source, kParts>(x, parts, range);
#pragma GCC unroll 3
    for (int p = 0; p < kParts; ++p) squares[p][i] = parts[p];
  }
#pragma GCC unroll 3
  for (int p = 0; p < kParts; ++p) {
    transpose_square(squares[p]);
    float* row = to + p * target.part_stride;
#pragma GCC unroll 16
    for (int i = 0; i < kFloats; ++i, row += target.row_stride) {
      if (i < height) write(row, squares[p][i], width);
    }
  }
}

template <class Source, int kParts>
MagnitudeRange pack_dense_rows(const std::byte* source, int64_t source_stride, int64_t rows,
                               int64_t columns, const PackTarget& target) {
  constexpr int64_t kWidth = sizeof(typename Source::Element);
  Range range;
  for (int64_t c = 0; c < columns;) {
    const int64_t in_panel = c % target.panel, in_columns = columns - c;
    const int64_t left =
        in_columns < target.panel - in_panel ? in_columns : target.panel - in_panel;
    const std::byte* from = source + c * source_stride;
    float* to = target.data + c / target.panel * target.panel_stride + in_panel;
    const int64_t width = left < kFloats ? left : kFloats;
    for_each_vector(rows, [&](int64_t r, auto height) {
      float* square = to + r * target.row_stride;
      if (width == kFloats) {
        pack_square<Source, kParts>(from + r * kWidth, source_stride, height, Whole(), target,
                                    square, range);
      } else {
        pack_square<Source, kParts>(from + r * kWidth, source_stride, int64_t{height}, width,
                                    target, square, range);
      }
    });
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

#include "emulator/tensorcore/mxu/host_direct_kernels-inl.h"

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

template <int kLeftRows, class Multiply>
void lane_kernel(std::span<const int64_t> offsets, const float* const* left, const float* right,
                 int64_t right_stride, int64_t lanes, const float* total, float* out,
                 int64_t stride) {
  for (int64_t lane = 0; lane < lanes; lane += kLaneVectors * kFloats) {
    F acc[kLeftRows][kLaneVectors] = {};
    const float* rows[kLeftRows];
    for (int r = 0; r < kLeftRows; ++r) rows[r] = left[r] + lane;
    const float* from = right + lane;
    for (const int64_t offset : offsets) {
      F b[kLaneVectors];
#pragma GCC unroll 2
      for (int v = 0; v < kLaneVectors; ++v) b[v] = load<F>(from + v * kFloats);
      from += right_stride;
#pragma GCC unroll 4
      for (int r = 0; r < kLeftRows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < kLaneVectors; ++v) {
          acc[r][v] =
              Multiply::multiply_add(load<F>(rows[r] + offset + v * kFloats), b[v], acc[r][v]);
        }
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < kLeftRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kLaneVectors; ++v) {
        const int64_t at = lane + r * stride + v * kFloats;
        store(out + at, total ? load<F>(total + at) + acc[r][v] : acc[r][v]);
      }
    }
  }
}

template <int kLeftRows = kLaneRows>
constexpr void fill_lanes(LaneKernels& table) {
  table.plain[kLeftRows] = lane_kernel<kLeftRows, Plain>;
  table.exact[kLeftRows] = lane_kernel<kLeftRows, Fma>;
  if constexpr (kLeftRows > 1) fill_lanes<kLeftRows - 1>(table);
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
  for_each_vector(count, [&](int64_t i, auto lanes) {
    const H halves = Target::narrow(read<FromF32>(source + i, lanes));
    if (lanes >= kFloats) return store(to + i, halves);
    uint16_t some[kFloats];
    store(some, halves);
    copy_few(some, to + i, lanes);
  });
}

template <class Height, class Width>
[[gnu::always_inline]] inline void transpose_part(const float* from, int64_t from_stride,
                                                  Height height, Width width, float* to,
                                                  int64_t to_stride) {
  F square[kFloats];
#pragma GCC unroll 16
  for (int i = 0; i < kFloats; ++i) {
    square[i] = F{};
    if (i < height) square[i] = read<FromF32>(from + i * from_stride, width);
  }
  transpose_square(square);
#pragma GCC unroll 16
  for (int i = 0; i < kFloats; ++i) {
    if (i < width) write(to + i * to_stride, square[i], height);
  }
}

void transpose(const float* source, int64_t source_stride, int64_t rows, int64_t columns,
               float* target, int64_t target_stride) {
  for_each_vector(columns, [&](int64_t c, auto width) {
    for_each_vector(rows, [&](int64_t r, auto height) {
      transpose_part(source + r * source_stride + c, source_stride, height, width,
                     target + c * target_stride + r, target_stride);
    });
  });
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
