#include "tests/regressions/regression.h"

#include <doctest/doctest.h>

#include "tests/differential/seed.h"

namespace padlock::regressions {
namespace {

ir::BindRequest request_of(const Sizes& sizes) { return {{sizes.tensors.begin(), sizes.tensors.end()}, sizes.symbols}; }

}  // namespace

Regression::Regression(std::string_view text) : rng_(differential::seed_from_environment(169760)) {
  const auto device = conformance::device_from_environment();
  REQUIRE_MESSAGE(device.has_value(), (device ? "" : device.error().to_string()));
  auto program = conformance::DeviceProgram::compile(context_, *device, text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  program_ = std::move(*program);
}

api::BoundProgram Regression::bind(const Sizes& sizes) const {
  auto bound = program_->bind(request_of(sizes));
  REQUIRE_MESSAGE(bound.has_value(), (bound ? "" : bound.error().to_string()));
  return *std::move(bound);
}

void Regression::same(const Sizes& sizes) {
  const api::BoundProgram bound = bind(sizes);
  differential::Problem problem = differential::Problem::unsolved(program(), bound.binding(), rng_);
  const Status solved = conformance::DeviceProgram::solve(bound, problem);
  REQUIRE_MESSAGE(solved.has_value(), (solved ? "" : solved.error().to_string()));
  CHECK(program_->check(request_of(sizes), problem, arena_, rng_) == "");
}

void Regression::check_values(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs,
                              std::vector<std::uint64_t> scalars, const std::vector<std::byte>& expected) {
  const api::BoundProgram bound = bind(sizes);
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

std::string Regression::emit(api::Stage stage) {
  const Result<std::string> text = context_.emit(program_->program(), stage);
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().to_string()));
  return *text;
}

void refuses_program(std::string_view text, std::string_view part) {
  const auto program = api::Program::from_text(text);
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().where.known());
  CHECK_MESSAGE(program.error().message.find(part) != std::string::npos, program.error().message);
}

}  // namespace padlock::regressions
