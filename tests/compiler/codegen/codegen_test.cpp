#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "compiler/targets/compiler_base.h"
#include "ir/binding/binding.h"
#include "ir/reference/numeric.h"
#include "runtime/host/host_image.h"
#include "tests/common/fp_setting.h"
#include "tests/common/plan_launch.h"
#include "tests/compiler/emit/compiled.h"

// A test for each sentence of the design about code that must not change a bit.
namespace padlock::compiler {
namespace {

constexpr std::array kCpus = {"host:x86-64",    "host:x86-64-v2",      "host:x86-64-v3",
                              "host:x86-64-v4", "host:sapphirerapids", "host:znver4"};

/// Every operation and every cast between two types, on vectors of unknown length.
std::vector<std::string> all_operations() {
  std::vector<std::string> programs;
  for (const char* integer : {"i32", "i64"})
    programs.push_back(fmt::format("program p(a: {0}[N], x: {0}[S]) {{ y = search(a, x) return y }}", integer));
  for (const ir::DType from : ir::kAllDTypes) {
    for (const char* taken : {"x: {}[S], i: i64[N]", "x: {}[S, T], i: i32[N]"})
      programs.push_back(fmt::format("program p({}) {{ y = take(x, i, axis = 0) return y }}",
                                     fmt::format(fmt::runtime(taken), name_of(from))));
    for (const ir::DType to : ir::kAllDTypes)
      programs.push_back(fmt::format("program p(x: {}[S]) {{ y = cast(x, {}) return y }}", name_of(from), name_of(to)));
    if (from == ir::DType::boolean) continue;
    for (const char* op : {"relu(x)", "neg(x)", "abs(x)", "sign(x)", "leaky_relu(x, alpha = 2)",
                           "clamp(x, lo = 1, hi = 3)", "maximum(x, x)", "mul(x, x)", "lt(x, x)", "ne(x, x)",
                           "pad_adjoint(x, extent = [S - 3], low = [1], high = [2], mode = reflect)"})
      programs.push_back(fmt::format("program p(x: {}[S]) {{ y = {} return y }}", name_of(from), op));
    if (!ir::is_float(from)) continue;
    for (const char* op : {"sqrt(x)", "div(x, x)", "floor(x)", "ceil(x)", "round(x)"})
      programs.push_back(fmt::format("program p(x: {}[S]) {{ y = {} return y }}", name_of(from), op));
    if (from == ir::DType::f64) continue;
    for (const ir::OpInfo& info : ir::kOperations)
      if (info.op_class == ir::OpClass::activation)
        programs.push_back(fmt::format("program p(x: {}[S]) {{ y = {}(x) return y }}", name_of(from), info.name));
  }
  return programs;
}

bool calls_only_itself(const std::string& assembly) {
  std::istringstream lines(assembly);
  for (std::string line; std::getline(lines, line);) {
    std::string mnemonic, target;
    std::istringstream(line) >> mnemonic >> target;
    const bool jumps = mnemonic == "call" || mnemonic == "callq" || mnemonic == "jmp" || mnemonic == "jmpq";
    const bool by_name = !target.empty() && (std::isalpha(static_cast<unsigned char>(target[0])) || target[0] == '_');
    if (!jumps || !by_name || target.find("p_0") != std::string::npos) continue;
    MESSAGE(target);
    return false;
  }
  return true;
}

/// Runs the only kernel of a program of one f32[S] input and one result of the same size, as one task.
std::vector<std::uint32_t> run_f32(std::string_view text, const std::vector<std::uint32_t>& input,
                                   std::string_view config = "") {
  const ir::Program program = program_of(text);
  const auto compiler = TargetCompiler::create("host");
  REQUIRE(compiler.has_value());
  const auto parsed = (*compiler)->parse_config(config);
  const auto image = runtime::load_image(*(*compiler)->compile(program, {.config = *parsed}));
  REQUIRE(image.has_value());
  ir::BindRequest request;
  request.tensors = {ir::ArgumentShape{{static_cast<std::int64_t>(input.size())}, {}}};
  const Result<ir::Binding> binding = ir::Binding::bind(program, request);
  REQUIRE(binding.has_value());
  const runtime::HostVariant& kernel = image->kernels.front().front();
  const Result<abi::LaunchPlan> plan = padlock::testing::plan_launch(kernel.abi, *binding);
  REQUIRE(plan.has_value());
  std::vector<std::uint32_t> source = input;
  std::vector<std::uint32_t> output(input.size(), 0xA5A5A5A5);
  const std::array<void*, 2> buffers = {source.data(), output.data()};
  abi::AccessFault fault;
  const abi::HostLaunch launch{buffers.data(), plan->sizes.data(), nullptr, &fault};
  kernel.entry(&launch, 0, plan->rows, 0, plan->columns);
  return output;
}

}  // namespace

TEST_CASE("emitted code imports nothing, on any CPU") {
  const std::vector<std::string> programs = all_operations();
#ifdef PADLOCK_SANITIZED  // a minute of LLVM, of which sanitizers see nothing: there each program is of one CPU
  constexpr std::size_t kStep = kCpus.size();
#else
  constexpr std::size_t kStep = 1;
#endif
  for (std::size_t cpu = 0; cpu < kCpus.size(); ++cpu) {
    CAPTURE(std::string(kCpus[cpu]));
    for (std::size_t i = cpu % kStep; i < programs.size(); i += kStep) {
      CAPTURE(programs[i]);
      CHECK(calls_only_itself(emitted(programs[i], Stage::assembly, kCpus[cpu], "unroll=1")));
    }
  }
}

TEST_CASE("bf16 is integer arithmetic where the CPU has AVX512_BF16 and where it has not") {
  const char* text = "program p(x: bf16[S]) { y = add(x, x) return y }";
  for (const char* cpu : {"host:x86-64-v3", "host:sapphirerapids", "host:cooperlake"}) {
    CAPTURE(std::string(cpu));
    const std::string assembly = emitted(text, Stage::assembly, cpu);
    CHECK(assembly.find("bf16") == std::string::npos);  // vcvtneps2bf16, vcvtne2ps2bf16, __truncsfbf2
  }
  // The check can fail: LLVM's own conversion has this name.
  CHECK(std::string("\tvcvtneps2bf16\t%zmm0, %ymm0").find("bf16") != std::string::npos);
}

TEST_CASE("f16 uses the CPU's conversions where it has them, integers elsewhere") {
  const char* text = "program p(x: f16[S]) { y = add(x, x) return y }";
  CHECK(emitted(text, Stage::assembly, "host:x86-64-v3").find("vcvtph2ps") != std::string::npos);
  CHECK(emitted(text, Stage::assembly, "host:x86-64-v2").find("cvtph2ps") == std::string::npos);
}

TEST_CASE("non-temporal stores are fenced, and only in their config") {
  const char* text = "program p(x: f32[S]) { y = pad(x, low = [1], high = [1]) return y }";
  const std::string plain = emitted(text, Stage::assembly, "host:x86-64-v3", "store=plain");
  CHECK(plain.find("movnt") == std::string::npos);
  CHECK(plain.find("sfence") == std::string::npos);
  const std::string streaming = emitted(text, Stage::assembly, "host:x86-64-v3", "store=nontemporal");
  CHECK(streaming.find("movnt") != std::string::npos);
  const std::size_t fence = streaming.find("sfence");
  REQUIRE(fence != std::string::npos);
  CHECK(streaming.find("ret", fence) != std::string::npos);  // before the task ends
}

TEST_CASE("a polynomial's coefficients are operands, not registers that are filled for each use") {
  constexpr std::string_view kGelu = "program p(x: f32[N]) { y = gelu(x) return y }";
  CHECK(emitted(kGelu, Stage::assembly, "host:x86-64-v3").find("vbroadcastsd") == std::string::npos);
  // With AVX-512 so are whole registers alone; runs of fewer elements have constants of LLVM's.
  std::istringstream lines(emitted(kGelu, Stage::assembly, "host:x86-64-v4"));
  int of_memory = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("%zmm") == std::string::npos) continue;
    CHECK(line.find("vbroadcastsd") == std::string::npos);
    of_memory += line.find("_constant_") != std::string::npos ? 1 : 0;
  }
  CHECK(of_memory >= 27);
}

TEST_CASE("a constant of f32 and one of f64 that are the same number are two places") {
  std::vector<std::uint32_t> arguments, expected;
  for (int i = 0; i < 200; ++i) {
    const float x = static_cast<float>(i) / 32 - 3;
    const float of_half = ir::float_from_bits(
        ir::DType::f16, ir::bits_from_float(ir::DType::f16, static_cast<float>(std::exp(double{x}))));
    arguments.push_back(std::bit_cast<std::uint32_t>(x));
    expected.push_back(std::bit_cast<std::uint32_t>(of_half + static_cast<float>(std::exp(double{x}))));
  }
  CHECK(
      run_f32("program p(x: f32[N]) { h = cast(x, f16) a = exp(h) b = cast(a, f32) c = exp(x) y = add(b, c) return y }",
              arguments) == expected);
}

TEST_CASE("rows that the next row's sums add up are fetched where results may go past the caches") {
  constexpr std::string_view kAdjoint =
      "program p(g: f32[H + 2*p, W], H: dim, p: dim) where H >= 2, 0 <= p, p < H "
      "{ x = pad_adjoint(g, extent = [H, W], low = [p, 0], high = [p, 0], mode = reflect) return x }";
  const auto fetches = [&](std::string_view config) {
    const std::string code = emitted(kAdjoint, Stage::llvm, "host:x86-64-v3", config);
    return code.find("\nfetched:") != std::string::npos && code.find("@llvm.prefetch") != std::string::npos;
  };
  CHECK(fetches("store=automatic"));
  CHECK_FALSE(fetches("store=plain"));
}

TEST_CASE("sums of a row's ends take one masked vector where the CPU has masks, and one loop for all lengths") {
  constexpr std::string_view kAdjoint =
      "program p(g: f32[H + 2*p, W + 2*p], H: dim, W: dim, p: dim) where H >= 1, W >= 1, p >= 0 "
      "{ x = pad_adjoint(g, extent = [H, W], low = [p, p], high = [p, p], mode = symmetric) return x }";
  const auto count = [&](std::string_view target, std::string_view what) {
    const std::string code = emitted(kAdjoint, Stage::assembly, target, "store=plain");
    std::size_t found = 0;
    for (std::size_t at = 0; (at = code.find(what, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  CHECK(count("host:x86-64-v4", "{%k1} {z}") > 0);
  CHECK(count("host:x86-64-v3", "vmaskmov") == 0);
  // One body each, in place of elements, a vector, and vectors up to the end of a run.
  CHECK(count("host:x86-64-v4", "vaddps") < count("host:x86-64-v3", "vaddps"));
}

TEST_CASE("where the walks of a row's sums begin is computed once for all of its segments") {
  constexpr std::string_view kAdjoint =
      "program p(g: f32[H + 2*p, W], H: dim, W: dim, p: dim) where 1 <= H, H <= 65536, 0 <= p, p <= 65536 "
      "{ x = pad_adjoint(g, extent = [H, W], low = [p, 0], high = [p, 0], mode = symmetric) "
      "  y = pad(x, low = [0, 1], high = [0, 1], mode = edge) return y }";
  const std::string code = emitted(kAdjoint, Stage::llvm, "host:x86-64-v3", "store=plain");
  const std::size_t entry = code.find("define void @p_0(");
  REQUIRE(entry != std::string::npos);
  CHECK(code.find(" mul i128 ") != std::string::npos);
  CHECK(code.find(" mul i128 ") > entry);  // not in a body
}

TEST_CASE("the caller's floating-point environment is replaced where arithmetic depends on it, and only there") {
  const auto replaced = [](const char* text) {
    return emitted(text, Stage::assembly, "host:x86-64-v3").find("ldmxcsr") != std::string::npos;
  };
  CHECK(replaced("program p(x: f32[S]) { y = add(x, 1) return y }"));
  CHECK(replaced("program p(x: f32[S]) { y = lt(x, 1) return y }"));  // a denormal may be read as zero
  CHECK(replaced("program p(x: i32[S]) { y = cast(x, f32) return y }"));
  CHECK_FALSE(replaced("program p(x: f32[S]) { y = pad(x, low = [1], high = [1]) z = relu(y) return z }"));
  CHECK_FALSE(replaced("program p(x: i32[S]) { y = add(x, 1) return y }"));
}

TEST_CASE("relu is no maximum, nothing is contracted, and no pointer is promised anything") {
  const std::string relu = emitted("program p(x: f32[S]) { y = relu(x) return y }", Stage::assembly, "host:x86-64-v3");
  CHECK(relu.find("maxps") == std::string::npos);
  const std::string fused = emitted("program p(x: f32[S], y: f32[S]) { a = mul(x, y) b = add(a, y) return b }",
                                    Stage::assembly, "host:x86-64-v3");
  CHECK(fused.find("fmadd") == std::string::npos);
  const std::string ir = emitted(
      "program p(x: f32[S], n: dim) where S + n >= 0 { y = pad(x, low = [n], high = [0])"
      " return y }",
      Stage::llvm);
  for (const char* promise : {"nsw", "nuw", "inbounds", "noalias", "dereferenceable", "!range", "llvm.memcpy"}) {
    CAPTURE(std::string(promise));
    CHECK(ir.find(promise) == std::string::npos);
  }
}

TEST_CASE("a caller's DAZ and FTZ change nothing and are restored") {
  std::vector<std::uint32_t> input;
  for (std::uint32_t i = 0; i < 37; ++i) input.push_back(i * 0x00123457U | (i % 2 ? 0x80000000U : 0));
  const char* programs[] = {"program p(x: f32[S]) { y = add(x, x) return y }",
                            "program p(x: f32[S]) { y = relu(x) return y }",
                            "program p(x: f32[S]) { y = clamp(x, lo = -1e-40, hi = 1e-40) return y }",
                            "program p(x: f32[S]) { a = lt(x, 0.0) y = cast(a, f32) return y }"};
  for (const char* text : programs) {
    CAPTURE(std::string(text));
    const std::vector<std::uint32_t> expected = run_f32(text, input);
    const std::uint64_t saved = testing::fp_setting();
    testing::set_fp_setting(testing::kHostileFpSetting);
    const std::uint64_t hostile = testing::fp_setting();
    const std::vector<std::uint32_t> actual = run_f32(text, input);
    const std::uint64_t after = testing::fp_setting();
    testing::set_fp_setting(saved);
    CHECK(actual == expected);
    CHECK(hostile != saved);
    CHECK(after == hostile);
  }
}

TEST_CASE("the least negative number is below zero, and -0.0 and NaNs pass relu") {
  const std::vector<std::uint32_t> input = {0x80000001, 0x80000000, 0x7fc00001, 0xffc00001, 0x7f800001,
                                            0xff800000, 0x00000001, 0xff7fffff, 0x7f800000};
  const std::vector<std::uint32_t> expected = {0, 0x80000000, 0x7fc00001, 0xffc00001, 0x7f800001, 0, 1, 0, 0x7f800000};
  CHECK(run_f32("program p(x: f32[S]) { y = relu(x) return y }", input) == expected);
}

TEST_CASE("code grows with the expressions of an index, not with their text") {
  // Each reflection uses the coordinate below it twice: forty of them are 2^40 terms of text.
  std::string text = "program p(x: f32[S]) where S >= 2 { c0 = relu(x)\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("c{} = pad(c{}, low = [1], high = [1], mode = reflect)\n", i + 1, i);
  CHECK(emitted(text + "return c40 }", Stage::llvm).size() < 100000);
}

TEST_CASE("a wide concat is compiled without a proof of each piece") {
  std::string parameters, operands;
  for (int i = 0; i < 200; ++i) {
    parameters += fmt::format("{}x{}: f32[S{}]", i == 0 ? "" : ", ", i, i);
    operands += fmt::format("x{}, ", i);
  }
  const std::string text = fmt::format("program p({}) {{ y = concat({}axis = 0) return y }}", parameters, operands);
  CHECK(emitted(text, Stage::llvm).size() < 1000000);
}

TEST_CASE("code does not depend on what the compiler made before") {
  const ir::Program program =
      value_of(ir::parse_program("program p(x: f32[B, S], lo: dim) where B >= 1, S >= 0, 0 <= lo, lo <= 8 "
                                 "{ y = pad(x, low = [0, lo], high = [0, 3]) z = relu(y) return z }"));
  const auto compiler = value_of(TargetCompiler::create("host:x86-64-v4"));
  const std::string first = value_of(compiler->emit(program, Stage::assembly, {}));
  CHECK(value_of(compiler->emit(program, Stage::assembly, {})) == first);
}

TEST_CASE("unknown CPUs are refused, and code for another CPU is not run") {
  const auto unknown = TargetCompiler::create("host:pentium9");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().code == Code::invalid_argument);
  CHECK(unknown.error().message.find("unknown target 'host:pentium9': expected host, a level") == 0);
  CHECK_FALSE(make_host_compiler("sm_90").has_value());
  const auto foreign = TargetCompiler::create("host:diamondrapids");
  REQUIRE(foreign.has_value());
  const Status here = (*foreign)->check_runs_here();
  REQUIRE_FALSE(here.has_value());
  CHECK(here.error().code == Code::failed_precondition);
  CHECK(here.error().message == "code for CPU diamondrapids may not run on this machine");
  CHECK((*TargetCompiler::create("host"))->check_runs_here());
}

}  // namespace padlock::compiler
