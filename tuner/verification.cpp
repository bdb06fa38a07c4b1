#include "tuner/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    // Between red zones all went well: what is new is that a load past the end faults.
    if (run.step == Step::run_flush && failure.device_lost) failure.verdict = Verdict::out_of_bounds_load;
    return std::unexpected(std::move(failure));
  }
  return {};
}

Judged<Verification::Outputs> Verification::launch(const Run& run) {
  const auto prepare = [&]() -> Status {
    PADLOCK_CHECK(set_.arm(run.placement, run.red, skew_));
    PADLOCK_CHECK(set_.write_inputs(problem_.inputs()));
    return set_.poison(run.poison);
  };
  if (auto prepared = judged(prepare(), Verdict::run); !prepared) return std::unexpected(std::move(prepared).error());
  if (auto ran = judged(code_.run(set_, problem_.scalars()), Verdict::run); !ran)
    return std::unexpected(std::move(ran).error());
  if (auto checked = check_surroundings(); !checked) return std::unexpected(std::move(checked).error());
  return judged(read_outputs(set_), Verdict::run);
}

Judged<void> Verification::check_surroundings() const {
  auto damage = judged(set_.damage(), Verdict::run);
  if (!damage) return std::unexpected(std::move(damage).error());
  if (!damage->empty()) return failed(Verdict::red_zone, *std::move(damage));
  std::vector<std::byte> now;
  for (std::size_t i = 0; i < set_.inputs.size(); ++i) {
    const std::vector<std::byte>& before = problem_.inputs()[i];
    now.resize(before.size());
    if (auto read = judged(set_.inputs[i].read(now), Verdict::run); !read) return read;
    const auto [changed, was] = std::ranges::mismatch(now, before);
    if (changed == now.end()) continue;
    const ir::Program& program = problem_.program();
    return failed(Verdict::input_changed, fmt::format("byte {} of input {} was overwritten", changed - now.begin(),
                                                      program.value(program.tensor_parameters()[i]).name));
  }
  return {};
}

Judged<std::string> Verification::difference(const Outputs& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto found = judged(reference_.difference(i, outputs[i]), Verdict::run);
    if (!found || !found->empty()) return found;
  }
  return std::string();
}

Judged<void> Verification::check(const Run& run) {
  auto outputs = launch(run);
  if (!outputs) return std::unexpected(std::move(outputs).error());
  const auto wrong = difference(*outputs);
  if (!wrong) return std::unexpected(wrong.error());
  if (!wrong->empty()) {
    // Wrong, or of another mind each time?
    const auto again = launch(run);
    const bool same = again && *again == *outputs;
    return failed(same ? Verdict::wrong_result : Verdict::nondeterministic, *wrong);
  }
  if (!before_.empty() && before_ != *outputs)
    return failed(Verdict::nondeterministic, "two runs give results of different bits, each a NaN that is right");
  before_ = *std::move(outputs);
  return {};
}

}  // namespace padlock::tuner
