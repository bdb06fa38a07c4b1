#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "ir/operation.h"

// Made by padlock_half_search --print (tests/activation/search).
// clang-format off
namespace padlock::compiler::activation {

/// HalfFunction has what one activation of f16 or bf16 is computed with in f32: see HalfActivationEmitter.
struct HalfFunction {
    ir::Op op;
    double least, most;                ///< arguments beyond them give what the bound does
    std::array<std::size_t, 3> counts; ///< of the coefficients of E, P and Q
    std::array<double, 14> values;     ///< the coefficients, each polynomial's constant first

    /// 0: E, 1: P, 2: Q.
    [[nodiscard]] constexpr std::span<const double> polynomial(std::size_t number) const {
        const std::span<const double> all(values);
        if (number == 0) return all.first(counts[0]);
        return number == 1 ? all.subspan(counts[0], counts[1]) : all.subspan(counts[0] + counts[1], counts[2]);
    }
};
inline constexpr std::array<HalfFunction, 9> kOfF16 = {{
    {ir::Op::exp, -0x1.2p+4, 0x1.8p+3, {6, 0, 0},
     {0x1p+0, 0x1p+0, 0x1.fffd5cp-2, 0x1.555a7ep-3, 0x1.57f72cp-5,
      0x1.12116ep-7}},
    {ir::Op::log, 0x0p+0, 0x0p+0, {0, 7, 0},
     {0x1.00002cp+0, -0x1.0001ecp-1, 0x1.551602p-2, -0x1.fdfbdep-3, 0x1.a45b78p-3,
      -0x1.7f6fb8p-3, 0x1.eac936p-4}},
    {ir::Op::tanh, -0x1.266666p+2, 0x1.266666p+2, {0, 4, 4},
     {0x1.fffffep-1, 0x1.0a41bp-3, 0x1.85ec1ep-9, 0x1.1744c2p-17, 0x1p+0,
      0x1.da762ap-2, 0x1.8aa788p-6, 0x1.de05ecp-13}},
    {ir::Op::sigmoid, -0x1.2p+4, 0x1.2p+4, {6, 0, 0},
     {0x1.cp-1, -0x1.bfffcap-1, 0x1.bffce4p-2, -0x1.2ad6cp-3, 0x1.2cec68p-5,
      -0x1.b1fc66p-8}},
    {ir::Op::erf, -0x1.533334p+1, 0x1.533334p+1, {0, 9, 0},
     {0x1.0f09e4p-1, -0x1.fb9702p-3, 0x1.3fd90ep-3, -0x1.87368p-4, 0x1.bca73ap-5,
      -0x1.b76eaap-6, 0x1.3790c2p-7, -0x1.592286p-8, 0x1.d7c176p-9}},
    {ir::Op::gelu, 0x0p+0, 0x1.8p+2, {6, 8, 0},
     {0x1p+0, -0x1.fffff6p-2, 0x1.fffdc2p-4, -0x1.555a7p-6, 0x1.573b4ap-9,
      -0x1.0fa778p-12, 0x1.9884b4p+0, -0x1.7430dep-2, 0x1.2b3adap-4, -0x1.5047bp-7,
      0x1.2ad452p-11, 0x1.a5fcf2p-14, -0x1.76a052p-16, 0x1.68e35cp-20}},
    {ir::Op::gelu_tanh, -0x1.666666p+2, 0x1.666666p+2, {6, 2, 0},
     {0x1.cp-1, 0x1.3687acp-1, 0x1.ae7c7ep-3, 0x1.8de0c2p-5, 0x1.143ddap-7,
      0x1.2a9f22p-10, -0x1.26aec2p+1, -0x1.a5a7dp-4}},
    {ir::Op::silu, -0x1.5p+4, 0x1.5p+4, {6, 0, 0},
     {0x1p+0, -0x1.fffffep-1, 0x1.fff33p-2, -0x1.553f2p-3, 0x1.5b9de8p-5,
      -0x1.27749ap-7}},
    {ir::Op::softplus, 0x0p+0, 0x1.4p+4, {6, 8, 0},
     {0x1.fffff4p-1, -0x1.fffff8p-1, 0x1.0001f4p-1, -0x1.556972p-3, 0x1.55771p-5,
      -0x1.09615cp-7, 0x1.ffffeep-1, -0x1.ffee84p-2, 0x1.542c9ap-2, -0x1.ef5c4p-3,
      0x1.59fb5cp-3, -0x1.86aa1ep-4, 0x1.2075c8p-5, -0x1.8a513ap-8}},
}};
inline constexpr std::array<HalfFunction, 9> kOfBf16 = {{
    {ir::Op::exp, -0x1.78p+6, 0x1.66p+6, {5, 0, 0},
     {0x1.000014p+0, 0x1.fffd5ap-2, 0x1.ffe58cp-4, 0x1.572a02p-6, 0x1.625388p-9}},
    {ir::Op::log, 0x0p+0, 0x0p+0, {0, 5, 0},
     {0x1.00056ap+0, -0x1.fefc12p-2, 0x1.53dd7p-2, -0x1.1cc602p-2, 0x1.aae748p-3}},
    {ir::Op::tanh, -0x1.ccccccp+1, 0x1.ccccccp+1, {0, 3, 3},
     {0x1p+0, 0x1.bf83c2p-4, 0x1.eca27cp-11, 0x1p+0, 0x1.c53646p-2,
      0x1.effcp-7}},
    {ir::Op::sigmoid, -0x1.78p+6, 0x1.4p+4, {5, 0, 0},
     {0x1.fffffcp-1, -0x1.fff3d8p-1, 0x1.000904p-1, -0x1.597d4ep-3, 0x1.4d580ep-5}},
    {ir::Op::erf, -0x1.2p+1, 0x1.2p+1, {0, 7, 0},
     {0x1.39ede4p-1, -0x1.0bb3e8p-2, 0x1.1f9d7ep-3, -0x1.1f1d92p-4, 0x1.985b32p-6,
      -0x1.4ded96p-7, 0x1.0b5bacp-7}},
    {ir::Op::gelu, 0x0p+0, 0x1.b6p+3, {5, 9, 0},
     {0x1p+0, -0x1.fffba2p-2, 0x1.0003f8p-3, -0x1.57cff2p-6, 0x1.541418p-9,
      0x1.98942cp+0, -0x1.7571a4p-2, 0x1.34522cp-4, -0x1.8e65ccp-7, 0x1.785a4cp-10,
      -0x1.eabe32p-14, 0x1.9c1cp-18, -0x1.8d081ep-23, 0x1.4acc98p-29}},
    {ir::Op::gelu_tanh, -0x1.4cccccp+3, 0x1.4p+2, {5, 2, 0},
     {0x1p+0, 0x1.62e892p-1, 0x1.ed0a1ap-3, 0x1.c38012p-5, 0x1.0986p-7,
      -0x1.26aec2p+1, -0x1.a5a7dp-4}},
    {ir::Op::silu, -0x1.9p+6, 0x1.4p+4, {5, 0, 0},
     {0x1p+0, -0x1.fff77cp-1, 0x1.002554p-1, -0x1.57dd72p-3, 0x1.3f68dep-5}},
    {ir::Op::softplus, 0x0p+0, 0x1.7cp+6, {5, 6, 0},
     {0x1.ffffe8p-1, -0x1.fffb3p-1, 0x1.0005bcp-1, -0x1.57e202p-3, 0x1.53a024p-5,
      0x1.00003cp+0, -0x1.004edep-1, 0x1.54a1a8p-2, -0x1.ced308p-3, 0x1.d9ccccp-4,
      -0x1.d461e4p-6}},
}};

}  // namespace padlock::compiler::activation
