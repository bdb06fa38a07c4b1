#include "tests/regressions/regression.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "tests/common/environment.h"

namespace padlock::regressions {
namespace {

std::function<void(std::string_view)>& program_observer() {
  static std::function<void(std::string_view)> observer;
  return observer;
}

ir::BindRequest request_of(const Sizes& sizes) { return {{sizes.tensors.begin(), sizes.tensors.end()}, sizes.symbols}; }

bool has_laps(std::string_view text) {
  constexpr std::string_view kWords[] = {"reflect", "symmetric", "wrap", "interior"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Proved, or a load of a lap that there never is, beside loads that are proved.
bool is_settled(const compiler::Obligation& obligation, const compiler::Proof& proof, bool has_laps) {
  using enum compiler::Verdict;
  const auto is_proved_load = [](const compiler::Obligation& other) {
    return other.kind == compiler::ObligationKind::load && other.verdict == proved;
  };
  return obligation.verdict == proved || obligation.verdict == guarded ||
         (obligation.verdict == dead && obligation.kind == compiler::ObligationKind::load && has_laps &&
          !obligation.contradiction.empty() && std::ranges::any_of(proof.obligations, is_proved_load));
}

}  // namespace

Regression::Regression(std::string_view text) : rng_(testing::seed_or(169760)) {
  if (program_observer()) program_observer()(text);
  const auto device = conformance::device_from_environment();
  REQUIRE_MESSAGE(device.has_value(), (device ? "" : device.error().to_string()));
  auto program = conformance::DeviceProgram::compile(context_, *device, text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  program_ = std::move(*program);
  if (device->device.kind != runtime::DeviceKind::reference) prove(*device, has_laps(text));
}

void Regression::prove(const conformance::DeviceUnderTest& device, bool has_laps) {
  for (const conformance::Variant& variant : device.variants) {
    CAPTURE(variant.name);
    auto proofs = context_.prove(program_->program(), variant.options);
    REQUIRE_MESSAGE(proofs.has_value(), (proofs ? "" : proofs.error().to_string()));
    for (const compiler::Proof& proof : *proofs) {
      CHECK(proof.count(compiler::Verdict::proved) > 0);
      for (const compiler::Obligation& obligation : proof.obligations)
        CHECK_MESSAGE(is_settled(obligation, proof, has_laps), to_string(obligation));
    }
    proofs_.push_back(*std::move(proofs));
  }
}

void Regression::proves(compiler::ObligationKind kind, std::string_view access) const {
  bool anywhere = false;
  for (const std::vector<compiler::Proof>& variant : proofs_) {
    const bool is_there = std::ranges::any_of(variant, [&](const compiler::Proof& proof) {
      return std::ranges::any_of(proof.obligations, [&](const compiler::Obligation& obligation) {
        return obligation.kind == kind && obligation.access.find(access) != std::string::npos;
      });
    });
    anywhere |= is_there;
    // Only some configs have accesses that must be aligned.
    if (kind != compiler::ObligationKind::align) CHECK_MESSAGE(is_there, "no " << name_of(kind) << " of " << access);
  }
  CHECK_MESSAGE((anywhere || proofs_.empty()), "no " << name_of(kind) << " of " << access);
}

session::BoundProgram Regression::bind(const Sizes& sizes) const {
  auto bound = program_->bind(request_of(sizes));
  REQUIRE_MESSAGE(bound.has_value(), (bound ? "" : bound.error().to_string()));
  return *std::move(bound);
}

void Regression::same(const Sizes& sizes) {
  const session::BoundProgram bound = bind(sizes);
  differential::Problem problem = differential::Problem::unsolved(program(), bound.binding(), rng_);
  const Status solved = conformance::DeviceProgram::solve(bound, problem);
  REQUIRE_MESSAGE(solved.has_value(), (solved ? "" : solved.error().to_string()));
  CHECK(program_->check(request_of(sizes), problem, arena_, rng_) == "");
}

void Regression::same(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs) {
  const session::BoundProgram bound = bind(sizes);
  differential::Problem problem{&program(), &bound.binding(), std::move(inputs), {}, {}};
  const Status solved = conformance::DeviceProgram::solve(bound, problem);
  REQUIRE_MESSAGE(solved.has_value(), (solved ? "" : solved.error().to_string()));
  CHECK(program_->check(request_of(sizes), problem, arena_, rng_) == "");
}

void Regression::check_values(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs,
                              std::vector<std::uint64_t> scalars, const std::vector<std::byte>& expected) {
  const session::BoundProgram bound = bind(sizes);
  differential::Problem problem{&program(), &bound.binding(), std::move(inputs), std::move(scalars), {}};
  const Status solved = conformance::DeviceProgram::solve(bound, problem);
  REQUIRE_MESSAGE(solved.has_value(), (solved ? "" : solved.error().to_string()));
  CHECK(problem.results[0].bytes == expected);
  CHECK(program_->check(request_of(sizes), problem, arena_, rng_) == "");
}

void Regression::refuses(const Sizes& sizes, std::string_view part) {
  const auto bound = program_->bind(request_of(sizes));
  REQUIRE_FALSE(bound.has_value());
  CHECK_MESSAGE(bound.error().message.find(part) != std::string::npos, bound.error().message);
  CHECK(program_->check_binding(request_of(sizes)) == "");
}

std::int64_t Regression::storage_bytes(const Sizes& sizes, std::string_view value) {
  return bind(sizes).binding().storage_bytes(program().value(program().find(value).value()));
}

std::vector<std::int64_t> Regression::extents(const Sizes& sizes, std::string_view value) {
  return bind(sizes).binding().extents_of(program().value(program().find(value).value()));
}

std::string Regression::emit(session::Stage stage) {
  const Result<std::string> text = context_.emit(program_->program(), stage);
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().to_string()));
  return *text;
}

void observe_programs(std::function<void(std::string_view)> observer) { program_observer() = std::move(observer); }

void refuses_program(std::string_view text, std::string_view part) {
  const auto program = session::Program::from_text(text);
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().where.known());
  CHECK_MESSAGE(program.error().message.find(part) != std::string::npos, program.error().message);
}

}  // namespace padlock::regressions
