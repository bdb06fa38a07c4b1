#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "compiler/targets/gpu_config.h"
#include "tests/compiler/emit/compiled.h"

// Seeded bugs of a GPU's schedule, and the proof of it.
namespace padlock::compiler {

/// Changes a schedule after its loops were chosen.
class ScheduleEdit final : public PassEdits {
 public:
  explicit ScheduleEdit(std::function<void(Schedule&)> edit) : edit_(std::move(edit)) {}
  void covered(Schedule& schedule) const override { edit_(schedule); }

 private:
  std::function<void(Schedule&)> edit_;
};

inline Schedule gpu_schedule_of(const ir::Program& program, std::string_view config, const PassEdits* edits = nullptr) {
  const GpuConfig parsed = testing::value_of(GpuConfig::parse(config, GpuConfig::standard()));
  return schedule_for_gpu(std::move(kernels_of(program).front()), parsed, edits);
}

inline Proof gpu_proof_of(std::string_view text, std::string_view config, const PassEdits* edits = nullptr) {
  const ir::Program program = testing::program_of(text);
  return testing::value_of(list_obligations(gpu_schedule_of(program, config, edits), {}));
}

/// Checks that every obligation is proved, rests on guards, or is never reached.
inline void check_gpu_proved(std::string_view text, std::string_view config, const PassEdits* edits = nullptr) {
  CAPTURE(text);
  CAPTURE(config);
  for (const Obligation& one : gpu_proof_of(text, config, edits).obligations) {
    CAPTURE(to_string(one));
    CHECK((one.verdict == Verdict::proved || one.verdict == Verdict::guarded || one.verdict == Verdict::dead));
  }
}

/// Checks that an obligation of this kind is refuted, with a violation that contains the text.
inline void check_gpu_refuted(std::string_view program, std::string_view config, ObligationKind kind,
                              std::string_view violation, const PassEdits* edits) {
  CAPTURE(program);
  CAPTURE(violation);
  const Proof proof = gpu_proof_of(program, config, edits);
  std::string all;
  for (const Obligation& one : proof.obligations)
    if (one.verdict != Verdict::proved) all += to_string(one) + ": " + one.found.to_string() + "\n";
  CAPTURE(all);
  CHECK(std::ranges::any_of(proof.obligations, [&](const Obligation& one) {
    return one.kind == kind && one.verdict == Verdict::refuted &&
           one.found.violation.find(violation) != std::string::npos;
  }));
}

}  // namespace padlock::compiler
