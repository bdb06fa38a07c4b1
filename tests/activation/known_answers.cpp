#include "tests/activation/known_answers.h"

#include <istream>
#include <sstream>

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace padlock::activation {
namespace {

constexpr std::size_t kHashesOfLine = 8;

/// Hands each line's function, and the hexadecimal numbers after it, to `take`. Empty lines and those of # are
/// comments.
template <class Take>
Status read_lines(std::istream& lines, const std::string& name, const Take& take) {
  if (!lines) return invalid_argument("expected to read " + name);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string function;
    words >> function >> std::hex;
    std::vector<std::uint64_t> numbers;
    for (std::uint64_t number = 0; words >> number;) numbers.push_back(number);
    const auto op = ir::op_from_name(function);
    if (!op || !words.eof() || !take(*op, numbers))
      return invalid_argument(fmt::format("{}: expected a function and hexadecimal numbers, found '{}'", name, line));
  }
  return {};
}

}  // namespace

std::uint64_t hash_of(const std::vector<std::uint32_t>& results) {
  return XXH3_64bits(results.data(), results.size() * sizeof(std::uint32_t));
}

Result<std::map<ir::Op, BlockHashes>> read_known_answers(std::istream& lines, const std::string& name) {
  std::map<ir::Op, std::vector<std::uint64_t>> hashes;
  PADLOCK_CHECK(read_lines(lines, name, [&](ir::Op op, const std::vector<std::uint64_t>& numbers) {
    hashes[op].insert(hashes[op].end(), numbers.begin(), numbers.end());
    return hashes[op].size() <= kBlocks;
  }));
  std::map<ir::Op, BlockHashes> result;
  for (const auto& [op, list] : hashes) {
    if (list.size() != kBlocks)
      return invalid_argument(
          fmt::format("{}: expected {} hashes of '{}', found {}", name, kBlocks, name_of(op), list.size()));
    std::copy(list.begin(), list.end(), result[op].begin());
  }
  return result;
}

std::string to_text(ir::Op op, const BlockHashes& hashes) {
  std::string text;
  for (std::size_t i = 0; i < kBlocks; ++i) {
    if (i % kHashesOfLine == 0) text += name_of(op);
    text += fmt::format(" {:016x}{}", hashes.at(i), i % kHashesOfLine == kHashesOfLine - 1 ? "\n" : "");
  }
  return text;
}

Result<std::map<ir::Op, std::vector<std::uint32_t>>> read_hard_arguments(std::istream& lines, const std::string& name) {
  std::map<ir::Op, std::vector<std::uint32_t>> result;
  PADLOCK_CHECK(read_lines(lines, name, [&](ir::Op op, const std::vector<std::uint64_t>& numbers) {
    for (const std::uint64_t number : numbers) result[op].push_back(static_cast<std::uint32_t>(number));
    return !numbers.empty();
  }));
  return result;
}

}  // namespace padlock::activation
