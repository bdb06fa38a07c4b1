#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/schedule/model/row_chunks.h"
#include "tests/common/environment.h"
#include "tests/compiler/schedule/run_on_targets.h"
#include "tests/compiler/seeded/plan_always.h"

// Rows shorter than a vector: which schedules take them in chunks, that their proof finds bugs, and that the code of
// every x86-64 level of this machine is right, between guard pages and in several tasks.
namespace padlock::compiler {
namespace {

using Kind = ObligationKind;
using ir::Expr;

constexpr std::string_view kPad =
    "program p(x: i8[B, S], lo: dim, hi: dim) where 0 <= lo, 0 <= hi "
    "{ y = pad(x, low = [0, lo], high = [0, hi], value = 7) return y }";

bool has_row_chunks(std::string_view text, std::string_view target = "host:x86-64-v3", std::string_view config = "") {
  return emitted(text, Stage::schedule, target, config).find("row chunks of ") != std::string::npos;
}

/// "1 inner axis, by 16 lanes, 2 joined"
std::string chunks_of(std::string_view text, std::string_view target) {
  const std::string schedule = emitted(text, Stage::schedule, target);
  const std::size_t at = schedule.find("row chunks of ");
  if (at == std::string::npos) return "none";
  const std::size_t shape = at + std::string_view("row chunks of ").size();
  return schedule.substr(shape, schedule.find('\n', shape) - shape);
}

// --- which ----------------------------------------------------------------------------------------------------------

TEST_CASE("short rows are taken by chunks where a target has the instruction, with as many lanes as that has") {
  const auto program = [](const char* dtype) {
    return fmt::format("program p(x: {}[B, S]) {{ y = pad(x, low = [0, 1], high = [0, 1]) return y }}", dtype);
  };
  struct Row {
    const char* target;
    const char *i8, *f16, *f32, *f64;
  };
  const auto with_axes = [](const std::string& lanes) { return lanes == "none" ? lanes : "1 inner axis, by " + lanes; };
  for (const Row& row : {
           Row{"host:x86-64", "none", "none", "none", "none"},
           Row{"host:x86-64-v2", "16 lanes", "8 lanes", "4 lanes", "2 lanes"},
           Row{"host:x86-64-v3", "16 lanes, 2 joined", "8 lanes, 2 joined", "8 lanes", "4 lanes"},
           Row{"host:x86-64-v4", "16 lanes, 4 joined", "32 lanes", "16 lanes", "8 lanes"},
           Row{"host:icelake-server", "64 lanes", "32 lanes", "16 lanes", "8 lanes"},
           Row{"host:armv8-a", "16 lanes", "8 lanes", "4 lanes", "2 lanes"},
           Row{"host:neoverse-v2", "16 lanes", "8 lanes", "4 lanes", "2 lanes"},
       }) {
    CAPTURE(row.target);
    CHECK(chunks_of(program("i8"), row.target) == with_axes(row.i8));
    CHECK(chunks_of(program("f16"), row.target) == with_axes(row.f16));
    CHECK(chunks_of(program("f32"), row.target) == with_axes(row.f32));
    CHECK(chunks_of(program("f64"), row.target) == with_axes(row.f64));
  }
}

TEST_CASE("short rows are taken by chunks whatever reads them, as long as rows are alike") {
  for (const char* const body : {
           "y = pad(x, low = [0, 1], high = [0, 2], mode = edge)",
           "y = pad(x, low = [0, 2], high = [0, 2], mode = reflect)",
           "y = pad(x, low = [0, 2], high = [0, 2], mode = symmetric)",
           "y = pad(x, low = [0, 2], high = [0, 2], mode = wrap)",
           "y = pad(x, low = [0, -1], high = [0, -1])",
           "y = pad(x, low = [0, 1], high = [0, 0], interior = [0, 1])",
           "a = pad(x, low = [0, 1], high = [0, 1]) y = relu(a)",
           "y = slice(x, start = [0, 1], limit = [B, S], step = [1, 3])",
           "y = concat(x, x, axis = 1)",
       }) {
    CAPTURE(body);
    CHECK(has_row_chunks(fmt::format("program p(x: f32[B, S]) where S >= 4 {{ {} return y }}", body)));
  }
  CHECK(has_row_chunks("program p(r: u8[N, 1], g: u8[N, 1], b: u8[N, 1]) { y = concat(r, g, b, axis = 1) return y }"));
}

TEST_CASE("a unit has the fewest inner axes outside of which least is padded") {
  const auto axes = [](std::string_view shape, std::string_view amounts, std::string_view mode = "constant") {
    const std::string text =
        fmt::format("program p(x: f32[{0}]) {{ y = pad(x, low = [{1}], high = [{1}], mode = {2}) return y }}", shape,
                    amounts, mode);
    const std::string chunks = chunks_of(text, "host:x86-64-v4");
    return chunks.substr(0, chunks.find(','));
  };
  CHECK(axes("N, H, W", "0, 0, 1") == "1 inner axis");
  CHECK(axes("N, H, W", "0, 1, 1") == "2 inner axes");
  CHECK(axes("N, C, H, W", "0, 0, 1, 1") == "2 inner axes");
  CHECK(axes("N, C, H, W", "0, 0, 1, 0") == "1 inner axis");  // H and W are merged
  CHECK(axes("N, T, H, W", "0, 1, 1, 1") == "3 inner axes");
  // Where no such axes leave nothing outside: the fewest that leave nothing along the units, or the most.
  CHECK(axes("N, C, T, H, W", "0, 1, 1, 1, 1") == "3 inner axes");
  CHECK(axes("H, 7", "1, 1") == "1 inner axis");
  CHECK(axes("H, W", "1, 1") == "none");  // mostly long
  CHECK(axes("C, H, W", "1, 1, 1") == "2 inner axes");
  CHECK(axes("C, H, 7", "1, 0, 1") == "1 inner axis");  // C and H are merged
  for (const char* const mode : {"edge", "wrap", "symmetric", "reflect"})
    CHECK(axes("N, 5, 7", "0, 1, 2", mode) == "2 inner axes");
}

TEST_CASE("rows have no chunks where they are long, or one, or their columns lie apart") {
  CHECK_FALSE(has_row_chunks("program p(x: f32[S]) { y = pad(x, low = [1], high = [1]) return y }"));
  CHECK_FALSE(
      has_row_chunks("program p(x: f32[B, S]) where S >= 31 { y = pad(x, low = [0, 1], high = [0, 1]) return y }"));
  CHECK(has_row_chunks("program p(x: f32[B, S]) where S >= 30 { y = pad(x, low = [0, 1], high = [0, 1]) return y }"));
  CHECK_FALSE(has_row_chunks("program p(x: f32[A, B, C]) { y = transpose(x, perm = [2, 1, 0]) return y }"));
  CHECK_FALSE(has_row_chunks("program p(x: u8[N, 3, L]) { y = transpose(x, perm = [0, 2, 1]) return y }"));
  CHECK_FALSE(
      has_row_chunks("program p(x: f32[B, S]) { y = pad(x, low = [3, 0], high = [3, 1], mode = reflect) return y }"));
  CHECK_FALSE(has_row_chunks(
      "program p(x: f32[N, H, W]) where W >= 31 { y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) return y }"));
  CHECK_FALSE(has_row_chunks(
      "program p(x: f32[B, S]) { y = pad(x, low = [0, 1], high = [0, 1], interior = [1, 0]) return y }"));
  CHECK_FALSE(has_row_chunks(kPad, "host:x86-64-v3", "split=0"));
  CHECK_FALSE(has_row_chunks(kPad, "host:x86-64-v3", "plan=0"));
  CHECK(has_row_chunks(kPad, "host:x86-64-v3", "plan=1"));
}

TEST_CASE("chunks of full vectors go past the caches where a config lets them, with a fence after them") {
  const auto stores = [](std::string_view config, const char* target = "host:x86-64-v4") {
    const std::string code = emitted(kPad, Stage::llvm, target, config);
    const std::string chunks = code.substr(code.find(".chunks("));
    return std::pair(chunks.find("!nontemporal") != std::string::npos, code.find("sse.sfence") != std::string::npos);
  };
  CHECK(stores("store=automatic") == std::pair(true, true));
  CHECK(stores("store=nontemporal") == std::pair(true, true));
  CHECK(stores("store=plain") == std::pair(false, false));
  for (const char* const target : {"host:x86-64-v2", "host:x86-64-v3"}) CHECK(stores("", target).first);
  // A vector of the narrower result has 8 bytes.
  CHECK(emitted("program p(x: i16[B, S], y: f32[B, S]) { a = pad(x, low = [0, 1], high = [0, 1]) "
                "b = pad(y, low = [0, 1], high = [0, 1]) return a, b }",
                Stage::schedule, "host:x86-64-v2")
            .find("past the caches") == std::string::npos);
}

TEST_CASE("windows of 16 bytes are permuted and stored several as one where a target permutes by blocks") {
  const auto has = [](std::string_view intrinsic, const char* dtype, std::string_view target) {
    const std::string text =
        fmt::format("program p(x: {}[B, S]) {{ y = pad(x, low = [0, 1], high = [0, 1]) return y }}", dtype);
    return emitted(text, Stage::llvm, target).find(intrinsic) != std::string::npos;
  };
  constexpr std::string_view kTwo = "@llvm.x86.avx2.pshuf.b(", kFour = "@llvm.x86.avx512.pshuf.b.512(";
  for (const char* const dtype : {"i8", "f16"}) {
    CHECK(has(kTwo, dtype, "host:x86-64-v3"));
    CHECK_FALSE(has(kTwo, dtype, "host:x86-64-v2"));
    CHECK_FALSE(has(kFour, dtype, "host:icelake-server"));  // one instruction permutes all of a vector
  }
  CHECK(has(kFour, "i8", "host:x86-64-v4"));
  CHECK_FALSE(has(kTwo, "f32", "host:x86-64-v3"));
  // AArch64 has one instruction for elements of every size.
  for (const char* const dtype : {"i8", "f16", "f32", "f64"})
    CHECK(has("@llvm.aarch64.neon.tbl1.v16i8(", dtype, "host:armv8-a"));
}

// --- proof ----------------------------------------------------------------------------------------------------------

class Mutant final : public PassEdits {
 public:
  using Edit = std::function<void(ir::ExprContext&, const RowChunkVariables&, RowChunks&)>;
  explicit Mutant(Edit edit) : edit_(std::move(edit)) {}

  void covered(Schedule& schedule) const override {
    edit_(schedule.exprs(), RowChunkVariables(schedule.exprs()), *schedule.row_chunks());
  }

 private:
  Edit edit_;
};

struct SeededBug {
  const char* name;
  Kind expected;
  Mutant::Edit edit;
};

std::vector<SeededBug> seeded_bugs() {
  const auto plus = [](ir::ExprContext& exprs, Expr& e, int by) { e = exprs.add(e, exprs.constant(by)); };
  return {
      {"a task's last vector reaches an element of the next task", Kind::store,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.limit, 1); }},
      {"the last chunk is bounded by its elements, not by its vectors", Kind::store,
       [](auto& exprs, auto& at, auto& rows) { rows.loop.limit = exprs.sub(at.elements, at.size); }},
      {"all vectors but the last are bounded", Kind::store,
       [=](auto& exprs, auto& at, auto& rows) {
         rows.loop.limit = exprs.sub(at.elements, exprs.constant(rows.loop.lanes));
       }},
      {"the next chunk begins after whole vectors", Kind::cover,
       [](auto& exprs, auto& at, auto& rows) {
         rows.loop.next = exprs.add(at.chunk, exprs.add(at.last, exprs.constant(rows.loop.lanes)));
       }},
      {"the next chunk begins an element late", Kind::cover,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.next, 1); }},
      {"a vector is given a lane that it has not", Kind::cover,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.filled_limit, 1); }},
      {"a window begins an element before its tensor", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.window_least, -1); }},
      {"a window ends an element after its tensor", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.window_limit, 1); }},
      {"only the first window of a chunk is bounded", Kind::load,
       [](auto& exprs, auto& at, auto& rows) {
         rows.loop.window_limit = exprs.sub(at.storage, exprs.constant(rows.loop.lanes));
       }},
      {"an element lies just past its window", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.loop.span_limit, 1); }},
      {"a unit begins an element late", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.sources[0].base, 1); }},
      {"the next unit begins an element late", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.sources[0].step, 1); }},
      {"a lane takes the next element", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.offsets[0].column, 1); }},
      {"a row of a unit begins an element late", Kind::load,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.offsets[0].row, 1); }},
      {"every unit is the first", Kind::load,
       [](auto& exprs, auto&, auto& rows) { rows.sources[0].step = exprs.constant(0); }},
      {"a unit is taken that is not alike", Kind::cover,
       [=](auto& exprs, auto&, auto& rows) { plus(exprs, rows.alike, 1); }},
  };
}
constexpr int kSeededBugs = 16;

TEST_CASE("row chunks are proved, and each seeded bug in them is refuted with an example") {
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create("host:x86-64-v4"));
  const std::array<std::string_view, 5> programs = {
      kPad,
      "program p(x: f32[H, W], p: dim) where 0 <= p <= 3, W <= 20 { y = pad(x, low = [p, 1], high = [2, p]) return y }",
      "program p(x: f32[B, S], p: dim) where 0 <= p < S { y = pad(x, low = [0, p], high = [0, p], mode = reflect) "
      "return y }",
      "program p(x: u8[N, H, W], p: dim) where 0 <= p < H, p < W { y = pad(x, low = [0, p, p], high = [0, p, p], "
      "mode = reflect) return y }",
      "program p(x: f16[A, B, 9]) { y = pad(x, low = [0, 1, 1], high = [0, 1, -1]) return y }"};
  int refuted = 0;
  for (const std::string_view text : programs) {
    CAPTURE(text);
    const ir::Program program = program_of(text);
    const auto is_of_chunks = [](const Obligation& one) { return one.of_row_chunks; };
    for (const Proof& proof : value_of(compiler->prove(program, {}))) {
      CHECK(std::ranges::count_if(proof.obligations, is_of_chunks) >= 3);
      for (const Obligation& one : proof.obligations)
        if (is_of_chunks(one)) CHECK_MESSAGE(one.verdict == Verdict::proved, to_string(one));
    }
    for (const SeededBug& bug : seeded_bugs()) {
      CAPTURE(bug.name);
      const Mutant mutant(bug.edit);
      const std::vector<Proof> proofs =
          value_of(compiler->prove(program, {.config = {}, .bounds_check = false, .edits = &mutant}));
      const Obligation* found = proofs.front().refuted();
      REQUIRE(found != nullptr);
      CHECK(found->kind == bug.expected);
      CHECK(is_of_chunks(*found));
      CHECK_FALSE(found->found.violation.empty());
      CHECK_FALSE(compiler->compile(program, {.config = {}, .bounds_check = false, .edits = &mutant}));
      ++refuted;
    }
  }
  CHECK(refuted == kSeededBugs * std::ssize(programs));
}

TEST_CASE("what is not decided of row chunks withdraws them, and leaves nothing to be checked") {
  // Elements' numbers are products of sizes that nothing bounds: ranges do not show that they fit 64 bits.
  const ir::Program program = program_of(
      "program p(x: f16[a - 12, a - 4, a] strides [1, 2, 1], a: dim, b: dim, c: dim, d: dim, e: dim)\n"
      "where d < 88, a <= b - 105\n"
      "{ flat = reshape(x, shape = [b, a - 12])\n"
      "  wide = pad(flat, mode = symmetric, low = [min(c, 4), d], high = [1, d + 1])\n"
      "  row = reshape(wide, shape = [1, (min(c, 4) + b + 1) * (2*d + a - 11)])\n"
      "  y = slice(row, start = [c, e], limit = [1, min(334, b + 172)], step = [1, 2]) return y }");
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create("host:x86-64-v3"));
  REQUIRE(has_row_chunks(ir::to_string(program)));
  int withdrawn = 0;
  for (const Proof& proof : value_of(compiler->prove(program, {}))) {
    CHECK(proof.count(Verdict::checked) == 0);
    for (const Obligation& one : proof.obligations) {
      if (!one.of_row_chunks) continue;
      ++withdrawn;
      CHECK_MESSAGE(one.verdict == Verdict::dead, to_string(one));
      CHECK(to_string(one).ends_with(
          "never, for row chunks are taken where all of it is decided contradicts width row chunks in 64 bits is not: "
          "ranges do not show it"));
    }
  }
  CHECK(withdrawn == 8);
  CHECK(compiler->compile(program, {}).has_value());
}

// --- execution ------------------------------------------------------------------------------------------------------

/// Rows of 0 to 66 elements, few and many: about as many elements each time.
std::vector<Sizes> rows_of(const Sizes& amounts) {
  std::vector<Sizes> all;
  for (const std::int64_t s :
       {1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 23, 30, 31, 32, 33, 47, 60, 61, 62, 63, 64, 66, 100, 126})
    for (const std::int64_t b : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, 1 + 900 / s}) {
      Sizes one = amounts;
      one.emplace_back("B", b);
      one.emplace_back("S", s);
      all.push_back(std::move(one));
    }
  return all;
}

TEST_CASE("row chunks have the interpreter's bits, at any length, in memory between guard pages, in several tasks") {
  const std::vector<std::pair<std::string_view, Sizes>> programs = {
      {"program p(x: i8[B, S], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi], value = 7) return y }",
       {{"lo", 1}, {"hi", 1}}},
      {"program p(x: f16[B, S], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi], value = 7) return y }",
       {{"lo", 0}, {"hi", 3}}},
      {"program p(x: f32[B, S], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi]) z = relu(y) return z }",
       {{"lo", -1}, {"hi", -1}}},
      {"program p(x: f64[B, S], lo: dim, hi: dim) { y = pad(x, low = [0, lo], high = [0, hi]) return y }",
       {{"lo", 2}, {"hi", -1}}},
      {"program p(x: u8[B, S]) { y = pad(x, low = [0, 1], high = [0, 1], mode = edge) return y }", {}},
      {"program p(x: i16[B, S]) where S >= 3 { y = pad(x, low = [0, 2], high = [0, 2], mode = reflect) return y }", {}},
      {"program p(x: f32[B, S]) { y = pad(x, low = [0, 5], high = [0, 2], mode = symmetric) return y }", {}},
      {"program p(x: i8[B, S]) { y = pad(x, low = [0, 3], high = [0, 3], mode = wrap) return y }", {}},
      {"program p(x: i8[B, S, 7]) { y = pad(x, low = [0, 1, 1], high = [0, 2, 1], value = 3) return y }", {}},
      {"program p(x: u8[B, S]) { y = pad(x, low = [0, 1], high = [0, 0], interior = [0, 2], value = 3) return y }", {}},
      {"program p(x: i8[B, S]) where S >= 4 { y = slice(x, start = [0, 1], limit = [B, S], step = [1, 3]) return y }",
       {}},
      {"program p(x: f32[B, 5, S]) { y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) z = relu(y) return z }", {}},
      {"program p(x: f16[B, 3, S]) where S >= 3 { y = pad(x, low = [0, 2, 2], high = [0, 1, 2], mode = reflect) "
       "return y }",
       {}},
      {"program p(x: u8[B, 3, S]) { y = pad(x, low = [0, 1, 3], high = [0, 2, 0], mode = edge) return y }", {}},
      {"program p(x: i8[B, 4, S]) { y = pad(x, low = [0, 3, 1], high = [0, 1, 1], mode = wrap) return y }", {}},
      {"program p(x: u8[B, 6, S]) { y = pad(x, low = [0, -1, 1], high = [0, -2, -1], value = 9) return y }", {}},
      {"program p(x: f64[B, 2, 3, S]) { y = pad(x, low = [0, 1, 1, 1], high = [0, 0, 1, 2]) return y }", {}},
      {"program p(x: u8[B, 4, S], m: f32) { y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) z = cast(y, f32) "
       "c = sub(z, m) return c }",
       {}},
      {"program p(x: f32[B, 7, S], w: f32[B, 5, S + 2]) { q = slice(w, start = [0, 0, 0], limit = [B, 5, S]) "
       "y = concat(x, q, axis = 1) return y }",
       {}},
      {"program p(x: i16[B, 2, S], w: i16[B, 3, S]) { y = concat(x, w, axis = 1) "
       "z = pad(y, low = [0, 1, 1], high = [0, 1, 1]) return z }",
       {}},
      {"program p(x: f32[B, S], p: dim) where S <= 30 { y = pad(x, low = [p, 1], high = [2, 1], value = 5) return y }",
       {{"p", 3}}},
      {"program p(x: i8[B, S], p: dim) where S <= 126 { y = pad(x, low = [p, 1], high = [1, 1]) return y }",
       {{"p", -1}}},
      {"program p(x: u8[B, 5, S]) { y = pad(x, low = [1, 1, 1], high = [2, 1, 0], value = 3) return y }", {}},
      {"program p(x: f16[B, 5, S]) where S <= 61 { y = pad(x, low = [1, 0, 1], high = [0, 0, 1]) return y }", {}},
      {"program p(x: i16[B, S], w: i16[3, S]) where S <= 61 { y = concat(w, x, w, axis = 0) z = pad(y, low = [0, 1], "
       "high = [0, 2]) "
       "return z }",
       {}},
      {"program p(x: f32[B, 2, 3, S] strides [48*S, 24*S, S, 1]) { y = pad(x, low = [0, 0, 1, 1], "
       "high = [0, 0, 1, 1]) return y }",
       {}},
      {"program p(x: i8[B, S], y: i8[B, 1]) { z = concat(x, y, x, axis = 1) return z }", {}},
      {"program p(x: i8[B, S], y: f32[B, S]) { a = cast(x, f32) b = add(a, y) "
       "z = pad(b, low = [0, 1], high = [0, 1]) return z }",
       {}},
      {"program p(x: f16[B, S], k: f16) { y = pad(x, low = [0, 1], high = [0, 0], value = k) z = add(y, y) return z }",
       {}},
      {"program p(x: i8[B, S]) { y = pad(x, low = [0, 1], high = [0, 1]) z = cast(y, i32) return y, z }", {}},
  };
  const std::uint64_t seed = testing::seed_or(7);
  MESSAGE("PADLOCK_SEED=", seed);  // for data, misalignments and task boundaries
  for (const std::string& target : runnable_targets())
    for (const auto& [text, amounts] : programs) {
      CAPTURE(target);
      CAPTURE(text);
      CHECK(has_row_chunks(text, target));
      CHECK(differences(text, target, rows_of(amounts), plan_always(), seed) == "");
      CHECK(differences(text, target, rows_of(amounts), plan_always(), seed, "store=nontemporal") == "");
    }
}

TEST_CASE("large results have their short rows taken by chunks without being asked to") {
  const Sizes large = {{"B", 9001}, {"S", 5}, {"lo", 1}, {"hi", 2}};
  CHECK(differences(kPad, "host", {large}, nullptr, 7) == "");
  const Sizes planes = {{"N", 301}, {"H", 7}, {"W", 9}};
  CHECK(differences("program p(x: f16[N, H, W]) { y = pad(x, low = [0, 1, 1], high = [0, 1, 1]) return y }", "host",
                    {planes}, nullptr, 7) == "");
}

}  // namespace
}  // namespace padlock::compiler
