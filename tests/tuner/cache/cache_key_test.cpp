#include "tuner/cache/cache_key.h"

#include <doctest/doctest.h>

#include "compiler/targets/revision.h"
#include "ir/program.h"
#include "tests/tuner/cache/samples.h"
#include "tuner/cache/describe.h"

namespace padlock::tuner {
namespace {

constexpr const char* kText = "program p(x: f32[A, B], v: f16) { y = pad(x, low = [1, 0], high = [0, 2]) return y }";

runtime::GpuFacts h100() {
  runtime::GpuFacts facts;
  facts.name = "NVIDIA H100 80GB HBM3";
  facts.compute_major = 9;
  facts.multiprocessors = 132;
  facts.l2_bytes = 50 << 20;
  facts.memory_bytes = std::int64_t{80} << 30;
  facts.memory_bandwidth = 3'352'320'000'000;
  facts.driver_version = 12080;
  return facts;
}
runtime::GpuFacts h200() {
  runtime::GpuFacts facts = h100();
  facts.name = "NVIDIA H200";
  facts.memory_bytes = std::int64_t{141} << 30;
  facts.memory_bandwidth = 4'916'000'000'000;
  return facts;
}

KeyFields gpu_fields(const runtime::GpuFacts& facts) {
  KeyFields fields;
  describe_gpu(fields, facts, "sm_90");
  return fields;
}

TEST_CASE("a key matches itself") {
  for (const Match how : {Match::strict, Match::loose}) {
    const KeyMatch found = match(testing::fields(), testing::fields(), how);
    CHECK(found.hit);
    CHECK_FALSE(found.difference.has_value());
  }
}

TEST_CASE("each field flipped alone does what its class says, and the field is named with both values") {
  int seen[3] = {};
  for (const KeyField& field : kKeyFields) {
    CAPTURE(field.name);
    KeyFields flipped = testing::fields();
    flipped.*field.value += "!";
    const KeyMatch strict = match(testing::fields(), flipped, Match::strict);
    const KeyMatch loose = match(testing::fields(), flipped, Match::loose);
    const bool same_digest = CacheKey(testing::fields()).digest() == CacheKey(flipped).digest();
    CHECK(strict.hit == (field.field_class == FieldClass::info));
    CHECK(loose.hit == (field.field_class != FieldClass::must));
    CHECK(same_digest == strict.hit);
    CHECK(strict.difference.has_value() == !strict.hit);
    CHECK(loose.difference.has_value() == !strict.hit);
    ++seen[static_cast<int>(field.field_class)];
    if (!strict.difference || !loose.difference) continue;
    CHECK(strict.difference->field == field.name);
    CHECK(loose.difference->field == field.name);
    CHECK(strict.difference->wanted + "!" == strict.difference->recorded);
    CHECK(strict.difference->to_string().starts_with(fmt::format("{}: wanted '", field.name)));
  }
  CHECK(seen[0] == 8);
  CHECK(seen[1] == 6);
  CHECK(seen[2] == 4);
}

TEST_CASE("a must field that differs is named before a perf field") {
  KeyFields other = testing::fields();
  other.threads = "4";
  other.llvm = "23.1.0";
  CHECK(match(testing::fields(), other, Match::loose).difference->to_string() ==
        "llvm: wanted '22.1.8', recorded '23.1.0'");
  CHECK(count_must_differences(testing::fields(), other) == 1);
}

TEST_CASE("values that move from one field to the next give another digest") {
  KeyFields a = testing::fields(), b = testing::fields();
  a.threads = "12;l2_bytes=1:3";
  a.l2_bytes = "";
  b.threads = "12";
  b.l2_bytes = "3";
  CHECK(CacheKey(a).digest() != CacheKey(b).digest());
}

TEST_CASE("a record of an H100 does not serve an H200 in a strict match") {
  const KeyMatch strict = match(gpu_fields(h200()), gpu_fields(h100()), Match::strict);
  CHECK_FALSE(strict.hit);
  CHECK(strict.difference->to_string() == "bandwidth: wanted '4900 GB/s', recorded '3400 GB/s'");
  const KeyMatch loose = match(gpu_fields(h200()), gpu_fields(h100()), Match::loose);
  CHECK(loose.hit);
  CHECK(loose.difference->field == "bandwidth");
  CHECK(match(gpu_fields(h200()), gpu_fields(h200()), Match::strict).hit);
}

TEST_CASE("nor where the driver does not say the bandwidth") {
  auto a = h100(), b = h200();
  a.memory_bandwidth = b.memory_bandwidth = 0;
  const KeyMatch strict = match(gpu_fields(b), gpu_fields(a), Match::strict);
  CHECK_FALSE(strict.hit);
  CHECK(strict.difference->recorded == "that of NVIDIA H100 80GB HBM3");
}

TEST_CASE("bandwidth has two digits") {
  auto facts = h100();
  for (const auto& [bytes, text] : {std::pair{320'064'000'000, "320 GB/s"},
                                    {99'900'000'000, "100 GB/s"},
                                    {51'200'000'000, "51 GB/s"},
                                    {1'555'200'000'000, "1600 GB/s"}}) {
    facts.memory_bandwidth = bytes;
    CHECK(bandwidth_class(facts) == text);
  }
}

TEST_CASE("a record of a host with AVX-512 does not serve one without, in either match") {
  const runtime::HostInfo info{.cpu = "Xeon", .threads = 2, .l2_bytes = 2 << 20, .l3_bytes = {}};
  KeyFields with, without;
  describe_host(with, info, "x86-64-v4 +avx2,+avx512f");
  describe_host(without, info, "x86-64-v4 +avx2,-avx512f");
  for (const Match how : {Match::strict, Match::loose}) {
    const KeyMatch found = match(without, with, how);
    CHECK_FALSE(found.hit);
    CHECK(found.difference->to_string() ==
          "cpu: wanted 'x86-64-v4 +avx2,-avx512f', recorded 'x86-64-v4 +avx2,+avx512f'");
  }
}

TEST_CASE("no feature of a CPU is left out, however many there are") {
  const std::string many(4000, '+');
  KeyFields with, without;
  describe_host(with, {}, many + "avx512f");
  describe_host(without, {}, many + "avx2");
  CHECK_FALSE(match(without, with, Match::loose).hit);
}

TEST_CASE("a long value is shown where it differs") {
  KeyFields a = testing::fields(), b = testing::fields();
  a.cpu = std::string(3000, 'f') + ",+here," + std::string(3000, 'g');
  b.cpu = std::string(3000, 'f') + ",-here," + std::string(3000, 'g');
  const std::string text = match(a, b, Match::strict).difference->to_string();
  CHECK(text.size() < 200);
  CHECK(text.find("+here") != std::string::npos);
  CHECK(text.find("-here") != std::string::npos);
}

TEST_CASE("a program is known by its canonical text") {
  KeyFields a, b, c;
  const auto program = ir::parse_program(kText);
  const auto spaced = ir::parse_program(
      "// a comment\nprogram p(x: f32[A,B], v: f16) {\n y = pad(x, low = [1, 0], high = [0, 1 + 1])\n return y\n}");
  const auto other =
      ir::parse_program("program p(x: f32[A, B], v: f16) { y = pad(x, low = [1, 0], high = [0, 3]) return y }");
  REQUIRE((program && spaced && other));
  describe_program(a, *program);
  describe_program(b, *spaced);
  describe_program(c, *other);
  CHECK(a.program.size() == 32);
  CHECK(a.program == b.program);
  CHECK(a.program != c.program);
  CHECK(a.types == "f32;f16->f32");
}

TEST_CASE("a build says its revisions and when") {
  KeyFields fields;
  describe_build(fields);
  CHECK(fields.llvm.starts_with("22.1."));
  CHECK(fields.abi == std::to_string(compiler::kAbiRevision));
  CHECK(fields.code == std::to_string(compiler::kCodeRevision));
  CHECK(fields.date.size() == 20);
  CHECK(fields.date.ends_with("Z"));
}

TEST_CASE("a result of now can be kept") {
  Choice choice{.region = "", .config = "c", .provenance = provenance_now(7)};
  CHECK(choice.provenance.seed == 7);
  CHECK_FALSE(choice.provenance.version.empty());
  CHECK(validate(record_of(testing::key(), choice)));
}

}  // namespace
}  // namespace padlock::tuner
