#include "abi/ptx_parts.h"

#include <doctest/doctest.h>

namespace padlock::abi {
namespace {

constexpr const char* kHead = "//\n// made by a compiler\n.version 8.0\n.target sm_90\n.address_size 64\n";

TEST_CASE("parts that are joined have one head, and are split as they were") {
  const PtxParts parts{.usual = std::string(kHead) + "\n.visible .entry p_index32(\n)\n{}\n",
                       .large = std::string(kHead) + "\n.visible .entry p(\n)\n{}\n"};
  const std::string text = join_ptx(parts);
  CHECK(text.find(".version") == text.rfind(".version"));
  CHECK(text.find(".entry p_index32(") < text.find(".entry p("));
  const PtxParts found = split_ptx(text);
  CHECK(found.usual == parts.usual);
  CHECK(found.large == parts.large);
}

TEST_CASE("what has no part for large sizes is as it was") {
  for (const std::string text : {"", "no PTX", kHead}) {
    CHECK(join_ptx({.usual = text, .large = {}}) == text);
    CHECK(split_ptx(text).usual == text);
    CHECK(split_ptx(text).large.empty());
  }
  // Nothing trusts a text that a file had: what has the line but no head is a part without one.
  const std::string text = join_ptx({.usual = "a", .large = "b"});
  CHECK(split_ptx(text).usual == "a");
  CHECK(split_ptx(text).large == "b");
}

}  // namespace
}  // namespace padlock::abi
