// An object's sections in an image: jump tables and constants are copied and found wherever the image lies; anything
// that an image cannot have is refused by name.

#include "compiler/codegen/link_image.h"

#include <doctest/doctest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "compiler/codegen/codegen.h"
#include "runtime/host/host_image.h"

namespace padlock::compiler {
namespace {

std::unique_ptr<llvm::TargetMachine> machine(const llvm::Triple& triple) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  LLVMInitializeAArch64TargetInfo();
  LLVMInitializeAArch64Target();
  LLVMInitializeAArch64TargetMC();
  LLVMInitializeAArch64AsmPrinter();
  std::string problem;
  const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
  REQUIRE_MESSAGE(target != nullptr, problem);
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "generic", "", {}, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

/// The image of LLVM IR with an entry k, for this machine or another.
Result<abi::CompiledCode> image_of(const std::string& text, const char* entry = "k",
                                   const std::string& triple = llvm::sys::getProcessTriple()) {
  const auto target = machine(llvm::Triple(triple));
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(text, problem, context);
  REQUIRE_MESSAGE(module, problem.getMessage().str());
  module->setDataLayout(target->createDataLayout());
  module->setTargetTriple(target->getTargetTriple());
  const auto object = generate_code(*module, *target, llvm::CodeGenFileType::ObjectFile);
  REQUIRE(object);
  abi::KernelAbi abi;
  abi.name = entry;
  return link_image(*object, {{abi}});
}

/// Stores a number that depends on the first row into buffer 0, by a jump table, a constant for each row, and a call.
constexpr const char* kTables = R"(
@values = private constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
define internal double @scaled(double %x) noinline { %y = fmul double %x, 1.0e3  ret double %y }
define void @k(ptr %launch, i64 %row, i64 %a, i64 %b, i64 %c) {
entry:
  %buffers = load ptr, ptr %launch
  %out = load ptr, ptr %buffers
  switch i64 %row, label %other [ i64 0, label %r0  i64 1, label %r1  i64 2, label %r2
                                  i64 3, label %r3  i64 4, label %r4  i64 5, label %r5 ]
r0:
  %index = and i64 %a, 3
  %slot = getelementptr double, ptr @values, i64 %index
  %v0 = load double, ptr %slot
  br label %end
r1:
  %f1 = sitofp i64 %b to double
  br label %end
r2:
  %v2 = call double @scaled(double 7.25)
  br label %end
r3:
  store volatile double 0.1, ptr %out
  br label %end
r4:
  %f4 = sitofp i64 %c to double
  %v4 = fadd double %f4, 0.3
  br label %end
r5:
  store volatile i64 5, ptr %out
  br label %end
other:
  br label %end
end:
  %v = phi double [%v0, %r0], [%f1, %r1], [%v2, %r2], [0.2, %r3], [%v4, %r4], [5.5, %r5], [-1.0, %other]
  store double %v, ptr %out
  ret void
})";

TEST_CASE("jump tables, constants and calls work where the image is mapped") {
  auto image = image_of(kTables);
  REQUIRE_MESSAGE(image, (image ? "" : image.error().message));
  auto loaded = runtime::load_image(*std::move(image));
  REQUIRE(loaded);
  const auto run = [&](std::int64_t row) {
    double out = 0;
    std::array<void*, 1> buffers = {&out};
    const abi::HostLaunch launch{.buffers = buffers.data()};
    loaded->kernels[0][0].entry(&launch, row, 2, 11, 13);
    return out;
  };
  CHECK(run(0) == 3.5);
  CHECK(run(1) == 11);
  CHECK(run(2) == 7250);
  CHECK(run(3) == 0.2);
  CHECK(run(4) == 13.3);
  CHECK(run(5) == 5.5);
  CHECK(run(6) == -1);
}

/// The instructions of an image for AArch64.
std::vector<std::uint32_t> instructions_of(const std::string& text) {
  const auto image = image_of(text, "k", "aarch64-unknown-linux-gnu");
  REQUIRE_MESSAGE(image, (image ? "" : image.error().message));
  std::vector<std::uint32_t> words(image->bytes.size() / 4);
  std::memcpy(words.data(), image->bytes.data(), 4 * words.size());
  return words;
}

/// What `adrp` and the instruction after it name: the register's page is that of instruction `at`, and some more.
std::size_t named_by(const std::vector<std::uint32_t>& words, std::size_t at, int unit) {
  const std::uint32_t adrp = words[at], access = words[at + 1];
  CHECK((adrp & 0x9F00'0000) == 0x9000'0000);
  const std::size_t pages = (adrp >> 29 & 3) | (adrp >> 5 & 0x7'FFFF) << 2;
  return (4 * at / 4096 + pages) * 4096 + ((access >> 10 & 0xFFF) << unit);
}

TEST_CASE("code for AArch64 names constants by their page and their place in it, and calls by a distance") {
  // A constant behind `pages` of code.
  const auto text = [](int pages) {
    std::string all = R"(
@value = private constant <4 x float> <float 1.0, float 2.0, float 3.0, float 4.0>
define void @k(ptr %out) {
  %v = load <4 x float>, ptr @value
  store <4 x float> %v, ptr %out
  call void @callee(ptr %out)
  ret void
})";
    for (int i = 0; i < pages; ++i) all += fmt::format("\ndefine internal void @page{}() align 4096 {{ ret void }}", i);
    return all + "\ndefine internal void @callee(ptr %out) noinline { store volatile i32 0, ptr %out ret void }";
  };
  const auto first = [](const std::vector<std::uint32_t>& words, std::uint32_t mask, std::uint32_t bits) {
    const auto found = std::ranges::find_if(words, [&](std::uint32_t word) { return (word & mask) == bits; });
    REQUIRE(found != words.end());
    return static_cast<std::size_t>(found - words.begin());
  };
  constexpr std::array<float, 4> kValue = {1, 2, 3, 4};
  constexpr std::uint32_t kStoreOfZero = 0xB900'001F;  // str wzr, [x0]
  for (const int pages : {0, 1, 2, 3, 7}) {
    CAPTURE(pages);
    const std::vector<std::uint32_t> words = instructions_of(text(pages));
    const std::size_t named = named_by(words, first(words, 0x9F00'0000, 0x9000'0000), 4);
    REQUIRE(named + sizeof kValue <= 4 * words.size());
    CHECK(named >= 4096 * static_cast<std::size_t>(pages));
    CHECK(std::memcmp(reinterpret_cast<const char*>(words.data()) + named, kValue.data(), sizeof kValue) == 0);
    const std::size_t call = first(words, 0xFC00'0000, 0x9400'0000);
    REQUIRE(call + (words[call] & 0x3FF'FFFF) < words.size());
    CHECK(words[call + (words[call] & 0x3FF'FFFF)] == kStoreOfZero);
  }
}

TEST_CASE("what an image cannot have is named") {
  const auto refusal = [](const std::string& text, const char* entry = "k") {
    const auto image = image_of(text, entry);
    return image ? "" : image.error().message;
  };
  CHECK(refusal("declare void @memset2() define void @k() { call void @memset2() ret void }") ==
        "emitted code imports 'memset2'; expected no import");
  CHECK(refusal("@g = global i64 7 define void @k() { store i64 1, ptr @g ret void }")
            .starts_with("emitted code has data of its own in .data"));
  CHECK(refusal("@t = constant [2 x ptr] [ptr @k, ptr @k] define void @k() { ret void }")
            .starts_with("emitted code has data of its own in .data.rel.ro"));
  CHECK(refusal("define void @k() { ret void }", "other") == "emitted code has no function other");
}

TEST_CASE("an entry lies in its image") {
  abi::KernelAbi abi;
  abi.name = "k";
  const auto loaded = runtime::load_image({.bytes = {std::byte{0xC3}}, .kernels = {{{abi, 1}}}});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "kernel k begins at byte 1 of an image of 1");
}

TEST_CASE("PTX is no image") {
  const auto loaded = runtime::load_image({.kind = abi::CodeKind::ptx});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "expected code for a CPU, found PTX");
}

}  // namespace
}  // namespace padlock::compiler
