#include <algorithm>
#include <array>
#include <vector>

#include "tests/compiler/prover/gpu_programs.h"
#include "tests/compiler/prover/seeded_gpu_schedule.h"

// The proof of boxes, and the lemma on which it relies: the rows of a box read one run of an input.
namespace padlock::compiler {
namespace {

using ir::Expr;

constexpr std::string_view kByteImages =
    "program p(x: i8[A, B, C], l: dim, h: dim) where A >= 1, B >= 1, C >= 1, -9 <= l, l <= 9, -9 <= h, h <= 9 "
    "{ y = pad(x, low = [0, l, l], high = [0, h, h], value = 2) z = relu(y) return z }";
constexpr std::string_view kTwoOfBytes =
    "program p(x: i8[A, B], y: i8[A, C]) where A >= 1, B >= 1, C >= 1 { z = concat(x, y, axis = 1) return z }";
constexpr std::string_view kRows =
    "program p(x: i8[B, S], lo: dim, hi: dim) where B >= 1, S >= 1, lo >= 0, hi >= 0 "
    "{ y = pad(x, low = [0, lo], high = [0, hi]) return y }";
constexpr std::string_view kScaled =
    "program p(x: u8[A, B, C], s: f32[B, 1]) where A >= 1, B >= 1, C >= 1 { f = cast(x, f32) y = mul(f, s) "
    "z = pad(y, low = [0, 0, 1], high = [0, 0, 2], value = 0) return z }";

constexpr std::string_view kWholePlanes =
    "program p(x: u8[N, H, W, C]) where N >= 1, H >= 1, W >= 1, C >= 1 { y = transpose(x, perm = [0, 3, 1, 2]) z = "
    "neg(y) return z }";

/// The boxes that a launch may take of a program's first kernel, in their order.
std::vector<Schedule> all_boxes_of(const ir::Program& program, const PassEdits* edits = nullptr) {
  std::vector<Schedule> all = schedules_for_gpu(std::move(kernels_of(program).front()), GpuConfig::standard(), edits);
  std::erase_if(all, [](const Schedule& one) { return one.boxes() == nullptr; });
  return all;
}

/// Those of a kind.
std::optional<Schedule> boxes_of(const ir::Program& program, const PassEdits* edits = nullptr,
                                 BoxKind kind = BoxKind::rows) {
  for (Schedule& one : all_boxes_of(program, edits))
    if (one.boxes()->kind == kind) return std::move(one);
  return std::nullopt;
}

/// Edits boxes alone.
ScheduleEdit box_edit(std::function<void(ir::ExprContext&, Boxes&)> edit) {
  return ScheduleEdit([edit = std::move(edit)](Schedule& schedule) {
    if (schedule.boxes() != nullptr) edit(schedule.exprs(), *schedule.boxes());
  });
}

void check_refuted(std::string_view violation, std::optional<Schedule> schedule) {
  REQUIRE(schedule.has_value());
  const Proof proof = testing::value_of(list_obligations(*std::move(schedule), {}));
  const Obligation* const refuted = proof.refuted();
  REQUIRE(refuted != nullptr);
  CHECK(refuted->found.violation.find(violation) != std::string::npos);
  CAPTURE(refuted->found.violation);
  CHECK(refuted->access.find("box") + refuted->access.find("stage") + 1 != std::string::npos);
}

void check_refuted(std::string_view what, std::string_view violation, const ScheduleEdit& edit,
                   std::string_view text = kByteImages, BoxKind kind = BoxKind::rows) {
  CAPTURE(what);
  const ir::Program program = testing::program_of(text);
  check_refuted(violation, boxes_of(program, &edit, kind));
}

}  // namespace

TEST_CASE("boxes: every obligation is decided") {
  for (const std::string_view text : {kByteImages, kTwoOfBytes, kScaled, kRows, kToPlanes, kToChannels, kWholePlanes}) {
    CAPTURE(text);
    const ir::Program program = testing::program_of(text);
    std::vector<Schedule> schedules = all_boxes_of(program);
    REQUIRE(schedules.size() == (text == kWholePlanes || text == kToChannels ? 3 : 1));
    for (Schedule& schedule : schedules) {
      CHECK(schedule.index32.bound > 0);
      for (const Obligation& one : testing::value_of(list_obligations(std::move(schedule), {})).obligations) {
        CAPTURE(to_string(one));
        CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded));
      }
    }
  }
}

TEST_CASE("boxes: what is wrong with them is refuted") {
  check_refuted("a run that begins a row late", "is not that from where",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].from[1] = exprs.add(boxes.stages[0].from[1], exprs.constant(1));
                }));
  check_refuted("a run that ends a row early", "is not that from where",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].last[1] = exprs.sub(boxes.stages[0].last[1], exprs.constant(1));
                }));
  check_refuted("a run that ends a column early", "is not that from where",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].last[2] = exprs.sub(boxes.stages[0].last[2], exprs.constant(1));
                }));
  check_refuted("a run that ends two rows late", "is not that from where",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].last[1] = exprs.add(boxes.stages[0].last[1], exprs.constant(2));
                }));
  check_refuted("an image later", "do not follow each other", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].from[0] = exprs.add(boxes.stages[0].from[0], exprs.constant(1));
                }));
  check_refuted("a stage that is an element short", "is not that from its first",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].capacity = exprs.sub(boxes.stages[0].capacity, exprs.constant(1));
                }));
  check_refuted("a run that is an element short", "is not that from its first",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.stages[0].elements = exprs.sub(boxes.stages[0].elements, exprs.constant(1));
                }));
  check_refuted("a stage where the barrier is", "overlap",
                box_edit([](ir::ExprContext& exprs, Boxes& boxes) { boxes.stages[0].place = exprs.constant(0); }));
  check_refuted("memory that is a word short", "leave the memory", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.shared_bytes = exprs.sub(boxes.shared_bytes, exprs.constant(4));
                }));
  check_refuted("rows that two boxes have", "none of the output's", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.rows.first = exprs.sub(boxes.rows.first, boxes.rows.number);
                }));
  check_refuted("boxes of no rows", "boxes of 0 rows", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                  boxes.rows.launched = exprs.sub(exprs.min(boxes.rows.launched, exprs.constant(1)), exprs.constant(1));
                }));
}

namespace {

/// Edits the turned stage of boxes.
ScheduleEdit turn_edit(std::function<void(ir::ExprContext&, BoxStage&, BoxTurn&)> edit) {
  return box_edit([edit = std::move(edit)](ir::ExprContext& exprs, Boxes& boxes) {
    edit(exprs, boxes.stages[0], *boxes.stages[0].turn);
  });
}

/// Returns the slices, or else the column part, of boxes that turn; null if they have neither.
BoxPart* part_of(Boxes& boxes) { return boxes.slices ? &*boxes.slices : boxes.columns ? &*boxes.columns : nullptr; }

/// The layout with one extent or stride that is so many more.
ir::Layout changed(ir::ExprContext& exprs, const ir::Layout& layout, int extent, int stride, std::int64_t by) {
  std::vector<Expr> extents(layout.extents().begin(), layout.extents().end());
  std::vector<Expr> strides(layout.strides().begin(), layout.strides().end());
  if (extent >= 0)
    extents[static_cast<std::size_t>(extent)] =
        exprs.add(extents[static_cast<std::size_t>(extent)], exprs.constant(by));
  if (stride >= 0)
    strides[static_cast<std::size_t>(stride)] =
        exprs.add(strides[static_cast<std::size_t>(stride)], exprs.constant(by));
  return {exprs, std::move(extents), std::move(strides), layout.offset()};
}

}  // namespace

TEST_CASE("boxes: what is wrong with turned stages is refuted") {
  const std::vector<std::pair<std::string_view, BoxKind>> subjects = {{kToPlanes, BoxKind::rows},
                                                                      {kToChannels, BoxKind::rows},
                                                                      {kToChannels, BoxKind::joined},
                                                                      {kToChannels, BoxKind::parts}};
  for (const auto& [text, kind] : subjects) {
    CAPTURE(text);
    CAPTURE(name_of(kind));
    for (const std::size_t axis : {1U, 2U, 3U}) {
      check_refuted("a stage that begins a coordinate late", "lacks what a box reads",
                    turn_edit([=](ir::ExprContext& exprs, BoxStage& stage, BoxTurn&) {
                      stage.from[axis] = exprs.add(stage.from[axis], exprs.constant(1));
                    }),
                    text, kind);
      check_refuted("a stage that ends a coordinate early", "lacks what a box reads",
                    turn_edit([=](ir::ExprContext& exprs, BoxStage& stage, BoxTurn&) {
                      stage.last[axis] = exprs.sub(stage.last[axis], exprs.constant(1));
                    }),
                    text, kind);
    }
    check_refuted("an image later", "lacks what a box reads",
                  turn_edit([](ir::ExprContext& exprs, BoxStage& stage, BoxTurn&) {
                    stage.from[0] = exprs.add(stage.from[0], exprs.constant(1));
                  }),
                  text, kind);
    check_refuted("rows and columns that are exchanged", "lacks what a box reads",
                  turn_edit([](ir::ExprContext&, BoxStage&, BoxTurn& turn) {
                    std::swap(turn.axes[kBoxRow], turn.axes[kBoxColumn]);
                  }),
                  text, kind);
    check_refuted("words that begin where a box does", "does not begin where its words do",
                  turn_edit([](ir::ExprContext&, BoxStage& stage, BoxTurn& turn) {
                    turn.origin[turn.across] = stage.from[static_cast<std::size_t>(turn.axes[turn.across])];
                  }),
                  text, kind);
    for (const int axis : {kBoxSlice, kBoxRow, kBoxColumn}) {
      check_refuted("a stage that is a coordinate short", "no room",
                    turn_edit([=](ir::ExprContext& exprs, BoxStage&, BoxTurn& turn) {
                      turn.layout = changed(exprs, turn.layout, axis, -1, -1);
                    }),
                    text, kind);
      if (axis == kBoxColumn) continue;
      check_refuted("a pitch that is a word short", "no room",
                    turn_edit([=](ir::ExprContext& exprs, BoxStage&, BoxTurn& turn) {
                      turn.layout = changed(exprs, turn.layout, -1, axis, -turn.lanes);
                    }),
                    text, kind);
    }
    check_refuted("slices or columns that two boxes have", "none of the output's",
                  box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                    if (BoxPart* const part = part_of(boxes)) part->first = exprs.sub(part->first, part->number);
                  }),
                  text, kind);
    check_refuted("boxes of none", "boxes of 0 ", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                    const Expr one = exprs.constant(1);
                    if (BoxPart* const part = part_of(boxes))
                      part->launched = exprs.sub(exprs.min(part->launched, one), one);
                  }),
                  text, kind);
    if (kind == BoxKind::parts)
      check_refuted("columns that two boxes have", "none of the output's",
                    box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                      if (boxes.columns) boxes.columns->first = exprs.sub(boxes.columns->first, boxes.columns->number);
                    }),
                    text, kind);
    check_refuted("a thread's columns that are no words", "no squares",
                  turn_edit([](ir::ExprContext&, BoxStage&, BoxTurn& turn) { turn.adjacent = turn.columns + 1; }), text,
                  kind);
    if (kind == BoxKind::parts || text == kToPlanes)
      check_refuted("half a period", "other lanes after a period", box_edit([](ir::ExprContext& exprs, Boxes& boxes) {
                      if (boxes.period.valid()) boxes.period = exprs.ceildiv(boxes.period, exprs.constant(2));
                    }),
                    text, kind);
    check_refuted("a digit too few", "lacks some boxes",
                  box_edit([](ir::ExprContext&, Boxes& boxes) { boxes.digits.pop_back(); }), text, kind);
  }
  check_refuted("rows that do not follow each other", "may not follow each other", ScheduleEdit([](Schedule& schedule) {
                  if (schedule.boxes() == nullptr || !schedule.boxes()->columns) return;
                  const Expr apart = box_rows_apart(schedule.kernel, *schedule.boxes());
                  std::erase_if(schedule.serves, [&](const abi::Guard& guard) { return guard.holds.lhs == apart; });
                }),
                kToPlanes);
  const ir::Program program = testing::program_of(kToChannels);
  std::optional<Schedule> parts = boxes_of(program, nullptr, BoxKind::parts);
  parts->boxes()->kind = BoxKind::rows;  // takes rows of some columns for one strip
  check_refuted("may not follow each other", std::move(parts));
}

TEST_CASE("boxes: none where rows do not follow each other, loads differ in their order, or elements are of 8 bytes") {
  for (const std::string_view text :
       {"program p(x: f64[A, B]) where A >= 1, B >= 1 { y = transpose(x, perm = [1, 0]) z = pad(y, low = [0, 1], "
        "high = [0, 0], value = 0) return z }",
        "program p(x: f32[A, B], y: f32[B, A]) where A >= 1, B >= 1 { t = transpose(x, perm = [1, 0]) z = add(t, y) "
        "return z }",
        "program p(x: f32[A, B]) where A >= 1, B >= 2 { y = pad(x, low = [0, 1], high = [0, 1], mode = reflect) return "
        "y }",
        "program p(x: f32[A, B, C, D]) { y = pad(x, low = [0, 1, 1, 1], high = [0, 1, 1, 1], value = 0) return y }",
        "program p(x: f32[A]) { y = pad(x, low = [1], high = [1], value = 0) return y }"}) {
    CAPTURE(text);
    CHECK_FALSE(boxes_of(testing::program_of(text)).has_value());
  }
}

namespace {

/// Walks through the boxes of one binding: a row's reads lie in the run, the run in the tensor and in its capacity.
class AllBoxes {
 public:
  AllBoxes(const Schedule& schedule, std::array<std::int64_t, 5> sizes, std::int64_t step)
      : schedule_(schedule), exprs_(schedule.exprs()), sizes_(sizes), step_(step), values_(exprs_.symbol_count()) {
    const std::array<const char*, 5> names = {"A", "B", "C", "l", "h"};
    for (std::size_t i = 0; i < names.size(); ++i) set(*exprs_.find_symbol(names[i]), sizes[i]);
    set(schedule.boxes()->rows.step, step);
  }

  std::string check() {
    const std::int64_t rows = extent(0) * extent(1);
    for (std::int64_t first = 0; first < rows; first += step_) {
      const std::int64_t last = std::min(first + step_, rows) - 1;
      set(schedule_.boxes()->first[0], first / extent(1));
      set(schedule_.boxes()->first[1], first % extent(1));
      set(schedule_.boxes()->last[0], last / extent(1));
      set(schedule_.boxes()->last[1], last % extent(1));
      if (std::string problem = check_box(first, last); !problem.empty()) return problem;
    }
    return {};
  }
  [[nodiscard]] std::int64_t extent(int axis) {
    return value(schedule_.kernel.extents[static_cast<std::size_t>(axis)]);
  }

 private:
  void set(Expr symbol, std::int64_t to) { values_[symbol.symbol()] = to; }
  std::int64_t value(Expr e) { return static_cast<std::int64_t>(testing::value_of(ir::evaluate(exprs_, e, values_))); }

  std::string check_box(std::int64_t first_row, std::int64_t last_row) {
    const BoxStage& stage = schedule_.boxes()->stages.front();
    const bool some = value(stage.columns) > 0 && value(stage.elements) > 0;
    const std::int64_t first = value(stage.first);
    const std::int64_t end = some ? first + value(stage.elements) : first;
    const auto [images, height, width, low, high] = sizes_;
    if (some && (first < 0 || end > images * height * width)) return "a run leaves the tensor";
    if (some && end - first > value(stage.capacity)) return "a run does not fit its stage";
    for (std::int64_t row = first_row; row <= last_row; ++row)
      for (std::int64_t column = 0; column < extent(2); ++column) {
        const std::int64_t y = row % extent(1) - low, x = column - low;
        if (y < 0 || y >= height || x < 0 || x >= width) continue;
        const std::int64_t element = (row / extent(1) * height + y) * width + x;
        if (element < first || element >= end) return "an element that is read is not in the run";
      }
    return {};
  }

  const Schedule& schedule_;
  ir::ExprContext& exprs_;
  std::array<std::int64_t, 5> sizes_;
  std::int64_t step_;
  std::vector<std::int64_t> values_;
};

}  // namespace

TEST_CASE("boxes: a period is the least number of steps that is whole vectors") {
  ir::ExprContext exprs;
  for (const int lanes : {1, 2, 4, 8, 16})
    for (int step = 0; step <= 2 * lanes; ++step) {
      CAPTURE(lanes);
      CAPTURE(step);
      int least = 1;
      while (least * step % lanes != 0) ++least;
      CHECK(lane_period(exprs, exprs.constant(step), lanes).is_constant(least));
    }
}

TEST_CASE("boxes: the lemma holds of all small sizes, amounts and steps") {
  const ir::Program program = testing::program_of(kByteImages);
  const std::optional<Schedule> schedule = boxes_of(program);
  REQUIRE(schedule.has_value());
  int checked = 0;
  for (std::int64_t images = 1; images <= 3; ++images)
    for (std::int64_t height = 1; height <= 4; ++height)
      for (std::int64_t width = 1; width <= 3; ++width)
        for (std::int64_t low = -2; low <= 2; ++low)
          for (std::int64_t high = -2; high <= 2; ++high) {
            if (height + low + high < 1 || width + low + high < 1) continue;
            for (std::int64_t step = 1; step <= 7; ++step) {
              CAPTURE(images);
              CAPTURE(height);
              CAPTURE(width);
              CAPTURE(low);
              CAPTURE(high);
              CAPTURE(step);
              CHECK(AllBoxes(*schedule, {images, height, width, low, high}, step).check() == "");
              ++checked;
            }
          }
  CHECK(checked > 3000);
}

}  // namespace padlock::compiler
