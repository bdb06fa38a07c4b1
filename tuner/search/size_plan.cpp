#include "tuner/search/size_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "support/messages/suggestion.h"
#include "tuner/trial/problem.h"

namespace padlock::tuner {
namespace {

using solver::BindingSearch;
using solver::SymbolValues;

constexpr std::int64_t kLargest = std::int64_t{1} << 30;  // limit for a drawn symbol
/// Larger tensors are measured only at requested sizes: a try of them takes seconds.
constexpr std::int64_t kMostDrawnBytes = std::int64_t{256} << 20;

/// A region's tensors have a number of bytes in (above, most].
struct ByteRange {
  std::optional<std::int64_t> above, most;

  [[nodiscard]] bool contains(std::int64_t bytes) const {
    return (!above || bytes > *above) && (!most || bytes <= *most);
  }
};

std::vector<ByteRange> byte_ranges(std::vector<std::int64_t> caches) {
  std::vector<std::int64_t> cuts = std::move(caches);
  if (!cuts.empty()) {
    const RegimeBorders borders = RegimeBorders::of_cache(cuts.back());
    cuts.back() = borders.most_warm;
    cuts.push_back(borders.most_both);
  }
  std::ranges::sort(cuts);
  cuts.erase(std::ranges::unique(cuts).begin(), cuts.end());
  std::vector<ByteRange> ranges = {{}};
  for (const std::int64_t cut : cuts) {
    ranges.back().most = cut;
    ranges.push_back({.above = cut, .most = {}});
  }
  return ranges;
}

class Planner {
 public:
  Planner(BindingSearch search, const SizeRequest& request, const SizePolicy& policy)
      : search_(std::move(search)), request_(request), policy_(policy), bytes_(tensor_bytes(search_.program())) {}

  Result<std::vector<PlannedRegion>> run() {
    const bool all_given = request_.opt.size() == search_.symbols().size();
    PADLOCK_TRY(const ir::Binding usual, at(request_.opt, kUsual));
    std::vector<PlannedRegion> regions;
    for (const ByteRange& range : byte_ranges(policy_.cache_bytes)) {
      if (all_given && !range.contains(bytes_of(usual))) continue;
      std::optional<PlannedRegion> region = plan(range, all_given);
      if (region) regions.push_back(*std::move(region));
    }
    if (regions.empty())
      return std::unexpected(Error{
          .code = Code::not_found,
          .blame = Blame::user,
          .message = fmt::format("no sizes of program '{}' were found that take at most {} bytes of scratch memory",
                                 search_.program().name(), policy_.memory_bytes)});
    return regions;
  }

 private:
  Result<ir::Binding> at(const Sizes& wanted, std::int64_t other) {
    return search_.nearest(wanted, other, policy_.seed);
  }
  [[nodiscard]] std::int64_t bytes_of(const ir::Binding& binding) const {
    const auto bytes = ir::evaluate_int64(search_.program().exprs(), bytes_, binding.values());
    return bytes.value_or(kInt64Max);
  }
  [[nodiscard]] bool fits(const ir::Binding& binding) const { return scratch_bytes(binding) <= policy_.memory_bytes; }

  std::optional<PlannedRegion> plan(const ByteRange& range, bool all_given) {
    const std::optional<ir::Binding> binding = all_given ? given() : drawn(range);
    if (!binding) return std::nullopt;
    PlannedRegion region{
        .region = text_of(range), .sizes = search_.values_of(*binding), .notes = std::exchange(notes_, {})};
    // The request's binding was replaced by one outside the requested region: replace the region, too.
    if (!range.contains(bytes_of(*binding))) region.region = text_of(range_of(bytes_of(*binding)));
    region.regime = request_.regime.value_or(borders().regime_of(bytes_of(*binding)));
    return region;
  }
  [[nodiscard]] RegimeBorders borders() const {
    return RegimeBorders::of_cache(policy_.cache_bytes.empty() ? 0 : policy_.cache_bytes.back());
  }
  [[nodiscard]] ByteRange range_of(std::int64_t bytes) const {
    for (const ByteRange& range : byte_ranges(policy_.cache_bytes))
      if (range.contains(bytes)) return range;
    return {};
  }

  /// Returns the binding that `opt` gives, or a near one that fits.
  std::optional<ir::Binding> given() {
    auto binding = at(request_.opt, kUsual);
    if (!binding) return std::nullopt;
    const Sizes sizes = search_.values_of(*binding);
    if (sizes != request_.opt)
      notes_.push_back(
          fmt::format("{} is not admitted: measured at {}, which is near", to_string(request_.opt), to_string(sizes)));
    if (fits(*binding)) return *std::move(binding);
    return largest_below(*binding);
  }

  /// Returns the largest binding found below one that is too large: all sizes scaled alike.
  std::optional<ir::Binding> largest_below(const ir::Binding& large) {
    constexpr int kParts = 1 << 16;
    const Sizes sizes = search_.values_of(large);
    std::optional<ir::Binding> best;
    int low = 0;
    for (int high = kParts; high - low > 1;) {
      const int part = low + (high - low) / 2;
      Sizes smaller = sizes;
      for (const ir::Expr e : search_.symbols()) {
        const ir::Symbol& symbol = search_.program().exprs().symbol(e.symbol());
        if (symbol.kind == ir::SymbolKind::dim) continue;
        smaller[symbol.name] = static_cast<std::int64_t>(Int128{smaller[symbol.name]} * part / kParts);
        if (symbol.kind == ir::SymbolKind::stride) smaller.erase(symbol.name);  // dense
      }
      auto binding = at(smaller, 0);
      const bool fitting = binding && fits(*binding);
      (fitting ? low : high) = part;
      if (fitting && (!best || bytes_of(*binding) > bytes_of(*best))) best = *std::move(binding);
    }
    if (best)
      notes_.push_back(fmt::format(
          "{} takes {} bytes of scratch memory and {} are allowed: measured at {}, the largest "
          "found that fits",
          to_string(sizes), scratch_bytes(large), policy_.memory_bytes, to_string(search_.values_of(*best))));
    return best;
  }

  /// Returns a binding in the middle of the range, with one common size for all symbols that are not fixed.
  std::optional<ir::Binding> drawn(const ByteRange& range) {
    const std::int64_t most = range.most.value_or(kMostDrawnBytes);
    if (range.above.value_or(0) >= kMostDrawnBytes) return std::nullopt;
    const std::int64_t target =
        range.above ? std::min(4 * *range.above, *range.above / 2 + most / 2) : std::min(most, kMostDrawnBytes) / 2;
    std::optional<ir::Binding> best;
    bool too_large = false;
    // Doubles the size until it is too large, then bisects: sizes far too large tell nothing.
    std::int64_t low = 0, high = 1;
    bool growing = true;
    while (growing ? high < kLargest : high - low > std::max<std::int64_t>(1, low / 64)) {
      const std::int64_t size = growing ? high : low + (high - low) / 2;
      const std::int64_t round = size >= 64 ? size / 8 * 8 : size;
      auto binding = at(request_.opt, round);
      const std::int64_t bytes = binding ? bytes_of(*binding) : kInt64Max;
      const bool fitting = binding && fits(*binding);
      too_large |= binding && range.contains(bytes) && !fitting;
      const bool small = bytes <= target && fitting;
      (small ? low : high) = size;
      growing = growing && small;
      if (growing) high = 2 * size;
      const auto off = [&](std::int64_t b) { return b > target ? b - target : target - b; };
      if (fitting && bytes > 0 && range.contains(bytes) && (!best || off(bytes) < off(bytes_of(*best))))
        best = *std::move(binding);
    }
    if (best && too_large && range.above && bytes_of(*best) < target / 2)
      notes_.push_back(
          fmt::format("{} bytes of scratch memory are allowed: measured at {}, the largest found that fits",
                      policy_.memory_bytes, to_string(search_.values_of(*best))));
    return best;
  }

  [[nodiscard]] std::string text_of(const ByteRange& range) const {
    std::vector<std::string> guards;
    for (const auto& [name, value] : request_.min) guards.push_back(fmt::format("{} >= {}", name, value));
    for (const auto& [name, value] : request_.max) guards.push_back(fmt::format("{} <= {}", name, value));
    // If the bytes have no text, the region is only what the request says.
    if (const std::optional<std::string> bytes = tensor_bytes_text(search_.program())) {
      if (range.above) guards.push_back(fmt::format("{} > {}", *bytes, *range.above));
      if (range.most) guards.push_back(fmt::format("{} <= {}", *bytes, *range.most));
    }
    return fmt::format("{}", fmt::join(guards, ", "));
  }

  static constexpr std::int64_t kUsual = 64;

  BindingSearch search_;
  const SizeRequest& request_;
  const SizePolicy& policy_;
  ir::Expr bytes_;
  std::vector<std::string> notes_;
};

/// Error: invalid_argument, naming the list, for a name that is not a symbol of the program.
Status check_names(const ir::Program& program, const char* list, const Sizes& sizes) {
  std::vector<std::string> names;
  const ir::ExprContext& exprs = program.exprs();
  for (std::uint32_t i = 0; i < exprs.symbol_count(); ++i)
    if (exprs.symbol(i).kind != ir::SymbolKind::coordinate) names.push_back(exprs.symbol(i).name);
  for (const auto& [name, value] : sizes)
    if (std::ranges::find(names, name) == names.end())
      return invalid_argument(
          fmt::format("{} names '{}', which is no symbol of program '{}' (it has: {}){}", list, name, program.name(),
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), did_you_mean(name, names)));
  return {};
}

}  // namespace

Result<ir::Binding> bind_sizes(const ir::Program& program, const Sizes& sizes) {
  ir::BindRequest request{.tensors = {}, .symbols = sizes};
  request.tensors.resize(program.tensor_parameters().size());
  return ir::Binding::bind(program, request);
}

Result<std::vector<PlannedRegion>> plan_regions(const ir::Program& program, const SizeRequest& request,
                                                const SizePolicy& policy) {
  for (const auto& [what, sizes] : {std::pair("min", &request.min), {"opt", &request.opt}, {"max", &request.max}})
    PADLOCK_CHECK(check_names(program, what, *sizes));
  PADLOCK_TRY(BindingSearch search, BindingSearch::create(program, {.min = request.min, .max = request.max}));
  for (const auto& [name, value] : request.opt) {
    const auto least = request.min.find(name);
    const auto most = request.max.find(name);
    if ((least != request.min.end() && value < least->second) || (most != request.max.end() && value > most->second))
      return invalid_argument(fmt::format("{} = {} lies outside of what the minimum and maximum say", name, value));
  }
  return Planner(std::move(search), request, policy).run();
}

std::vector<Sizes> awkward_sizes(const ir::Program& program, std::uint64_t seed) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 22;
  constexpr std::size_t kMost = 16;
  auto search = BindingSearch::create(program, {});
  if (!search) return {};
  std::set<Sizes> seen;
  std::vector<Sizes> list;
  // First awkward in every symbol at once: rows of one element, of one more than a vector, of one less than a tile.
  const auto add = [&](const Sizes& wanted, std::int64_t other) {
    if (list.size() >= kMost) return;
    const auto binding = search->nearest(wanted, other, seed);
    if (!binding || data_bytes(*binding) > kMostBytes) return;
    const Sizes sizes = search->values_of(*binding);
    if (seen.insert(sizes).second) list.push_back(sizes);
  };
  for (const std::int64_t size : {1, 0, 5, 17, 33, 63}) add({}, size);
  for (const std::int64_t size : {0, 1, 15, 65, 257, 1025})
    for (const ir::Expr e : search->symbols()) add({{program.exprs().symbol(e.symbol()).name, size}}, 3);
  return list;
}

}  // namespace padlock::tuner
