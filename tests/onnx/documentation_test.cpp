// The table in docs/onnx.md is the importer's own.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "onnx/operators/operator.h"

namespace padlock::onnx::testing {
namespace {

TEST_CASE("docs/onnx.md has the table of operators as it is") {
  std::stringstream page;
  page << std::ifstream(PADLOCK_SOURCE_DIR "/docs/onnx.md").rdbuf();
  INFO("the table is now\n" << operator_table());
  CHECK(page.str().find("\n" + operator_table() + "\n") != std::string::npos);
}

TEST_CASE("an operator stands in the table once, and does something") {
  for (const Operator& op : operators()) {
    CAPTURE(op.name);
    CHECK(find_operator(op.name) == &op);
    CHECK((op.import != nullptr));
  }
  CHECK(find_operator("Conv") == nullptr);
}

}  // namespace
}  // namespace padlock::onnx::testing
