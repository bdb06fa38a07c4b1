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

/// Returns a region plus those guards that it lacks.
std::string narrowed(std::string region, const std::vector<std::string>& guards) {
  for (const std::string& guard : guards) {
    const std::string listed = fmt::format(", {},", region);
    if (!listed.contains(fmt::format(", {},", guard))) region += (region.empty() ? "" : ", ") + guard;
  }
  return region;
}

/// Adds a choice for sizes without one. More guards may make a region too long for a program; it is then left out.
void add_for(std::vector<ServedChoice>& list, const ir::Program& program, const Choice& choice, std::string sizes) {
  if (std::ranges::find(list, sizes, &ServedChoice::sizes) != list.end()) return;
  if (sizes == choice.region || ir::parse_guards(program, sizes)) list.push_back({choice, std::move(sizes)});
}

}  // namespace

std::vector<ServedChoice> serving(const ir::Program& program, const std::vector<Choice>& choices,
                                  std::int64_t cache_bytes) {
  const std::optional<std::string> bytes = tensor_bytes_text(program);
  const bool is_split = bytes && cache_bytes > 0;
  std::vector<ServedChoice> list;
  if (is_split)
    for (const Choice& choice : choices) {
      const Regime regime = choice.regime.value_or(Regime::cold);
      add_for(list, program, choice,
              narrowed(choice.region, RegimeBorders::of_cache(cache_bytes).guards_of(regime, *bytes)));
    }
  for (const bool of_both : {true, false})
    for (const Choice& choice : choices)
      if ((choice.regime == Regime::both) == of_both && (choice.regime || !is_split))
        add_for(list, program, choice, choice.region);
  return list;
}

std::string region_text(const Choice& choice) {
  const std::string region = choice.region.empty() ? "all sizes" : choice.region;
  return choice.regime ? fmt::format("{} ({})", region, name_of(*choice.regime)) : region;
}

std::string to_string(const Coverage& coverage) {
  return fmt::format("{} of {} configs measured", coverage.measured, coverage.candidates);
}

Result<ProgramChoices> ProgramChoices::create(const ir::Program& program, const std::vector<Choice>& choices,
                                              std::string default_config) {
  std::vector<ServedChoice> served;
  for (const Choice& choice : choices) served.push_back({choice, choice.region});
  return of_served(program, served, std::move(default_config));
}

Result<ProgramChoices> ProgramChoices::of_served(const ir::Program& program, const std::vector<ServedChoice>& choices,
                                                 std::string default_config) {
  ProgramChoices made(std::move(default_config));
  for (const auto& [choice, sizes] : choices) {
    auto guards = ir::parse_guards(program, sizes);
    if (!guards) return std::unexpected(std::move(guards).error().in(fmt::format("in region '{}'", sizes)));
    made.has_earlier_ = made.has_earlier_ || (!choice.regime && sizes != choice.region);
    made.regions_.push_back({sizes, *std::move(guards), choice.config,
                             fmt::format("tuned for {}{}", region_text(choice),
                                         choice.coverage ? ", " + to_string(*choice.coverage) : std::string())});
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
      return {region.config, region.reason};
  if (regions_.empty()) return {default_config_, "not tuned: the default config"};
  const char* const earlier = has_earlier_ ? " (what an earlier version measured is of tensors in no cache)" : "";
  return {default_config_, fmt::format("no tuned region holds these sizes{}: the default config", earlier)};
}

Status check_choice(const ir::Program& program, const Choice& choice,
                    const std::function<Status(const std::string&)>& config_is_legal) {
  PADLOCK_TRY([[maybe_unused]] const auto guards, ir::parse_guards(program, choice.region));
  return config_is_legal(choice.config);
}

}  // namespace padlock::tuner
