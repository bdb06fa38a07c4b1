#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

// The passes that make a schedule's cases and bodies; compiler/pipeline.h has their order.
namespace padlock::compiler {

struct SegmentOptions {
  bool split = true;  ///< false: one segment, with its predicates
};

/// Limits above which a kernel keeps predicated code. All segments of all cases hold at most about kMaxSpecialisedNodes
/// nodes together, so that large kernels do not multiply.
inline constexpr std::size_t kMaxSegments = 8;
inline constexpr std::size_t kMaxRowCases = 8;
inline constexpr std::size_t kMaxSpecialisedNodes = 4096;
/// Steps of proof for one kernel, about 1 us each; an ordinary kernel takes some hundreds.
inline constexpr std::int64_t kProofBudget = 100'000;

/// Makes one case of all rows, with one segment of all columns. All predicates remain.
[[nodiscard]] std::vector<RowCase> whole_rows(const Kernel& kernel);

/// Returns the cases of a row; the first is the root. Adds specialised nodes to the kernel's graph.
[[nodiscard]] std::vector<RowCase> split_rows(Kernel& kernel, const SegmentOptions& options);

/// Returns the kernel's roots, specialised to elements for which these conditions hold. Adds the specialised nodes to
/// the kernel's graph.
[[nodiscard]] std::vector<NodeId> roots_where(Kernel& kernel, const std::vector<ConditionId>& holds);

/// Makes a schedule without code, with a launch's extents. `config` is the text that it keeps.
[[nodiscard]] Schedule begin_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

/// Gives each segment of the cases straight-line code and the sources of its loads. Segments whose code differs only in
/// addresses share a body; neighbours that do the same become one segment.
void make_bodies(Schedule& schedule, const std::vector<RowCase>& cases);

/// Makes the body of these roots, and the sources of its loads. `vector_sums`: sums may be vectors if neighbouring
/// columns add up the same rows. `general`: every load is general, since no row comes before it.
[[nodiscard]] std::pair<Body, std::vector<LoadSource>> make_body(const Kernel& kernel, const std::vector<NodeId>& roots,
                                                                 bool vector_sums, bool general = false);

}  // namespace padlock::compiler
