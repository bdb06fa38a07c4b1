#include "abi/ptx_entries.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace padlock::abi {
namespace {

constexpr const char* kHead = "//\n// made by a compiler\n.version 8.0\n.target sm_90\n.address_size 64\n";

std::string entry(const std::string& name, const std::string& body) {
  return fmt::format("\n\t// .globl\t{0}\n.visible .entry {0}(\n\t.param .u64 {0}_0\n)\n{{\n{1}}}\n", name, body);
}

TEST_CASE("texts that are added up have one head, in their order") {
  std::string text;
  for (const char* name : {"p", "q"}) append_ptx(text, kHead + entry(name, ""));
  CHECK(text == kHead + entry("p", "") + entry("q", ""));
}

TEST_CASE("the text of an entry has no other, and all that stands outside of entries") {
  const std::string shared = "\n.extern .shared .align 16 .b8 stages[];\n";
  const std::string text =
      kHead + entry("p", "\tret;\n") + shared + entry("p_index32", "\t{ // a scope\n\t}\n\tret;\n") + entry("q", "");
  for (const char* name : {"p", "p_index32", "q"}) {
    CAPTURE(name);
    CHECK(has_ptx_entry(text, name));
    const std::string only = *ptx_of_entry(text, name);
    CHECK(only.starts_with(kHead));
    CHECK(only.find(shared) != only.npos);
    for (const std::string other : {"p", "p_index32", "q"}) CHECK(has_ptx_entry(only, other) == (other == name));
    CHECK(ptx_of_entry(only, name) == only);
  }
  CHECK(ptx_of_entry(text, "p_index32")->find("\t{ // a scope\n\t}\n\tret;\n}\n") != std::string::npos);
}

TEST_CASE("an entry that a text has not is none, also where its name is a part of another's") {
  const std::string text = kHead + entry("pad", "");
  for (const char* name : {"", "pa", "ad", "pad_2", "pad("}) {
    CAPTURE(name);
    CHECK_FALSE(has_ptx_entry(text, name));
    CHECK(ptx_of_entry(text, name) == std::nullopt);
  }
  CHECK(ptx_of_entry("", "p") == std::nullopt);
}

TEST_CASE("a text that is cut short loses nothing of the entry that it is asked for") {
  const std::string text = kHead + entry("p", "") + "\n.visible .entry q(\n)\n{ {";
  CHECK(ptx_of_entry(text, "q")->ends_with("q(\n)\n{ {"));
  CHECK_FALSE(has_ptx_entry(*ptx_of_entry(text, "p"), "q"));
  CHECK(ptx_of_entry(kHead + std::string("\n.visible .entry q"), "q").has_value());
}

}  // namespace
}  // namespace padlock::abi
