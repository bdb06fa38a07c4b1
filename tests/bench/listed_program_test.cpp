#include "bench/listed_program.h"

#include <doctest/doctest.h>

#include <map>

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

/// Returns the bytes of each program's tensors, by name; each takes its sizes.
std::map<std::string, std::int64_t> bytes_of_list(const char* file) {
  const auto programs =
      parse_listed_programs(testing::value_of(read_text_file(std::string(PADLOCK_BENCH_FOLDER) + file, 1 << 20)));
  REQUIRE(programs);
  std::map<std::string, std::int64_t> all;
  for (const ListedProgram& listed : *programs) {
    CAPTURE(listed.name);
    const ir::Program program = padlock::testing::program_of(listed.text);
    ir::BindRequest request{.tensors = {}, .symbols = listed.sizes};
    request.tensors.resize(program.tensor_parameters().size());
    const auto binding = ir::Binding::bind(program, request);
    REQUIRE_MESSAGE(binding.has_value(), (binding ? std::string() : binding.error().to_string()));
    std::int64_t& bytes = all[listed.name];
    for (const ir::ValueId id : program.tensor_parameters()) bytes += binding->storage_bytes(program.value(id));
    for (const ir::ValueId id : program.results()) bytes += binding->storage_bytes(program.value(id));
  }
  return all;
}

TEST_CASE("the eight programs by which builds are compared take their sizes, a megabyte or two each") {
  const auto bytes = bytes_of_list("/pairs.txt");
  CHECK(bytes.size() == 8);
  for (const auto& [name, of_program] : bytes) {
    CAPTURE(name);
    CHECK(of_program >= 700'000);
    CHECK(of_program <= 1'500'000);
  }
}

TEST_CASE("lists of layouts and of small results take their sizes") {
  CHECK(bytes_of_list("/layouts.txt").size() == 126);
  CHECK(bytes_of_list("/small.txt").size() == 43);
}

}  // namespace padlock::bench
