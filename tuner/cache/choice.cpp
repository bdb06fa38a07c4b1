#include "tuner/cache/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "ir/verify/guards.h"

namespace padlock::tuner {
namespace {

bool holds(const ir::Constraint& guard, const ir::Binding& binding) {
  const ir::ExprContext& exprs = binding.program().exprs();
  const auto lhs = ir::evaluate(exprs, guard.lhs, binding.values());
  const auto rhs = ir::evaluate(exprs, guard.rhs, binding.values());
  return lhs && rhs && ir::holds(*lhs, guard.comparison, *rhs);
}

}  // namespace

std::string to_string(const Coverage& coverage) {
  return fmt::format("{} of {} configs measured", coverage.measured, coverage.candidates);
}

Result<ProgramChoices> ProgramChoices::create(const ir::Program& program, const std::vector<Choice>& choices,
                                              std::string default_config) {
  ProgramChoices made(std::move(default_config));
  for (const Choice& choice : choices) {
    auto guards = ir::parse_guards(program, choice.region);
    if (!guards) return std::unexpected(std::move(guards).error().in(fmt::format("in region '{}'", choice.region)));
    made.regions_.push_back({choice.region, *std::move(guards), choice.config,
                             choice.coverage ? ", " + to_string(*choice.coverage) : std::string()});
  }
  std::ranges::sort(made.regions_, {}, [](const Region& region) {
    return std::pair(-std::ssize(region.guards), std::string_view(region.text));
  });
  const auto twice = std::ranges::adjacent_find(made.regions_, {}, &Region::text);
  if (twice != made.regions_.end())
    return invalid_argument(fmt::format("expected regions that differ, found '{}' twice", twice->text));
  return made;
}

Chosen ProgramChoices::choose(const ir::Binding& binding) const {
  for (const Region& region : regions_)
    if (std::ranges::all_of(region.guards, [&](const ir::Constraint& guard) { return holds(guard, binding); }))
      return {region.config,
              fmt::format("tuned for {}{}", region.text.empty() ? "all sizes" : region.text, region.coverage)};
  if (regions_.empty()) return {default_config_, "not tuned: the default config"};
  return {default_config_, "no tuned region holds these sizes: the default config"};
}

Status check_choice(const ir::Program& program, const Choice& choice,
                    const std::function<Status(const std::string&)>& config_is_legal) {
  PADLOCK_TRY([[maybe_unused]] const auto guards, ir::parse_guards(program, choice.region));
  return config_is_legal(choice.config);
}

}  // namespace padlock::tuner
