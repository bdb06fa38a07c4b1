#include "tuner/trial/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "support/stopwatch.h"

namespace padlock::tuner {

using runtime::Placement;

Result<std::vector<std::vector<std::byte>>> read_outputs(const ScratchSet& set) {
  std::vector<std::vector<std::byte>> outputs;
  for (const runtime::ScratchBuffer& buffer : set.outputs) {
    auto& bytes = outputs.emplace_back(static_cast<std::size_t>(buffer.bytes()));
    PADLOCK_CHECK(buffer.read(bytes));
  }
  return outputs;
}

Judged<void> Verification::run(const std::function<void(Step)>& enter, bool isolated) {
  std::vector<Run> runs = {{Step::run, Placement::red_zones, kFirstRed, kFirstPoison},
                           {Step::run_again, Placement::red_zones, kSecondRed, kSecondPoison}};
  if (isolated) runs.push_back({Step::run_flush, Placement::flush_end, kFirstRed, kFirstPoison});
  for (const Run& run : runs) {
    enter(run.step);
    auto checked = check(run);
    if (checked) continue;
    Failure failure = std::move(checked).error();
    // The runs between red zones passed: the new fault is a load past the end.
    if (run.step == Step::run_flush && failure.device_lost) failure.verdict = Verdict::out_of_bounds_load;
    return std::unexpected(std::move(failure));
  }
  return {};
}

Status Verification::prepare(const Run& run) {
  PADLOCK_CHECK(set_.arm(run.placement, run.red, skew_));
  if (inputs_at_ != run.placement)
    PADLOCK_CHECK(on_device_ != nullptr ? on_device_->write_inputs(set_) : set_.write_inputs(problem_.inputs()));
  inputs_at_ = run.placement;
  return set_.poison(run.poison);
}

Judged<void> Verification::launch(const Run& run) {
  PADLOCK_CHECK(judged(prepare(run), Verdict::run));
  const Stopwatch running;
  auto ran = judged(code_.run(set_, problem_.scalars()), Verdict::run);
  running_ms_ += running.milliseconds();
  return ran;
}

Judged<void> Verification::check_surroundings() const {
  PADLOCK_TRY(std::string damage, judged(set_.damage(), Verdict::run));
  if (!damage.empty()) return failed(Verdict::red_zone, std::move(damage));
  for (std::size_t i = 0; i < set_.inputs.size(); ++i) {
    const std::vector<std::byte>& before = problem_.inputs()[i];
    PADLOCK_TRY(const bool same, judged(set_.inputs[i].equals(before), Verdict::run));
    if (same) continue;
    std::vector<std::byte> now(before.size());
    PADLOCK_CHECK(judged(set_.inputs[i].read(now), Verdict::run));
    const auto changed = std::ranges::mismatch(now, before).in1;
    const ir::Program& program = problem_.program();
    return failed(Verdict::input_changed, fmt::format("byte {} of input {} was overwritten", changed - now.begin(),
                                                      program.value(program.tensor_parameters()[i]).name));
  }
  return {};
}

Result<Verification::Outputs> Verification::other_outputs() const {
  Outputs outputs(set_.outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    PADLOCK_TRY(const bool same, set_.outputs[i].equals(reference_.bytes(i)));
    if (same) continue;
    outputs[i].resize(static_cast<std::size_t>(set_.outputs[i].bytes()));
    PADLOCK_CHECK(set_.outputs[i].read(outputs[i]));
  }
  return outputs;
}

Result<std::string> Verification::difference(const Outputs& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].empty()) continue;
    PADLOCK_TRY(std::string found, reference_.difference(i, outputs[i]));
    if (!found.empty()) return found;
  }
  return std::string();
}

Judged<void> Verification::check(const Run& run) {
  PADLOCK_CHECK(launch(run));
  if (on_device_ == nullptr) return check_on_host(run);
  PADLOCK_TRY(const bool holds, judged(on_device_->holds(set_), Verdict::run));
  if (!holds) return check_on_host(run);
  held_on_device_ = true;
  return {};
}

Judged<void> Verification::check_on_host(const Run& run) {
  PADLOCK_CHECK(check_surroundings());
  PADLOCK_TRY(Outputs outputs, judged(other_outputs(), Verdict::run));
  PADLOCK_TRY(const std::string wrong, judged(difference(outputs), Verdict::run));
  if (!wrong.empty()) {
    // Is the config wrong, or different each time?
    const auto again = launch(run);
    const auto same = again && check_surroundings() ? other_outputs() : Outputs();
    return failed(same && *same == outputs ? Verdict::wrong_result : Verdict::nondeterministic, wrong);
  }
  return take_other_bits(std::move(outputs));
}

Judged<void> Verification::take_other_bits(Outputs outputs) {
  const auto unstable = [] {
    return failed(Verdict::nondeterministic, "two runs give results of different bits, each a NaN that is right");
  };
  const bool as_reference = std::ranges::all_of(outputs, [](const auto& bytes) { return bytes.empty(); });
  if (on_device_ != nullptr && as_reference && !on_device_->has_adopted()) {
    was_misled_ = true;
    on_device_ = nullptr;
    if (held_on_device_) before_ = outputs;
  }
  if (on_device_ == nullptr) {
    if (before_ && *before_ != outputs) return unstable();
    before_ = std::move(outputs);
    return {};
  }
  if (std::exchange(held_on_device_, true)) return unstable();
  return judged(on_device_->adopt(set_), Verdict::run);
}

}  // namespace padlock::tuner
