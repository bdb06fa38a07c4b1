#include "compiler/prover/core/proof.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace padlock::compiler {

std::string_view name_of(ObligationKind kind) {
  constexpr std::array kNames = {"load", "store", "cover", "disjoint", "extent", "width", "align"};
  static_assert(kNames.size() == static_cast<std::size_t>(ObligationKind::align) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Verdict verdict) {
  constexpr std::array kNames = {"proved", "guarded", "checked", "refuted", "dead"};
  static_assert(kNames.size() == kVerdicts.size());
  return kNames[static_cast<std::size_t>(verdict)];
}

std::string Counterexample::to_string() const {
  std::vector<std::string> parts;
  for (const auto& [name, value] : sizes) parts.push_back(fmt::format("{} = {}", name, value));
  std::string text = parts.empty() ? "" : fmt::format("{}: ", fmt::join(parts, ", "));
  parts.clear();
  for (const auto& [name, value] : where) parts.push_back(fmt::format("{} = {}", name, value));
  text += violation;
  return parts.empty() ? text : fmt::format("{} (at {})", text, fmt::join(parts, ", "));
}

std::int64_t Proof::count(Verdict verdict) const {
  return std::ranges::count(obligations, verdict, &Obligation::verdict);
}

const Obligation* Proof::refuted() const {
  const auto it = std::ranges::find(obligations, Verdict::refuted, &Obligation::verdict);
  return it == obligations.end() ? nullptr : &*it;
}

std::string to_string(const Obligation& obligation) {
  std::string text =
      fmt::format("{:<8} {:<9} {}", name_of(obligation.verdict), name_of(obligation.kind), obligation.access);
  switch (obligation.verdict) {
    case Verdict::guarded:
      return fmt::format("{} if {}", text, obligation.guard);
    case Verdict::checked:
      return fmt::format("{}: {}", text, obligation.reason);
    case Verdict::refuted:
      return fmt::format("{}: {}", text, obligation.found.to_string());
    case Verdict::dead:
      return fmt::format("{}: never, for {}", text, fmt::join(obligation.contradiction, " contradicts "));
    case Verdict::proved:
      break;
  }
  return text;
}

void add_answer(Obligation& all, Obligation one) {
  if (all.verdict == Verdict::refuted || one.verdict == Verdict::proved) return;
  if (all.verdict == Verdict::checked && one.verdict == Verdict::guarded) return;
  all = std::move(one);
}

}  // namespace padlock::compiler
