#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/common/environment.h"
#include "tests/ir/program_testing.h"

namespace padlock::ir {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE_MESSAGE(file.good(), path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text of every ```pad block of a Markdown file.
std::vector<std::string> pad_blocks(const std::string& markdown) {
  std::vector<std::string> blocks;
  static constexpr std::string_view kOpen = "```pad\n", kClose = "\n```";
  for (std::size_t at = markdown.find(kOpen); at != std::string::npos; at = markdown.find(kOpen, at)) {
    at += kOpen.size();
    const std::size_t end = markdown.find(kClose, at);
    REQUIRE(end != std::string::npos);
    blocks.push_back(markdown.substr(at, end + 1 - at));
    at = end;
  }
  return blocks;
}

std::vector<std::string> documented_programs() { return pad_blocks(read_file(PADLOCK_SOURCE_DIR "/docs/language.md")); }

std::vector<std::filesystem::path> example_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PADLOCK_SOURCE_DIR "/examples"))
    if (entry.path().extension() == ".pad") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Programs that between them use every production of the grammar and every operation.
const std::vector<std::string>& corpus() {
  static const std::vector<std::string> kPrograms = {
      "program a(x: f32[B, S], lo: dim) where 1 <= B <= 4096, S <= 65536, -8 <= lo <= 8, S + lo >= 0 {"
      " y = pad(x, low = [0, lo], high = [0, -(S + lo) mod 8], value = -1.5) z = relu(y) return z }",
      "program b(x: bf16[N, C, H, W] strides [H*W*C, 1, W*C, C], p: dim) where p <= 64, H > 0, W > 0 {"
      " y = pad(x, low = [0, 0, p, p], high = [0, 0, p, p], mode = reflect) return y, x }",
      "program c(x: f16[S], y: f16[T], a: f16, k: dim) where S == T, k floordiv 3 >= -5, max(k, 2, S) <= 900, S mod 8 "
      "== 0 {"
      " s = add(x, y) m = mul(s, a) d = div(m, 0.1) r = leaky_relu(d, alpha = 1e-3) c = clamp(r, lo = -inf, hi = a)"
      " n = lt(c, y) return c, n }",
      "program d(x: i32[S + 1 - 1, 2*S], S: dim, T: dim) where S >= 1, T >= S, T mod S == 0 {"
      " t = transpose(x, perm = [1, 0]) b = broadcast(t, shape = [3, 2*S, S], axes = [1, 2]) g = neg(b)"
      " h = slice(g, start = [0, S, 0], limit = [3, 2*S, S ceildiv 2], step = [2, 1, 1]) return h }",
      "program e(x: bool[4], y: bool[N, 1], v: bool) { a = and(x, y) o = or(a, v) n = not(o) e = eq(n, true)"
      " s = select(e, x, false) p = pad(s, low = [N, 1], high = [0, 1], interior = [2, 0], value = v)"
      " c = concat(p, p, axis = 1) i = cast(c, i8) f = cast(i, f64) q = sqrt(f) return q, e }",
      "program i(x: i8[N, C, S], z: i8[C, 1], w: dim) where w >= 1, S mod w == 0 {"
      " p = pad(x, low = [0, 0, w], high = [1, 0, 0], value = z) q = pad(x, low = [0, 0, 0], high = [0, 0, 1], value = "
      "i8(0)) r = reshape(p, shape = [N + 1, C, S floordiv w + 1, w]) i = iota(f16, shape = [N, 4], axis = 1)"
      " g = gt(i, 1.5) k = select(g, f16(0.5), -inf) c = cast(u8(200), f32) n = not(bool(1)) return q, r, k, c, n }",
      "program j(g: bf16[2*N + 1, M], N: dim, M: dim, lo: dim) where N >= 0, M >= 1, lo <= M {"
      " a = pad_adjoint(g, extent = [N + 1, M], low = [0, 0], high = [0, 0], interior = [1, 0])"
      " b = pad_adjoint(a, extent = [N + 1, M - lo], low = [0, lo], high = [0, 0], interior = [0, 0], mode = constant)"
      " c = pad_adjoint(a, extent = [N, M], low = [1, 0], high = [0, 0], mode = wrap) return b, c }",
      "program f(x: u64[], y: f64[], s: i16) { a = add(x, 18446744073709551615) b = maximum(y, nan) c = abs(b)"
      " d = minimum(c, bits(0x7ff0000000000001)) e = sub(s, -32768) g = ne(s, 1) return a, d, e, g }",
      "program g(x: f32[A, B] strides [P, Q], y: f32[B] strides [0]) where P >= B * Q { z = add(x, y)"
      " w = pad(z, low = [0, 0], high = [1, 1], mode = constant, interior = [0, 0], value = 0) return w }",
      "program k(x: f32[A, B, C], i: i64[N, 1], j: i64[M], o: i32[P], f: f32[C]) {"
      " y = take(x, i, j, axes = [0, 1], value = f) z = take(x, j, axis = 2, value = f32(A + B - 1)) s = search(o, o)"
      " t = take(y, s, axis = 1, value = nan) n = add(i32(A * B + 1), 2) return y, z, s, t, n }",
      "program h(x: f32[A], m: dim) where (A - m) * (A + m) >= 0, A - min(m, 4) > 3, 7 == m mod 16 {"
      " y = pad(x, low = [m * A floordiv 2], high = [-(m * A floordiv 2)], mode = symmetric)"
      " z = pad(y, low = [max(m, 0)], high = [0], mode = edge) u = pad(z, low = [1], high = [0], mode = wrap)"
      " l = le(u, 1) k = gt(z, 0.5) j = ge(x, -0.0) return u, l, k, j }",
  };
  return kPrograms;
}

TEST_CASE("canonical text reads back to the same text and the same requirements") {
  std::vector<std::string> programs = corpus();
  for (const auto& file : example_files()) programs.push_back(read_file(file));
  for (const std::string& block : documented_programs()) programs.push_back(block);
  for (const std::string& text : programs) {
    INFO(text);
    const Program first = testing::accept(text);
    const std::string printed = to_string(first);
    INFO(printed);
    const Program second = testing::accept(printed);
    CHECK(to_string(second) == printed);
    REQUIRE(second.requirements().size() == first.requirements().size());
    for (std::size_t i = 0; i < first.requirements().size(); ++i) {
      CHECK(to_string(second.exprs(), second.requirements()[i].constraint) ==
            to_string(first.exprs(), first.requirements()[i].constraint));
      CHECK(second.requirements()[i].what == first.requirements()[i].what);
    }
    for (std::uint32_t s = 0; s < first.exprs().symbol_count(); ++s) {
      CHECK(second.exprs().symbol(s).range == first.exprs().symbol(s).range);
      CHECK(second.exprs().symbol(s).congruence == first.exprs().symbol(s).congruence);
      CHECK(second.exprs().symbol(s).kind == first.exprs().symbol(s).kind);
    }
  }
}

TEST_CASE("the guide's programs verify") { CHECK(documented_programs().size() >= 5); }

TEST_CASE("the examples verify") { CHECK(example_files().size() >= 6); }

/// A text with one to four bytes or pieces changed, dropped, doubled or taken from another program.
std::string mutate(std::string text, std::mt19937_64& random) {
  static constexpr const char* kPieces[] = {"0",       "-1",    "9223372036854775807",
                                            "*",       " mod ", " floordiv 0",
                                            "S",       "(",     ")",
                                            "[",       "]",     ",",
                                            "bits(0x", "nan",   "==",
                                            "<=",      "min(",  "x",
                                            "\xff",    "/",     "1e999",
                                            "dim",     "f16",   "\n"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  for (std::size_t edits = 1 + below(2) * below(4); edits > 0 && !text.empty(); --edits) {
    const std::size_t at = below(text.size()), length = 1 + below(12);
    switch (below(5)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, kPieces[below(std::size(kPieces))]);
        break;
      case 2:
        text.replace(at, length, kPieces[below(std::size(kPieces))]);
        break;
      case 3:
        text.insert(at, text.substr(below(text.size()), length));
        break;
      default: {
        const std::string& other = corpus()[below(corpus().size())];
        text.insert(at, other.substr(below(other.size()), 3 * length));
      }
    }
  }
  return text;
}

TEST_CASE("20000 mutated programs are accepted or refused, quickly, and what is accepted reads back") {
  const std::uint64_t seed = padlock::testing::seed_or(19720221);
  MESSAGE("PADLOCK_SEED=", seed);
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = mutate(corpus()[random() % corpus().size()], random);
    INFO(text);
    const std::clock_t start = std::clock();
    const auto program = parse_program(text);
    const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (took > 1) FAIL("took ", took, " s");
    if (!program) {
      if (program.error().code == Code::internal || program.error().message.empty()) FAIL(program.error().to_string());
      continue;
    }
    ++accepted;
    const std::string printed = to_string(*program);
    const auto again = parse_program(printed);
    if (!again) FAIL(printed, again.error().to_string());
    if (to_string(*again) != printed) FAIL(printed, "reads back as\n", to_string(*again));
  }
  CHECK(accepted > 200);  // else the mutations test nothing behind the parser
}

}  // namespace
}  // namespace padlock::ir
