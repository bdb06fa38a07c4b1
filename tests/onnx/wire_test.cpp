// The bytes of models: read as the format says, or refused.
#include "onnx/wire.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/limits.h"
#include "tests/onnx/import_testing.h"

namespace padlock::onnx::testing {
namespace {

namespace fs = std::filesystem;

ModelParts pad_model() {
  return {.inputs = {value_info("x", kFloat, {"N"})},
          .constants = {int64s("pads", {2}, {1, 2}), floats("v", {}, {0.25F})},
          .nodes = {node("Pad", {"x", "pads", "v"}, {"y"})},
          .outputs = {value_info("y", kFloat, {})}};
}

TEST_CASE("a model that ends in the middle is refused or still one, whatever the place") {
  const std::string whole = model(pad_model());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto made = import_model(std::string_view(whole).substr(0, size));
    if (!made) CHECK_FALSE(made.error().message.empty());
  }
  const auto cut = read_model(std::string_view(whole).substr(0, 10));
  REQUIRE_FALSE(cut.has_value());
  CHECK(cut.error().code == Code::invalid_argument);
  CHECK(contains(cut.error().message, "expected an ONNX model: its bytes are damaged"));
  CHECK(contains(read_model("").error().message, "it has no graph"));
  CHECK(read_model("program p(x: f32[S]) { return x }").error().message ==
        "expected an ONNX model: it does not begin as one does");
}

TEST_CASE("unknown fields and known ones of another kind are passed over") {
  const std::string whole = model(pad_model());
  const std::string strange = Message().number(99, 1).bytes(1, "not a number").fixed32(7, 1).text();
  const auto made = import_model(strange + whole + strange);
  REQUIRE(made.has_value());
  CHECK(contains(made->text, "low = [1], high = [2], value = 0.25"));
}

TEST_CASE("lists may be packed or not, and in parts") {
  const auto with = [](const Message& tensor) {
    ModelParts parts = pad_model();
    parts.constants[0] = tensor;
    return imported(parts);
  };
  const std::string expected = with(int64s("pads", {2}, {1, 2}));
  const Message head = Message().bytes(1, "\x02").number(2, kInt64).bytes(8, "pads");
  CHECK(with(Message(head).bytes(7, "\x01\x02")) == expected);
  CHECK(with(Message(head).bytes(7, "\x01").number(7, 2)) == expected);
  CHECK(with(Message(head).bytes(9, std::string_view("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16))) == expected);
}

TEST_CASE("constants with more or fewer elements than their dimensions say are refused") {
  const auto refuse = [](const Message& tensor, const char* part) {
    ModelParts parts = pad_model();
    parts.constants[0] = tensor;
    check_refused(parts, part);
  };
  refuse(int64s("pads", {3}, {1, 2}), "has 2 elements, expected 3");
  refuse(int64s("pads", {1}, {1, 2}), "has over 1 elements, expected 1");
  refuse(int64s("pads", {-1}, {}), "has a negative dimension");
  refuse(Message().number(1, 2).number(2, kInt64).bytes(8, "pads").bytes(9, "12345"),
         "has 5 bytes, expected 2 elements of 8");
}

TEST_CASE("counts that ask for memory are refused before it is taken") {
  ModelParts parts = pad_model();
  parts.constants[0] = int64s("pads", {std::int64_t{1} << 40, std::int64_t{1} << 40}, {});
  check_refused(parts, "expected a constant of at most 1048576 elements", Code::resource_exhausted);
  Message graph;
  for (std::size_t i = 0; i <= limits::kItems; ++i) graph.bytes(11, "");
  const auto made = read_model(Message().message(7, graph).text());
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == Code::resource_exhausted);
  ModelParts many = pad_model();
  many.nodes.assign(limits::kNodes + 1, node("Relu", {"x"}, {"y"}));
  check_refused(many, "expected at most 20000 nodes", Code::resource_exhausted);
}

/// A folder of its own, gone with it.
struct Folder {
  Folder() : path(fs::temp_directory_path() / ("padlock_onnx_" + std::to_string(::getpid()))) {
    fs::create_directories(path / "in");
  }
  ~Folder() { fs::remove_all(path); }
  void write(const char* name, std::string_view bytes) const { std::ofstream(path / name) << bytes; }
  fs::path path;
};

Result<Import> with_external(const Folder& folder, std::string_view location, std::string_view offset,
                             std::string_view length) {
  ModelParts parts = pad_model();
  const auto entry = [](std::string_view key, std::string_view value) {
    return Message().bytes(1, key).bytes(2, value);
  };
  parts.constants[0] = Message()
                           .number(1, 2)
                           .number(2, kInt64)
                           .bytes(8, "pads")
                           .number(14, 1)
                           .message(13, entry("location", location))
                           .message(13, entry("offset", offset))
                           .message(13, entry("length", length));
  return import_model(model(parts), {.folder = (folder.path / "in").string()});
}

TEST_CASE("external data lies in the model's folder and nowhere else") {
  const Folder folder;
  const std::string_view bytes("\5\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 24);
  folder.write("in/data", bytes);
  folder.write("outside", bytes);
  fs::create_symlink("../outside", folder.path / "in" / "link");
  const auto good = with_external(folder, "data", "8", "16");
  REQUIRE(good.has_value());
  CHECK(contains(good->text, "low = [1], high = [2]"));
  const auto refuse = [&](std::string_view location, std::string_view offset, std::string_view length,
                          const char* part) {
    const auto made = with_external(folder, location, offset, length);
    REQUIRE_FALSE(made.has_value());
    CAPTURE(made.error().message);
    CHECK(contains(made.error().message, part));
  };
  refuse("../outside", "0", "16", "lies outside the model's folder");
  refuse("link", "0", "16", "lies outside the model's folder");
  refuse("/etc/passwd", "0", "16", "is no path below the model's folder");
  refuse("", "0", "16", "is no path below the model's folder");
  refuse("absent", "0", "16", "is not there");
  refuse("data", "16", "16", "expected 16 bytes of external data at 16");
  refuse("data", "-1", "16", "expected the offset of external data to be a number");
  refuse("data", "0", "8", "expected 16 bytes of external data");
  const auto nowhere = import_model(model(pad_model()));
  CHECK(nowhere.has_value());
}

}  // namespace
}  // namespace padlock::onnx::testing
