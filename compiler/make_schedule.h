#pragma once

#include <optional>
#include <string>

#include "compiler/kernel.h"
#include "compiler/mutation.h"
#include "compiler/schedule.h"

namespace padlock::compiler {

/// What a target's config says of the loops.
struct ScheduleOptions {
  bool split = true;      ///< split the innermost axis, so that its interior has no predicate
  int vector_bytes = 16;  ///< of the widest element type that one vector holds
  int unroll = 1;         ///< vectors that a thread takes in one trip of the main loop
  StoreKind store = StoreKind::plain;
  std::optional<ThreadMap> threads = {};
  bool realign = false;  ///< threads: load vectors that lie between boundaries from the two aligned ones around them
  Mutation mutation = Mutation::none;
};

/// Turns a kernel into loops; `config` is the text that the schedule keeps.
[[nodiscard]] Schedule make_schedule(Kernel kernel, std::string config, const ScheduleOptions& options);

}  // namespace padlock::compiler
