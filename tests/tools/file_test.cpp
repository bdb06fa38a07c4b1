#include "support/file.h"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace padlock {
namespace {

/// A folder of its own that goes away with everything in it.
struct Folder {
  Folder() {
    char name[] = "/tmp/padlock_file_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const char* name) const { return path + "/" + name; }
  [[nodiscard]] std::size_t count() const {
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path)) ++files;
    return files;
  }
  std::string path;
};

void write(const std::string& path, std::string_view text) {
  auto file = AtomicFile::create(path);
  REQUIRE(file);
  REQUIRE(file->write(text));
  REQUIRE(file->commit());
}

TEST_CASE("a file appears when it is committed, and not before") {
  const Folder folder;
  auto file = AtomicFile::create(folder.file("a"));
  REQUIRE(file);
  REQUIRE(file->write("some text"));
  CHECK_FALSE(std::filesystem::exists(folder.file("a")));
  REQUIRE(file->commit(AtomicFile::Durability::synced));
  CHECK(*read_text_file(folder.file("a"), 100) == "some text");
  CHECK(folder.count() == 1);
}

TEST_CASE("without a commit the old file stays and nothing is left behind") {
  const Folder folder;
  write(folder.file("a"), "old");
  {
    auto file = AtomicFile::create(folder.file("a"));
    REQUIRE(file);
    REQUIRE(file->write("new"));
  }
  CHECK(*read_text_file(folder.file("a"), 100) == "old");
  CHECK(folder.count() == 1);
}

TEST_CASE("a symbolic link stays one, and its target is replaced") {
  const Folder folder;
  write(folder.file("target"), "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  write(folder.file("link"), "new");
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(*read_text_file(folder.file("target"), 100) == "new");
}

TEST_CASE("a device is written, not replaced") {
  write("/dev/null", "text");
  struct stat info{};
  REQUIRE(::stat("/dev/null", &info) == 0);
  CHECK(S_ISCHR(info.st_mode));
}

TEST_CASE("what cannot be written says why") {
  const Folder folder;
  CHECK(AtomicFile::create(folder.path).error().message == "cannot write " + folder.path + ": Is a directory");
  CHECK(AtomicFile::create(folder.file("no/a")).error().message ==
        "cannot write " + folder.file("no/a") + ": No such file or directory");
  CHECK(AtomicFile::create("").error().message == "expected a file name, found an empty one");
  auto full = AtomicFile::create("/dev/full");
  if (full) {
    const Status written = full->write("text");
    REQUIRE_FALSE(written);
    CHECK(written.error().code == Code::resource_exhausted);
    CHECK(written.error().message == "cannot write /dev/full: No space left on device");
  }
}

TEST_CASE("reading needs a regular file that is there") {
  const Folder folder;
  CHECK(InputFile::open(folder.file("a")).error().code == Code::not_found);
  CHECK(InputFile::open(folder.path).error().message == "cannot read " + folder.path + ": not a regular file");
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  // Would hang for ever if it waited for a writer.
  CHECK(InputFile::open(folder.file("pipe")).error().message ==
        "cannot read " + folder.file("pipe") + ": not a regular file");
  CHECK(InputFile::open(std::string("a\0b", 3)).error().message == "a file name cannot contain a NUL byte");
}

TEST_CASE("reading past the end is an error, and a long text is refused") {
  const Folder folder;
  write(folder.file("a"), "0123456789");
  const auto file = InputFile::open(folder.file("a"));
  REQUIRE(file);
  CHECK(file->size() == 10);
  std::byte bytes[4];
  REQUIRE(file->read_at(6, bytes));
  CHECK(static_cast<char>(bytes[3]) == '9');
  const Status beyond = file->read_at(8, bytes);
  REQUIRE_FALSE(beyond);
  CHECK(beyond.error().message == "cannot read " + folder.file("a") + ": it ends at byte 10");
  CHECK(read_text_file(folder.file("a"), 9).error().message ==
        "cannot read " + folder.file("a") + ": it has 10 bytes, at most 9 are read");
}

}  // namespace
}  // namespace padlock
