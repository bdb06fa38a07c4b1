#pragma once

#include <string>
#include <string_view>

namespace padlock::abi {

/// A driver compiles all of a text when it loads it, and takes as long for a variant that is never launched as for one
/// that is. So PTX has two parts, each a text of its own: what launches of usual sizes take, and the variants for sizes
/// that do not fit 32 bits.
struct PtxParts {
  std::string usual;
  std::string large;  ///< empty where no kernel has such a variant
};

/// Returns one text for both: that of `usual`, a comment, and `large` without its head, which is the same.
[[nodiscard]] std::string join_ptx(const PtxParts& parts);
/// Returns the parts of what join_ptx made. Of any other text `usual` is the whole.
[[nodiscard]] PtxParts split_ptx(std::string_view text);

}  // namespace padlock::abi
