#include "abi/gpu_targets.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace padlock::abi {
namespace {

// The architectures that PTX is made for. ptxas 13 supports none below sm_75.
constexpr std::array<std::string_view, 8> kTargets = {"sm_75", "sm_80", "sm_86",  "sm_87",
                                                      "sm_89", "sm_90", "sm_100", "sm_120"};

}  // namespace

std::vector<std::string> gpu_targets() { return {kTargets.begin(), kTargets.end()}; }

int gpu_target_number(std::string_view target) {
  target.remove_prefix(std::min(target.size(), std::string_view("sm_").size()));
  int number = 0;
  std::from_chars(target.data(), target.data() + target.size(), number);
  return number;
}

std::string gpu_target_for(int major, int minor) {
  std::string best;
  for (const std::string_view target : kTargets) {
    const int number = gpu_target_number(target);
    if (number / 10 == major && number % 10 <= minor) best = target;
  }
  return best;
}

}  // namespace padlock::abi
