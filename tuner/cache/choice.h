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

/// The config to run, and the reason.
struct Chosen {
  std::string config;
  std::string reason;  ///< "tuned for S >= 1024, 18 of 24 configs measured", "no tuned region holds these sizes: the
                       ///< default config"
};

[[nodiscard]] std::string to_string(const Coverage& coverage);  ///< "18 of 24 configs measured"
[[nodiscard]] std::string region_text(const Choice& choice);    ///< "S >= 1024 (warm)"

/// A choice and the sizes that it serves: guards, written like a region's.
struct ServedChoice {
  Choice choice;
  std::string sizes;
};

/// Returns a program's choices with the sizes that each serves, no sizes twice. `cache_bytes`: the machine's last
/// cache. The regime of a launch is unknown; the bytes of its tensors decide:
///
/// - A choice serves the sizes of its region whose tensors are in its regime (RegimeBorders).
/// - It also serves sizes of its region that no other choice covers, since the tuning asked for this regime; a choice
/// of `both` comes first. A record of an earlier version has no regime: it is cold, and serves no other.
///
/// If `cache_bytes` is 0 (unknown), or the tensors' bytes have no text (tensor_bytes_text), a choice serves its region.
[[nodiscard]] std::vector<ServedChoice> serving(const ir::Program& program, const std::vector<Choice>& choices,
                                                std::int64_t cache_bytes);

/// The configs of one program by regions of sizes. A region is a list of guards over the program's symbols, in the
/// language's syntax; the empty list holds all sizes. Immutable, thread-safe. The program must outlive it.
class ProgramChoices {
 public:
  /// `default_config` serves sizes outside all regions. Errors (invalid_argument): a region whose guards the program
  /// does not admit, or a duplicate region.
  [[nodiscard]] static Result<ProgramChoices> of_served(const ir::Program& program,
                                                        const std::vector<ServedChoice>& choices,
                                                        std::string default_config);
  /// The same; each choice serves its whole region.
  [[nodiscard]] static Result<ProgramChoices> create(const ir::Program& program, const std::vector<Choice>& choices,
                                                     std::string default_config);

  /// Returns the first region whose guards all hold. Regions with more guards come first, then by text, so the order in
  /// which they were given does not matter. A guard that cannot be evaluated does not hold.
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
  bool has_earlier_ = false;  // a record without a regime, which serves only a part of its region
};

/// Checks a choice for Store::look_up: its region must be of this program, and `config_is_legal` must accept its
/// config.
[[nodiscard]] Status check_choice(const ir::Program& program, const Choice& choice,
                                  const std::function<Status(const std::string&)>& config_is_legal);

}  // namespace padlock::tuner
