// Minimax polynomials, lowest degree first. Written by tools/coefficients.py.
#pragma once

#include <array>

namespace tpu::tensorcore {

// e^r.
// On [-0.346574, 0.346574]; weighted error 2^-28.25.
inline constexpr std::array<float, 7> kExpF32 = {
    0x1.0000000000000p+0f, 0x1.0000000000000p+0f, 0x1.fffffc0000000p-2f,  0x1.5554940000000p-3f,
    0x1.5558bc0000000p-5f, 0x1.1238560000000p-7f, 0x1.6a3f280000000p-10f,
};

// e^r.
// On [-0.346574, 0.346574]; weighted error 2^-34.17.
inline constexpr std::array<double, 8> kExpWide = {
    0x1.0000000000000p+0, 0x1.0000000000000p+0, 0x1.0000003a1c1f7p-1,  0x1.555554448d2d5p-3,
    0x1.55548dd3b08b2p-5, 0x1.11126efe4c2b2p-7, 0x1.6d8cf8dd38a7ep-10, 0x1.9f0aaa95e3d70p-13,
};

// e^r.
// On [-0.346574, 0.346574]; weighted error 2^-57.92.
inline constexpr std::array<double, 12> kExpF64 = {
    0x1.0000000000000p+0,  0x1.0000000000000p+0,  0x1.000000000000ap-1,  0x1.555555555550dp-3,
    0x1.55555555507bbp-5,  0x1.1111111124540p-7,  0x1.6c16c1843151ep-10, 0x1.a01a013850a43p-13,
    0x1.a0199a22a541ep-16, 0x1.71df0cbf682a4p-19, 0x1.28ad4b3dbc7eap-22, 0x1.ad9ef636e466ap-26,
};

// 2^r.
// On [-0.5, 0.5]; weighted error 2^-28.32.
inline constexpr std::array<float, 7> kExp2F32 = {
    0x1.0000000000000p+0f, 0x1.62e4300000000p-1f,  0x1.ebfbdc0000000p-3f,  0x1.c6af7c0000000p-5f,
    0x1.3b2dde0000000p-7f, 0x1.5f08300000000p-10f, 0x1.416d700000000p-13f,
};

// 2^r.
// On [-0.5, 0.5]; weighted error 2^-34.32.
inline constexpr std::array<double, 8> kExp2Wide = {
    0x1.0000000000000p+0, 0x1.62e42ff0e2f77p-1,  0x1.ebfbe077840abp-3,  0x1.c6b08abe018b7p-5,
    0x1.3b29f39fc8a11p-7, 0x1.5d8a8842db73fp-10, 0x1.445c82c15d3f8p-13, 0x1.fde38b68c0c55p-17,
};

// 2^r.
// On [-0.5, 0.5]; weighted error 2^-59.74.
inline constexpr std::array<double, 13> kExp2F64 = {
    0x1.0000000000000p+0,  0x1.62e42fefa39efp-1,  0x1.ebfbdff82c58ep-3,  0x1.c6b08d704a1d5p-5,
    0x1.3b2ab6fba519dp-7,  0x1.5d87fe7873f68p-10, 0x1.430912f75782fp-13, 0x1.ffcbfd4b5ad19p-17,
    0x1.62c0272265c9cp-20, 0x1.b5232cf42faf1p-24, 0x1.e4bbb4f795773p-28, 0x1.ec7a24dba9fa4p-32,
    0x1.e0a8b64ef8877p-36,
};

// (e^r - 1 - r) / r^2.
// On [-0.346574, 0.346574]; weighted error 2^-31.11.
inline constexpr std::array<float, 6> kExpm1F32 = {
    0x1.0000000000000p-1f, 0x1.5555540000000p-3f,  0x1.5554f80000000p-5f,
    0x1.1112dc0000000p-7f, 0x1.6d3a420000000p-10f, 0x1.9e68b20000000p-13f,
};

// (e^r - 1 - r) / r^2.
// On [-0.346574, 0.346574]; weighted error 2^-37.48.
inline constexpr std::array<double, 7> kExpm1Wide = {
    0x1.0000000017045p-1,  0x1.555555734a78fp-3,  0x1.555554f3f3d00p-5,  0x1.1110b22d68897p-7,
    0x1.6c1765877a738p-10, 0x1.a16f503a6330dp-13, 0x1.a00533b99faa5p-16,
};

// (e^r - 1 - r) / r^2.
// On [-0.346574, 0.346574]; weighted error 2^-61.62.
inline constexpr std::array<double, 11> kExpm1F64 = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.5555555555559p-5,  0x1.111111110f705p-7,
    0x1.6c16c16c166e2p-10, 0x1.a01a01af9debcp-13, 0x1.a01a019ede142p-16, 0x1.71ddf936fbb69p-19,
    0x1.27e4f7706efefp-22, 0x1.af5d05b92987cp-26, 0x1.1f3ae28f7ea2cp-29,
};

// ((e^(2r) - 1) / 2 - r) / r^2.
// On [-0.173287, 0.173287]; weighted error 2^-31.11.
inline constexpr std::array<float, 6> kTanhF32 = {
    0x1.0000000000000p+0f, 0x1.5555540000000p-1f, 0x1.5554f80000000p-2f,
    0x1.1112dc0000000p-3f, 0x1.6d3a420000000p-5f, 0x1.9e68b20000000p-7f,
};

// ((e^(2r) - 1) / 2 - r) / r^2.
// On [-0.173287, 0.173287]; weighted error 2^-61.62.
inline constexpr std::array<double, 11> kTanhF64 = {
    0x1.0000000000000p+0,  0x1.5555555555559p-1,  0x1.5555555555559p-2,  0x1.111111110f705p-3,
    0x1.6c16c16c166e2p-5,  0x1.a01a01af9debcp-7,  0x1.a01a019ede142p-9,  0x1.71ddf936fbb69p-11,
    0x1.27e4f7706efefp-13, 0x1.af5d05b92987cp-16, 0x1.1f3ae28f7ea2cp-18,
};

// (log(1 + f) - f) / f^2.
// On [-0.333333, 0.333333]; weighted error 2^-27.68.
inline constexpr std::array<float, 9> kLogF32 = {
    -0x1.0000000000000p-1f, 0x1.5555060000000p-2f,  -0x1.fffefc0000000p-3f,
    0x1.99d0480000000p-3f,  -0x1.559c280000000p-3f, 0x1.1ed5f60000000p-3f,
    -0x1.f3381c0000000p-4f, 0x1.1e6a3a0000000p-3f,  -0x1.07b9fe0000000p-3f,
};

// (log((1 + s) / (1 - s)) / s - 2) / s^2 as a function of s^2.
// On [0.0, 0.0294373]; weighted error 2^-37.61.
inline constexpr std::array<double, 4> kLogWide = {
    0x1.555554fd89ca7p-1,
    0x1.999a7aa63d39ap-2,
    0x1.2438d1f2d710bp-2,
    0x1.e2f71c35f3eadp-3,
};

// (log((1 + s) / (1 - s)) / s - 2) / s^2 as a function of s^2.
// On [0.0, 0.0294373]; weighted error 2^-59.49.
inline constexpr std::array<double, 7> kLogF64 = {
    0x1.5555555555592p-1, 0x1.999999997ff11p-2, 0x1.24924941e184ep-2, 0x1.c71c52146facfp-3,
    0x1.74663cdaf5766p-3, 0x1.39a1eb99d2bbcp-3, 0x1.2f0396a8491f9p-3,
};

// (log((1 + s) / (1 - s)) / s - 2 - 2/3 s^2) / s^4 as a function of s^2.
// On [0.0, 0.0294373]; weighted error 2^-73.48.
inline constexpr std::array<double, 8> kLogPreciseF64 = {
    0x1.9999999999996p-2, 0x1.2492492492f51p-2, 0x1.c71c71c5968ccp-3, 0x1.745d1829592b3p-3,
    0x1.3b1364c84ea5bp-3, 0x1.11206f5b7b84bp-3, 0x1.de3d6881d2a29p-4, 0x1.eac606653bb0dp-4,
};

// (sin(r) - r) / r^3 as a function of r^2.
// On [0.0, 0.61685]; weighted error 2^-37.58.
inline constexpr std::array<double, 4> kSinWide = {
    -0x1.5555554cb966dp-3,
    0x1.111108960069ap-7,
    -0x1.a00f9d87495adp-13,
    0x1.6cd856c5d243bp-19,
};

// (sin(r) - r) / r^3 as a function of r^2.
// On [0.0, 0.61685]; weighted error 2^-63.26.
inline constexpr std::array<double, 7> kSinF64 = {
    -0x1.5555555555555p-3,  0x1.1111111111067p-7,  -0x1.a01a019ffdba2p-13, 0x1.71de3a32a994ap-19,
    -0x1.ae642ad6e7066p-26, 0x1.6108b4a45abcep-33, -0x1.9f71846a883ddp-41,
};

// (cos(r) - 1) / r^2 as a function of r^2.
// On [0.0, 0.61685]; weighted error 2^-34.12.
inline constexpr std::array<double, 4> kCosWide = {
    -0x1.ffffffd0be691p-2,
    0x1.55553e0dc40e5p-5,
    -0x1.6c087d9dc824cp-10,
    0x1.9933ff4ce9285p-16,
};

// (cos(r) - 1 + r^2 / 2) / r^4 as a function of r^2.
// On [0.0, 0.61685]; weighted error 2^-64.19.
inline constexpr std::array<double, 6> kCosF64 = {
    0x1.555555555554cp-5,   -0x1.6c16c16c1521fp-10, 0x1.a01a019cbf608p-16,
    -0x1.27e4f812b3539p-22, 0x1.1ee9f14f70581p-29,  -0x1.8fb12ee1a6fafp-37,
};

// (atan(t) - t) / t^3 as a function of t^2.
// On [0.0, 0.171573]; weighted error 2^-35.4.
inline constexpr std::array<double, 6> kAtanWide = {
    -0x1.555554c8b0f2fp-2, 0x1.99991a57058aep-3,  -0x1.247f07fa4c47fp-3,
    0x1.c46824e730538p-4,  -0x1.5b462b5fc7f83p-4, 0x1.84f8f0020a482p-5,
};

// (atan(t) - t) / t^3 as a function of t^2.
// On [0.0, 0.171573]; weighted error 2^-59.47.
inline constexpr std::array<double, 11> kAtanF64 = {
    -0x1.555555555553dp-2, 0x1.9999999995899p-3, -0x1.24924922aefb5p-3, 0x1.c71c70e6c250ep-4,
    -0x1.745cf8f116a87p-4, 0x1.3b111a88c498ep-4, -0x1.10ebc7fb6d882p-4, 0x1.df1025df57815p-5,
    -0x1.9cd6617273537p-5, 0x1.37de533acf69fp-5, -0x1.257c0c5c89d73p-6,
};

// (asin(s) - s) / s^3 as a function of s^2.
// On [0.0, 0.25]; weighted error 2^-35.81.
inline constexpr std::array<double, 7> kAsinWide = {
    0x1.5555560934c2ep-3, 0x1.3332a7fcab9a5p-4, 0x1.6ddb28f5b3bc8p-5, 0x1.ed5358679f657p-6,
    0x1.935a276421deep-6, 0x1.e9705c20456c8p-8, 0x1.1c3689c0fb783p-5,
};

// (asin(s) - s) / s^3 as a function of s^2.
// On [0.0, 0.25]; weighted error 2^-59.82.
inline constexpr std::array<double, 13> kAsinF64 = {
    0x1.5555555555578p-3, 0x1.333333332df28p-4, 0x1.6db6db722a17fp-5, 0x1.f1c71a8c37b04p-6,
    0x1.6e8bdfd2da174p-6, 0x1.1c49df8e15692p-6, 0x1.ca211b99686c1p-7, 0x1.7578f507acfe8p-7,
    0x1.61824bfdb877ap-7, 0x1.e1e28a79a475ap-9, 0x1.64d6953523547p-6, -0x1.59b5fc9708bc8p-6,
    0x1.0bcf4d242d3b1p-5,
};

// (-log(erfc(x)) - 2 / sqrt(pi) x) / x^2, weighted for errors relative to erf(x).
// On [0.0, 3.93]; weighted error 2^-27.82.
inline constexpr std::array<float, 8> kErfcExponentF32 = {
    0x1.45f2fe0000000p-1f,   0x1.a4f9600000000p-4f,   -0x1.39c1140000000p-6f,
    -0x1.5ab8aa0000000p-13f, 0x1.b6273a0000000p-10f,  -0x1.4cea680000000p-11f,
    0x1.efad360000000p-14f,  -0x1.385eee0000000p-17f,
};

// (1 - e^-r - r) / r^2.
// On [-0.346574, 0.346574]; weighted error 2^-26.13.
inline constexpr std::array<float, 5> kMinusExpm1F32 = {
    -0x1.fffffe0000000p-2f, 0x1.5554b40000000p-3f,   -0x1.5556fa0000000p-5f,
    0x1.1225300000000p-7f,  -0x1.6b93c40000000p-10f,
};

// (x + 2) e^(x^2) erfc(x) as a function of t = (x - 2) / (x + 2).
// On [-1.0, 0.692308]; weighted error 2^-32.3.
inline constexpr std::array<double, 13> kErfcxWide = {
    0x1.058671b600a58p+0,   -0x1.5fd38678a554ap-1, 0x1.1e2ded03528d5p-2,  -0x1.2a88db3b4ade5p-5,
    -0x1.606c2327c94bep-6,  0x1.a89bbcefd0905p-8,  0x1.94946338c7447p-9,  -0x1.b706a6e24aa71p-11,
    -0x1.543aa582cfd66p-11, 0x1.4848119bb77ecp-15, 0x1.f839b4dd7a242p-14, 0x1.3cdaca99a93d2p-16,
    -0x1.87cb085fc0c63p-18,
};

// (x + 2) e^(x^2) erfc(x) as a function of t = (x - 2) / (x + 2).
// On [-1.0, 0.866667]; weighted error 2^-55.73.
inline constexpr std::array<double, 26> kErfcxF64 = {
    0x1.058671b52c776p+0,   -0x1.5fd386754eff9p-1,  0x1.1e2deea6b1101p-2,   -0x1.2a88e6107d2c4p-5,
    -0x1.606e41550e0edp-6,  0x1.a89eaff82a0d5p-8,   0x1.9517bb5b966ebp-9,   -0x1.b6fbf96fdf72ap-11,
    -0x1.5ba43435a4030p-11, 0x1.2053f5dbdf78fp-15,  0x1.2ef9b021d5296p-13,  0x1.1e770ba0f7897p-15,
    -0x1.6bef3f14164b0p-16, -0x1.0e7d412dd4bc2p-16, -0x1.31a45d6c0fe2fp-20, 0x1.e98674639e265p-19,
    0x1.10a38ed0a3663p-19,  -0x1.40c7438bbf2f1p-29, -0x1.4b681bfecab48p-21, -0x1.5aa46c9091698p-22,
    0x1.88490c7bcd0c2p-25,  0x1.e914577840669p-24,  0x1.a25d8a7636992p-26,  -0x1.0c3c06708a384p-26,
    -0x1.98a43ea83585fp-28, 0x1.b7580e9d61d22p-34,
};

// erf(x) / x - 2 / sqrt(pi) over x^2 as a function of x^2.
// On [0.0, 1.0]; weighted error 2^-63.76.
inline constexpr std::array<double, 13> kErfF64 = {
    -0x1.812746b0379e7p-2,  0x1.ce2f21a042c23p-4,  -0x1.b82ce3128a34fp-6,  0x1.565bcd0eb0e79p-8,
    -0x1.c02db40f6b522p-11, 0x1.f9a3290af989cp-14, -0x1.f4d28c17c3243p-17, 0x1.b9e9b72b0c845p-20,
    -0x1.5f9322084c566p-23, 0x1.fe7297d8af2a2p-27, -0x1.58db079424767p-30, 0x1.b983f934f110bp-34,
    -0x1.ba0ad2284630bp-38,
};

// erf_inv(x) / x as a function of w = -log(1 - x^2).
// On [0.0, 5.0]; weighted error 2^-36.01.
inline constexpr std::array<double, 14> kErfInvCenter = {
    0x1.c5bf891b32e3fp-1,   0x1.db29fb554057bp-3,   0x1.7a72c6a438f64p-7,   -0x1.320e3ee318dacp-9,
    -0x1.0d02f73c20e47p-13, 0x1.8a3d5b2b5f98ep-15,  0x1.afdd58a48a092p-20,  -0x1.8281e37085cadp-21,
    -0x1.7f8f6efa4f1ffp-23, 0x1.26999bfdc61b6p-24,  -0x1.288d6b573db84p-27, 0x1.efe6034e4a9fcp-32,
    -0x1.e20eabe0eea35p-42, -0x1.5d77ec4010ca4p-41,
};

// erf_inv(x) / x as a function of sqrt(w), w = -log(1 - x^2).
// On [2.23607, 4.12311]; weighted error 2^-32.74.
inline constexpr std::array<double, 13> kErfInvTailWide = {
    0x1.379cde1d3ca82p+2,  -0x1.27d4ff655abe5p+4, 0x1.347d98d6b3939p+5, -0x1.77541641a1b32p+5,
    0x1.2e1032c2b2f4dp+5,  -0x1.50645cae59b55p+4, 0x1.0a355ca2a3c75p+3, -0x1.2ec9488e3951dp+1,
    0x1.ed1192a1fb9bfp-2,  -0x1.1928c2cc95fc1p-4, 0x1.ab66e8b9afca1p-8, -0x1.85947dc482aaep-12,
    0x1.42930ff65c1bcp-17,
};

// erf_inv(x) / x as a function of sqrt(w), w = -log(1 - x^2).
// On [2.23607, 6.16441]; weighted error 2^-24.78.
inline constexpr std::array<double, 13> kErfInvTailF64 = {
    -0x1.47115369cf56bp+2,  0x1.4c734d1c3b87ap+4, -0x1.fba2ba7765b86p+4,  0x1.cc932c6b49d76p+4,
    -0x1.0e50ae12ce0e0p+4,  0x1.b62a2ba9da273p+2, -0x1.fa82a2a2373a0p+0,  0x1.a69b119f8cc0fp-2,
    -0x1.faa32c2e02794p-5,  0x1.aa69ece3dbf76p-8, -0x1.df0890a1ab101p-12, 0x1.42d1102e2416cp-16,
    -0x1.8b15faab0b4a1p-22,
};

// lgamma(x) / ((x - 1) (x - 2)) as a function of x - 7/4.
// On [-0.75, 0.75]; weighted error 2^-54.83.
inline constexpr std::array<double, 27> kLgammaF64 = {
    0x1.ccf151e09cde8p-2,   -0x1.e96586307946dp-4,  0x1.6cb6251711db3p-5,  -0x1.382e176f60ed0p-6,
    0x1.1f9587f9aabb0p-7,   -0x1.14f7c58e6532bp-8,  0x1.12aa733cc0152p-9,  -0x1.1605629528caep-10,
    0x1.1daec019b1a5bp-11,  -0x1.28f25d36d8d0dp-12, 0x1.377a6b036c9f8p-13, -0x1.49194d0330e7ep-14,
    0x1.5d5cab2d8ef96p-15,  -0x1.75a6e868fb595p-16, 0x1.9af8cb8a90f80p-17, -0x1.b2e38c7053b7dp-18,
    0x1.4a327afbac02ap-19,  -0x1.dc8648684261ap-20, 0x1.d2dfdbc24eadbp-19, -0x1.99efa1fd25906p-21,
    -0x1.ed375cd8c673ep-19, 0x1.14abdff418e84p-24,  0x1.1dfb54bfda953p-18, -0x1.9ae49a081770ap-23,
    -0x1.5292dc1b487f7p-19, 0x1.cc137ad827d92p-27,  0x1.79c11706785e3p-21,
};

// (lgamma(x) - (x - 1/2) log(x) + x - log(2 pi) / 2) x as a function of 1 / x^2.
// On [0.0, 0.015625]; weighted error 2^-57.58.
inline constexpr std::array<double, 8> kStirlingF64 = {
    0x1.5555555555555p-4,  -0x1.6c16c16c066c8p-9,  0x1.a01a009a68301p-11, -0x1.3811f7eb94ce5p-11,
    0x1.b8383051759b3p-11, -0x1.c2cabff76a178p-10, -0x1.7a2da2259968cp-9, 0x1.29e11959652ccp-3,
};

// digamma(x0 + t) / t where x0 is the root of digamma.
// On [-0.461632, 0.538368]; weighted error 2^-54.67.
inline constexpr std::array<double, 23> kDigammaF64 = {
    0x1.ef72bc8ee38acp-1,  -0x1.c563b54aa1a34p-2,  0x1.08b4294d50153p-2,  -0x1.4fc1317257f0cp-3,
    0x1.b9a5b63761807p-4,  -0x1.27baba262e414p-4,  0x1.8fce028c7a5bap-5,  -0x1.0fa7ec22c308fp-5,
    0x1.723d70db50d21p-6,  -0x1.f9705e19dfd43p-7,  0x1.595499e988fe7p-7,  -0x1.d825b5d69236fp-8,
    0x1.42fad418a1886p-8,  -0x1.b9ea7209ddec7p-9,  0x1.2cd87ad80eb8cp-9,  -0x1.99de8e4ea90bbp-10,
    0x1.251dc5e9ade5bp-10, -0x1.a3ad59c778915p-11, 0x1.b6f6d9d901e20p-12, -0x1.75bc52ae4ed27p-13,
    0x1.437748b3745d2p-12, -0x1.910e5d8649062p-12, 0x1.406141174aa19p-13,
};

// (digamma(x) - log(x) + 1 / (2 x)) x^2 as a function of 1 / x^2.
// On [0.0, 0.015625]; weighted error 2^-57.58.
inline constexpr std::array<double, 8> kDigammaAsymptoticF64 = {
    -0x1.5555555555555p-4, 0x1.111111110ce41p-7, -0x1.041040e1ccf61p-8, 0x1.1110dc143230ep-8,
    -0x1.f054ad29a6f65p-8, 0x1.55baaf0cbb3d9p-6, -0x1.22be32853a843p-4, 0x1.11a17b95dafc4p-3,
};

}  // namespace tpu::tensorcore
