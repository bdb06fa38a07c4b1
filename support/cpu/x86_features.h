#pragma once

#include <array>
#include <cstdint>
#include <string_view>

// Instruction sets of x86-64, by LLVM's names.
namespace padlock::x86 {

enum class Register : std::uint8_t { eax, ebx, ecx, edx };

/// Registers that the system must save for a thread (bits of XCR0) before a feature's instructions may be used.
enum class Kept : std::uint32_t { none = 0, ymm = 0x6, zmm = 0xE6, tiles = 0x6'0000, apx = 0x8'0000 };

/// The CPUID bit of an instruction set. Sources: Intel's manual, volume 2, CPUID; AMD's, volume 3, appendix E, for the
/// leaves from 0x80000000.
struct Feature {
  std::string_view name;
  std::uint32_t leaf;
  std::uint32_t subleaf;
  Register reg;
  int bit;
  Kept kept = Kept::none;
};

using enum Register;
using enum Kept;

inline constexpr auto kFeatures = std::to_array<Feature>({
    {"cx8", 1, 0, edx, 8},
    {"cmov", 1, 0, edx, 15},
    {"mmx", 1, 0, edx, 23},
    {"fxsr", 1, 0, edx, 24},
    {"sse", 1, 0, edx, 25},
    {"sse2", 1, 0, edx, 26},
    {"sse3", 1, 0, ecx, 0},
    {"pclmul", 1, 0, ecx, 1},
    {"ssse3", 1, 0, ecx, 9},
    {"fma", 1, 0, ecx, 12, ymm},
    {"cx16", 1, 0, ecx, 13},
    {"sse4.1", 1, 0, ecx, 19},
    {"sse4.2", 1, 0, ecx, 20},
    {"crc32", 1, 0, ecx, 20},
    {"movbe", 1, 0, ecx, 22},
    {"popcnt", 1, 0, ecx, 23},
    {"aes", 1, 0, ecx, 25},
    {"xsave", 1, 0, ecx, 26, ymm},
    {"avx", 1, 0, ecx, 28, ymm},
    {"f16c", 1, 0, ecx, 29, ymm},
    {"rdrnd", 1, 0, ecx, 30},

    {"fsgsbase", 7, 0, ebx, 0},
    {"sgx", 7, 0, ebx, 2},
    {"bmi", 7, 0, ebx, 3},
    {"avx2", 7, 0, ebx, 5, ymm},
    {"bmi2", 7, 0, ebx, 8},
    {"invpcid", 7, 0, ebx, 10},
    {"rtm", 7, 0, ebx, 11},
    {"avx512f", 7, 0, ebx, 16, zmm},
    {"avx512dq", 7, 0, ebx, 17, zmm},
    {"rdseed", 7, 0, ebx, 18},
    {"adx", 7, 0, ebx, 19},
    {"avx512ifma", 7, 0, ebx, 21, zmm},
    {"clflushopt", 7, 0, ebx, 23},
    {"clwb", 7, 0, ebx, 24},
    {"avx512cd", 7, 0, ebx, 28, zmm},
    {"sha", 7, 0, ebx, 29},
    {"avx512bw", 7, 0, ebx, 30, zmm},
    {"avx512vl", 7, 0, ebx, 31, zmm},
    {"avx512vbmi", 7, 0, ecx, 1, zmm},
    {"pku", 7, 0, ecx, 4},
    {"waitpkg", 7, 0, ecx, 5},
    {"avx512vbmi2", 7, 0, ecx, 6, zmm},
    {"shstk", 7, 0, ecx, 7},
    {"gfni", 7, 0, ecx, 8},
    {"vaes", 7, 0, ecx, 9, ymm},
    {"vpclmulqdq", 7, 0, ecx, 10, ymm},
    {"avx512vnni", 7, 0, ecx, 11, zmm},
    {"avx512bitalg", 7, 0, ecx, 12, zmm},
    {"avx512vpopcntdq", 7, 0, ecx, 14, zmm},
    {"rdpid", 7, 0, ecx, 22},
    {"kl", 7, 0, ecx, 23},
    {"cldemote", 7, 0, ecx, 25},
    {"movdiri", 7, 0, ecx, 27},
    {"movdir64b", 7, 0, ecx, 28},
    {"enqcmd", 7, 0, ecx, 29},
    {"uintr", 7, 0, edx, 5},
    {"avx512vp2intersect", 7, 0, edx, 8, zmm},
    {"serialize", 7, 0, edx, 14},
    {"tsxldtrk", 7, 0, edx, 16},
    {"pconfig", 7, 0, edx, 18},
    {"amx-bf16", 7, 0, edx, 22, tiles},
    {"avx512fp16", 7, 0, edx, 23, zmm},
    {"amx-tile", 7, 0, edx, 24, tiles},
    {"amx-int8", 7, 0, edx, 25, tiles},

    {"sha512", 7, 1, eax, 0, ymm},
    {"sm3", 7, 1, eax, 1, ymm},
    {"sm4", 7, 1, eax, 2, ymm},
    {"raoint", 7, 1, eax, 3},
    {"avxvnni", 7, 1, eax, 4, ymm},
    {"avx512bf16", 7, 1, eax, 5, zmm},
    {"cmpccxadd", 7, 1, eax, 7},
    {"amx-fp16", 7, 1, eax, 21, tiles},
    {"hreset", 7, 1, eax, 22},
    {"avxifma", 7, 1, eax, 23, ymm},
    {"movrs", 7, 1, eax, 31},
    {"avxvnniint8", 7, 1, edx, 4, ymm},
    {"avxneconvert", 7, 1, edx, 5, ymm},
    {"amx-complex", 7, 1, edx, 8, tiles},
    {"avxvnniint16", 7, 1, edx, 10, ymm},
    {"prefetchi", 7, 1, edx, 14},
    {"usermsr", 7, 1, edx, 15},
    {"egpr", 7, 1, edx, 21, apx},
    {"push2pop2", 7, 1, edx, 21, apx},
    {"ppx", 7, 1, edx, 21, apx},
    {"ndd", 7, 1, edx, 21, apx},
    {"ccmp", 7, 1, edx, 21, apx},
    {"nf", 7, 1, edx, 21, apx},
    {"cf", 7, 1, edx, 21, apx},
    {"zu", 7, 1, edx, 21, apx},

    {"xsaveopt", 0xD, 1, eax, 0, ymm},
    {"xsavec", 0xD, 1, eax, 1, ymm},
    {"xsaves", 0xD, 1, eax, 3, ymm},
    {"ptwrite", 0x14, 0, ebx, 4},
    {"widekl", 0x19, 0, ebx, 2},
    {"amx-fp8", 0x1E, 1, eax, 4, tiles},
    {"amx-tf32", 0x1E, 1, eax, 6, tiles},
    {"amx-avx512", 0x1E, 1, eax, 7, tiles},
    {"amx-movrs", 0x1E, 1, eax, 8, tiles},

    {"sahf", 0x8000'0001, 0, ecx, 0},
    {"lzcnt", 0x8000'0001, 0, ecx, 5},
    {"sse4a", 0x8000'0001, 0, ecx, 6},
    {"prfchw", 0x8000'0001, 0, ecx, 8},
    {"xop", 0x8000'0001, 0, ecx, 11, ymm},
    {"lwp", 0x8000'0001, 0, ecx, 15},
    {"fma4", 0x8000'0001, 0, ecx, 16, ymm},
    {"tbm", 0x8000'0001, 0, ecx, 21},
    {"mwaitx", 0x8000'0001, 0, ecx, 29},
    {"64bit", 0x8000'0001, 0, edx, 29},
    {"clzero", 0x8000'0008, 0, ebx, 0},
    {"rdpru", 0x8000'0008, 0, ebx, 4},
    {"wbnoinvd", 0x8000'0008, 0, ebx, 9},
});

/// AVX10 has a version, not a list of features: each version includes all earlier ones.
inline constexpr Feature kAvx10{"avx10", 7, 1, edx, 19, zmm};
/// The names of its versions, the first one first.
inline constexpr std::array<std::string_view, 2> kAvx10Versions = {"avx10.1", "avx10.2"};

}  // namespace padlock::x86
