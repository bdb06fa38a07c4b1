#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "ir/operation.h"

// Made by padlock_half_search, which says how.
// clang-format off
namespace padlock::compiler::activation {

/// HalfFunction has what one activation of f16 or bf16 is computed with in f32: see HalfActivationEmitter.
struct HalfFunction {
    ir::Op op;
    double least, most;                ///< beyond them the result is that of the bound, or x itself
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
     {0x1p+0, 0x1p+0, 0x1.fffd68p-2, 0x1.555a92p-3, 0x1.57fc26p-5,
      0x1.12d23p-7}},
    {ir::Op::log, 0x0p+0, 0x0p+0, {0, 7, 0},
     {0x1.00002ep+0, -0x1.0001cap-1, 0x1.551314p-2, -0x1.fe13e8p-3, 0x1.a4d9eep-3,
      -0x1.7ea5e2p-3, 0x1.e4a714p-4}},
    {ir::Op::tanh, -0x1.266666p+2, 0x1.266666p+2, {0, 4, 4},
     {0x1.fffffep-1, 0x1.0ab1fp-3, 0x1.88b5c8p-9, 0x1.1baacep-17, 0x1p+0,
      0x1.daae64p-2, 0x1.8c2a9ep-6, 0x1.e372f2p-13}},
    {ir::Op::sigmoid, -0x1.2p+4, 0x1.2p+4, {6, 0, 0},
     {0x1.cp-1, -0x1.bfffcap-1, 0x1.bffe04p-2, -0x1.2ad832p-3, 0x1.2ca70ep-5,
      -0x1.b275eep-8}},
    {ir::Op::erf, -0x1.533334p+1, 0x1.533334p+1, {0, 9, 0},
     {0x1.0f09e4p-1, -0x1.fb9712p-3, 0x1.3fdb96p-3, -0x1.8741ccp-4, 0x1.bc6e6p-5,
      -0x1.b6a848p-6, 0x1.39a614p-7, -0x1.5bed22p-8, 0x1.d187c4p-9}},
    {ir::Op::gelu, 0x0p+0, 0x1.8p+2, {6, 8, 0},
     {0x1p+0, -0x1.fffff6p-2, 0x1.fffdc4p-4, -0x1.555a7p-6, 0x1.573b4ap-9,
      -0x1.0fa782p-12, 0x1.9884b6p+0, -0x1.74312ep-2, 0x1.2b3e94p-4, -0x1.506a5p-7,
      0x1.2c0f8ep-11, 0x1.a30facp-14, -0x1.74e27cp-16, 0x1.674078p-20}},
    {ir::Op::gelu_tanh, -0x1.666666p+2, 0x1.666666p+2, {6, 2, 0},
     {0x1.cp-1, 0x1.3687acp-1, 0x1.ae7c82p-3, 0x1.8de184p-5, 0x1.14402ap-7,
      0x1.29e11p-10, -0x1.26aec2p+1, -0x1.a5a7d2p-4}},
    {ir::Op::silu, -0x1.5p+4, 0x1.5p+4, {6, 0, 0},
     {0x1p+0, -0x1.fffffep-1, 0x1.fff326p-2, -0x1.553dd8p-3, 0x1.5c0836p-5,
      -0x1.2d0932p-7}},
    {ir::Op::softplus, 0x0p+0, 0x1.4p+4, {6, 8, 0},
     {0x1.000052p+0, -0x1.000062p+0, 0x1.000248p-1, -0x1.5562d4p-3, 0x1.556fb6p-5,
      -0x1.0b15dcp-7, 0x1.ffff4p-1, -0x1.ffed22p-2, 0x1.542b6ap-2, -0x1.ef5e16p-3,
      0x1.5a025cp-3, -0x1.86b2f2p-4, 0x1.2075c2p-5, -0x1.8a4ad4p-8}},
}};
inline constexpr std::array<HalfFunction, 9> kOfBf16 = {{
    {ir::Op::exp, -0x1.78p+6, 0x1.66p+6, {5, 0, 0},
     {0x1.000014p+0, 0x1.fffd5cp-2, 0x1.ffe55ep-4, 0x1.57297p-6, 0x1.626336p-9}},
    {ir::Op::log, 0x0p+0, 0x0p+0, {0, 5, 0},
     {0x1.000564p+0, -0x1.fefc6p-2, 0x1.53dfcap-2, -0x1.1cc216p-2, 0x1.aac7fap-3}},
    {ir::Op::tanh, -0x1.ccccccp+1, 0x1.ccccccp+1, {0, 3, 3},
     {0x1p+0, 0x1.b72602p-4, 0x1.b93d86p-11, 0x1p+0, 0x1.c31ed6p-2,
      0x1.d7103ep-7}},
    {ir::Op::sigmoid, -0x1.78p+6, 0x1.4p+4, {5, 0, 0},
     {0x1.fffffcp-1, -0x1.fff3d6p-1, 0x1.000932p-1, -0x1.597d7cp-3, 0x1.4d39c4p-5}},
    {ir::Op::erf, -0x1.2p+1, 0x1.2p+1, {0, 7, 0},
     {0x1.39ede4p-1, -0x1.0bb3e8p-2, 0x1.1f9d7ep-3, -0x1.1f1d92p-4, 0x1.985b46p-6,
      -0x1.4ded9ap-7, 0x1.0b5b8ap-7}},
    {ir::Op::gelu, 0x0p+0, 0x1.b6p+3, {5, 9, 0},
     {0x1p+0, -0x1.fffba2p-2, 0x1.0003f8p-3, -0x1.57cff2p-6, 0x1.541428p-9,
      0x1.98942ap+0, -0x1.75716p-2, 0x1.345122p-4, -0x1.8e631p-7, 0x1.7857bep-10,
      -0x1.eabf44p-14, 0x1.9c2624p-18, -0x1.8d21ap-23, 0x1.4af60ap-29}},
    {ir::Op::gelu_tanh, -0x1.4cccccp+3, 0x1.4p+2, {5, 2, 0},
     {0x1p+0, 0x1.62df5ap-1, 0x1.ebd318p-3, 0x1.c9ebcp-5, 0x1.456688p-7,
      -0x1.26aec2p+1, -0x1.a5a7d8p-4}},
    {ir::Op::silu, -0x1.9p+6, 0x1.4p+4, {5, 0, 0},
     {0x1p+0, -0x1.fff7a6p-1, 0x1.001f9ap-1, -0x1.585e8ap-3, 0x1.3c5092p-5}},
    {ir::Op::softplus, 0x0p+0, 0x1.7cp+6, {5, 6, 0},
     {0x1.ffffe8p-1, -0x1.fffb3p-1, 0x1.0005bcp-1, -0x1.57e2p-3, 0x1.53a024p-5,
      0x1.00003cp+0, -0x1.004f1ap-1, 0x1.54a40ep-2, -0x1.cedc1p-3, 0x1.d9dba6p-4,
      -0x1.d473e8p-6}},
}};

}  // namespace padlock::compiler::activation
