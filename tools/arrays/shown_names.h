#pragma once

#include <map>
#include <span>
#include <string>

#include "padlock/padlock.hpp"

namespace padlock::tools {

/// What a program was made of may call its inputs and results otherwise, as a model does: these names are the ones that
/// a caller types and reads. By the program's names; empty: those.
struct ShownNames {
  std::map<std::string, std::string> inputs, results;
};

/// Gives parameters or results the names to show. They borrow `names`.
inline void show_names(std::span<padlock_parameter_info> list, const std::map<std::string, std::string>& names) {
  for (padlock_parameter_info& one : list)
    if (const auto found = names.find(one.name); found != names.end()) one.name = found->second.c_str();
}

}  // namespace padlock::tools
