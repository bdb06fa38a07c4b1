#include "tuner/cache/store.h"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/tuner/cache/samples.h"

namespace padlock::tuner {
namespace {

using testing::choice;
using testing::Folder;
using testing::key;
using testing::legal;

/// A store and its warnings.
struct Opened {
  explicit Opened(StoreOptions options) {
    options.warn = [this](const std::string& text) { warnings.push_back(text); };
    auto opened = Store::open(std::move(options));
    REQUIRE_MESSAGE(opened, opened.error().message);
    store = *std::move(opened);
  }
  Lookup look_up(const CacheKey& wanted = key(), const Legal& is_legal = legal) {
    const auto found = store->look_up(wanted, is_legal);
    REQUIRE_MESSAGE(found, found.error().message);
    return **found;
  }
  std::vector<std::string> warnings;
  std::unique_ptr<Store> store;
};

void fill(const std::string& path, const CacheKey& of, const std::vector<Choice>& choices) {
  Opened writer({.mode = Mode::read_write, .user_file = path});
  for (const Choice& c : choices) REQUIRE(writer.store->add(of, c));
  CHECK(writer.warnings.empty());
}

CacheKey with(std::string KeyFields::* field, const std::string& value) {
  KeyFields fields = testing::fields();
  fields.*field = value;
  return CacheKey(fields);
}

TEST_CASE("a file that is to be written is made when something is, and what cannot be kept is said") {
  const Folder folder;
  const std::string path = folder / "t.db";
  {
    Opened unused({.mode = Mode::read_write, .user_file = path});
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(unused.store->add(key(), choice("", "unroll=1")));
    CHECK(std::filesystem::exists(path));
    CHECK(unused.store->not_kept().empty());
  }
  Opened nowhere({.mode = Mode::read_write, .user_file = path + "/t.db"});
  CHECK(nowhere.store->not_kept().empty());
  REQUIRE(nowhere.store->add(key(), choice("", "unroll=1")));  // in memory
  CHECK(nowhere.look_up().hit());
  CHECK(nowhere.store->not_kept().find(path) != std::string::npos);
  CHECK(nowhere.warnings.size() == 1);
  // Who only reads loses nothing.
  Opened reader({.mode = Mode::read, .user_file = path + "/t.db"});
  REQUIRE(reader.store->add(key(), choice("", "unroll=1")));
  CHECK(reader.store->not_kept().empty());
}

TEST_CASE("choices of one region in several regimes are kept beside each other") {
  const Folder folder;
  Choice warm = choice("S >= 8", "unroll=1"), cold = choice("S >= 8", "unroll=2");
  warm.regime = Regime::warm;
  cold.regime = Regime::cold;
  const Choice old = choice("S >= 8", "unroll=4");
  fill(folder / "t.db", key(), {warm, cold, old});
  Opened reader({.mode = Mode::read, .user_file = folder / "t.db"});
  CHECK(reader.look_up().choices.size() == 3);
}

TEST_CASE("what was learnt is there for the next process") {
  const Folder folder;
  const std::string path = folder / "cache/padlock/tuning.db";
  const std::vector<Choice> choices = {choice("", "unroll=1"), choice("S >= 8", "unroll=2")};
  fill(path, key(), choices);
  for (const Mode mode : {Mode::read, Mode::read_write, Mode::require}) {
    Opened reader({.mode = mode, .user_file = path});
    const Lookup found = reader.look_up();
    CHECK(found.hit());
    CHECK(found.choices == choices);
    CHECK(found.reason.empty());
    CHECK(reader.warnings.empty());
  }
  struct stat info{};
  REQUIRE(stat((folder / "cache/padlock").c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0700);
}

TEST_CASE("off finds and keeps nothing") {
  const Folder folder;
  fill(folder / "f.db", key(), {choice("", "unroll=1")});
  Opened off({.mode = Mode::off, .user_file = folder / "f.db"});
  CHECK(off.look_up().reason == "the cache is off");
  CHECK(off.store->add(key(), choice("S >= 8", "unroll=2")));
  CHECK_FALSE(off.look_up().hit());
  CHECK(off.store->measurements(key()).empty());
}

TEST_CASE("read makes no file, and what is learnt lives as long as the store") {
  const Folder folder;
  Opened reader({.mode = Mode::read, .user_file = folder / "a/f.db"});
  CHECK_FALSE(reader.look_up().hit());
  CHECK(reader.store->add(key(), choice("", "unroll=1")));
  CHECK(reader.look_up().choices == std::vector<Choice>{choice("", "unroll=1")});
  CHECK(reader.warnings.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
}

TEST_CASE("require makes a miss an error, and a file that is of no use too") {
  const Folder folder;
  fill(folder / "f.db", key(), {choice("", "unroll=1")});
  const Opened strict({.mode = Mode::require, .user_file = folder / "f.db"});
  CHECK(strict.store->look_up(key(), legal));
  const auto missed = strict.store->look_up(with(&KeyFields::llvm, "23.1.0"), legal);
  REQUIRE_FALSE(missed);
  CHECK(missed.error().code == Code::not_found);
  CHECK(missed.error().message ==
        "the cache has no record to use: the nearest record differs in llvm: wanted '23.1.0', recorded '22.1.8'");
  CHECK_FALSE(Opened({.mode = Mode::require, .user_file = folder / "none.db"}).store->look_up(key(), legal));
  std::ofstream(folder / "text.db") << "some text that is no database";
  const auto unusable = Store::open({.mode = Mode::require, .user_file = folder / "text.db"});
  REQUIRE_FALSE(unusable);
  CHECK(unusable.error().code == Code::failed_precondition);
  CHECK(unusable.error().message.starts_with("the cache is unusable: " + (folder / "text.db")));
}

TEST_CASE("a miss says why") {
  const Folder folder;
  fill(folder / "f.db", key(), {choice("", "unroll=1")});
  Opened reader({.mode = Mode::read, .user_file = folder / "f.db"});
  for (const KeyField& field : kKeyFields) {
    CAPTURE(field.name);
    const CacheKey other = with(field.value, field.name == "program" ? std::string(32, 'b') : "other");
    const Lookup found = reader.look_up(other);
    CHECK(found.hit() == (field.field_class == FieldClass::info));
    if (found.hit()) continue;
    if (field.name == "program")
      CHECK(found.reason == "no record of the program with fingerprint " + std::string(32, 'b'));
    else
      CHECK(found.reason.starts_with(fmt::format("the nearest record differs in {}: wanted 'other'", field.name)));
  }
  CHECK(reader.warnings.empty());
}

TEST_CASE("a loose match serves where no strict one does, and names the field") {
  const Folder folder;
  fill(folder / "f.db", with(&KeyFields::threads, "64"), {choice("", "of 64"), choice("S >= 8", "of 64")});
  Opened reader({.mode = Mode::read, .match = Match::loose, .user_file = folder / "f.db"});
  CHECK(reader.look_up().choices == std::vector<Choice>{choice("", "of 64"), choice("S >= 8", "of 64")});
  CHECK(reader.look_up().reason == "threads: wanted '2', recorded '64'");
  fill(folder / "f.db", key(), {choice("", "of 2")});
  Opened again({.mode = Mode::read, .match = Match::loose, .user_file = folder / "f.db"});
  CHECK(again.look_up().choices == std::vector<Choice>{choice("", "of 2")});
  CHECK(again.look_up().reason.empty());
  CHECK_FALSE(again.look_up(with(&KeyFields::cpu, "without")).hit());
}

TEST_CASE("the user's records stand before those beside a program, region by region") {
  const Folder folder;
  fill(folder / "first.db", key(), {choice("", "first"), choice("B == 1", "first")});
  fill(folder / "second.db", key(), {choice("", "second"), choice("B == 2", "second")});
  fill(folder / "user.db", key(), {choice("", "user")});
  Opened reader(
      {.mode = Mode::read, .user_file = folder / "user.db", .shipped = {folder / "first.db", folder / "second.db"}});
  CHECK(reader.look_up().choices ==
        std::vector<Choice>{choice("", "user"), choice("B == 1", "first"), choice("B == 2", "second")});
  REQUIRE(reader.store->add(key(), choice("", "memory")));
  CHECK(reader.look_up().choices.front() == choice("", "memory"));
}

TEST_CASE("a record is validated when it is read, left out with one warning if it is not legal, and stays") {
  const Folder folder;
  const std::vector<Choice> choices = {choice("", "bad"), choice("B == 1", "good"), choice("B == 2", "bad")};
  fill(folder / "f.db", key(), choices);
  Opened reader({.mode = Mode::read_write, .user_file = folder / "f.db"});
  int asked = 0;
  const Legal only_good = [&asked](const Choice& c) -> Status {
    ++asked;
    if (c.config == "good") return {};
    return invalid_argument("expected good, found " + c.config);
  };
  CHECK(reader.look_up(key(), only_good).choices == std::vector<Choice>{choice("B == 1", "good")});
  CHECK(asked == 3);
  CHECK(reader.look_up(key(), only_good).choices == std::vector<Choice>{choice("B == 1", "good")});
  CHECK(asked == 3);  // a hit in memory was asked about already
  CHECK(reader.warnings == std::vector<std::string>{fmt::format(
                               "cache: {}: a record cannot be used: expected good, found bad", folder / "f.db")});
  CHECK(Opened({.mode = Mode::read, .user_file = folder / "f.db"}).look_up().choices == choices);
  const Legal none = [](const Choice&) -> Status { return invalid_argument("no"); };
  Opened other({.mode = Mode::read, .user_file = folder / "f.db"});
  CHECK(other.look_up(key(), none).reason == "nothing was chosen yet, or nothing that is legal here");
  CHECK_FALSE(Opened({.mode = Mode::require, .user_file = folder / "f.db"}).store->look_up(key(), none));
}

TEST_CASE("every config's outcome is kept: a later tuning sees it, and another config adds to it") {
  const Folder folder;
  const std::vector<Measurement> first = {testing::measurement("", "unroll=1"),
                                          testing::failure("unroll=2", Verdict::timeout, "5 s")};
  {
    Opened writer({.mode = Mode::read_write, .user_file = folder / "f.db"});
    REQUIRE(writer.store->add(key(), first));
    CHECK_FALSE(writer.look_up().hit());
    CHECK(writer.look_up().reason == "nothing was chosen yet, or nothing that is legal here");
  }
  Opened resumed({.mode = Mode::read_write, .user_file = folder / "f.db"});
  CHECK(resumed.store->measurements(key()).size() == 2);
  CHECK(resumed.store->measurements(with(&KeyFields::threads, "64")).empty());
  REQUIRE(resumed.store->add(key(), std::vector<Measurement>{testing::measurement("", "unroll=4", 900)}));
  const auto all = resumed.store->measurements(key());
  REQUIRE(all.size() == 3);
  CHECK(std::ranges::count(all, first[0]) == 1);
  CHECK(std::ranges::count(all, first[1]) == 1);
}

TEST_CASE("a result that no cache may hold is refused") {
  const Folder folder;
  Opened writer({.mode = Mode::read_write, .user_file = folder / "f.db"});
  const Status added = writer.store->add(key(), choice("", ""));
  REQUIRE_FALSE(added);
  CHECK(added.error().message == "expected a config, found none");
}

TEST_CASE("a new choice is seen at once by the store that made it") {
  const Folder folder;
  Opened writer({.mode = Mode::read_write, .user_file = folder / "f.db"});
  REQUIRE(writer.store->add(key(), choice("", "unroll=1")));
  CHECK(writer.look_up().choices.front().config == "unroll=1");
  REQUIRE(writer.store->add(key(), choice("", "unroll=2")));
  CHECK(writer.look_up().choices.front().config == "unroll=2");
}

TEST_CASE("threads share a store") {
  const Folder folder;
  Opened shared({.mode = Mode::read_write, .user_file = folder / "f.db"});
  constexpr int kThreads = 4, kRounds = 25;
  std::atomic<int> failed = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRounds; ++i) {
          const std::string region = fmt::format("B == {}, S == {}", t, i);
          if (!shared.store->add(key(), choice(region, "unroll=1"))) ++failed;
          const auto found = shared.store->look_up(key(), legal);
          // A thread sees the choice that it made, whatever the others do.
          if (!found || std::ranges::find((*found)->choices, region, &Choice::region) == (*found)->choices.end())
            ++failed;
        }
      });
  }
  CHECK(failed == 0);
  CHECK(shared.look_up().choices.size() == kThreads * kRounds);
  CHECK(shared.warnings.empty());
}

TEST_CASE("a fork closes the file, and parent and child open it again and learn from each other") {
  const Folder folder;
  const std::string path = folder / "tuning.db";
  fill(path, key(), {choice("", "unroll=1")});
  Opened store({.mode = Mode::read_write, .user_file = path});
  const auto open_files = [&] {
    return std::ranges::count_if(std::filesystem::directory_iterator("/proc/self/fd"), [&](const auto& entry) {
      std::error_code gone;
      return std::filesystem::read_symlink(entry.path(), gone) == path;
    });
  };
  CHECK(store.look_up().hit());  // which opens it
  CHECK(open_files() == 1);
  const CacheKey others = with(&KeyFields::threads, "64");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const bool closed = open_files() == 0;
    const bool known = store.store->look_up(key(), legal).value()->hit();
    const bool kept = store.store->add(others, choice("", "unroll=2")).has_value();
    ::_exit(closed && known && kept && open_files() == 1 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(store.look_up().hit());
  CHECK(store.look_up(others).choices == std::vector{choice("", "unroll=2")});
  CHECK(open_files() == 1);
  CHECK(store.warnings.empty());
}

TEST_CASE("what cannot be opened is a miss with one warning, and results stay in memory") {
  const Folder folder;
  const std::string path = folder / "f.db";
  std::string expected = path;
  SUBCASE("a folder") {
    std::filesystem::create_directory(path);
    expected = "Is a directory";
  }
  SUBCASE("text") { std::ofstream(path) << "some text that is no database, of more than one hundred bytes......"; }
  SUBCASE("a file above it") {
    std::ofstream(folder / "g").close();
    expected = folder / "g";
  }
  Opened store({.mode = Mode::read_write, .user_file = expected == folder / "g" ? folder / "g/f.db" : path});
  CHECK_FALSE(store.look_up().hit());
  REQUIRE(store.store->add(key(), choice("", "unroll=1")));
  CHECK(store.look_up().hit());
  CHECK(store.store->measurements(key()).empty());
  REQUIRE(store.warnings.size() == 1);
  CAPTURE(store.warnings[0]);
  CHECK(store.warnings[0].find(expected) != std::string::npos);
}

/// A small file system of its own on `path`, if the test may make one.
class Mount {
 public:
  explicit Mount(std::string path) : path_(std::move(path)) {
    std::filesystem::create_directory(path_);
    mounted_ = mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
    if (!mounted_) MESSAGE("skipped: no file system can be mounted here: ", strerror(errno));
  }
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  ~Mount() {
    if (mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool mounted() const { return mounted_; }
  [[nodiscard]] bool make_read_only() const {
    return mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=256k") == 0;
  }

 private:
  std::string path_;
  bool mounted_ = false;
};

TEST_CASE("on a full disk nothing is lost, and what is learnt stays in memory") {
  const Folder folder;
  const Mount disk(folder / "disk");
  if (!disk.mounted()) return;
  const std::string path = folder / "disk/f.db";
  std::size_t on_disk = 0;
  {
    Opened writer({.mode = Mode::read_write, .user_file = path});
    for (int i = 0; i < 2000; ++i) {
      if (writer.warnings.empty()) on_disk = static_cast<std::size_t>(i);
      REQUIRE(writer.store->add(key(), choice(fmt::format("S == {}", i), "unroll=1")));
    }
    REQUIRE(writer.warnings.size() == 1);
    CHECK(writer.warnings[0].find("full") != std::string::npos);
    CHECK(writer.look_up().choices.size() == 2000);
  }
  CHECK(on_disk > 10);
  CHECK(on_disk < 2000);
  Opened reader({.mode = Mode::read, .user_file = path});
  CHECK(reader.look_up().choices.size() >= on_disk - 1);
  CHECK(reader.warnings.empty());
}

TEST_CASE("a file that can only be read is read, and what is learnt stays in memory") {
  const Folder folder;
  const Mount disk(folder / "disk");
  if (!disk.mounted()) return;
  const std::string path = folder / "disk/f.db";
  fill(path, key(), {choice("", "unroll=1")});
  REQUIRE(disk.make_read_only());
  for (const Mode mode : {Mode::read, Mode::require, Mode::read_write}) {
    Opened store({.mode = mode, .user_file = path});
    CHECK(store.look_up().choices == std::vector<Choice>{choice("", "unroll=1")});
    CHECK(store.warnings == std::vector<std::string>{});
    if (mode == Mode::require) continue;
    REQUIRE(store.store->add(key(), choice("", "unroll=2")));
    CHECK(store.look_up().choices == std::vector<Choice>{choice("", "unroll=2")});
    CHECK(store.warnings.size() == (mode == Mode::read_write ? 1 : 0));
  }
}

}  // namespace
}  // namespace padlock::tuner
