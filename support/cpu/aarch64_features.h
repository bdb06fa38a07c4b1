#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// Instruction sets of AArch64, by LLVM's names.
namespace padlock::aarch64 {

/// The bits by which Linux says that the CPU has an instruction set, and that it saves the registers: all bits of a
/// mask, in AT_HWCAP or AT_HWCAP2. Source: arch/arm64/include/uapi/asm/hwcap.h.
struct Feature {
  std::string_view name;
  std::uint64_t hwcap = 0;
  std::uint64_t hwcap2 = 0;
};

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

/// The features from which LLVM may choose instructions of a kernel: arithmetic, moves, and atomic operations of 8
/// bytes. Ciphers, checksums, atomic operations of 16 bytes and what only a system uses are left out. No kernel needs
/// them, so a CPU without them runs it.
inline constexpr auto kFeatures = std::to_array<Feature>({
    {.name = "fp-armv8", .hwcap = bit(0)},
    {.name = "neon", .hwcap = bit(1)},
    {.name = "lse", .hwcap = bit(8)},
    {.name = "fullfp16", .hwcap = bit(9) | bit(10)},  // of numbers, and of vectors
    {.name = "rdm", .hwcap = bit(12)},
    {.name = "jsconv", .hwcap = bit(13)},
    {.name = "complxnum", .hwcap = bit(14)},
    {.name = "rcpc", .hwcap = bit(15)},
    {.name = "sha3", .hwcap = bit(17) | bit(21)},  // has logical operations on three vectors
    {.name = "dotprod", .hwcap = bit(20)},
    {.name = "sve", .hwcap = bit(22)},
    {.name = "fp16fml", .hwcap = bit(23)},
    {.name = "rcpc-immo", .hwcap = bit(26)},
    {.name = "flagm", .hwcap = bit(27)},

    {.name = "sve2", .hwcap2 = bit(1)},
    {.name = "sve-bitperm", .hwcap2 = bit(4)},
    {.name = "sve-sha3", .hwcap2 = bit(5)},
    {.name = "altnzcv", .hwcap2 = bit(7)},
    {.name = "fptoint", .hwcap2 = bit(8)},
    {.name = "i8mm", .hwcap2 = bit(13)},
    {.name = "bf16", .hwcap2 = bit(14)},
    {.name = "sme", .hwcap2 = bit(23)},
    {.name = "sme-i16i64", .hwcap2 = bit(24)},
    {.name = "sme-f64f64", .hwcap2 = bit(25)},
    {.name = "cssc", .hwcap2 = bit(34)},
    {.name = "sve2p1", .hwcap2 = bit(36)},
    {.name = "sme2", .hwcap2 = bit(37)},
    {.name = "sme2p1", .hwcap2 = bit(38)},
    {.name = "sme-b16b16", .hwcap2 = bit(41)},
    {.name = "sme-f16f16", .hwcap2 = bit(42)},
    {.name = "mops", .hwcap2 = bit(43)},
    {.name = "hbc", .hwcap2 = bit(44)},
    {.name = "sve-b16b16", .hwcap2 = bit(45)},
    {.name = "rcpc3", .hwcap2 = bit(46)},
    {.name = "lut", .hwcap2 = bit(49)},
    {.name = "faminmax", .hwcap2 = bit(50)},
    {.name = "fp8", .hwcap2 = bit(51)},
    {.name = "fp8fma", .hwcap2 = bit(52)},
    {.name = "fp8dot4", .hwcap2 = bit(53)},
    {.name = "fp8dot2", .hwcap2 = bit(54)},
});

}  // namespace padlock::aarch64
