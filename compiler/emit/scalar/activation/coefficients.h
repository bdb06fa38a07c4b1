#pragma once

#include <array>

// Made by scripts/activation_coefficients.py, which says how. Coefficients begin with the constant.
// clang-format off
namespace padlock::compiler::activation {

/// QuadraticStep makes of a polynomial q the polynomial q(x) (x^2 + shift) + constant.
struct QuadraticStep {
    double shift;
    double constant;
};
/// 1 / ln 2.
inline constexpr double kLog2OfE = 0x1.71547652b82fep+0;
/// ln 2.
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
/// ln 2 to 42 places, so that 11 bits times it are exact.
inline constexpr double kLn2High = 0x1.62e42fefa3800p-1;
/// ln 2 less kLn2High.
inline constexpr double kLn2Low = 0x1.ef35793c76730p-45;
/// gelu_tanh is x / (1 + exp(x (kGeluSlope + kGeluCubic x^2))).
inline constexpr double kGeluSlope = -0x1.9884533d43651p+0;
/// The factor of x^2 in it.
inline constexpr double kGeluCubic = -0x1.2444f2a4d8b4bp-4;
/// Takes the squares of kErf to [-1, 1].
inline constexpr double kErfScale = 0x1.09d98daf1d527p-3;
/// (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2. Error at most 2^-55.6.
inline constexpr std::array kExponential = {
    0x1.0000000000005p-1,
    0x1.5555555555539p-3,
    0x1.555555555225ap-5,
    0x1.1111111119088p-7,
    0x1.6c16c17ef5b3fp-10,
    0x1.a01a0174df9d1p-13,
    0x1.a019a71bdeba6p-16,
    0x1.71de883d59a4fp-19,
    0x1.28a2374e07ed1p-22,
    0x1.ae6bc9597c17ap-26,
};
/// r coth(r / 2) of r^2, for |r| <= ln 2 / 2. Error at most 2^-52.3.
inline constexpr std::array kCotangent4 = {
    0x1.0000000000019p+1,
    0x1.555555554518bp-3,
    -0x1.6c16c0ae33d27p-9,
    0x1.1564e74a934e9p-14,
    -0x1.b8282cc1d2339p-20,
};
/// r coth(r / 2) of r^2, for |r| <= ln 2 / 2. Error at most 2^-62.7.
inline constexpr std::array kCotangent5 = {
    0x1.0000000000000p+1,
    0x1.5555555555502p-3,
    -0x1.6c16c16bbf9eap-9,
    0x1.1566aa88892bap-14,
    -0x1.bbd33f20f1730p-20,
    0x1.6322927d21d5fp-25,
};
/// 2 (artanh(s) / s - 1) / s^2 of s^2 <= 0.0296. Error at most 2^-59.4.
inline constexpr std::array kLogarithm = {
    0x1.5555555555595p-1,
    0x1.999999997efe7p-2,
    0x1.24924942c4603p-2,
    0x1.c71c5151e9562p-3,
    0x1.746666d0ad3bep-3,
    0x1.399d7da15e7a4p-3,
    0x1.2f322bbbf034ep-3,
};
/// 2 (artanh(s) / s - 1) / s^2 of s^2 <= 0.1111. Error at most 2^-59.4.
inline constexpr std::array kLogarithmOfSum = {
    0x1.5555555555535p-1,
    0x1.99999999a0834p-2,
    0x1.2492492085c23p-2,
    0x1.c71c741f6d732p-3,
    0x1.745cb39f1ba74p-3,
    0x1.3b1de2deae4d8p-3,
    0x1.10676bc99f2d5p-3,
    0x1.efdd55a5314fep-4,
    0x1.559d04f63f1cfp-4,
    0x1.5c89bd92b3334p-3,
};
/// erf(x) / x of kErfScale x^2 - 1, for |x| <= 3.925. Error at most 2^-55.1.
inline constexpr std::array kErf = {
    0x1.70e7e4fa98d90p-2,
    -0x1.70626e1ebec12p-3,
    0x1.1247beb9c94bep-3,
    -0x1.bed213bda9029p-4,
    0x1.731b2049aff95p-4,
    -0x1.2f64bafa45972p-4,
    0x1.dda3cc43463f2p-5,
    -0x1.650ae9609ad0ep-5,
    0x1.f6e72a1311535p-6,
    -0x1.4c6726890ecebp-6,
    0x1.9beb4674a830ap-7,
    -0x1.debdee3bf241dp-8,
    0x1.054b4f5a7c7c5p-8,
    -0x1.0c6b4eb9e6bd6p-9,
    0x1.0410e010f987dp-10,
    -0x1.dc5f927f77e83p-12,
    0x1.9d6cb44b0bc56p-13,
    -0x1.54f1f8f69eabdp-14,
    0x1.0b6a7ca87e05bp-15,
    -0x1.8dbf504c79816p-17,
    0x1.1c31550b9e615p-18,
    -0x1.94b11f6044704p-20,
    0x1.09769dc3ccd19p-21,
    -0x1.056ed49799a95p-23,
    0x1.3c3d4e69808e5p-25,
    -0x1.7b4e7c43b21edp-26,
    0x1.aac63c8c72356p-28,
};
/// Phi(-a) exp(a^2 / 2) for 0 <= a <= 14.5: the numerator less its steps. Error at most 2^-52.5.
inline constexpr std::array kTailAbove = {
    0x1.4593a398fa15dp+6,
    0x1.39e8770f9fd75p+3,
    0x1.9884534aa448dp-2,
};
/// Its steps, from the last on.
inline constexpr std::array<QuadraticStep, 3> kTailAboveSteps = {{
    {0x1.2642c418facacp+2, -0x1.4764485cea232p+15},
    {0x1.0f7a0d07a0c7bp+4, -0x1.db263de8aedacp+13},
    {0x1.0642cf93b2db2p+6, -0x1.ad626d7ce8a11p+11},
}};
/// The denominator less its steps.
inline constexpr std::array kTailBelow = {
    0x1.19ccf23be45b4p+10,
    0x1.f3bba482aa381p+7,
    0x1.896ce868797e1p+4,
    0x1.0000000000000p+0,
};
/// Its steps, from the last on.
inline constexpr std::array<QuadraticStep, 3> kTailBelowSteps = {{
    {0x1.1433b79be9499p+1, -0x1.abb5b6b77fc51p+16},
    {0x1.34f337f44acbap+3, -0x1.14b075455ae29p+16},
    {0x1.e79eebe6dc055p+4, -0x1.1d36ccfb23899p+14},
}};

}  // namespace padlock::compiler::activation
