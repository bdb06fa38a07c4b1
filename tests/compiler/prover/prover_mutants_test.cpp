#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "tests/compiler/emit/compiled.h"
#include "tests/compiler/prover/mutant_case.h"
#include "tests/solver/failing_solver.h"

// Seeded bugs: each makes a correct kernel wrong. The prover must refute it, with a counter-example that an execution
// confirms.
namespace padlock::compiler {
namespace {

constexpr std::string_view kPad =
    "program p(x: f32[B, S], lo: dim, hi: dim) where B >= 1, S >= 1, lo >= 0, hi >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, hi]) return y }";
constexpr std::string_view kImage =
    "program p(x: f32[C, H, W], lo: dim, hi: dim) where C >= 1, H >= 1, W >= 1, lo >= 0, hi >= 0 "
    "{ y = pad(x, low = [0, lo, lo], high = [0, hi, hi]) return y }";
constexpr std::string_view kCrop =
    "program p(x: f16[B, S], lo: dim, hi: dim) where B >= 1, S >= 1, S + lo + hi >= 1 "
    "{ y = pad(x, low = [0, lo], high = [0, hi]) return y }";
constexpr std::string_view kEdge =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 1, p >= 0 "
    "{ y = pad(x, low = [p, p], high = [p, p], mode = edge) return y }";
constexpr std::string_view kReflect =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 2, 0 <= p < S "
    "{ y = pad(x, low = [0, p], high = [0, p], mode = reflect) return y }";
constexpr std::string_view kReflectRows =
    "program p(x: f32[B, S], p: dim) where B >= 2, S >= 1, 1 <= p < B "
    "{ y = pad(x, low = [p, 0], high = [p, 0], mode = reflect) return y }";
constexpr std::string_view kSymmetric =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 1, p >= 0 "
    "{ y = pad(x, low = [0, p], high = [0, p], mode = symmetric) return y }";
constexpr std::string_view kWrap =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 1, p >= 0 "
    "{ y = pad(x, low = [0, p], high = [0, p], mode = wrap) return y }";
constexpr std::string_view kSpread =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 1, p >= 0 "
    "{ y = pad(x, low = [0, p], high = [0, p], interior = [0, 2]) return y }";
constexpr std::string_view kJoin =
    "program p(a: f32[B, P], b: f32[B, Q]) where B >= 1, P >= 1, Q >= 1 { y = concat(a, b, axis = 1) return y }";
constexpr std::string_view kStack =
    "program p(a: f32[P, S], b: f32[Q, S]) where P >= 1, Q >= 1, S >= 1 { y = concat(a, b, axis = 0) return y }";
constexpr std::string_view kStrip =
    "program p(x: f32[B, S]) where B >= 1, S >= 4 { y = slice(x, start = [0, 1], limit = [B, S], step = [1, 3]) "
    "return y }";
constexpr std::string_view kPitched =
    "program p(x: f32[A, B, C] strides [B*R, R, 1]) where A >= 2, B >= 2, C >= 2, R > C { y = relu(x) return y }";
constexpr std::string_view kOverlapping =
    "program p(x: f32[A, B] strides [R, 1]) where A >= 2, B >= 2, 1 <= R < B { y = relu(x) return y }";
constexpr std::string_view kRepeated =
    "program p(x: f32[A, B] strides [0, 1]) where A >= 2, B >= 1 { y = relu(x) return y }";
constexpr std::string_view kRepeatedPad =
    "program p(x: f32[B, S] strides [0, 1], lo: dim) where B >= 1, S >= 1, lo >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, lo]) return y }";
constexpr std::string_view kTurned =
    "program p(x: f32[H, W]) where H >= 1, W >= 1 { y = transpose(x, perm = [1, 0]) return y }";
constexpr std::string_view kRotated =
    "program p(x: f32[A, B, C]) where A >= 1, B >= 1, C >= 1 { y = transpose(x, perm = [1, 2, 0]) return y }";
constexpr std::string_view kFlattened =
    "program p(x: f32[5, W]) where W >= 1 "
    "{ y = transpose(x, perm = [1, 0]) z = reshape(y, shape = [5*W]) "
    "r = pad(z, low = [1], high = [1]) return r }";
constexpr std::string_view kTwoResults =
    "program p(x: f32[B, S], lo: dim) where B >= 1, S >= 1, lo >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, 0]) z = relu(y) return y, z }";
constexpr std::string_view kTwoTypes =
    "program p(x: i8[A, B], y: f64[A, B]) where A >= 1, B >= 1 { a = relu(x) b = relu(y) return a, b }";
constexpr std::string_view kCopy = "program p(x: f16[S]) where S >= 1 { y = relu(x) return y }";
constexpr std::string_view kBias =
    "program p(x: f32[1, S], y: f32[B, S]) where B >= 1, S >= 1 { a = add(x, y) return a }";
constexpr std::string_view kMaybeEmpty =
    "program p(x: f32[B, S], lo: dim) where lo >= 0 { y = pad(x, low = [0, lo], high = [0, 0]) return y }";
constexpr std::string_view kFramed =
    "program p(x: f32[B, S], p: dim) where B >= 1, S >= 1, p >= 0 "
    "{ y = pad(x, low = [1, p], high = [1, p]) z = pad(y, low = [0, 1], high = [0, 1], mode = edge) return z }";

constexpr std::string_view kNarrow = "vector_bytes=16,unroll=1,store=plain";
constexpr std::string_view kWide = "vector_bytes=64,unroll=4,store=nontemporal";
constexpr std::string_view kStreamed = "vector_bytes=16,unroll=2,store=nontemporal";
// GPUs'.
constexpr std::string_view kVectors = "map=vector_grid,threads=128,items=2";
constexpr std::string_view kVector = "map=vector_grid,threads=256,items=1,cache=evict_first";
constexpr std::string_view kGuarded = "map=vector_grid,split=0";
constexpr std::string_view kWhole = "split=0,unroll=2";

constexpr std::string_view kAdjoint =
    "program p(g: f32[A + 2*p, B + 2*p], A: dim, B: dim, p: dim) where A >= 1, B >= 1, p >= 0 "
    "{ x = pad_adjoint(g, extent = [A, B], low = [p, p], high = [p, p], mode = edge) return x }";
constexpr std::string_view kAdjointImages =
    "program p(g: f32[A + 2*p, B + 2*p], A: dim, B: dim, p: dim) where A >= 1, B >= 1, p >= 0 "
    "{ x = pad_adjoint(g, extent = [A, B], low = [p, p], high = [p, p], mode = symmetric) return x }";
constexpr std::string_view kAdjointRows =
    "program p(g: f32[A + 2*p, B], A: dim, p: dim) where A >= 1, B >= 1, p >= 0 "
    "{ x = pad_adjoint(g, extent = [A, B], low = [p, 0], high = [p, 0], mode = edge) return x }";

struct Mutant {
  Mutation mutation;
  std::string_view program, config;
  ObligationKind expected;
};
using enum Mutation;
using Kind = ObligationKind;

constexpr auto kMutants = std::to_array<Mutant>({
    // A pad's guard and its load.
    {pad_guard_lower_dropped, kPad, kNarrow, Kind::load},
    {pad_guard_lower_dropped, kSpread, kWhole, Kind::load},
    {pad_guard_lower_dropped, kImage, kWhole, Kind::load},
    {pad_guard_upper_dropped, kPad, kWhole, Kind::load},
    {pad_guard_upper_dropped, kCrop, kNarrow, Kind::load},
    {pad_guard_lower_weak, kPad, kWide, Kind::load},
    {pad_guard_lower_weak, kTwoResults, kNarrow, Kind::load},
    {pad_guard_upper_weak, kPad, kNarrow, Kind::load},
    {pad_guard_upper_weak, kSpread, kNarrow, Kind::load},
    {pad_guard_upper_weak, kCrop, kWhole, Kind::load},
    {pad_load_added, kPad, kNarrow, Kind::load},
    {pad_load_added, kImage, kNarrow, Kind::load},
    {pad_load_added, kRepeatedPad, kWide, Kind::load},
    {load_guard_dropped, kPad, kWhole, Kind::load},
    {load_guard_dropped, kStack, kWhole, Kind::load},
    {load_guard_dropped, kSpread, kWhole, Kind::load},
    // Index maps.
    {edge_clamped_late, kEdge, kNarrow, Kind::load},
    {edge_clamped_late, kEdge, kWhole, Kind::load},
    {reflect_fold_late, kReflect, kNarrow, Kind::load},
    {reflect_fold_late, kReflectRows, kWide, Kind::load},
    {symmetric_fold_late, kSymmetric, kNarrow, Kind::load},
    {symmetric_fold_late, kSymmetric, kWhole, Kind::load},
    {wrap_period_long, kWrap, kNarrow, Kind::load},
    {wrap_period_long, kWrap, kWhole, Kind::load},
    {slice_step_long, kStrip, kNarrow, Kind::load},
    {adjoint_walk_long, kAdjoint, kNarrow, Kind::load},
    {adjoint_walk_long, kAdjointRows, kWide, Kind::load},
    {adjoint_walk_long, kAdjointRows, kWhole, Kind::load},
    {adjoint_walk_long, kAdjoint, kVectors, Kind::load},
    {adjoint_mirror_shifted, kAdjointImages, kNarrow, Kind::load},
    {adjoint_mirror_shifted, kAdjointImages, kWide, Kind::load},
    {reshape_remainder_long, kFlattened, kNarrow, Kind::load},
    {reshape_remainder_long, kFlattened, kWhole, Kind::load},
    {concat_start_ignored, kJoin, kNarrow, Kind::load},
    {concat_start_ignored, kStack, kWhole, Kind::load},
    {concat_cut_overlong, kJoin, kWide, Kind::load},
    {concat_cut_overlong, kJoin, kWhole, Kind::load},
    {transpose_inverted, kRotated, kNarrow, Kind::load},
    {broadcast_axis_kept, kBias, kNarrow, Kind::load},
    // Layouts.
    {view_extent_doubled, kPad, kNarrow, Kind::load},
    {view_extent_doubled, kTurned, kWhole, Kind::load},
    {view_extent_doubled, kTwoTypes, kNarrow, Kind::load},
    {stride_of_other_tensor, kImage, kNarrow, Kind::load},
    {stride_of_other_tensor, kPitched, kNarrow, Kind::load},
    {stride_of_other_tensor, kTurned, kWide, Kind::load},
    {merged_pitched_axes, kOverlapping, kNarrow, Kind::load},
    {merged_pitched_axes, kRepeated, kWide, Kind::load},
    {merged_reflected_axes, kReflectRows, kNarrow, Kind::load},
    // Segments, rows and the range of a launch.
    {segment_cut_shifted, kPad, kNarrow, Kind::load},
    {segment_cut_shifted, kJoin, kWide, Kind::load},
    {segment_cut_late, kPad, kNarrow, Kind::load},
    {segment_cut_late, kReflect, kNarrow, Kind::load},
    {segment_cut_unclamped, kSpread, kNarrow, Kind::load},
    {segment_gap, kPad, kNarrow, Kind::cover},
    {segment_gap, kWrap, kWide, Kind::cover},
    {row_test_swapped, kImage, kNarrow, Kind::load},
    {row_test_swapped, kFramed, kNarrow, Kind::load},
    {rows_rounded_down, kPad, kNarrow, Kind::cover},
    {rows_rounded_down, kImage, kWhole, Kind::cover},
    {columns_short, kCopy, kNarrow, Kind::cover},
    {columns_short, kTwoResults, kWhole, Kind::cover},
    {task_columns_ignored, kJoin, kNarrow, Kind::disjoint},
    {task_columns_ignored, kSpread, kWhole, Kind::disjoint},
    // Addresses.
    {stream_off_by_one, kPad, kNarrow, Kind::load},
    {stream_off_by_one, kImage, kWide, Kind::load},
    {stream_off_by_one, kTurned, kNarrow, Kind::load},
    // Loop strategies.
    {end_vector_late, kCopy, kNarrow, Kind::store},
    {end_vector_late, kJoin, kWide, Kind::disjoint},
    {first_vector_wide, kPad, kNarrow, Kind::disjoint},
    {first_vector_wide, kCopy, kWide, Kind::disjoint},
    {first_vector_wide, kCopy, kNarrow, Kind::store},
    {main_loop_late, kCopy, kNarrow, Kind::cover},
    {main_loop_late, kJoin, kStreamed, Kind::cover},
    {main_loop_long, kCopy, kStreamed, Kind::disjoint},
    {main_loop_long, kPad, kStreamed, Kind::load},
    {tail_vector_early, kCopy, kNarrow, Kind::cover},
    {tail_vector_early, kJoin, kNarrow, Kind::cover},
    {tail_vector_late, kCopy, kNarrow, Kind::store},
    {tail_vector_unclamped, kCopy, kWide, Kind::load},
    {tail_vector_unclamped, kRepeatedPad, kNarrow, Kind::disjoint},
    {tail_loop_short, kCopy, kNarrow, Kind::cover},
    {tail_loop_short, kTwoResults, kNarrow, Kind::cover},
    {peel_short, kCopy, kStreamed, Kind::cover},
    {peel_short, kPitched, kWide, Kind::cover},
    {stream_rest_lost, kCopy, kWide, Kind::cover},
    {stream_rest_lost, kJoin, kStreamed, Kind::cover},
    {element_loop_long, kCopy, kNarrow, Kind::store},
    {element_loop_long, kStrip, kWhole, Kind::load},
    {element_loop_long, kSpread, kWide, Kind::disjoint},
    {element_loop_long, kAdjointRows, kNarrow, Kind::store},  // a loop of masked vectors
    // On a GPU.
    {pad_guard_lower_dropped, kPad, kGuarded, Kind::load},
    {pad_guard_upper_weak, kPad, kVectors, Kind::load},
    {pad_load_added, kImage, kVectors, Kind::load},
    {reflect_fold_late, kReflect, kVector, Kind::load},
    {concat_cut_overlong, kJoin, kVectors, Kind::load},
    {view_extent_doubled, kTwoTypes, kVector, Kind::load},
    {segment_cut_shifted, kJoin, kVectors, Kind::load},
    {segment_gap, kPad, kVector, Kind::cover},
    {row_test_swapped, kImage, kVectors, Kind::load},
    {rows_rounded_down, kImage, kVectors, Kind::cover},
    {columns_short, kTwoResults, kVector, Kind::cover},
    {task_columns_ignored, kJoin, kVectors, Kind::disjoint},
    {stream_off_by_one, kPad, kVectors, Kind::load},
    {element_loop_long, kCopy, kVectors, Kind::disjoint},
    {element_loop_long, kStrip, kVector, Kind::load},
    {element_loop_long, kSpread, kVectors, Kind::disjoint},
});

/// A program, with the answers for its correct kernel of each config, shared by all mutants.
class Right {
 public:
  explicit Right(std::string_view text) : program_(program_of(text)) {}

  [[nodiscard]] const ir::Program& program() const { return program_; }
  const std::vector<Schedule>& schedules(std::string_view config) {
    auto& made = schedules_[std::string(config)];
    if (made.empty()) {
      Result<std::vector<Schedule>> all = schedules_of(program_, config);
      if (!all) FAIL(all.error().to_string());
      made = *std::move(all);
      for (const Schedule& schedule : made) {
        const Result<Proof> proof = list_obligations(schedule);
        REQUIRE(proof.has_value());
        CHECK(unproved(*proof) == "");
      }
    }
    return made;
  }

 private:
  ir::Program program_;
  std::map<std::string, std::vector<Schedule>> schedules_;
};

/// The kernel of that bug has a refuted obligation of the kind, and every refuted one is seen when it is executed;
/// the right kernel does nothing wrong on the same sizes.
void check_mutant(const Mutant& mutant, Right& right) {
  const std::vector<Schedule>& sound = right.schedules(mutant.config);
  const Result<std::vector<Schedule>> wrong = schedules_of(right.program(), mutant.config, mutant.mutation);
  REQUIRE(wrong.has_value());
  const Schedule& schedule = wrong->front();
  const Result<Proof> proof = list_obligations(schedule);
  REQUIRE(proof.has_value());
  bool is_expected = false;
  for (const Obligation& obligation : proof->obligations) {
    if (obligation.verdict != Verdict::refuted) continue;
    is_expected |= obligation.kind == mutant.expected;
    CHECK(not_shown(schedule, obligation) == "");
    CHECK(misdeed_at(sound.front(), obligation.found) == "");
  }
  CHECK_MESSAGE(is_expected, "no " << name_of(mutant.expected) << " is refuted: the mutant survives");
}

}  // namespace

TEST_CASE("every seeded bug is refuted by a counter-example that an execution shows") {
  std::map<std::string_view, std::unique_ptr<Right>> programs;
  for (const Mutant& mutant : kMutants) {
    CAPTURE(std::string(name_of(mutant.mutation)));
    CAPTURE(std::string(mutant.program));
    CAPTURE(std::string(mutant.config));
    auto& right = programs[mutant.program];
    if (right == nullptr) right = std::make_unique<Right>(mutant.program);
    check_mutant(mutant, *right);
  }
}

TEST_CASE("every seeded bug that the prover must find has a program") {
  static_assert(kMutants.size() >= 100);
  std::set<Mutation> seeded;
  for (const Mutant& mutant : kMutants) seeded.insert(mutant.mutation);
  for (const Mutation mutation : kMutations) {
    if (judge_of(mutation) != Judge::proof) continue;
    CAPTURE(std::string(name_of(mutation)));
    CHECK(seeded.contains(mutation));
  }
  // Some that a comparison of values must find are refuted, too.
  CHECK(std::ranges::count(seeded, Judge::proof, judge_of) == kByProof);
}

TEST_CASE("a seeded bug is named in what does not compile") {
  const ir::Program program = program_of(kPad);
  const Result<std::vector<Schedule>> wrong = schedules_of(program, kNarrow, pad_guard_lower_dropped);
  REQUIRE(wrong.has_value());
  const Result<ProvenKernel> kernel = prove(wrong->front());
  REQUIRE_FALSE(kernel.has_value());
  CHECK(kernel.error().code == Code::failed_precondition);
  CHECK(kernel.error().message.find("kernel p_0 is refuted: load of x[") != std::string::npos);
  CHECK(kernel.error().message.find("on axis 1 of x, whose extent is") != std::string::npos);
}

TEST_CASE("a launch that is not decided is not compiled, for nothing tests it") {
  const ir::Program program = program_of(kReflect);
  const Result<std::vector<Schedule>> schedules = schedules_of(program, kNarrow);
  REQUIRE(schedules.has_value());
  Schedule schedule = schedules->front();
  ir::ExprContext& exprs = schedule.exprs();
  const ir::Expr longer = exprs.sub(*exprs.find_symbol("p"), *exprs.find_symbol("S"));  // which it is not
  schedule.rows = exprs.add(schedule.rows, exprs.max(longer, exprs.constant(0)));
  CHECK(prove(schedule).has_value());
  int seen = 0;
  for (std::int64_t call = 0; call < 20; ++call) {
    solver::FailingSolver listing(call), proving(call);
    const Result<Proof> proof = list_obligations(schedule, {.solver = &listing});
    if (!proof) continue;
    const bool undecided = std::ranges::any_of(proof->obligations, [](const Obligation& o) {
      return o.verdict == Verdict::checked && o.kind == Kind::store && o.access == "rows of p_0";
    });
    if (!undecided) continue;
    ++seen;
    const Result<ProvenKernel> kernel = prove(schedule, {.solver = &proving});
    REQUIRE_FALSE(kernel.has_value());
    CHECK(kernel.error().code == Code::resource_exhausted);
    CHECK(kernel.error().message.starts_with("kernel p_0 cannot be proved: store of rows of p_0: "));
  }
  CHECK(seen > 0);
}

// The origin: storage from one expression, indices through another.
constexpr std::string_view kOrigin =
    "program p(x: f32[9, S] strides [2*S, 1], left: dim, right: dim) "
    "where S >= 128, 0 <= left <= 1024, 0 <= right <= 1024 "
    "{ padded = pad(x, low = [0, left], high = [0, right]) activated = relu(padded) return activated }";

/// With one space between words, wherever lines are broken.
std::string words_of(const std::string& text) {
  std::istringstream words(text);
  std::string joined;
  for (std::string word; words >> word;) joined += " " + word;
  return joined;
}

std::string words_of_file(const std::string& path_from_examples) {
  std::ifstream file(PADLOCK_EXAMPLES_DIR + path_from_examples);
  return words_of({std::istreambuf_iterator<char>(file), {}});
}

TEST_CASE("a view that is longer than the storage is refuted in bytes, and the right one is proved") {
  const ir::Program program = program_of(kOrigin);
  const Result<std::vector<Schedule>> wrong = schedules_of(program, kNarrow, view_extent_doubled);
  REQUIRE(wrong.has_value());
  const Result<Proof> proof = list_obligations(wrong->front());
  REQUIRE(proof.has_value());
  const Obligation* refuted = proof->refuted();
  REQUIRE(refuted != nullptr);
  CHECK(refuted->kind == Kind::load);
  CHECK(refuted->found.violation == "9216 bytes are accessed of x, whose storage is 8704 bytes");
  CHECK(words_of_file("/../docs/proofs.md").find(words_of(to_string(*refuted))) != std::string::npos);
  CHECK(std::ranges::find(refuted->found.sizes, std::pair<std::string, std::int64_t>("S", 128)) !=
        refuted->found.sizes.end());
  CHECK(not_shown(wrong->front(), *refuted) == "");
  const Result<std::vector<Schedule>> right = schedules_of(program, kNarrow);
  REQUIRE(right.has_value());
  CHECK(misdeed_at(right->front(), refuted->found) == "");
  const Result<Proof> sound = list_obligations(right->front());
  REQUIRE(sound.has_value());
  CHECK(unproved(*sound) == "");
}

TEST_CASE("the report's program is proved under every config") {
  std::ifstream file(PADLOCK_EXAMPLES_DIR "/pytorch_169760.pad");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  REQUIRE_FALSE(text.empty());
  const ir::Program program = program_of(text);
  ProofCache lemmas;
  for (const std::string_view config : {kNarrow, kWide, kStreamed, kWhole}) {
    CAPTURE(std::string(config));
    const Result<std::vector<Schedule>> schedules = schedules_of(program, config);
    REQUIRE(schedules.has_value());
    const Result<Proof> proof = list_obligations(schedules->front(), {.cache = &lemmas});
    REQUIRE(proof.has_value());
    CHECK(unproved(*proof) == "");
  }
}

}  // namespace padlock::compiler
