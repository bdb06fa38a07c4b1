#include "tests/differential/programs/random_program.h"

#include <doctest/doctest.h>

#include "ir/program.h"
#include "tests/common/environment.h"
#include "tests/differential/coverage.h"

namespace padlock::differential {
namespace {

constexpr std::uint64_t kPrograms = 400;

/// Every third program multiplies sizes and has no constraints.
Sizes sizes_of(std::uint64_t index) { return index % 3 == 2 ? Sizes::free : Sizes::stated; }

TEST_CASE("a generated program verifies, and its canonical text is a fixed point") {
  const std::uint64_t seed = testing::seed_or(11);
  CAPTURE(seed);
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    const std::string text = random_program(seed, i, sizes_of(i)).text();
    CAPTURE(i);
    CAPTURE(text);
    const Result<ir::Program> program = ir::parse_program(text);
    REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
    const std::string canonical = to_string(*program);
    const Result<ir::Program> again = ir::parse_program(canonical);
    CAPTURE(canonical);
    REQUIRE_MESSAGE(again.has_value(), (again ? "" : again.error().to_string()));
    CHECK(to_string(*again) == canonical);
  }
}

TEST_CASE("a binding is accepted exactly where the generator's own conditions hold, with the extents that it expects") {
  const std::uint64_t seed = testing::seed_or(12);
  CAPTURE(seed);
  int accepted = 0, refused = 0;
  for (std::uint64_t i = 0; i < kPrograms; ++i) {
    const GeneratedProgram generated = random_program(seed, i, sizes_of(i));
    const std::string text = generated.text();
    CAPTURE(i);
    CAPTURE(text);
    const Result<ir::Program> program = ir::parse_program(text);
    REQUIRE(program.has_value());
    testing::Rng rng = testing::Rng(seed).fork(i + 1000000);
    for (int k = 0; k < 8; ++k) {
      const SymbolValues values = k == 0 ? generated.seed_values : generated.vary(rng);
      if (!generated.within(values, std::int64_t{1} << 30)) continue;  // the bound of storage is not the question
      const Result<ir::Binding> binding = ir::Binding::bind(*program, generated.request(values, rng));
      for (const auto& [name, value] : values) CAPTURE(name + "=" + std::to_string(value));
      const bool legal = generated.legal(values);
      if (k == 0) CHECK(legal);
      REQUIRE_MESSAGE(binding.has_value() == legal, (binding ? "accepted" : binding.error().message));
      (legal ? accepted : refused) += 1;
      if (!legal) continue;
      for (const GeneratedStatement& s : generated.statements) {
        const auto id = program->find(s.name);
        REQUIRE(id.has_value());
        const std::vector<std::int64_t> extents = binding->extents_of(program->value(*id));
        REQUIRE(extents.size() == s.extents.size());
        for (std::size_t a = 0; a < extents.size(); ++a) CHECK(extents[a] == evaluate(s.extents[a], values));
      }
    }
  }
  CHECK(accepted > 500);
  CHECK(refused > 200);
}

TEST_CASE("programs of free sizes state no constraint, and multiply") {
  int products = 0;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const GeneratedProgram generated = random_program(7, i, Sizes::free);
    CHECK(generated.stated.empty());
    products += generated.text().find(" * ") != std::string::npos ? 1 : 0;
  }
  CHECK(products > 70);
}

TEST_CASE("every pair of operations, type, mode and stride kind goes round") {
  Coverage coverage;
  const std::uint64_t programs = legal_pairs().size() * 3 / 5;  // each of about 4.4 pairs
  for (std::uint64_t i = 0; i < programs; ++i) {
    const GeneratedProgram program = random_program(5, i);
    coverage.count_run(program, program.seed_values);
  }
  CHECK(coverage.runs() == programs);
  // take pairs with all operations, search with those that have integers: 22 operations before it, 26 after it.
  CHECK(legal_pairs().size() == 44 * 44 - 9 * 27 - 27 * 3 + (44 - 3) + (47 + 46 - 1) + (22 + 26));
  const auto [least, name] = coverage.rarest("run");
  CHECK_MESSAGE(least >= 2, name);
}

}  // namespace
}  // namespace padlock::differential
