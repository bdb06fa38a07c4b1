#include "compiler/schedule/model/blend.h"

#include <algorithm>
#include <set>

namespace padlock::compiler {
namespace {

// Each vector pays for all loads and operations that any vector of its warp needs. With three loads of one segment
// each, as in a pad that wraps, a blend is no faster.
constexpr std::size_t kMostSegments = 8, kMostLoads = 4, kMostOperations = 8;
constexpr std::ptrdiff_t kMostOwnLoads = 2;
// One load beside fills is made by element as soon, if a vector has fewer elements and none takes long.
constexpr int kFewLanes = 8;
// Most vectors of a row whose lone columns are blended.
constexpr int kMostVectors = 16;
constexpr int kWord = 4;  // bytes of the words by which lanes are chosen

bool is_blended(const Schedule& schedule, const Body& body) {
  const auto fills_words = [&](int root) {
    return body.lanes * ir::byte_size(body.nodes[static_cast<std::size_t>(root)].dtype) % kWord == 0;
  };
  return body.lanes == schedule.grid()->lanes && !reads_indices(body) && std::ranges::all_of(body.loads, is_vector) &&
         std::ranges::all_of(body.roots, fills_words);
}

}  // namespace

std::size_t Blend::main_segment() const {
  const auto shared = [](const Load& load) { return load.segments.size(); };
  const Load& most = *std::ranges::max_element(loads, {}, shared);
  // Prefers a segment that has no other load.
  const auto alone = [&](std::size_t segment) { return takes[segment].size() == 1; };
  const auto found = std::ranges::find_if(most.segments, alone);
  return found == most.segments.end() ? most.segments.front() : *found;
}

namespace {

/// Returns whether a segment is one column, which has a sum of its own.
bool is_column(const Schedule& schedule, const SegmentCall& call) {
  const Body& body = schedule.body_of(call);
  return body.lanes == 1 && has_sums(body) && !reads_by_data(body) &&
         schedule.exprs().sub(call.end, call.begin).is_constant(1);
}

Blend every_load(const Schedule& schedule, const ScheduledCase& row) {
  Blend blend;
  for (std::size_t segment = 0; segment < row.calls.size(); ++segment) {
    const SegmentCall& call = row.calls[segment];
    const Body& body = schedule.body_of(call);
    blend.bodies.push_back(call.body);
    std::vector<std::size_t>& takes = blend.takes.emplace_back();
    if (is_column(schedule, call)) {
      blend.lone_columns.push_back(segment);
      continue;
    }
    for (std::size_t load = 0; load < call.sources.size(); ++load) {
      const auto is_like = [&](const Blend::Load& other) {
        const SegmentCall& its = row.calls[other.segment];
        const LoadSource &a = call.sources[load], &b = its.sources[other.load];
        return a.tensor == b.tensor && a.layout == b.layout && a.base == b.base &&
               body.loads[load].kind == schedule.body_of(its).loads[other.load].kind;
      };
      const auto place = std::ranges::find_if(blend.loads, is_like);
      takes.push_back(static_cast<std::size_t>(place - blend.loads.begin()));
      if (place == blend.loads.end()) blend.loads.push_back({.segment = segment, .load = load});
      std::vector<std::size_t>& segments = blend.loads[takes.back()].segments;
      if (segments.empty() || segments.back() != segment) segments.push_back(segment);
    }
  }
  return blend;
}

/// Groups loads beside one that all segments share, as of the two ends of a row to which a gradient adds what lies past
/// them: a warp then makes them at once.
std::vector<std::vector<std::size_t>> groups_of(const Schedule& schedule, const ScheduledCase& row,
                                                const Blend& blend) {
  const auto is_shared = [&](const Blend::Load& load) { return load.segments.size() == row.calls.size(); };
  const auto tensor = [&](const Blend::Load& load) { return row.calls[load.segment].sources[load.load].tensor; };
  const auto kind = [&](const Blend::Load& load) {
    return schedule.body_of(row.calls[load.segment]).loads[load.load].kind;
  };
  const bool some_shared = std::ranges::any_of(blend.loads, is_shared);
  // Loads of one segment are needed together.
  const auto joins = [&](const Blend::Load& a, const Blend::Load& b) {
    return a.segments.size() == 1 && b.segments.size() == 1 && a.segment != b.segment && tensor(a) == tensor(b) &&
           kind(a) == kind(b);
  };
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < blend.loads.size(); ++i) {
    const auto place = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& group) {
      return std::ranges::all_of(group, [&](std::size_t other) { return joins(blend.loads[other], blend.loads[i]); });
    });
    if (place == groups.end() || !some_shared)
      groups.push_back({i});
    else
      place->push_back(i);
  }
  return groups;
}

/// Returns the operations of the row's vector bodies, each counted once.
std::size_t operations_of(const Schedule& schedule, const Blend& blend) {
  std::set<int> bodies(blend.bodies.begin(), blend.bodies.end());
  for (const std::size_t segment : blend.lone_columns) bodies.erase(blend.bodies[segment]);
  std::size_t operations = 0;
  for (const int body : bodies) operations += operation_count(schedule.bodies[static_cast<std::size_t>(body)]);
  return operations;
}

bool have_one_body(const Blend& blend, const std::vector<std::size_t>& segments) {
  return std::ranges::all_of(segments,
                             [&](std::size_t i) { return blend.bodies[i] == blend.bodies[segments.front()]; });
}

}  // namespace

ir::Expr beyond_blended_columns(ir::ExprContext& exprs, ir::Expr columns, int lanes) {
  const ir::Expr most = exprs.constant(Int128{kMostVectors} * lanes);
  return exprs.max(exprs.sub(columns, most), exprs.mod(columns, exprs.constant(lanes)));
}

bool loads_one_place(const Schedule& schedule, const ScheduledCase& row) {
  const Blend blend = every_load(schedule, row);
  return blend.loads.size() <= 1 && blend.lone_columns.empty();
}

std::optional<Blend> blend_of(const Schedule& schedule, const ScheduledCase& row) {
  if (row.calls.size() < 2 || row.calls.size() > kMostSegments) return std::nullopt;
  const auto takes = [&](const SegmentCall& call) {
    return is_blended(schedule, schedule.body_of(call)) || is_column(schedule, call);
  };
  if (!std::ranges::all_of(row.calls, takes)) return std::nullopt;
  Blend blend = every_load(schedule, row);
  if (!have_one_body(blend, blend.lone_columns)) return std::nullopt;
  const auto own =
      std::ranges::count_if(blend.loads, [](const Blend::Load& load) { return load.segments.size() == 1; });
  if (blend.loads.empty() || blend.loads.size() > kMostLoads || own > kMostOwnLoads) return std::nullopt;
  if (operations_of(schedule, blend) > kMostOperations) return std::nullopt;
  const auto takes_long = [&](const SegmentCall& call) { return computes_activation(schedule.body_of(call)); };
  if (blend.loads.size() == 1 && blend.lone_columns.empty() && schedule.grid()->lanes < kFewLanes &&
      std::ranges::none_of(row.calls, takes_long))
    return std::nullopt;
  blend.groups = groups_of(schedule, row, blend);
  return blend;
}

}  // namespace padlock::compiler
