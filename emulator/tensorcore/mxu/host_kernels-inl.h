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
void micro_kernel(int64_t depth, const T* a, int64_t a_stride, const T* b, const Acc* total,
                  int64_t total_stride, Acc* out, int64_t out_stride) {
  using V = Vec<T>;
  using A = Vec<Acc>;
  constexpr int kLanes = kVectorBytes / sizeof(T);
  const T* rows[kTileRows];
  for (int r = 0; r < kTileRows; ++r) rows[r] = a + r * a_stride;
  A acc[kTileRows][kVectors] = {};
#pragma GCC unroll 2
  for (int64_t k = 0; k < depth; ++k) {
    V right[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) right[v] = load<V>(b + v * kLanes);
    b += kVectors * kLanes;
#pragma GCC unroll 16
    for (int r = 0; r < kTileRows; ++r) {
      const V left = rows[r][k] - V{};
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        acc[r][v] = Multiply::multiply_add(left, right[v], acc[r][v]);
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

// Packing.

constexpr int kFloats = kVectorBytes / sizeof(float);
using F = Vec<float>;
using U = Vec<uint32_t>;
using H = Vec<uint16_t, kFloats>;

[[gnu::always_inline]] inline U select(U mask, U yes, U no) {
  return (yes & mask) | (no & ~mask);
}

/// To nearest even; a NaN stays one.
[[gnu::always_inline]] inline F round_to_bf16(F x) {
  const U bits = reinterpret_cast<U>(x);
  const U rounded = bits + 0x7fff + (bits >> 16 & 1);
  const U nan = reinterpret_cast<U>((bits & 0x7fffffff) > 0x7f800000);
  return reinterpret_cast<F>(select(nan, bits | 0x400000, rounded) & 0xffff0000);
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
  [[gnu::always_inline]] static F widen(const float* from) { return load<F>(from); }
};
struct FromBF16 {
  using Element = uint16_t;
  [[gnu::always_inline]] static F widen(const uint16_t* from) {
    return reinterpret_cast<F>(__builtin_convertvector(load<H>(from), U) << 16);
  }
};
struct FromF16 {
  using Element = uint16_t;
  [[gnu::always_inline]] static F widen(const uint16_t* from) { return Half::widen(load<H>(from)); }
};

/// The parts of a vector, and their magnitudes.
template <int kParts, bool kRound>
[[gnu::always_inline]] inline void split(F x, F* parts, Range& range) {
  if constexpr (!kRound) {
    parts[0] = x;
  } else {
    parts[0] = round_to_bf16(x);
    if constexpr (kParts > 1) {
      const U finite =
          reinterpret_cast<U>((reinterpret_cast<U>(parts[0]) & 0x7f800000) != 0x7f800000);
      F rest = reinterpret_cast<F>(reinterpret_cast<U>(x - parts[0]) & finite);
      parts[1] = round_to_bf16(rest);
      if constexpr (kParts > 2) parts[2] = round_to_bf16(rest - parts[1]);
    }
  }
  for (int p = 0; p < kParts; ++p) range.add(parts[p]);
}

template <class Source, int kParts>
MagnitudeRange pack_parts(const std::byte* source, int64_t source_stride, int64_t rows,
                          int64_t columns, const PackTarget& target) {
  using Element = typename Source::Element;
  constexpr bool kRound = std::is_same_v<Source, FromF32>;
  Range range;
  F parts[kParts];
  for (int64_t r = 0; r < rows; ++r) {
    const auto* from = reinterpret_cast<const Element*>(source + r * source_stride);
    for (int64_t c = 0; c < columns; c += target.panel, from += target.panel) {
      const int64_t count = columns - c < target.panel ? columns - c : target.panel;
      float* to = target.data + c / target.panel * target.panel_stride + r * target.row_stride;
      int64_t i = 0;
      for (; i + kFloats <= count; i += kFloats) {
        split<kParts, kRound>(Source::widen(from + i), parts, range);
        for (int p = 0; p < kParts; ++p) store(to + p * target.part_stride + i, parts[p]);
      }
      if (i < count) {
        Element rest[kFloats] = {};
        __builtin_memcpy(rest, from + i, (count - i) * sizeof(Element));
        split<kParts, kRound>(Source::widen(rest), parts, range);
        for (int p = 0; p < kParts; ++p) {
          __builtin_memcpy(to + p * target.part_stride + i, &parts[p], (count - i) * sizeof(float));
        }
      }
    }
  }
  return range.reduce();
}

template <class Source>
MagnitudeRange pack(const std::byte* source, int64_t source_stride, int64_t rows, int64_t columns,
                    const PackTarget& target) {
  if constexpr (std::is_same_v<Source, FromF32>) {
    if (target.parts == 3)
      return pack_parts<Source, 3>(source, source_stride, rows, columns, target);
    if (target.parts == 2)
      return pack_parts<Source, 2>(source, source_stride, rows, columns, target);
  }
  return pack_parts<Source, 1>(source, source_stride, rows, columns, target);
}

// Results.

struct ToBF16 {
  [[gnu::always_inline]] static H narrow(F x) {
    return __builtin_convertvector(reinterpret_cast<U>(round_to_bf16(x)) >> 16, H);
  }
};
struct ToF16 {
  [[gnu::always_inline]] static H narrow(F x) { return Half::narrow(x); }
};

template <class Target>
void store_rounded(const float* source, int64_t count, std::byte* target) {
  auto* to = reinterpret_cast<uint16_t*>(target);
  int64_t i = 0;
  for (; i + kFloats <= count; i += kFloats) store(to + i, Target::narrow(load<F>(source + i)));
  if (i < count) {
    float rest[kFloats] = {};
    __builtin_memcpy(rest, source + i, (count - i) * sizeof(float));
    const H rounded = Target::narrow(load<F>(rest));
    __builtin_memcpy(to + i, &rounded, (count - i) * sizeof(uint16_t));
  }
}

// Transposition, in blocks of 4 x 4 so that a block stays in registers.

using F4 = Vec<float, 4>;

[[gnu::always_inline]] inline void transpose_block(const float* from, int64_t from_stride,
                                                   float* to, int64_t to_stride) {
  const F4 a = load<F4>(from), b = load<F4>(from + from_stride);
  const F4 c = load<F4>(from + 2 * from_stride), d = load<F4>(from + 3 * from_stride);
  const F4 ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const F4 ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const F4 cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const F4 cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(to + to_stride, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * to_stride, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * to_stride, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

void transpose(const float* source, int64_t source_stride, int64_t rows, int64_t columns,
               float* target, int64_t target_stride) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* from = source + r * source_stride;
    float* to = target + r;
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      transpose_block(from + c, source_stride, to + c * target_stride, target_stride);
    }
    for (; c < columns; ++c) {
      for (int i = 0; i < 4; ++i) to[c * target_stride + i] = from[i * source_stride + c];
    }
  }
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      target[c * target_stride + r] = source[r * source_stride + c];
    }
  }
}

constexpr HostKernels make_table(std::string_view name) {
  HostKernels table;
  table.name = name;
  table.f32 = micro_kernels<float, float, kRows, Plain, Fma>();
  table.f64 = micro_kernels<double, double, 4, Plain, Plain>();
  table.u32 = micro_kernels<uint32_t, uint32_t, 4, Plain, Plain>();
  table.u64 = micro_kernels<uint64_t, uint64_t, 4, Plain, Plain>();
  table.pairs = micro_kernels<int32_t, uint32_t, kRows, PairProducts, PairProducts>();
  table.pack_f32 = pack<FromF32>;
  table.pack_bf16 = pack<FromBF16>;
  table.pack_f16 = pack<FromF16>;
  table.store_bf16 = store_rounded<ToBF16>;
  table.store_f16 = store_rounded<ToF16>;
  table.transpose_f32 = transpose;
  return table;
}
