#include "tests/regressions/regression.h"

#include <doctest/doctest.h>

#include "tests/differential/seed.h"

namespace padlock::regressions {
namespace {

using compiler::HostConfig;
using compiler::HostOptions;

/// Configs that differ in kind, and the bounds-checking one.
std::vector<std::pair<std::string, HostOptions>> variants(const HostConfig& base) {
  HostConfig narrow = base, wide = base;
  narrow.vector_bytes = 16, narrow.unroll = 1, narrow.split = !base.split;
  wide.vector_bytes = 64, wide.unroll = 4, wide.store = compiler::StoreKind::nontemporal;
  return {{"default", {}},
          {"bounds check", {.config = {}, .bounds_check = true}},
          {"narrow, split toggled", {.config = narrow}},
          {"wide, past the caches", {.config = wide}}};
}

}  // namespace

Regression::Regression(std::string_view text) : rng_(differential::seed_from_environment(169760)) {
  Result<ir::Program> program = ir::parse_program(text);
  REQUIRE_MESSAGE(program.has_value(), (program ? "" : program.error().to_string()));
  program_ = std::move(*program);
  auto compiler = compiler::HostCompiler::create();
  REQUIRE_MESSAGE(compiler.has_value(), (compiler ? "" : compiler.error().to_string()));
  compiler_ = std::move(*compiler);
  for (auto& [name, options] : variants(compiler_->default_config())) {
    auto kernels = compiler_->compile(*program_, options);
    REQUIRE_MESSAGE(kernels.has_value(), (kernels ? "" : kernels.error().to_string()));
    variants_.push_back({name, std::move(*kernels)});
  }
}

Result<ir::Binding> Regression::bind(const Sizes& sizes) const {
  return ir::Binding::bind(*program_, {{sizes.tensors.begin(), sizes.tensors.end()}, sizes.symbols});
}

void Regression::check(const differential::Problem& problem) {
  for (const Variant& variant : variants_) {
    CAPTURE(variant.name);
    CHECK(differential::check_both_placements(variant.kernels, problem, arena_, rng_) == "");
  }
}

void Regression::same(const Sizes& sizes) {
  const Result<ir::Binding> binding = bind(sizes);
  REQUIRE_MESSAGE(binding.has_value(), (binding ? "" : binding.error().to_string()));
  const auto problem = differential::Problem::random(*program_, *binding, rng_);
  REQUIRE_MESSAGE(problem.has_value(), (problem ? "" : problem.error().to_string()));
  check(*problem);
}

void Regression::check_values(const Sizes& sizes, std::vector<std::vector<std::byte>> inputs,
                              std::vector<std::uint64_t> scalars, const std::vector<std::byte>& expected) {
  const Result<ir::Binding> binding = bind(sizes);
  REQUIRE_MESSAGE(binding.has_value(), (binding ? "" : binding.error().to_string()));
  const auto problem = differential::Problem::with_inputs(*program_, *binding, std::move(inputs), std::move(scalars));
  REQUIRE_MESSAGE(problem.has_value(), (problem ? "" : problem.error().to_string()));
  CHECK(problem->results[0].bytes == expected);
  check(*problem);
}

void Regression::refuses(const Sizes& sizes, std::string_view part) {
  const Result<ir::Binding> binding = bind(sizes);
  REQUIRE_FALSE(binding.has_value());
  CHECK_MESSAGE(binding.error().message.find(part) != std::string::npos, binding.error().message);
}

std::int64_t Regression::storage_bytes(const Sizes& sizes, std::string_view value) {
  const Result<ir::Binding> binding = bind(sizes);
  REQUIRE_MESSAGE(binding.has_value(), (binding ? "" : binding.error().to_string()));
  return binding->storage_bytes(program_->value(program_->find(value).value()));
}

std::vector<std::int64_t> Regression::extents(const Sizes& sizes, std::string_view value) {
  const Result<ir::Binding> binding = bind(sizes);
  REQUIRE_MESSAGE(binding.has_value(), (binding ? "" : binding.error().to_string()));
  return binding->extents_of(program_->value(program_->find(value).value()));
}

std::string Regression::emit(compiler::Stage stage) {
  const Result<std::string> text = compiler_->emit(*program_, stage, {});
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().to_string()));
  return *text;
}

void refuses_program(std::string_view text, std::string_view part) {
  const Result<ir::Program> program = ir::parse_program(text);
  REQUIRE_FALSE(program.has_value());
  CHECK(program.error().where.known());
  CHECK_MESSAGE(program.error().message.find(part) != std::string::npos, program.error().message);
}

}  // namespace padlock::regressions
