// Devices, explaining, caches and tuning: how they pass through the C API. Their work is tested where they are
// implemented.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <tuple>

#include "tests/capi/capi_testing.h"

namespace padlock::capi::testing {
namespace {

std::string text_of(const padlock_text* text) { return {padlock_text_data(text), padlock_text_size(text)}; }

/// A folder, which the destructor removes with its contents.
struct Folder {
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() {
    for (const char* name : {"/tuning.db", "/tuning.db-wal", "/tuning.db-shm", "/lines"}) unlink((path + name).c_str());
    rmdir(path.c_str());
  }
  [[nodiscard]] std::string file(const char* name) const { return path + "/" + name; }
  std::string path = "/tmp/padlock_capi_XXXXXX";
};

TEST_CASE("devices: this machine and the reference are there, of a GPU why it is not") {
  const Context context = make_context();
  Devices devices;
  Error error;
  REQUIRE_OK(padlock_devices_list(context, devices.out(), error.out()), error);
  std::vector<std::string> available;
  for (std::size_t i = 0; i < padlock_devices_count(devices); ++i) {
    padlock_device_info info = sized<padlock_device_info>();
    REQUIRE_OK(padlock_devices_get(devices, i, &info, error.out()), error);
    CHECK(info.description != std::string());
    if (info.available != 0) available.emplace_back(info.name);
  }
  REQUIRE(available.size() >= 3);
  CHECK(available[0] == "host");
  CHECK(available[1] == "reference");
  padlock_device_info info = sized<padlock_device_info>();
  CHECK(padlock_devices_get(devices, 99, &info, nullptr) == PADLOCK_OUT_OF_RANGE);
  Kernel kernel;
  padlock_compile_options options = sized<padlock_compile_options>();
  options.device = "gpu";
  CHECK(padlock_program_compile(parse(context, kPadRelu), &options, kernel.out(), error.out()) ==
        PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) ==
        std::string("expected a device (host, reference, simt, cuda:0, ...), found 'gpu'; write 'cuda:0'"));
}

TEST_CASE("a device is there, is not there, or is none; a target has a description") {
  const Context context = make_context();
  Error error;
  for (const char* device : {static_cast<const char*>(nullptr), "host", "reference", "simt"})
    REQUIRE_OK(padlock_device_check(context, device, error.out()), error);
  CHECK(padlock_device_check(context, "gpu", error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_CALLER);
  CHECK(padlock_device_check(context, "cuda:63", error.out()) == PADLOCK_UNAVAILABLE);
  CHECK(padlock_error_blame(error) == PADLOCK_BLAME_ENVIRONMENT);
  Text description;
  REQUIRE_OK(padlock_target_describe(context, "host", description.out(), error.out()), error);
  CHECK(text_of(description) == padlock_kernel_target(compile(parse(context, kPadRelu))));
  CHECK(padlock_target_describe(context, "sm_1", description.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
}

TEST_CASE("explaining gives one JSON object, with numbers where there are sizes") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  padlock_compile_options options = sized<padlock_compile_options>();
  options.device = "reference";
  Text json;
  Error error;
  REQUIRE_OK(padlock_program_explain(program, &options, nullptr, json.out(), error.out()), error);
  CHECK(text_of(json).find(R"("program": "pad_relu")") != std::string::npos);
  CHECK(text_of(json).find(R"("value": 16)") == std::string::npos);
  const PadReluSizes sizes(4, 10, 3);
  REQUIRE_OK(padlock_program_explain(program, &options, &sizes.options, json.out(), error.out()), error);
  CHECK(text_of(json).find(R"("value": 16)") != std::string::npos);
}

TEST_CASE("symbols: the sizes that a program leaves open") {
  const Context context = make_context();
  const Program program =
      parse(context, "program p(x: f32[A, A] strides [T, 1], n: dim, v: f32) { y = relu(x) return y }");
  REQUIRE(padlock_program_symbol_count(program) == 3);
  padlock_symbol_info info = sized<padlock_symbol_info>();
  Error error;
  for (const auto& [index, name, kind] :
       {std::tuple<std::size_t, std::string, padlock_symbol_kind>{0, "A", PADLOCK_SYMBOL_EXTENT},
        {1, "T", PADLOCK_SYMBOL_STRIDE},
        {2, "n", PADLOCK_SYMBOL_DIM}}) {
    REQUIRE_OK(padlock_program_symbol(program, index, &info, error.out()), error);
    CHECK(info.name == name);
    CHECK(info.kind == kind);
  }
  CHECK(padlock_program_symbol(program, 3, &info, error.out()) == PADLOCK_OUT_OF_RANGE);
  CHECK(padlock_program_symbol_count(nullptr) == 0);
}

TEST_CASE("a pack is made of programs and is, as bytes, the same pack") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  padlock_program* const programs[] = {program, program};
  const char* const targets[] = {"host", "sm_90"};
  Pack pack, read;
  Error error;
  REQUIRE_OK(padlock_pack_make(programs, 1, targets, 2, pack.out(), error.out()), error);
  REQUIRE_OK(padlock_pack_read(context, padlock_pack_data(pack), padlock_pack_size(pack), read.out(), error.out()),
             error);
  Text made, again;
  REQUIRE_OK(padlock_pack_describe(pack, made.out(), error.out()), error);
  REQUIRE_OK(padlock_pack_describe(read, again.out(), error.out()), error);
  CHECK(text_of(made) == text_of(again));
  CHECK(text_of(made).find(R"("name": "sm_90")") != std::string::npos);
  CHECK(padlock_pack_make(programs, 2, targets, 2, pack.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_error_message(error) == std::string("two programs are called pad_relu"));
  CHECK(padlock_pack_make(programs, 0, targets, 2, pack.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_pack_make(programs, 1, nullptr, 2, pack.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  const Context other = make_context();
  const Program foreign = parse(other, kPadRelu);
  padlock_program* const mixed[] = {program, foreign};
  CHECK(padlock_pack_make(mixed, 2, targets, 2, pack.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(pack.get() == nullptr);
}

TEST_CASE("caches: an export is merged, verified, exported again and pruned") {
  const Folder folder;
  const Context context = make_context();
  Error error;
  Cache shipped, own;
  REQUIRE_OK(padlock_cache_open(context, PADLOCK_EXAMPLES_DIR "/tuning.jsonl", shipped.out(), error.out()), error);
  REQUIRE_OK(padlock_cache_open(context, folder.file("tuning.db").c_str(), own.out(), error.out()), error);
  CHECK(padlock_cache_path(own) == folder.file("tuning.db"));
  std::int64_t written = 0, records = 0, removed = 0;
  REQUIRE_OK(padlock_cache_merge(own, shipped, &written, error.out()), error);
  CHECK(written > 0);
  Text problems, lines, again;
  REQUIRE_OK(padlock_cache_verify(own, &records, problems.out(), error.out()), error);
  CHECK(records == written);
  CHECK(text_of(problems).empty());
  REQUIRE_OK(padlock_cache_export(own, lines.out(), nullptr, error.out()), error);
  std::ofstream(folder.file("lines")) << text_of(lines);
  Cache exported;
  REQUIRE_OK(padlock_cache_open(context, folder.file("lines").c_str(), exported.out(), error.out()), error);
  REQUIRE_OK(padlock_cache_merge(own, exported, &written, error.out()), error);
  CHECK(written == 0);
  REQUIRE_OK(padlock_cache_stale(own, "2999-01-01", again.out(), error.out()), error);
  CHECK(text_of(again) == text_of(lines));
  REQUIRE_OK(padlock_cache_prune_listed(own, "2999-01-01", 1, &removed, again.out(), problems.out(), error.out()),
             error);
  CHECK(removed == records);
  CHECK(text_of(again) == text_of(lines));
  CHECK(text_of(problems).empty());
  REQUIRE_OK(padlock_cache_titles(again, problems.out(), error.out()), error);
  CHECK(text_of(problems).starts_with("key "));
  CHECK(text_of(problems).find("\nchoice for S >= 1024 under key ") != std::string::npos);
  REQUIRE_OK(padlock_cache_verify(own, &removed, problems.out(), error.out()), error);
  CHECK(removed == records);  // nothing went
  CHECK(padlock_cache_titles(nullptr, again.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  REQUIRE_OK(padlock_cache_describe(own, again.out(), error.out()), error);
  CHECK(text_of(again).find(R"("class": "must")") != std::string::npos);
  REQUIRE_OK(padlock_cache_prune(own, "2999-01-01", &removed, error.out()), error);
  CHECK(removed == records);
  REQUIRE_OK(padlock_cache_prune_listed(own, nullptr, 0, nullptr, nullptr, nullptr, error.out()), error);
  CHECK(padlock_cache_verify(exported, nullptr, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  REQUIRE_OK(padlock_cache_open(context, "/nowhere/lines", exported.out(), error.out()), error);
  CHECK(padlock_cache_export(exported, lines.out(), nullptr, error.out()) == PADLOCK_NOT_FOUND);
  CHECK(lines.get() == nullptr);
}

TEST_CASE("caches: two meet at a folder, and what cannot be reached is no error") {
  const Folder folder;
  const Context context = make_context();
  Error error;
  Cache shipped, left, right;
  REQUIRE_OK(padlock_cache_open(context, PADLOCK_EXAMPLES_DIR "/tuning.jsonl", shipped.out(), error.out()), error);
  REQUIRE_OK(padlock_cache_open(context, folder.file("left.db").c_str(), left.out(), error.out()), error);
  REQUIRE_OK(padlock_cache_open(context, folder.file("right.db").c_str(), right.out(), error.out()), error);
  std::int64_t merged = 0, written = 1;
  REQUIRE_OK(padlock_cache_merge(left, shipped, &merged, error.out()), error);
  const std::string url = "file://" + folder.file("");
  Text problems, lines, same;
  REQUIRE_OK(padlock_cache_sync(left, url.c_str(), &written, problems.out(), error.out()), error);
  CHECK(written == 0);
  REQUIRE_OK(padlock_cache_sync(right, url.c_str(), &written, problems.out(), error.out()), error);
  CHECK(written == merged);
  CHECK(text_of(problems).empty());
  REQUIRE_OK(padlock_cache_export(left, lines.out(), nullptr, error.out()), error);
  REQUIRE_OK(padlock_cache_export(right, same.out(), nullptr, error.out()), error);
  CHECK(text_of(lines) == text_of(same));
  REQUIRE_OK(padlock_cache_sync(left, (url + "none").c_str(), nullptr, problems.out(), error.out()), error);
  CHECK(text_of(problems) == "cannot read " + folder.file("none") + ": No such file or directory\n");
  CHECK(padlock_cache_sync(left, "ftp://host", &written, problems.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(problems.get() == nullptr);
  CHECK(written == 0);
  CHECK(padlock_cache_sync(left, nullptr, nullptr, problems.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_cache_sync(left, url.c_str(), nullptr, nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(padlock_cache_sync(shipped, url.c_str(), nullptr, problems.out(), error.out()) != PADLOCK_OK);
}

TEST_CASE("caches: what two do not have in common, and what is bad of one") {
  const Folder folder;
  const Context context = make_context();
  std::ifstream shipped(PADLOCK_EXAMPLES_DIR "/tuning.jsonl");
  std::string first, second;
  std::getline(shipped, first);
  std::getline(shipped, second);
  std::ofstream(folder.file("lines")) << first << "\nno record\n";
  Error error;
  Cache some, all;
  REQUIRE_OK(padlock_cache_open(context, PADLOCK_EXAMPLES_DIR "/tuning.jsonl", all.out(), error.out()), error);
  REQUIRE_OK(padlock_cache_open(context, folder.file("lines").c_str(), some.out(), error.out()), error);
  Text lines, problems, here, there, changed;
  REQUIRE_OK(padlock_cache_export(some, lines.out(), problems.out(), error.out()), error);
  CHECK(text_of(lines) == first + "\n");
  CHECK(text_of(problems).find("line 2: ") == 0);
  REQUIRE_OK(padlock_cache_compare(some, all, here.out(), there.out(), changed.out(), error.out()), error);
  CHECK(text_of(here).empty());
  CHECK(text_of(there).find(second) == 0);
  CHECK(text_of(changed).empty());
  CHECK(padlock_cache_compare(some, all, here.out(), there.out(), nullptr, error.out()) == PADLOCK_INVALID_ARGUMENT);
}

struct Progress {
  int heard = 0, asked = 0;
};

TEST_CASE("tuning: shards deal all regions once, and one that there is not is refused") {
  const Context context = make_context();
  const Program program = parse(context, kPadRelu);
  const padlock_named_value most[] = {{"B", 64}, {"S", 16384}};
  Error error;
  const auto regions = [&](std::int32_t index, std::int32_t count) {
    padlock_tune_options options = sized<padlock_tune_options>();
    options.max = most;
    options.max_count = 2;
    options.shard_index = index;
    options.shard_count = count;
    Tuner tuner;
    Text plan;
    REQUIRE_OK(padlock_tuner_create(program, &options, tuner.out(), error.out()), error);
    REQUIRE_OK(padlock_tuner_plan(tuner, plan.out(), error.out()), error);
    std::vector<std::string> found;
    constexpr std::string_view kName = R"("region": ")";
    const std::string json = text_of(plan);
    for (std::size_t at = json.find(kName); at != std::string::npos; at = json.find(kName, at + 1))
      found.push_back(json.substr(at, json.find('"', at + kName.size()) - at));
    return found;
  };
  std::vector<std::string> whole = regions(0, 0);
  CHECK(whole.size() > 1);
  std::ranges::sort(whole);
  for (const std::int32_t count : {1, 2, 7}) {
    std::vector<std::string> dealt;
    for (std::int32_t i = 0; i < count; ++i) std::ranges::copy(regions(i, count), std::back_inserter(dealt));
    std::ranges::sort(dealt);
    CHECK(dealt == whole);
  }
  padlock_tune_options wrong = sized<padlock_tune_options>();
  wrong.shard_index = wrong.shard_count = 3;
  Tuner tuner;
  CHECK(padlock_tuner_create(program, &wrong, tuner.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  CHECK(std::string(padlock_error_message(error)) == "expected a shard_index from 0 to 2, found 3");
}

TEST_CASE("tuning: what it needs, that it can be stopped, and that what it learnt is used") {
  const Folder folder;
  const std::string file = folder.file("tuning.db");
  padlock_context_options options = sized<padlock_context_options>();
  options.cache_mode = PADLOCK_CACHE_READ_WRITE;
  options.cache_file = file.c_str();
  options.threads = 1;
  const Context context = make_context(&options);
  const Program program = parse(context, kPadRelu);
  const Kernel before = compile(program);
  const padlock_named_value sizes[] = {{"B", 8}, {"S", 100}, {"lo", 3}};
  padlock_tune_options tuning = sized<padlock_tune_options>();
  tuning.opt = sizes;
  tuning.opt_count = 3;
  tuning.budget_seconds = 0.01;
  Progress progress;
  tuning.user = &progress;
  tuning.progress = [](void* user, const padlock_progress* told) {
    auto& heard = *static_cast<Progress*>(user);
    heard.heard += told->config_count > 0 && told->region_count == 1;
    return 0;
  };
  tuning.cancel = [](void* user) { return static_cast<Progress*>(user)->asked++ < 0 ? 1 : 0; };
  Tuner tuner;
  Error error;
  Text report;
  REQUIRE_OK(padlock_tuner_create(program, &tuning, tuner.out(), error.out()), error);
  CHECK(padlock_tuner_report(tuner, report.out(), error.out()) == PADLOCK_FAILED_PRECONDITION);
  REQUIRE_OK(padlock_tuner_plan(tuner, report.out(), error.out()), error);
  CHECK(text_of(report).find(R"("dry_run": true)") != std::string::npos);
  CHECK(text_of(report).find(R"("S": 100)") != std::string::npos);
  REQUIRE_OK(padlock_tuner_run(tuner, error.out()), error);
  CHECK(progress.heard > 0);
  CHECK(progress.asked > 0);
  REQUIRE_OK(padlock_tuner_report(tuner, report.out(), error.out()), error);
  CHECK(text_of(report).find(R"("interrupted": false)") != std::string::npos);

  const Kernel after = compile(program);
  CHECK(after.get() != before.get());
  const Call call = bind(after, PadReluSizes(8, 100, 3));
  CHECK(std::string(padlock_call_reason(call)).find("the cache hit") == 0);

  padlock_tuner_cancel(tuner);
  CHECK(padlock_tuner_run(tuner, error.out()) == PADLOCK_CANCELLED);
  tuning.search = "best";
  CHECK(padlock_tuner_create(program, &tuning, tuner.out(), error.out()) == PADLOCK_INVALID_ARGUMENT);
  tuning.search = nullptr;
  const Context without = make_context();
  REQUIRE_OK(padlock_tuner_create(parse(without, kPadRelu), &tuning, tuner.out(), error.out()), error);
  CHECK(padlock_tuner_run(tuner, error.out()) == PADLOCK_FAILED_PRECONDITION);
  CHECK(padlock_error_message(error) == std::string("expected a cache that keeps what is learnt, found none"));
}

}  // namespace
}  // namespace padlock::capi::testing
