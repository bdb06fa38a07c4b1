#include "abi/parts_tape.h"

#include <algorithm>
#include <span>
#include <utility>

namespace padlock::abi {
namespace {

/// Reads the values of a tape's roots in order.
class Values {
 public:
  explicit Values(std::span<const std::optional<Int128>> values) : rest_(values) {}

  Int128 next() {
    const Int128 value = *rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  template <class T>
  std::vector<T> next(std::size_t count) {
    std::vector<T> values(count);
    for (T& value : values) value = static_cast<T>(next());
    return values;
  }

 private:
  std::span<const std::optional<Int128>> rest_;
};

}  // namespace

PartsTape::PartsTape(const ir::Program& program, const LaunchParts& parts)
    : axes_(parts.extents.size()),
      inputs_(parts.spans.size()),
      block_elements_(parts.block_elements),
      lanes_(parts.lanes),
      most_elements_(parts.most_elements) {
  std::vector<ir::Expr> roots = {parts.columns};
  roots.insert(roots.end(), parts.extents.begin(), parts.extents.end());
  roots.insert(roots.end(), parts.spans.begin(), parts.spans.end());
  for (const Reach& reach : parts.reaches) {
    reach_inputs_.push_back(reach.input);
    roots.insert(roots.end(), {reach.least, reach.most});
    roots.insert(roots.end(), reach.steps.begin(), reach.steps.end());
  }
  tape_ = ir::ExprTape(program.exprs(), std::move(roots));
}

std::optional<PartSizes> PartsTape::evaluate(const ir::Binding& binding) const {
  std::vector<std::optional<Int128>> found(tape_.roots().size());
  tape_.evaluate(binding.values(), found);
  const auto narrow = std::span(found).first(1 + axes_ + inputs_);
  if (!std::ranges::all_of(narrow, [](const auto& value) { return value && *value >= 0 && fits_int64(*value); }) ||
      !std::ranges::all_of(found, [](const auto& value) { return value.has_value(); }))
    return std::nullopt;
  Values values(found);
  PartSizes sizes;
  sizes.columns = static_cast<std::int64_t>(values.next());
  sizes.extents = values.next<std::int64_t>(axes_);
  sizes.spans = values.next<std::int64_t>(inputs_);
  for (const std::uint32_t input : reach_inputs_) {
    ReachSizes& reach = sizes.reaches.emplace_back(ReachSizes{.input = input});
    reach.least = values.next();
    reach.most = values.next();
    reach.steps = values.next<Int128>(axes_);
  }
  sizes.most_elements = most_elements_;
  return sizes;
}

}  // namespace padlock::abi
