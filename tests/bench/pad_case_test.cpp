#include "bench/pad_case.h"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "bench/pad_check.h"
#include "bench/pad_program.h"
#include "support/file.h"
#include "tests/common/expect.h"

namespace padlock::bench {
namespace {

constexpr std::array kTypes = {ir::DType::f32, ir::DType::f16, ir::DType::bf16, ir::DType::i8};

std::vector<PadCase> cases_of_file(const char* section) {
  const auto text = read_text_file(PADLOCK_BENCH_FOLDER "/cases.txt", 1 << 20);
  REQUIRE(text);
  auto cases = parse_cases(*text, section);
  REQUIRE_MESSAGE(cases.has_value(), (cases ? std::string() : cases.error().to_string()));
  return *std::move(cases);
}

/// The case on smaller extents, with numbers for pads.
PadCase small(const PadCase& pad) {
  PadCase made = pad;
  for (std::size_t i = 0; i < made.rank(); ++i) {
    made.extents[i] = std::min<std::int64_t>(made.extents[i], 5 + static_cast<std::int64_t>(i));
    made.low[i] = std::clamp<std::int64_t>(made.low[i], -2, 4);
    made.high[i] = std::to_string((made.low[i] + 1) % 3);
  }
  return made;
}

std::string refusal(std::string_view text) { return padlock::testing::refusal_of(parse_cases(text, "programs")); }

}  // namespace

TEST_CASE("the file has forty programs of different names, which the language takes in every form") {
  const std::vector<PadCase> cases = cases_of_file("programs");
  CHECK(cases.size() == 40);
  CHECK(cases_of_file("sweep").size() >= 4);
  std::set<std::string> names, modes;
  for (const PadCase& pad : cases) {
    names.insert(pad.name);
    modes.insert(pad.mode);
    for (const ir::DType dtype : kTypes)
      for (const bool relu : {false, true}) {
        const std::string text = program_text({.pad = pad, .dtype = dtype, .relu = relu});
        const auto program = session::Program::from_text(text);
        CHECK_MESSAGE(program.has_value(), (program ? std::string() : program.error().to_string()));
      }
  }
  CHECK(names.size() == 40);
  CHECK(modes.size() == 5);
}

TEST_CASE("a case of the file") {
  const std::vector<PadCase> cases = cases_of_file("programs");
  const auto swin = std::ranges::find(cases, "swin_window", &PadCase::name);
  REQUIRE(swin != cases.end());
  CHECK(program_text({.pad = *swin, .dtype = ir::DType::f16, .relu = true}) ==
        "program swin_window(x: f16[N, H, W, C])\n{\n"
        "  y = pad(x, low = [0, 0, 0, 0], high = [0, -H mod 7, -W mod 7, 0], mode = constant, value = 0)\n"
        "  z = relu(y)\n  return z\n}\n");
  session::Context context({.threads = 1, .parallel_for = {}});
  const auto program = PadProgram::make(context, {.pad = *swin});
  REQUIRE(program);
  CHECK(program->spec.pad.high == std::vector<std::string>{"0", "3", "2", "0"});
  CHECK(result_extents(program->spec.pad) == std::vector<std::int64_t>{1, 203, 336, 96});
}

TEST_CASE("a line that is no case is refused with its number") {
  const std::string head = "[programs]\n";
  CHECK(refusal(head + "a; H=1; 0; 0; constant") ==
        "line 2: expected name; extents; low; high; mode; value, found 5 fields");
  CHECK(refusal("\n" + head + "a; H; 0; 0; constant; 0") == "line 3: expected an extent like N=8, found 'H'");
  CHECK(refusal(head + "a; H=0; 0; 0; constant; 0") == "line 2: expected an extent like N=8, found 'H=0'");
  CHECK(refusal(head + "a; H=1; x; 0; constant; 0") == "line 2: expected a low pad that is a number, found 'x'");
  CHECK(refusal(head + "a; H=1; 0; 0, 0; constant; 0") == "line 2: expected 1 low and high pads, found 1 and 2");
}

TEST_CASE("other forms of a case move the same bytes") {
  for (const PadCase& pad : cases_of_file("sweep")) {
    for (const ir::DType dtype : kTypes)
      for (const std::int64_t shift : {0, 1}) {
        const PadCase other = of_type(pad, dtype, shift);
        CHECK(element_count(other.extents) * ir::byte_size(dtype) == element_count(pad.extents) * 4);
        CHECK(element_count(result_extents(other)) * ir::byte_size(dtype) == element_count(result_extents(pad)) * 4);
        CHECK(other.low.back() == pad.low.back() * 4 / ir::byte_size(dtype) + shift);
      }
  }
  const PadCase stem{.name = "stem",
                     .symbols = {"N", "C", "H", "W"},
                     .extents = {2, 3, 10, 8},
                     .low = {0, 0, 3, 3},
                     .high = {"0", "0", "2", "1"}};
  const PadCase flat = as_rank_2(stem);
  CHECK(flat.extents == std::vector<std::int64_t>{60, 8});
  CHECK(result_extents(flat) == std::vector<std::int64_t>{2 * 3 * 15, 12});
  CHECK(flat.low[1] == 3);
}

// Every mode, type and sign of a pad. Padlock and the definition here share no code.
TEST_CASE("results agree with their definition, and one that does not is found") {
  session::Context context({.threads = 1, .parallel_for = {}});
  std::set<std::string> seen;
  for (const PadCase& pad : cases_of_file("programs")) {
    const bool has_crop = std::ranges::any_of(pad.low, [](std::int64_t n) { return n < 0; });
    if (!seen.insert(fmt::format("{} {} {}", pad.mode, pad.value, has_crop)).second) continue;
    for (const ir::DType dtype : kTypes) {
      const auto program = PadProgram::make(context, {.pad = small(pad), .dtype = dtype, .relu = seen.size() % 2 == 0});
      REQUIRE(program);
      auto arrays = PadArrays::create(std::max(program->result_bytes(), program->bound.inputs()[0].storage_bytes));
      REQUIRE(arrays);
      const Status right = arrays->check(*program);
      CHECK_MESSAGE(right.has_value(), (right ? std::string() : right.error().to_string()));
      const std::size_t last = static_cast<std::size_t>(program->result_bytes()) - 1;
      arrays->result()[last] ^= std::byte{1};
      const Status wrong = check_result(program->spec, arrays->input(), arrays->result());
      REQUIRE_FALSE(wrong);
      CHECK(wrong.error().message ==
            fmt::format("{} of {} differs from its definition at byte {}", pad.name, ir::name_of(dtype), last));
    }
  }
  CHECK(seen.size() >= 7);
}

}  // namespace padlock::bench
