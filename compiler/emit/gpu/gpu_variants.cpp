#include "compiler/emit/gpu/gpu_variants.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "compiler/emit/rows/emit_row_dispatch.h"

namespace padlock::compiler {
namespace {

/// Collects the variants of a kernel, most of them made from the variant before.
class VariantList {
 public:
  explicit VariantList(const ProvenKernel& kernel) : kernel_(kernel), schedule_(kernel.schedule()) {
    const Tiles* const tiles = schedule_.tiles();
    if (tiles != nullptr) next_.tile = &tiles->shapes.front();
    if (schedule_.grid() != nullptr) next_.vectors = schedule_.grid()->vectors;
    list_ = {next_};
  }

  std::vector<GpuVariant> take() {
    if (kernel_.has_narrow_indices()) add_narrow();
    if (abi::assumes(kernel_.guards(), abi::Assumption::in_range))
      add(guards_of(abi::Assumption::in_range), "_in_range");
    keep_even();
    add_one_vector();
    if (kernel_.has_narrow_indices() && schedule_.tiles() != nullptr)
      for (const TransposeTile& smaller : schedule_.tiles()->shapes | std::views::drop(1)) add_tile(smaller);
    return std::move(list_);
  }
  /// The variant for vectors that lie in one segment each, if there is one. `take` comes before.
  [[nodiscard]] const std::optional<GpuVariant>& even() const { return even_; }

 private:
  /// Adds the next variant, which also assumes these guards.
  void add(std::vector<abi::Guard> guards, std::string suffix) {
    if (guards.empty()) list_.pop_back();  // the new one admits all that the last one does
    next_.guards.insert(next_.guards.end(), guards.begin(), guards.end());
    next_.suffix = list_.empty() ? "" : std::move(suffix);
    list_.push_back(next_);
  }

  void add_narrow() {
    // Few launches take this variant, since others are quicker for their sizes, so its code is kept short.
    list_.front().vectors = std::min(1, next_.vectors);
    next_.index_bits = 32;
    next_.in_parts = schedule_.index32.in_parts;
    if (next_.tile != nullptr) {
      add(guards_of(abi::Assumption::index32), "_offset64");
      next_.offset_bits = 32;
      return add(guards_of(abi::Assumption::offset32), "_index32");
    }
    next_.offset_bits = 32;
    std::vector<abi::Guard> guards = guards_of(abi::Assumption::index32);
    for (abi::Guard& guard : guards_of(abi::Assumption::offset32))
      guards.push_back(guard);  // none of launches in parts
    if (const RowTable* const table = next_.table_of(schedule_)) add_table_guard(*table, guards);
    add(std::move(guards), "_index32");
  }

  /// The table is that of as many vectors as a launch uses, whichever variant has them.
  void add_table_guard(const RowTable& table, std::vector<abi::Guard>& guards) const {
    ir::ExprContext& exprs = schedule_.exprs();
    const VectorGrid& grid = *schedule_.grid();
    const Expr bytes = at_launch(exprs, grid, table.bytes, grid.elements, schedule_.used_vectors());
    if (bytes.range().hi > kMostTableBytes)
      guards.push_back({abi::Assumption::row_table, {bytes, ir::Comparison::le, exprs.constant(kMostTableBytes)}});
  }

  void keep_even() {
    if (next_.tile != nullptr || schedule_.grid() == nullptr || !schedule_.grid()->uneven) return;
    if (!kernel_.has_narrow_indices()) return;
    even_ = next_;
    even_->is_even = true;
    even_->vectors = 1;
    even_->suffix = "_no_edges";
    for (const Expr past : *schedule_.grid()->uneven)
      even_->guards.push_back({abi::Assumption::no_edges, {past, ir::Comparison::le, schedule_.exprs().constant(0)}});
  }

  void add_one_vector() {
    if (next_.vectors < 2) return;
    const Expr beyond = schedule_.at_grid_launch(schedule_.grid()->beyond_single);
    if (beyond.range().lo > 0) return;
    std::vector<abi::Guard> guards;
    if (beyond.range().hi > 0)
      guards.push_back({abi::Assumption::few_vectors, {beyond, ir::Comparison::le, schedule_.exprs().constant(0)}});
    next_.vectors = 1;
    add(std::move(guards), "_one_vector");
  }

  void add_tile(const TransposeTile& tile) {
    next_.tile = &tile;
    const Expr most = schedule_.exprs().constant(tile.most_tiles);
    add({{abi::Assumption::few_tiles, {tile.tiles, ir::Comparison::le, most}}},
        tile.size == TileSize::small ? "_small" : "_medium");
  }

  [[nodiscard]] std::vector<abi::Guard> guards_of(abi::Assumption assumption) const {
    return abi::guards_of(kernel_.guards(), assumption);
  }

  const ProvenKernel& kernel_;
  const Schedule& schedule_;
  GpuVariant next_;
  std::vector<GpuVariant> list_;
  std::optional<GpuVariant> even_;
};

/// Returns whether the other schedule can take each launch that the first can take.
bool asks_no_more(const ProvenKernel& other, const ProvenKernel& first) {
  return std::ranges::all_of(other.preconditions(), [&](const ir::Constraint& asked) {
    return std::ranges::any_of(first.preconditions(), [&](const ir::Constraint& known) {
      return asked.lhs == known.lhs && asked.comparison == known.comparison && asked.rhs == known.rhs;
    });
  });
}

/// Returns whether a schedule has the arguments of the first one's contract. A schedule without segments may have a
/// load that the first, in whose segments its condition never holds, has not.
bool takes_same_arguments(const Schedule& other, const abi::KernelAbi& first) {
  const abi::KernelAbi own = contract_of(other);
  return own.inputs == first.inputs && own.scalars == first.scalars;
}

/// Returns the name of a schedule beside the first.
std::string_view name_of(const Schedule& schedule) {
  if (const Boxes* const boxes = schedule.boxes()) return name_of(boxes->kind);
  return schedule.grid()->by_element ? "by_element" : abi::name_of(schedule.serves.front().assumption);
}

}  // namespace

std::vector<GpuVariant> gpu_variants(std::span<const ProvenKernel> schedules) {
  const ProvenKernel& first = schedules.front();
  VariantList variants(first);
  std::vector<GpuVariant> list = variants.take();
  const abi::KernelAbi contract = contract_of(first.schedule());
  for (std::size_t i = 1; i < schedules.size(); ++i) {
    const ProvenKernel& other = schedules[i];
    if (!asks_no_more(other, first) || !takes_same_arguments(other.schedule(), contract)) continue;
    std::vector<GpuVariant> own = VariantList(other).take();
    GpuVariant variant = std::move(own.back());
    variant.schedule = i;
    variant.suffix = fmt::format("_{}", name_of(other.schedule()));
    variant.guards.insert(variant.guards.end(), other.schedule().serves.begin(), other.schedule().serves.end());
    list.push_back(std::move(variant));
  }
  if (variants.even()) list.push_back(*variants.even());
  return list;
}

}  // namespace padlock::compiler
