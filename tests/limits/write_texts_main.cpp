// Writes the text of each family, at a length, into a folder.
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/limits/hostile_texts.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: padlock_hostile_texts BYTES FOLDER\n";
    return 2;
  }
  for (const auto& family : padlock::testing::hostile_families()) {
    std::ofstream file(std::string(argv[2]) + "/" + std::string(family.name) + ".pad");
    file << family.text(std::strtoul(argv[1], nullptr, 10)) << std::flush;
    if (file) continue;
    std::cerr << argv[2] << ": expected a folder to write to\n";
    return 1;
  }
  return 0;
}
