// The proof of reads by data, from their guards, and of searches, from their loop. Each seeded bug is refuted; if a
// load goes wrong, an execution shows it.
#include <functional>
#include <memory>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/pass_edits.h"
#include "compiler/pipeline.h"
#include "compiler/targets/gpu_config.h"
#include "tests/common/expect.h"
#include "tests/compiler/prover/mutant_case.h"

namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::string_view kRows =
    "program p(x: f32[R, C], i: i64[N]) where R >= 1, C >= 1, N >= 1 "
    "{ y = take(x, i, axis = 0) return y }";
constexpr std::string_view kColumns =
    "program p(x: f32[R, C], i: i64[N]) where R >= 1, C >= 1, N >= 1 "
    "{ y = take(x, i, axis = 1) return y }";
constexpr std::string_view kPairs =
    "program p(x: f32[R, C], i: i32[N], j: i32[N]) where R >= 1, C >= 1, N >= 1 "
    "{ y = take(x, i, j, axes = [0, 1]) return y }";
constexpr std::string_view kTwice =
    "program p(x: f32[R, C], t: i32[M], i: i32[N]) where R >= 1, C >= 1, M >= 1, N >= 1 "
    "{ j = take(t, i, axis = 0, value = -1) y = take(x, j, axis = 0) return y }";
constexpr std::string_view kSearch =
    "program p(a: i64[N], x: i64[M]) where N >= 1, M >= 1 { y = search(a, x) return y }";
constexpr std::string_view kPadded =
    "program p(x: f32[R, C], i: i64[N], w: dim) where R >= 1, C >= 1, N >= 1, 0 <= w <= 9 "
    "{ f = pad(x, low = [w, w], high = [w, w], mode = edge) t = take(f, i, axis = 0) "
    "y = pad(t, low = [0, w], high = [0, 0], value = 2) return y }";

using EditTake = std::function<void(ir::ExprContext&, TakenAxis&)>;
using EditSearch = std::function<void(ir::ExprContext&, Search&)>;

class WrongMaps final : public IndexMaps {
 public:
  WrongMaps(ir::ExprContext& exprs, ir::Facts facts, const EditTake& take, const EditSearch& search)
      : IndexMaps(exprs, std::move(facts)), take_(take), search_(search) {}
  TakenAxis take(Expr number, Expr extent) override {
    TakenAxis made = IndexMaps::take(number, extent);
    if (take_) take_(exprs_, made);
    return made;
  }
  Search search(Search search) override {
    search = IndexMaps::search(search);
    if (search_) search_(exprs_, search);
    return search;
  }

 private:
  const EditTake& take_;
  const EditSearch& search_;
};

class Edits final : public PassEdits {
 public:
  Edits(EditTake take, EditSearch search) : take_(std::move(take)), search_(std::move(search)) {}
  std::unique_ptr<IndexMaps> index_maps(ir::ExprContext& exprs, ir::Facts facts) const override {
    return std::make_unique<WrongMaps>(exprs, std::move(facts), take_, search_);
  }

 private:
  EditTake take_;
  EditSearch search_;
};

/// The schedules of all kernels for the host and for a GPU.
std::vector<Schedule> schedules_of(const ir::Program& program, const PassEdits* edits) {
  std::vector<Schedule> all;
  for (Kernel& kernel : testing::value_of(lower(program, edits)))
    all.push_back(schedule_for_host(std::move(kernel), HostConfig{}, edits));
  for (Kernel& kernel : testing::value_of(lower(program, edits)))
    for (Schedule& schedule : schedules_for_gpu(std::move(kernel), GpuConfig::standard(), edits, nullptr))
      all.push_back(std::move(schedule));
  return all;
}

void check_refuted(std::string_view text, const Edits& edits, bool executes = true) {
  CAPTURE(text);
  const ir::Program program = testing::program_of(text);
  for (const Schedule& schedule : schedules_of(program, &edits)) {
    const Proof proof = testing::value_of(list_obligations(schedule, {}));
    const Obligation* refuted = proof.refuted();
    REQUIRE_MESSAGE(refuted != nullptr, to_string(schedule));
    CHECK(refuted->kind == ObligationKind::load);
    if (executes && schedule.grid() == nullptr) CHECK(not_shown(schedule, *refuted) == "");
    CHECK(!prove(schedule, {}));
  }
}

}  // namespace

TEST_CASE("reads by data and searches are proved, none is tested in the code") {
  for (const std::string_view text : {kRows, kColumns, kPairs, kTwice, kSearch, kPadded}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    for (const Schedule& schedule : schedules_of(program, nullptr)) {
      const Proof proof = testing::value_of(list_obligations(schedule, {}));
      for (const Obligation& one : proof.obligations) CHECK_MESSAGE(one.verdict != Verdict::checked, to_string(one));
      CHECK(proof.refuted() == nullptr);
    }
  }
}

TEST_CASE("a guard that is dropped is refuted") {
  const Edits edits([](ir::ExprContext&, TakenAxis& axis) { axis.conditions.clear(); }, {});
  for (const std::string_view text : {kRows, kColumns, kPairs, kTwice}) check_refuted(text, edits);
}

TEST_CASE("a guard that lets an index below 0 pass is refuted") {
  const Edits edits(
      [](ir::ExprContext& exprs, TakenAxis& axis) {
        for (Condition& condition : axis.conditions) condition.expr = exprs.add(condition.expr, exprs.constant(1));
      },
      {});
  for (const std::string_view text : {kRows, kColumns, kPairs, kTwice}) check_refuted(text, edits);
}

TEST_CASE("an index that is compared with one more than the extent, or with another size, is refuted") {
  const Edits longer(
      [](ir::ExprContext& exprs, TakenAxis& axis) { axis.extent = exprs.add(axis.extent, exprs.constant(1)); }, {});
  for (const std::string_view text : {kRows, kColumns, kPairs, kTwice}) check_refuted(text, longer);
  for (const char* other : {"C", "R", "N"}) {  // of the other axis, of another tensor
    const Edits edits([&](ir::ExprContext& exprs, TakenAxis& axis) { axis.extent = *exprs.find_symbol(other); }, {});
    CAPTURE(other);
    if (*other != 'R') check_refuted(kRows, edits);
    if (*other != 'C') check_refuted(kColumns, edits);
    check_refuted(kPairs, edits);
  }
}

TEST_CASE("a search whose loop looks outside, or never ends, is refuted") {
  const auto wrong = [](auto edit) {
    check_refuted(kSearch, Edits({}, [edit](ir::ExprContext& exprs, Search& search) { edit(exprs, search); }),
                  /*executes=*/false);
  };
  wrong([](ir::ExprContext& exprs, Search& search) { search.below = exprs.sub(search.middle, exprs.constant(1)); });
  wrong([](ir::ExprContext&, Search& search) { search.above = search.middle; });
  wrong([](ir::ExprContext& exprs, Search& search) { search.below = exprs.add(search.middle, exprs.constant(1)); });
  wrong([](ir::ExprContext& exprs, Search& search) {
    search.middle = exprs.ceildiv(exprs.add(search.low, search.high), exprs.constant(2));
    search.below = search.middle;
    search.above = exprs.add(search.middle, exprs.constant(1));
  });
}

}  // namespace padlock::compiler
