// Stages of compiling and proofs as texts, and every error of the functions that return them.
#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

std::string text_of(const padlock_text* text) { return {padlock_text_data(text), padlock_text_size(text)}; }

bool contains(const padlock_text* text, const std::string& part) {
  return text_of(text).find(part) != std::string::npos;
}

padlock_compile_options options_for(const char* target, const char* config = nullptr) {
  padlock_compile_options options = sized<padlock_compile_options>();
  options.target = target;
  options.config = config;
  return options;
}

TEST_CASE("each stage of a target is a text, and the default is the program itself") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  struct Stage {
    const char *target, *name, *part;
  };
  for (const Stage& stage : {Stage{"host", "ir", "program pad_relu("},
                             {"host", "kernel", "kernel pad_relu_0 ["},
                             {"host", "schedule", "pad_relu_0"},
                             {"host", "llvm", "define "},
                             {"host", "asm", "pad_relu_0:"},
                             {"sm_90", "ir", "program pad_relu("},
                             {"sm_90", "kernel", "kernel pad_relu_0 ["},
                             {"sm_90", "llvm", "nvptx64"},
                             {"sm_90", "ptx", ".target sm_90"}}) {
    CAPTURE(stage.target);
    CAPTURE(stage.name);
    const padlock_compile_options options = options_for(stage.target);
    Text text;
    Error error;
    REQUIRE_OK(padlock_program_emit(program, &options, stage.name, text.out(), error.out()), error);
    CHECK(contains(text, stage.part));
  }
  Text printed, again;
  Error error;
  REQUIRE_OK(padlock_program_emit(program, nullptr, nullptr, printed.out(), error.out()), error);
  REQUIRE_OK(padlock_program_emit(parse(context, text_of(printed)), nullptr, "ir", again.out(), error.out()), error);
  CHECK(text_of(again) == text_of(printed));
  padlock_statistics statistics = sized<padlock_statistics>();
  REQUIRE_OK(padlock_context_statistics(context, &statistics, error.out()), error);
  CHECK(statistics.kernels_cached == 0);
}

TEST_CASE("config and bounds check shape what is emitted") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  padlock_compile_options options = options_for("host", "unroll=1");
  Text plain, unrolled, checked;
  Error error;
  REQUIRE_OK(padlock_program_emit(program, &options, "llvm", plain.out(), error.out()), error);
  options.config = "unroll=4";
  REQUIRE_OK(padlock_program_emit(program, &options, "llvm", unrolled.out(), error.out()), error);
  options.bounds_check = 1;
  REQUIRE_OK(padlock_program_emit(program, &options, "llvm", checked.out(), error.out()), error);
  CHECK(text_of(plain) != text_of(unrolled));
  CHECK(text_of(checked) != text_of(unrolled));
}

/// That a call is refused, of its caller's fault, with this message and without a text.
void check_refused(padlock_status status, const Error& error, const Text& text, const std::string& message) {
  CHECK(status == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_CALLER);
  CHECK(padlock_error_message(error) == message);
  CHECK(text.get() == nullptr);
}

TEST_CASE("what cannot be emitted is refused, saying what there is") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const auto refuse = [&](const padlock_compile_options* options, const char* stage, const std::string& message) {
    CAPTURE(message);
    Text text;
    Error error;
    const padlock_status status = padlock_program_emit(program, options, stage, text.out(), error.out());
    check_refused(status, error, text, message);
  };
  refuse(nullptr, "c", "expected a stage (ir, kernel, schedule, llvm, ptx or asm), found 'c'");
  refuse(nullptr, "", "expected a stage (ir, kernel, schedule, llvm, ptx or asm), found ''");
  refuse(nullptr, "ptx", "stage ptx is of GPU targets; target host has ir, kernel, schedule, llvm and asm");
  padlock_compile_options options = options_for("sm_90");
  refuse(&options, "asm", "target sm_90 has the stages ir, kernel, schedule, llvm and ptx");
  options = options_for("host", "colour=red");
  Text text;
  Error error;
  CHECK(padlock_program_emit(program, &options, "llvm", text.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(std::string(padlock_error_message(error)).find("colour") != std::string::npos);
  options = options_for("sm_12");
  CHECK(padlock_program_emit(program, &options, "kernel", text.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(std::string(padlock_error_message(error)).find("unknown target 'sm_12'") == 0);
  options = options_for("host");
  options.device = "gpu";
  refuse(&options, "ir", "expected a device (host, reference, simt, cuda:0, ...), found 'gpu'; write 'cuda:0'");
  options.device = nullptr;
  options.struct_size = 0;
  refuse(&options, "ir", "expected padlock_compile_options's struct_size to be its sizeof, found 0");

  check_refused(padlock_program_emit(nullptr, nullptr, "ir", text.out(), error.out()), error, text,
                "expected a program, found NULL");
  check_refused(padlock_program_emit(program, nullptr, "ir", nullptr, error.out()), error, text,
                "expected a place for the handle, found NULL");
}

TEST_CASE("proofs: a line an access, the same as JSON, and how many are refuted") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  for (const char* target : {"host", "sm_90"}) {
    CAPTURE(target);
    const padlock_compile_options options = options_for(target);
    std::int64_t refuted = -1;
    Text report, json;
    Error error;
    REQUIRE_OK(padlock_program_prove(program, &options, 0, &refuted, report.out(), json.out(), error.out()), error);
    CHECK(refuted == 0);
    CHECK(text_of(report).find("kernel pad_relu_0, config ") == 0);
    CHECK(contains(report, "\n  proved   load      x["));
    CHECK(contains(report, " proved, "));
    CHECK(contains(json, R"("schema": 1)"));
    CHECK(contains(json, R"("refuted": 0)"));
  }
}

TEST_CASE("proofs of all configs are more than those of one, and each place may be left out") {
  const Context context = make_context();
  const Program program = parse(context, "program p(x: f32[A]) { y = pad(x, low = [1], high = [1]) return y }");
  Text one, all;
  Error error;
  REQUIRE_OK(padlock_program_prove(program, nullptr, 0, nullptr, one.out(), nullptr, error.out()), error);
  REQUIRE_OK(padlock_program_prove(program, nullptr, 1, nullptr, all.out(), nullptr, error.out()), error);
  CHECK(text_of(all).size() > 10 * text_of(one).size());
  std::int64_t refuted = -1;
  REQUIRE_OK(padlock_program_prove(program, nullptr, 0, &refuted, nullptr, nullptr, error.out()), error);
  CHECK(refuted == 0);
}

TEST_CASE("what cannot be proved is refused, and nothing is left in any place") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const auto refuse = [&](padlock_program* of, const padlock_compile_options* options, int all_configs,
                          const std::string& message) {
    CAPTURE(message);
    std::int64_t refuted = 7;
    Text report, json;
    Error error;
    const padlock_status status =
        padlock_program_prove(of, options, all_configs, &refuted, report.out(), json.out(), error.out());
    check_refused(status, error, report, message);
    CHECK(json.get() == nullptr);
    CHECK(refuted == 0);
  };
  refuse(nullptr, nullptr, 0, "expected a program, found NULL");
  padlock_compile_options options = options_for("host", "unroll=1");
  refuse(program, &options, 1, "expected a config or all configs, found both");
  options = options_for("host");
  options.reserved = 1;
  refuse(program, &options, 0, "expected padlock_compile_options's reserved to be 0");
  options = options_for("sm_12");
  Text report;
  Error error;
  CHECK(padlock_program_prove(program, &options, 0, nullptr, report.out(), nullptr, error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(std::string(padlock_error_message(error)).find("unknown target 'sm_12'") == 0);
}

}  // namespace
}  // namespace padlock::capi::testing
