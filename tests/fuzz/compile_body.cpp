// Any bytes as a program for the host: refused with a statement named, or code.
#include <string_view>

#include "compiler/host_compiler.h"
#include "ir/program.h"
#include "tests/fuzz/fuzz_body.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace padlock;
  static const auto kCompiler = compiler::HostCompiler::create();
  fuzz::require(kCompiler.has_value(), "the host has a compiler");
  const Result<ir::Program> program = ir::parse_program({reinterpret_cast<const char*>(data), size});
  if (!program) return 0;
  compiler::HostOptions options;
  options.bounds_check = size % 4 == 0;
  const auto kernels = (*kCompiler)->compile(*program, options);
  if (!kernels) {
    fuzz::require(kernels.error().code == Code::resource_exhausted, "only limits refuse a verified program");
    fuzz::require(!kernels.error().message.empty(), "a refusal says why");
  }
  return 0;
}
