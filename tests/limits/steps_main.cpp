// Prints the steps that each pass takes for a text, and the processor time beside them: padlock_steps FILE...
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "compiler/pipeline.h"
#include "compiler/targets/target_compiler.h"
#include "ir/program.h"
#include "support/steps.h"
#include "tests/fuzz/processor_time.h"

namespace {

/// Prints a pass's steps, its milliseconds, and the error if it ends in one.
template <class Pass>
bool show(const char* name, Pass&& pass) {
  const double start = padlock::fuzz::processor_seconds();
  const std::int64_t before = padlock::steps_taken();
  const auto outcome = pass();
  const auto steps = static_cast<long long>(padlock::steps_taken() - before);
  std::printf("  %-8s %12lld steps %9.1f ms", name, steps, (padlock::fuzz::processor_seconds() - start) * 1000);
  if (!outcome) std::printf("  %s", outcome.error().message.substr(0, 200).c_str());
  std::printf("\n");
  return outcome.has_value();
}

void show_passes(const std::string& text) {
  using namespace padlock;
  static const auto kHost = compiler::TargetCompiler::create("host:x86-64-v3");
  static const auto kGpu = compiler::TargetCompiler::create("sm_90");
  std::optional<ir::Program> program;
  const auto verify = [&]() -> Status {
    PADLOCK_TRY(program, ir::parse_program(text));
    return {};
  };
  if (!show("verify", verify) || !show("gather", [&] { return compiler::lower(*program); })) return;
  show("prove", [&] { return (*kHost)->prove(*program, {}); });
  show("compile", [&] { return (*kHost)->compile(*program, {}); });
  show("gpu", [&] { return (*kGpu)->compile(*program, {}); });
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::printf("%s\n", argv[i]);
    show_passes({std::istreambuf_iterator<char>(file), {}});
  }
  return 0;
}
