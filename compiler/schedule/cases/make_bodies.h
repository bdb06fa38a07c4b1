#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/kernel/kernel.h"
#include "compiler/schedule/cases/segments.h"
#include "compiler/schedule/model/schedule.h"
#include "compiler/schedule/model/schedule_options.h"

namespace padlock::compiler {

// The passes that make a schedule of a kernel, besides those with a file of their own; compiler/pipeline.h has their
// order.

/// Makes a schedule without code, with the extents of a launch. `config` is the text that it keeps.
[[nodiscard]] Schedule begin_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

/// Gives each segment of the cases straight-line code and the sources of its loads. Segments whose code differs in
/// addresses alone share a body; neighbours that do the same become one.
void make_bodies(Schedule& schedule, const std::vector<RowCase>& cases, const ScheduleOptions& options);

/// Makes the body of these roots, and the sources of its loads. `vector_sums`: sums may be vectors, where neighbouring
/// columns add up the same rows.
[[nodiscard]] std::pair<Body, std::vector<LoadSource>> make_body(const Kernel& kernel, const std::vector<NodeId>& roots,
                                                                 bool vector_sums);

}  // namespace padlock::compiler
