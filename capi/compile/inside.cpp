// Returns the stages of compiling and the proofs, for people and for tests.

#include "capi/compile/compile_options.h"
#include "capi/error.h"
#include "capi/options.h"
#include "capi/text.h"
#include "session/compile/proof_report.h"

namespace padlock::capi {
namespace {

Result<padlock_text*> emit(padlock_program& program, const padlock_compile_options* given, const char* name) {
  PADLOCK_TRY(const session::Stage stage, session::parse_stage(text_or(name, "ir")));
  PADLOCK_TRY(const padlock_compile_options read, read_options(given, "padlock_compile_options"));
  PADLOCK_TRY(const session::CompileOptions options, compile_options(read));
  if (stage != session::Stage::ir) PADLOCK_CHECK(session::check_memory_to_compile());
  PADLOCK_TRY(const std::string text, compiler_of(*program.context).emit(program.program, stage, options));
  return make_text(program.allocator(), text);
}

/// The caller's places for results; each may be null.
struct ProofPlaces {
  int64_t* refuted;
  padlock_text** report;
  padlock_text** json;

  void clear() const {
    if (refuted != nullptr) *refuted = 0;
    for (padlock_text** const text : {report, json})
      if (text != nullptr) *text = nullptr;
  }
};

Status prove(padlock_program& program, const padlock_compile_options* given, bool all_configs,
             const ProofPlaces& places) {
  PADLOCK_TRY(const padlock_compile_options read, read_options(given, "padlock_compile_options"));
  PADLOCK_TRY(const session::CompileOptions options, compile_options(read));
  if (all_configs && !options.config.empty()) return invalid_argument("expected a config or all configs, found both");
  PADLOCK_CHECK(session::check_memory_to_compile());
  PADLOCK_TRY(const std::vector<compiler::Proof> proofs,
              compiler_of(*program.context).prove(program.program, options, all_configs));
  Ref<padlock_text> report, json;
  if (places.report != nullptr) report = Ref(make_text(program.allocator(), session::to_text(proofs)));
  if (places.json != nullptr) json = Ref(make_text(program.allocator(), session::to_json(proofs)));
  // From here on nothing fails, so the caller gets all results or none.
  if (places.report != nullptr) *places.report = report.take();
  if (places.json != nullptr) *places.json = json.take();
  if (places.refuted != nullptr) *places.refuted = session::count(proofs, compiler::Verdict::refuted);
  return {};
}

}  // namespace
}  // namespace padlock::capi

using namespace padlock::capi;

extern "C" {

padlock_status padlock_program_emit(padlock_program* program, const padlock_compile_options* options, const char* stage,
                                    padlock_text** text, padlock_error** error) {
  return guarded_handle(program, "a program", text, error, [&] { return emit(*program, options, stage); });
}

padlock_status padlock_program_prove(padlock_program* program, const padlock_compile_options* options,
                                     int32_t all_configs, int64_t* refuted, padlock_text** report, padlock_text** json,
                                     padlock_error** error) {
  const ProofPlaces places{refuted, report, json};
  places.clear();
  return guarded(program, "a program", error, [&] { return prove(*program, options, all_configs != 0, places); });
}

}  // extern "C"
