// Our tables of instruction sets beside LLVM's: what code may use, a machine is asked for.

#include "compiler/codegen/host_architecture.h"

#include <doctest/doctest.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/AArch64TargetParser.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "support/cpu/aarch64_features.h"
#include "support/cpu/features.h"
#include "support/cpu/x86_features.h"

namespace padlock::compiler {
namespace {

/// Extensions of AArch64 that LLVM chooses for no arithmetic: the system's own, hints, ciphers, checksums, and atomic
/// operations of 16 bytes.
constexpr auto kUseless = std::to_array<std::string_view>(
    {"aes",     "am",        "amvs",    "brbe",    "bti",      "ccdp",         "ccidx", "ccpp",    "chk",
     "clrbhb",  "crc",       "dit",     "ecv",     "ete",      "fgt",          "fpac",  "hcx",     "lor",
     "ls64",    "lse2",      "lse128",  "mec",     "mpam",     "mte",          "nmi",   "nv",      "pan",
     "pan-rwv", "pauth",     "perfmon", "predres", "rand",     "ras",          "rme",   "sb",      "sel2",
     "sha2",    "sm4",       "spe",     "spe-eef", "specres2", "specrestrict", "ssbs",  "sve-aes", "sve-sm4",
     "tlb-rmi", "tracev8.4", "trbe",    "uaops",   "vh",       "wfxt",         "xs"});

TEST_CASE("each instruction set that code for AArch64 may use is one that a machine can be asked for") {
  const auto made = HostArchitecture::create(Architecture::aarch64);
  REQUIRE(made);
  for (const std::string& name : made->cpus()) {
    CAPTURE(name);
    const auto cpu = made->subtarget(name);
    for (const auto& extension : llvm::AArch64::Extensions) {
      if (extension.PosTargetFeature.empty() || !cpu->checkFeatures(extension.PosTargetFeature.str())) continue;
      const std::string feature = extension.PosTargetFeature.drop_front().str();
      CAPTURE(feature);
      const bool is_asked =
          std::ranges::find(aarch64::kFeatures, feature, &aarch64::Feature::name) != aarch64::kFeatures.end();
      CHECK(is_asked != (std::ranges::find(kUseless, feature) != kUseless.end()));
    }
  }
}

TEST_CASE("LLVM knows each instruction set by the name that we have for it") {
  for (const Architecture architecture : {Architecture::x86_64, Architecture::aarch64}) {
    const auto made = HostArchitecture::create(architecture);
    REQUIRE(made);
    std::vector<std::string> known;
    for (const llvm::SubtargetFeatureKV& feature : made->subtarget("generic")->getAllProcessorFeatures())
      known.emplace_back(feature.Key);
    const auto check = [&](std::string_view name) {
      CAPTURE(std::string(name));
      CHECK(std::ranges::find(known, name) != known.end());
    };
    if (architecture == Architecture::x86_64)
      for (const x86::Feature& feature : x86::kFeatures) check(feature.name);
    else
      for (const aarch64::Feature& feature : aarch64::kFeatures) check(feature.name);
  }
}

#if defined(__x86_64__)
TEST_CASE("the instruction sets of x86-64 are those that LLVM detects") {
  std::vector<std::string> ours(x86::kAvx10Versions.begin(), x86::kAvx10Versions.end()), theirs;
  for (const x86::Feature& feature : x86::kFeatures) ours.emplace_back(feature.name);
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) theirs.push_back(feature.first().str());
  std::ranges::sort(ours);
  std::ranges::sort(theirs);
  CHECK(ours == theirs);
}
#endif

TEST_CASE("a base CPU of AArch64 needs floats and vectors, and those of servers more") {
  const auto made = HostArchitecture::create(Architecture::aarch64);
  REQUIRE(made);
  const auto needs = [&](const char* cpu) { return made->instruction_sets(*made->subtarget(cpu)); };
  CHECK(needs("generic") == std::vector<std::string>{"fp-armv8", "neon"});
  CHECK(needs("neoverse-n1") ==
        std::vector<std::string>{"dotprod", "fp-armv8", "fullfp16", "lse", "neon", "rcpc", "rdm"});
  const std::vector<std::string> v1 = needs("neoverse-v1"), v2 = needs("neoverse-v2");
  CHECK(std::ranges::find(v1, "sve") != v1.end());
  CHECK(std::ranges::find(v1, "sve2") == v1.end());
  CHECK(std::ranges::find(v2, "sve2") != v2.end());
  CHECK(made->refusal_of(*made->subtarget("generic", "-neon")) == "a CPU without vectors");
}

TEST_CASE("a name that an architecture lacks is no answer") {
  CHECK_FALSE(cpu_has("").has_value());
  CHECK_FALSE(cpu_has("flux-capacitor").has_value());
#if defined(__x86_64__)
  CHECK(cpu_has("sse2") == true);
  CHECK_FALSE(cpu_has("neon").has_value());
#elif defined(__aarch64__)
  CHECK(cpu_has("neon") == true);
  CHECK_FALSE(cpu_has("sse2").has_value());
#endif
}

}  // namespace
}  // namespace padlock::compiler
