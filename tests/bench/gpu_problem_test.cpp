#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "bench/gpu/data.h"
#include "bench/gpu/gpu_report.h"
#include "bench/gpu/problem.h"

namespace padlock::bench::gpu {
namespace {

TEST_CASE("the problems have the types, ranks, rows and sizes that they are to have") {
  const std::vector<Problem> problems = problems_of({Family::table}, {64 << 10, std::int64_t{2} << 30});
  std::set<std::string> programs;
  for (const Problem& p : problems) {
    programs.insert(p.program_name());
    CAPTURE(p.program_name());
    const std::int64_t element = ir::byte_size(p.dtype);
    // Misaligned rows lack a column.
    CHECK(p.input_bytes() <= p.nominal_bytes);
    CHECK(p.input_bytes() >= p.nominal_bytes / 128 * 127);
    CHECK(p.output_bytes() > p.input_bytes());
    CHECK(p.bytes() == p.input_bytes() + p.output_bytes());
    CHECK((p.extents.back() * element % 16 == 0) == p.aligned);
    CHECK((p.output_extents().back() * element % 16 == 0) == p.aligned);
    CHECK((p.low.back() * element % 16 == 0) == p.aligned);
  }
  CHECK(programs.size() == 24);
  CHECK(problems.size() == 48);
}

TEST_CASE("each family has the programs that it is for, and bytes are those of what it pads") {
  const auto programs_of = [](Family family) {
    std::vector<std::string> names;
    for (const Problem& p : problems_of({family}, {1 << 20, 4 << 20}))
      if (p.dtype == ir::DType::f32 && (names.empty() || names.back() != p.program_name()))
        names.push_back(p.program_name());
    return names;
  };
  CHECK(programs_of(Family::transpose) ==
        std::vector<std::string>{"transpose_pad_f32_matrix_aligned", "transpose_pad_f32_matrix_misaligned"});
  CHECK(programs_of(Family::variants) ==
        std::vector<std::string>{"pad_f32_rows1000_misaligned", "pad_literal_262x1000_f32_rows1000_misaligned",
                                 "pad_literal_1048x1000_f32_rows1000_misaligned", "pad_edge_f32_rows1000_misaligned",
                                 "pad_reflect_f32_rows1000_misaligned", "pad_symmetric_f32_rows1000_misaligned",
                                 "pad_wrap_f32_rows1000_misaligned"});
  // Eight lengths misaligned; aligned are those of 128, 224, 256, 1000, 4096 and 16384 columns.
  CHECK(programs_of(Family::rows).size() == 14);
  for (const Problem& p : problems_of({Family::bf16}, {1 << 20})) CHECK(p.dtype == ir::DType::bf16);
  for (const Problem& p : problems_of({Family::transpose}, {1 << 20})) {
    CHECK(p.output_extents()[0] == p.extents[1]);
    CHECK(p.output_extents()[1] == p.low[1] + p.extents[0] + p.high[1]);
  }
}

TEST_CASE("the closed form is the language's") {
  const std::vector<Family> families = {Family::table, Family::rows, Family::transpose, Family::variants, Family::bf16};
  for (const Problem& p : problems_of(families, {8 << 10, 256 << 10})) {
    CAPTURE(p.program_name());
    const Status status = Data(p.dtype).check_closed_form(p);
    CHECK_MESSAGE(status.has_value(), (status ? std::string() : status.error().message));
  }
}

TEST_CASE("the data of a type are of both signs, and none is poison") {
  const Data data(ir::DType::i8);
  const std::vector<std::byte> elements = data.elements(3000000);
  REQUIRE(elements.size() == 3000000);
  const auto negative =
      std::ranges::count_if(elements, [](std::byte b) { return (b & std::byte{0x80}) != std::byte{}; });
  CHECK(negative > 1000000);
  CHECK(negative < 2000000);
  CHECK(elements[0] == elements[1048573]);
}

TEST_CASE("sizes are read and written") {
  CHECK(parse_size("64K") == std::int64_t{65536});
  CHECK(parse_size("2G") == std::int64_t{2147483648});
  CHECK(parse_size("17") == std::int64_t{17});
  for (const char* text : {"", "K", "0", "-1", "1T", "1KB", "9999999999999999999", "99999999999999"}) {
    CAPTURE(text);
    const auto size = parse_size(text);
    REQUIRE_FALSE(size);
    CHECK(size.error().code == Code::invalid_argument);
    CHECK(size.error().message.find(text) != std::string::npos);
  }
  CHECK(size_text(64 << 10) == "64K");
  CHECK(size_text(1536) == "1.5K");
  CHECK(size_text(std::int64_t{2} << 30) == "2G");
}

}  // namespace
}  // namespace padlock::bench::gpu
