#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/schedule/model/turn.h"
#include "tests/common/environment.h"
#include "tests/compiler/schedule/run_on_targets.h"

// Runs whose columns lie apart in the loaded tensor: which schedules take them by boxes, that their proof finds bugs,
// and that the code of every x86-64 level of this machine is right.
namespace padlock::compiler {
namespace {

using Kind = ObligationKind;

std::string to_planes(const char* dtype, const char* more = "return z") {
  return fmt::format(
      "program p(x: {}[N, H, W, C], m: f32[C, 1, 1]) {{ y = transpose(x, perm = [0, 3, 1, 2]) "
      "z = pad(y, low = [0, 0, 1, 1], high = [0, 0, 1, 1]) {} }}",
      dtype, more);
}

std::string to_pixels(const char* dtype) {
  return fmt::format(
      "program p(x: {}[N, C, H, W]) {{ y = transpose(x, perm = [0, 2, 3, 1]) "
      "z = pad(y, low = [0, 1, 1, 0], high = [0, 1, 1, 0]) return z }}",
      dtype);
}

/// "4 rows by 16 lanes, 4 rows by 4 lanes"
struct Boxes {
  std::string many = "none", few = "none";  // rows
};

Boxes boxes_of(std::string_view text, std::string_view target, std::string_view config = "") {
  const std::string schedule = emitted(text, Stage::schedule, target, config);
  constexpr std::string_view kBoxes = "boxes of ";
  Boxes all;
  for (std::size_t at = schedule.find(kBoxes); at != std::string::npos; at = schedule.find(kBoxes, at + 1)) {
    const std::size_t begin = at + kBoxes.size();
    const std::string one = schedule.substr(begin, schedule.find('\n', begin) - begin);
    std::string& list = one.contains(" if ") ? all.few : all.many;
    list = list == "none" ? one : list + ", " + one;
  }
  return all;
}

// --- which ----------------------------------------------------------------------------------------------------------

TEST_CASE("a box has a block of 16 bytes of each column, and as many columns as the target shuffles at once") {
  struct Row {
    const char* dtype;
    const char *sse, *avx2, *avx512;
  };
  for (const Row& row : {
           Row{"u8", "16 rows by 16 lanes", "16 rows by 32 lanes, 16 rows by 16 lanes",
               "16 rows by 64 lanes, 16 rows by 16 lanes"},
           Row{"f16", "8 rows by 8 lanes", "8 rows by 16 lanes, 8 rows by 8 lanes",
               "8 rows by 32 lanes, 8 rows by 8 lanes"},
           Row{"f32", "4 rows by 4 lanes", "4 rows by 8 lanes, 4 rows by 4 lanes",
               "4 rows by 16 lanes, 4 rows by 8 lanes, 4 rows by 4 lanes"},
           Row{"f64", "2 rows by 2 lanes", "2 rows by 4 lanes, 2 rows by 2 lanes",
               "2 rows by 8 lanes, 2 rows by 4 lanes, 2 rows by 2 lanes"},
       }) {
    CAPTURE(std::string(row.dtype));
    for (const std::string& text : {to_planes(row.dtype), to_pixels(row.dtype)}) {
      CHECK(boxes_of(text, "host:x86-64").many == row.sse);
      CHECK(boxes_of(text, "host:x86-64-v2").many == row.sse);
      CHECK(boxes_of(text, "host:x86-64-v3").many == row.avx2);
      CHECK(boxes_of(text, "host:x86-64-v4").many == row.avx512);
      CHECK(boxes_of(text, "host:x86-64-v4", "vector_bytes=16").many == row.sse);
      CHECK(boxes_of(text, "host:armv8-a").many == row.sse);
    }
  }
}

TEST_CASE("where rows are few, a block has those of several columns, if the target takes any of its bytes") {
  CHECK(boxes_of(to_planes("u8"), "host:x86-64-v4").few ==
        "4 rows by 32 lanes if C - 1 >= 0 and -C + 4 >= 0, 8 rows by 32 lanes if C - 1 >= 0 and -C + 8 >= 0");
  CHECK(boxes_of(to_planes("f16"), "host:x86-64-v2").few == "4 rows by 8 lanes if C - 1 >= 0 and -C + 4 >= 0");
  CHECK(boxes_of(to_planes("f16"), "host:armv8-a").few == "4 rows by 8 lanes if C - 1 >= 0 and -C + 4 >= 0");
  CHECK(boxes_of(to_planes("f16"), "host:x86-64").few == "none");
  CHECK(boxes_of(to_planes("f32"), "host:x86-64").few == "4 rows by 4 lanes if C - 1 >= 0");
  CHECK(boxes_of(to_planes("f64"), "host:x86-64-v4").few == "none");
}

TEST_CASE("rows of few columns are interleaved where they follow each other in the result, and all have a block") {
  const auto interleaved = [](std::string_view text, std::string_view target = "host:x86-64-v4") {
    const std::string schedule = emitted(text, Stage::schedule, target);
    std::string all;
    for (std::size_t at = schedule.find("interleaved "); at != std::string::npos;
         at = schedule.find("interleaved ", at + 1))
      all += schedule.substr(at, schedule.find(", ", at) - at) + ";";
    return all;
  };
  CHECK(interleaved(to_pixels("u8")) == "interleaved 4 columns by 32 rows;interleaved 8 columns by 32 rows;");
  CHECK(interleaved(to_pixels("f16"), "host:x86-64-v3") ==
        "interleaved 4 columns by 16 rows;interleaved 8 columns by 16 rows;");
  CHECK(interleaved(to_pixels("f32"), "host:x86-64-v2") == "interleaved 4 columns by 4 rows;");
  CHECK(interleaved(to_pixels("f32"), "host:neoverse-n1") == "interleaved 4 columns by 4 rows;");
  CHECK(interleaved(to_pixels("f32"), "host:x86-64").empty());
  CHECK(interleaved(to_pixels("f64")) == "interleaved 4 columns by 8 rows;");
  CHECK(interleaved(to_pixels("f64"), "host:x86-64-v2") == "interleaved 4 columns by 4 rows;");
  CHECK(interleaved(to_planes("u8")).empty());
  CHECK(interleaved("program p(x: u8[C, L], m: f32[C]) { t = transpose(x, perm = [1, 0]) f = cast(t, f32) "
                    "w = broadcast(m, shape = [L, C], axes = [1]) a = sub(f, w) return a }") ==
        "interleaved 4 columns by 16 rows;");
  CHECK(interleaved("program p(x: u8[C, L], m: f32[L]) { t = transpose(x, perm = [1, 0]) f = cast(t, f32) "
                    "w = broadcast(m, shape = [L, C], axes = [0]) a = sub(f, w) return a }") ==
        "interleaved 4 columns by 16 rows;");
  CHECK(interleaved("program p(x: u8[C, L]) { t = transpose(x, perm = [1, 0]) f = cast(t, f32) return t, f }").empty());
}

TEST_CASE("a box has operations, and other types, as long as there is a block of each load") {
  CHECK(boxes_of(to_planes("u8", "w = cast(z, f32) a = sub(w, m) return a"), "host:x86-64-v4").many ==
        "16 rows by 16 lanes");
  CHECK(
      boxes_of("program p(x: u8[N, C, L], m: f32[C]) { t = transpose(x, perm = [0, 2, 1]) f = cast(t, f16) return f }",
               "host:x86-64-v4")
          .many == "16 rows by 16 lanes");
  const Boxes two = boxes_of(
      "program p(x: u8[A, B], z: f32[A, B]) { s = transpose(x, perm = [1, 0]) t = transpose(z, perm = [1, 0]) "
      "f = cast(s, f32) a = add(f, t) return a }",
      "host:x86-64-v3");
  CHECK(two.many == "16 rows by 16 lanes");
  CHECK(two.few == "none");
}

TEST_CASE("there are no boxes where nothing is turned, or not in all places, or there is much to compute") {
  for (const char* const text : {
           "program p(x: f32[A, B]) { y = pad(x, low = [1, 1], high = [1, 1]) return y }",
           "program p(x: f32[A, B]) where B >= 9 { y = slice(x, start = [0, 1], limit = [A, B], step = [1, 3]) "
           "return y }",
           "program p(x: f32[A, B]) { t = transpose(x, perm = [1, 0]) y = pad(t, low = [2, 0], high = [2, 0], "
           "interior = [1, 0]) return y }",
           "program p(x: f32[A, B]) { t = transpose(x, perm = [1, 0]) y = gelu(t) return y }",
       }) {
    CAPTURE(std::string(text));
    CHECK(boxes_of(text, "host").many == "none");
    CHECK(boxes_of(text, "host").few == "none");
  }
}

TEST_CASE("rows are counted along the axis whose neighbours a block has") {
  const auto order = [](std::string_view text) {
    const std::string schedule = emitted(text, Stage::schedule, "host");
    constexpr std::string_view kOrder = "rows in the order of axis ";
    const std::size_t at = schedule.find(kOrder);
    return at == std::string::npos ? "the last" : schedule.substr(at + kOrder.size(), 2);
  };
  CHECK(order(to_planes("f32")) == "$1");
  CHECK(order(to_pixels("f32")) == "the last");
  CHECK(order("program p(x: f32[A, B, C]) { y = transpose(x, perm = [2, 1, 0]) return y }") == "$0");
  CHECK(order("program p(x: f32[A, B, C]) { y = transpose(x, perm = [1, 0, 2]) return y }") == "the last");
}

// --- proof ----------------------------------------------------------------------------------------------------------

class Mutant final : public PassEdits {
 public:
  using Edit = std::function<void(ir::ExprContext&, Turn&)>;
  explicit Mutant(Edit edit) : edit_(std::move(edit)) {}

  void covered(Schedule& schedule) const override {
    for (Body& body : schedule.bodies)
      for (Turn& turn : body.turns) edit_(schedule.exprs(), turn);
  }

 private:
  Edit edit_;
};

/// Rows of an input that are no neighbours.
class OtherRows final : public PassEdits {
 public:
  void covered(Schedule& schedule) const override {
    for (ScheduledCase& row : schedule.cases)
      for (SegmentCall& call : row.calls)
        for (LoadSource& source : call.sources)
          if (!schedule.body_of(call).turns.empty()) source.step = schedule.exprs().constant(2);
  }
};

struct SeededBug {
  const char* name;
  Kind expected;
  Mutant::Edit edit;
};

std::vector<SeededBug> seeded_bugs() {
  const auto plus = [](ir::ExprContext& exprs, Expr& e, int by) { e = exprs.add(e, exprs.constant(by)); };
  const auto columns = [](Turn& turn) -> VectorLoop& { return turn.along_columns.loops.front(); };
  const auto rows = [](Turn& turn) -> VectorLoop& { return turn.along_rows.loops.front(); };
  return {
      {"the last box is not moved back", Kind::store,
       [=](auto&, Turn& turn) { columns(turn).last = columns(turn).limit; }},
      {"the last box ends a column late", Kind::store,
       [=](auto& exprs, Turn& turn) { plus(exprs, columns(turn).last, 1); }},
      {"the last box ends a column early", Kind::store,
       [=](auto& exprs, Turn& turn) { plus(exprs, columns(turn).last, -1); }},
      {"runs of a column less than a box has are let in", Kind::store,
       [=](auto& exprs, Turn& turn) { plus(exprs, turn.along_columns.entry_conditions[0], 1); }},
      {"the boxes of the last rows are left out", Kind::cover,
       [=](auto& exprs, Turn& turn) { plus(exprs, rows(turn).limit, -turn.rows); }},
      {"a box has a column more", Kind::store, [](auto&, Turn& turn) { turn.lanes += 1; }},
      {"a box has a block's rows twice", Kind::store, [](auto&, Turn& turn) { turn.rows *= 2; }},
      {"a shuffle begins with the other vector", Kind::load,
       [](auto&, Turn& turn) { std::swap(turn.loads[0].shuffles.back().first, turn.loads[0].shuffles.back().second); }},
      {"two lanes are exchanged", Kind::load,
       [](auto&, Turn& turn) {
         std::swap(turn.loads[0].shuffles.back().lanes[0], turn.loads[0].shuffles.back().lanes[1]);
       }},
      {"two rows are exchanged", Kind::load,
       [](auto&, Turn& turn) { std::swap(turn.loads[0].shuffles.back(), *(turn.loads[0].shuffles.end() - 2)); }},
      {"the last level is left out", Kind::load,
       [](auto&, Turn& turn) {
         turn.loads[0].shuffles.resize(turn.loads[0].shuffles.size() - static_cast<std::size_t>(turn.loads[0].rows));
       }},
      {"a block has half of the rows", Kind::load, [](auto&, Turn& turn) { turn.loads[0].rows /= 2; }},
  };
}

/// Of boxes of many rows.
std::vector<SeededBug> seeded_bugs_of_many() {
  const auto plus = [](ir::ExprContext& exprs, Expr& e, int by) { e = exprs.add(e, exprs.constant(by)); };
  return {
      {"the last box ends a row late", Kind::store,
       [=](auto& exprs, Turn& turn) { plus(exprs, turn.along_rows.loops.front().last, 1); }},
      {"runs of a row less than a box has are let in", Kind::store,
       [=](auto& exprs, Turn& turn) { plus(exprs, turn.along_rows.entry_conditions[0], 1); }},
  };
}

/// Returns the seeded bugs of boxes of few rows.
std::vector<SeededBug> seeded_bugs_of_few() {
  return {
      {"rows that there are not are not left out", Kind::store,
       [](auto&, Turn& turn) { turn.along_rows.loops.front().masked = false; }},
      {"a block ends an element after the storage", Kind::load,
       [](auto& exprs, Turn& turn) {
         turn.loads[0].last_block = exprs.add(turn.loads[0].last_block, exprs.constant(1));
       }},
      {"too little of the end of a run is left out", Kind::load, [](auto&, Turn& turn) { turn.left_out -= 1; }},
      {"columns may be in any order", Kind::load, [](auto&, Turn& turn) { turn.tests.erase(turn.tests.begin()); }},
  };
}

/// Returns the seeded bugs of boxes whose blocks have several columns.
std::vector<SeededBug> seeded_bugs_of_groups() {
  return {
      {"a column may have more rows than a block", Kind::load, [](auto&, Turn& turn) { turn.tests.pop_back(); }},
      {"two bytes are exchanged", Kind::load,
       [](auto&, Turn& turn) { std::swap(turn.loads[0].grouped[0][0], turn.loads[0].grouped[0][1]); }},
      {"columns lie as far apart as they may", Kind::load,
       [](auto&, Turn& turn) { turn.loads[0].grouped.front() = turn.loads[0].grouped.back(); }},
      {"bytes are not grouped", Kind::load, [](auto&, Turn& turn) { turn.loads[0].grouped.clear(); }},
  };
}

bool is_of_boxes(const Obligation& one) {
  return one.access.contains("boxes of ") || one.access.contains(" turned into ") || one.access.contains("blocks of ");
}

class InterleaveMutant final : public PassEdits {
 public:
  explicit InterleaveMutant(void (*edit)(ir::ExprContext&, Interleave&)) : edit_(edit) {}

  void covered(Schedule& schedule) const override {
    for (Body& body : schedule.bodies)
      for (Interleave& all : body.interleaves) edit_(schedule.exprs(), all);
  }

 private:
  void (*edit_)(ir::ExprContext&, Interleave&);
};

TEST_CASE("rows of few columns are proved, and each seeded bug in them is refuted with an example") {
  using Edit = void (*)(ir::ExprContext&, Interleave&);
  const std::array<std::pair<const char*, Edit>, 8> bugs = {{
      {"a column's loads are those of one row", [](auto&, Interleave& all) { all.loads.clear(); }},
      {"the last box is not moved back",
       [](auto&, Interleave& all) { all.along_rows.loops[0].last = all.along_rows.loops[0].limit; }},
      {"the last box ends a row late",
       [](auto& exprs, Interleave& all) {
         all.along_rows.loops[0].last = exprs.add(all.along_rows.loops[0].last, exprs.constant(1));
       }},
      {"a block reaches past the rows", [](auto&, Interleave& all) { all.left_out[0] -= 1; }},
      {"there are more columns than a box has", [](auto&, Interleave& all) { all.tests.erase(all.tests.begin()); }},
      {"there may be no columns", [](auto&, Interleave& all) { all.tests.pop_back(); }},
      {"two vectors are exchanged",
       [](auto&, Interleave& all) { std::swap(all.shuffles.back(), *(all.shuffles.end() - 2)); }},
      {"a level is left out",
       [](auto&, Interleave& all) {
         all.shuffles.resize(all.shuffles.size() - static_cast<std::size_t>(all.columns));
       }},
  }};
  // Of blocks that have several rows.
  const std::array<std::pair<const char*, Edit>, 3> bugs_of_bytes = {{
      {"two bytes are exchanged",
       [](auto&, Interleave& all) {
         if (all.block_rows > 1) std::swap(all.grouped[1][0], all.grouped[1][3]);
       }},
      {"blocks are those of fewer columns",
       [](auto&, Interleave& all) {
         if (all.block_rows > 1) all.grouped[2] = all.grouped[0];
       }},
      {"blocks stay in the order of columns", [](auto&, Interleave& all) { all.grouped.clear(); }},
  }};
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create("host:x86-64-v4"));
  const auto is_of_rows = [](const Obligation& one) {
    return one.access.contains(" columns interleaved in ") || one.access.contains(" rows in body ");
  };
  for (const char* const dtype : {"u8", "f16", "f32", "f64"}) {
    const ir::Program program = program_of(to_pixels(dtype));
    const std::vector<Proof> right = value_of(compiler->prove(program, {}));
    CHECK(std::ranges::count_if(right.front().obligations, is_of_rows) >= 2);
    CHECK(right.front().count(Verdict::proved) == std::ssize(right.front().obligations));
    std::vector<std::pair<const char*, Edit>> seeded(bugs.begin(), bugs.end());
    if (dtype[0] == 'u' || std::string_view(dtype) == "f16")
      seeded.insert(seeded.end(), bugs_of_bytes.begin(), bugs_of_bytes.end());
    for (const auto& [name, edit] : seeded) {
      CAPTURE(std::string(dtype));
      CAPTURE(std::string(name));
      const InterleaveMutant mutant(edit);
      const std::vector<Proof> proofs =
          value_of(compiler->prove(program, {.config = {}, .bounds_check = false, .edits = &mutant}));
      const Obligation* found = proofs.front().refuted();
      REQUIRE(found != nullptr);
      CHECK(is_of_rows(*found));
      CHECK_FALSE(found->found.violation.empty());
    }
  }
}

/// Edits the boxes for which `which` holds. The prover must refute the program by an obligation about boxes.
void check_refuted(const ir::Program& program, const std::vector<SeededBug>& bugs, bool (*which)(const Turn&)) {
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create("host:x86-64-v4"));
  for (const SeededBug& bug : bugs) {
    CAPTURE(std::string(bug.name));
    int edited = 0;
    const Mutant mutant([&](ir::ExprContext& exprs, Turn& turn) {
      if (!which(turn)) return;
      bug.edit(exprs, turn);
      ++edited;
    });
    const std::vector<Proof> proofs =
        value_of(compiler->prove(program, {.config = {}, .bounds_check = false, .edits = &mutant}));
    CHECK(edited > 0);
    const Obligation* found = proofs.front().refuted();
    REQUIRE(found != nullptr);
    CHECK(found->kind == bug.expected);
    CHECK(is_of_boxes(*found));
    CHECK_FALSE(found->found.violation.empty());
  }
}

TEST_CASE("boxes are proved, and each seeded bug in them is refuted with an example") {
  const std::unique_ptr<TargetCompiler> compiler = value_of(TargetCompiler::create("host:x86-64-v4"));
  for (const char* const dtype : {"u8", "f16", "f32", "f64"}) {
    CAPTURE(std::string(dtype));
    const ir::Program program = program_of(to_planes(dtype));
    const std::vector<Proof> right = value_of(compiler->prove(program, {}));
    CHECK(std::ranges::count_if(right.front().obligations, is_of_boxes) >= 6);
    CHECK(right.front().count(Verdict::proved) == std::ssize(right.front().obligations));
    check_refuted(program, seeded_bugs(), [](const Turn&) { return true; });
    check_refuted(program, seeded_bugs_of_many(), [](const Turn& turn) { return !turn.few_rows; });
    const OtherRows others;
    const std::vector<Proof> proofs =
        value_of(compiler->prove(program, {.config = {}, .bounds_check = false, .edits = &others}));
    REQUIRE(proofs.front().refuted() != nullptr);
    CHECK(to_string(*proofs.front().refuted()).contains("the element after one is not that of the next row"));
  }
  for (const char* const dtype : {"u8", "f16", "f32"})
    check_refuted(program_of(to_planes(dtype)), seeded_bugs_of_few(), [](const Turn& turn) { return turn.few_rows; });
  for (const char* const dtype : {"u8", "f16"})
    check_refuted(program_of(to_planes(dtype)), seeded_bugs_of_groups(),
                  [](const Turn& turn) { return turn.loads[0].columns > 1; });
}

// --- execution ------------------------------------------------------------------------------------------------------

/// Sizes around those of boxes, many of them odd, few and many in turn.
std::vector<Sizes> sizes_of_boxes() {
  std::vector<Sizes> all;
  int at = 0;
  const std::array<std::int64_t, 13> columns = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 64, 90};
  for (const std::int64_t c : columns)
    for (const std::int64_t w : columns) {
      ++at;
      all.push_back({{"N", 1 + at % 2}, {"H", 1 + at % 3}, {"W", w}, {"C", c}});
    }
  return all;
}

TEST_CASE("boxes have the interpreter's bits, at any size, in memory between guard pages, in several tasks") {
  std::vector<std::string> programs;
  for (const char* const dtype : {"i8", "f16", "f32", "f64"}) {
    programs.push_back(to_planes(dtype));
    programs.push_back(to_pixels(dtype));
  }
  for (const char* const body : {
           "w = cast(z, f32) a = sub(w, m) return a",
           "w = cast(z, f16) return z, w",
       })
    programs.push_back(to_planes("u8", body));
  for (const char* const text : {
           "program p(x: f32[C, H, W]) { y = transpose(x, perm = [2, 1, 0]) z = relu(y) return z }",
           "program p(x: f16[N, W, C]) { y = transpose(x, perm = [2, 0, 1]) z = pad(y, low = [0, 0, -1], high = [0, 0, "
           "2]) "
           "return z }",
           "program p(x: u8[C, W], m: f32[C]) { t = transpose(x, perm = [1, 0]) f = cast(t, f32) "
           "w = broadcast(m, shape = [W, C], axes = [1]) a = sub(f, w) return a }",
           "program p(x: f16[C, W], m: f16[W]) { t = transpose(x, perm = [1, 0]) "
           "w = broadcast(m, shape = [W, C], axes = [0]) a = sub(t, w) return a }",
           "program p(x: f32[W, C], b: u8[W, C]) { s = transpose(x, perm = [1, 0]) t = transpose(b, perm = [1, 0]) "
           "f = cast(t, f32) a = add(s, f) return a }",
           "program p(x: u8[W, C]) where W >= 4, C >= 1 { s = transpose(x, perm = [1, 0]) "
           "y = pad(s, low = [0, 3], high = [0, 3], mode = reflect) return y }",
       })
    programs.emplace_back(text);
  const std::uint64_t seed = testing::seed_or(11);
  MESSAGE("PADLOCK_SEED=", seed);  // for data, misalignments and task boundaries
  std::vector<std::string> targets = runnable_targets();
  targets.emplace_back("host:x86-64");
  for (const std::string& target : targets)
    for (const std::string& text : programs) {
      CAPTURE(target);
      CAPTURE(text);
      CHECK(boxes_of(text, target).many != "none");
      CHECK(differences(text, target, sizes_of_boxes(), nullptr, seed) == "");
    }
}

}  // namespace
}  // namespace padlock::compiler
