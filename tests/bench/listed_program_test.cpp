#include "bench/listed_program.h"

#include <doctest/doctest.h>

#include <set>

#include "ir/binding/binding.h"
#include "ir/program.h"
#include "support/file.h"
#include "tests/common/expect.h"

namespace padlock::bench {
namespace {

std::string refused_list(std::string_view text) { return padlock::testing::refusal_of(parse_listed_programs(text)); }

}  // namespace

TEST_CASE("a list has a name, sizes and a program a line") {
  const auto programs =
      parse_listed_programs("# comment\n\n a ; N=8 lo=-1 ; program p(x: f32[N]) { y = neg(x) return y }\nb;;c");
  REQUIRE(programs);
  REQUIRE(programs->size() == 2);
  CHECK((*programs)[0].name == "a");
  CHECK((*programs)[0].sizes == std::map<std::string, std::int64_t>{{"N", 8}, {"lo", -1}});
  CHECK((*programs)[0].text == "program p(x: f32[N]) { y = neg(x) return y }");
  CHECK((*programs)[1].sizes.empty());
}

TEST_CASE("a line that is none is refused with its number") {
  CHECK(refused_list("# comment\na; N=8") == "line 2: expected name; sizes; program, found 2 fields");
  CHECK(refused_list("a; N=x; p") == "line 1: expected a size like N=8, found 'N=x'");
  CHECK(refused_list("a; N; p") == "line 1: expected a size like N=8, found 'N'");
  CHECK(refused_list("a; =8; p") == "line 1: expected a size like N=8, found '=8'");
}

TEST_CASE("the eight programs by which builds are compared take their sizes, a megabyte or two each") {
  const auto text = read_text_file(PADLOCK_BENCH_FOLDER "/pairs.txt", 1 << 20);
  REQUIRE(text);
  const auto programs = parse_listed_programs(*text);
  REQUIRE(programs);
  CHECK(programs->size() == 8);
  std::set<std::string> names;
  for (const ListedProgram& listed : *programs) {
    CAPTURE(listed.name);
    names.insert(listed.name);
    const ir::Program program = padlock::testing::program_of(listed.text);
    ir::BindRequest request{.tensors = {}, .symbols = listed.sizes};
    request.tensors.resize(program.tensor_parameters().size());
    const auto binding = ir::Binding::bind(program, request);
    REQUIRE_MESSAGE(binding.has_value(), (binding ? std::string() : binding.error().to_string()));
    std::int64_t bytes = 0;
    for (const ir::ValueId id : program.tensor_parameters()) bytes += binding->storage_bytes(program.value(id));
    for (const ir::ValueId id : program.results()) bytes += binding->storage_bytes(program.value(id));
    CHECK(bytes >= 700'000);
    CHECK(bytes <= 1'500'000);
  }
  CHECK(names.size() == 8);
}

}  // namespace padlock::bench
