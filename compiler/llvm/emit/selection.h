#pragma once

namespace padlock::compiler {

/// The attribute of a function of the host whose instructions are selected by graphs of whole blocks: one whose loops
/// add up several addresses, for which the quicker selection (codegen.cpp) takes an instruction more each.
inline constexpr char kSelectsByGraph[] = "padlock-selects-by-graph";

}  // namespace padlock::compiler
