#pragma once

#include <map>
#include <span>
#include <string>

#include "padlock/padlock.hpp"

namespace padlock::tools {

/// The names of inputs and results that a caller types and reads. A model's may differ from those of the program made
/// from it. Keys are the program's names; empty: the program's names are shown.
struct ShownNames {
  std::map<std::string, std::string> inputs, results;
};

/// Replaces names of parameters or results by the shown ones. They borrow `names`.
inline void show_names(std::span<padlock_parameter_info> list, const std::map<std::string, std::string>& names) {
  for (padlock_parameter_info& one : list)
    if (const auto found = names.find(one.name); found != names.end()) one.name = found->second.c_str();
}

}  // namespace padlock::tools
