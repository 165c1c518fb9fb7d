// Minimax polynomials, lowest degree first. Written by tools/coefficients.py.
#pragma once

#include <array>

namespace tpu::tensorcore {

// e^r; [-0.34657359, 0.34657359], weighted error 2^-28.25.
inline constexpr std::array<float, 7> kExpF32 = {
    0x1.0000000000000p+0f,
    0x1.0000000000000p+0f,
    0x1.fffffc0000000p-2f,
    0x1.5554940000000p-3f,
    0x1.5558bc0000000p-5f,
    0x1.1238560000000p-7f,
    0x1.6a3f280000000p-10f,
};

// ((e^(2r) - 1) / 2 - r) / r^2; [-0.1732868, 0.1732868], weighted error 2^-31.11.
inline constexpr std::array<float, 6> kTanhF32 = {
    0x1.0000000000000p+0f,
    0x1.5555540000000p-1f,
    0x1.5554f80000000p-2f,
    0x1.1112dc0000000p-3f,
    0x1.6d3a420000000p-5f,
    0x1.9e68b20000000p-7f,
};

// (log(1 + f) - f) / f^2; [-0.33333333, 0.33333333], weighted error 2^-27.68.
inline constexpr std::array<float, 9> kLogF32 = {
    -0x1.0000000000000p-1f,
    0x1.5555060000000p-2f,
    -0x1.fffefc0000000p-3f,
    0x1.99d0480000000p-3f,
    -0x1.559c280000000p-3f,
    0x1.1ed5f60000000p-3f,
    -0x1.f3381c0000000p-4f,
    0x1.1e6a3a0000000p-3f,
    -0x1.07b9fe0000000p-3f,
};

// (-log(erfc(x)) - 2 / sqrt(pi) x) / x^2, weighted for errors relative to erf(x); [0.0, 3.93], weighted error 2^-27.82.
inline constexpr std::array<float, 8> kErfcExponentF32 = {
    0x1.45f2fe0000000p-1f,
    0x1.a4f9600000000p-4f,
    -0x1.39c1140000000p-6f,
    -0x1.5ab8aa0000000p-13f,
    0x1.b6273a0000000p-10f,
    -0x1.4cea680000000p-11f,
    0x1.efad360000000p-14f,
    -0x1.385eee0000000p-17f,
};

// (1 - e^-r - r) / r^2; [-0.34657359, 0.34657359], weighted error 2^-26.13.
inline constexpr std::array<float, 5> kMinusExpm1F32 = {
    -0x1.fffffe0000000p-2f,
    0x1.5554b40000000p-3f,
    -0x1.5556fa0000000p-5f,
    0x1.1225300000000p-7f,
    -0x1.6b93c40000000p-10f,
};

}  // namespace tpu::tensorcore
