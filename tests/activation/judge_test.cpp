#include <bit>
#include <cmath>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "tests/activation/activation_run.h"
#include "tests/activation/exact.h"
#include "tests/activation/known_answers.h"
#include "tests/common/environment.h"
#include "tests/common/expect.h"
#include "tests/common/rng.h"

// Tests that the judge of the activations is right, and that it finds errors.
namespace padlock::activation {
namespace {

using ir::Op;

/// How many of the floats from 1 to 2 a function gets wrong.
template <class Function>
int wrong_on_a_sample(Judge& judge, Op op, const Function& function) {
  int wrong = 0;
  for (std::uint32_t bits = 0x3f800000; bits < 0x40000000; bits += 997) {
    const auto x = std::bit_cast<float>(bits);
    wrong += std::bit_cast<std::uint32_t>(function(x)) != std::bit_cast<std::uint32_t>(judge.value(op, x)) ? 1 : 0;
  }
  return wrong;
}

TEST_CASE("what rounds in between is found wrong") {
  Judge judge;
  CHECK(wrong_on_a_sample(judge, Op::rsqrt, [](float x) { return 1 / std::sqrt(x); }) > 1000);
  CHECK(wrong_on_a_sample(judge, Op::silu, [&](float x) { return x * judge.exact(Op::sigmoid, x); }) > 500);
  CHECK(wrong_on_a_sample(judge, Op::gelu, [&](float x) { return judge.exact(Op::gelu_tanh, x); }) > 5000);
  CHECK(wrong_on_a_sample(judge, Op::exp, [](float x) { return static_cast<float>(std::exp(double{x})); }) == 0);
}

TEST_CASE("the C library's answer is MPFR's") {
  const std::uint64_t seed = testing::seed_or(3);
  CAPTURE(seed);
  testing::Rng rng(seed);
  Judge judge;
  for (const Op op : all_activations()) {
    CAPTURE(name_of(op));
    for (int i = 0; i < 2000; ++i) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(rng.next()));
      if (std::isinf(x) || std::isnan(x)) continue;
      const float value = judge.value(op, x), exact = judge.exact(op, x);
      CHECK((std::isnan(value) ? std::isnan(exact)
                               : std::bit_cast<std::uint32_t>(value) == std::bit_cast<std::uint32_t>(exact)));
    }
  }
}

TEST_CASE("a tie but for what f64 cannot hold is asked of MPFR") {
  Judge judge;
  CHECK(judge.value(Op::exp, 0.5F) == std::exp(0.5F));
  CHECK(judge.asked_mpfr() == 0);
  CHECK(std::bit_cast<std::uint32_t>(judge.value(Op::sigmoid, std::bit_cast<float>(0x34c00000))) == 0x3f000001);
  CHECK(judge.asked_mpfr() == 1);
}

TEST_CASE("the files have every function, and a damaged one is refused") {
  std::ifstream answers(PADLOCK_ACTIVATION_DIR "/known_answers.txt"),
      arguments(PADLOCK_ACTIVATION_DIR "/hard_arguments.txt");
  const auto known = read_known_answers(answers, "known");
  const auto hard = read_hard_arguments(arguments, "hard");
  REQUIRE(known.has_value());
  REQUIRE(hard.has_value());
  for (const Op op : all_activations()) {
    CHECK(known->contains(op));
    CHECK(hard->at(op).size() > 15);
  }
  const auto refused = [&](const std::string& text, std::string_view message) {
    std::istringstream lines(text);
    const auto read = read_known_answers(lines, "damaged");
    REQUIRE_FALSE(read.has_value());
    CHECK(read.error().message == message);
  };
  refused("exp 0123 45x6\n", "damaged: expected a function and hexadecimal numbers, found 'exp 0123 45x6'");
  refused("cos 0123\n", "damaged: expected a function and hexadecimal numbers, found 'cos 0123'");
  refused("exp 0123\n", "damaged: expected 256 hashes of 'exp', found 1");
}

TEST_CASE("one wrong bit of a block gives another hash") {
  std::vector<std::uint32_t> results(1024, 0x3f800000);
  const std::uint64_t right = hash_of(results);
  results[777] ^= 1;
  CHECK(hash_of(results) != right);
}

}  // namespace
}  // namespace padlock::activation
