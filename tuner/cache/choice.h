#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/binding/binding.h"
#include "ir/expr/constraint.h"
#include "ir/program.h"
#include "support/error.h"
#include "tuner/cache/record.h"
#include "tuner/cache/regime.h"

namespace padlock::tuner {

/// Which config runs, and why.
struct Chosen {
  std::string config;
  std::string reason;  ///< "tuned for S >= 1024, 18 of 24 configs measured", "no tuned region holds these sizes: the
                       ///< default config"
};

[[nodiscard]] std::string to_string(const Coverage& coverage);  ///< "18 of 24 configs measured"
[[nodiscard]] std::string region_text(const Choice& choice);    ///< "S >= 1024 (warm)"

/// A choice and the sizes that it serves: guards, as its region has them.
struct ServedChoice {
  Choice choice;
  std::string sizes;
};

/// Returns the choices of a program with the sizes that each serves on a machine whose last cache has so many bytes, no
/// sizes twice. Nobody knows in which regime a launch finds its tensors; their bytes decide:
///
/// - A choice serves the sizes of its region whose tensors are in its regime (RegimeBorders).
/// - It also serves those sizes of its region for which no other choice speaks, since whoever tuned asked for this
///   regime; one of `both` comes first. A record of an earlier version names no regime. It is cold, and serves no
///   other.
///
/// `cache_bytes` 0: unknown; then a choice serves its region. If the tensors' bytes have no text
/// (tensor_bytes_text), it does so, too.
[[nodiscard]] std::vector<ServedChoice> serving(const ir::Program& program, const std::vector<Choice>& choices,
                                                std::int64_t cache_bytes);

/// The configs of one program by regions of sizes. A region is a list of guards over the program's symbols, in the
/// language's syntax; the region without any holds all sizes. Immutable, thread-safe. The program must outlive it.
class ProgramChoices {
 public:
  /// `default_config` serves what no region holds. Errors (invalid_argument): a region whose guards the program does
  /// not admit, or that stands twice.
  [[nodiscard]] static Result<ProgramChoices> of_served(const ir::Program& program,
                                                        const std::vector<ServedChoice>& choices,
                                                        std::string default_config);
  /// The same, where each choice serves its region.
  [[nodiscard]] static Result<ProgramChoices> create(const ir::Program& program, const std::vector<Choice>& choices,
                                                     std::string default_config);

  /// The first region whose guards all hold, those with more guards first, then by text: the same whatever the order in
  /// which they were given. A guard that cannot be evaluated does not hold.
  [[nodiscard]] Chosen choose(const ir::Binding& binding) const;

 private:
  struct Region {
    std::string text;
    std::vector<ir::Constraint> guards;
    std::string config;
    std::string reason;
  };
  explicit ProgramChoices(std::string default_config) : default_config_(std::move(default_config)) {}

  std::vector<Region> regions_;
  std::string default_config_;
  bool has_earlier_ = false;  // a record without a regime, which does not serve all of its region
};

/// Checks of a choice what Store::look_up asks: that its region is of this program, and that `config_is_legal` takes
/// its config.
[[nodiscard]] Status check_choice(const ir::Program& program, const Choice& choice,
                                  const std::function<Status(const std::string&)>& config_is_legal);

}  // namespace padlock::tuner
