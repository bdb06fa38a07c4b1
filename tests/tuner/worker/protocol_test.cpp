#include <doctest/doctest.h>
#include <fmt/format.h>

#include <limits>
#include <string>

#include "support/split_mix.h"
#include "tuner/worker/frame.h"
#include "tuner/worker/wire.h"

namespace padlock::tuner {
namespace {

TryRequest sample_request() {
  return {.program = "program p(x: f32[A]) { y = relu(x) return y }",
          .device = "cuda:1",
          .target = "sm_90",
          .config = "threads=128",
          .rivals = {"threads=256", ""},
          .next = {"threads=64"},
          .symbols = {{"A", -5}, {"B", std::numeric_limits<std::int64_t>::max()}},
          .seed = ~std::uint64_t{0},
          .skew = 3,
          .further = {{.symbols = {{"A", 1}, {"B", 2}}, .skew = 5}, {}},
          .placement = 2,
          .threads = 7,
          .memory_bytes = 1 << 20,
          .reference_ms = 0.5,
          .time_limit_ms = 99,
          .policy = {.warm_up_ms = 1.5,
                     .sample_us = 2.5,
                     .rotation_bytes = 11,
                     .min_samples = 3,
                     .max_samples = 5,
                     .noise = 0.25,
                     .budget_ms = 0,
                     .setting = Setting::warm_then_read}};
}

TryResult sample_result() {
  return {.verdict = Verdict::wrong_result,
          .message = std::string("z: at [3]\0 and a zero byte", 25),
          .passed = 4,
          .notes = {"a", ""},
          .samples_ps = {1, 2, 3},
          .rivals_ps = {{4, 5, 6}, {7, 8, 9}},
          .throttled = 6,
          .median_ps = 2,
          .noise_ps = 1,
          .worker_ends = true,
          .compile_ms = 0.5,
          .verify_ms = 0.25,
          .timing_ms = 8};
}

TEST_CASE("requests, results and steps come back as they were") {
  // Compares bytes, so that a field that is not read back shows.
  const std::string request = to_bytes(sample_request());
  CHECK(to_bytes(*request_from_bytes(request)) == request);
  CHECK(request_from_bytes(request)->symbols == sample_request().symbols);
  CHECK(request_from_bytes(request)->policy.noise == 0.25);
  CHECK(to_bytes(TryRequest{}) != request);
  const std::string result = to_bytes(sample_result());
  CHECK(to_bytes(*result_from_bytes(result)) == result);
  CHECK(result_from_bytes(result)->message == sample_result().message);
  CHECK(result_from_bytes(result)->notes == sample_result().notes);
  CHECK(request_from_bytes(request)->rivals == sample_request().rivals);
  CHECK(request_from_bytes(request)->next == sample_request().next);
  REQUIRE(request_from_bytes(request)->further.size() == 2);
  CHECK(request_from_bytes(request)->further.front().symbols == sample_request().further.front().symbols);
  CHECK(request_from_bytes(request)->further.front().skew == 5);
  CHECK(result_from_bytes(result)->rivals_ps == sample_result().rivals_ps);
  for (std::size_t i = 0; i < kStepTexts.size(); ++i)
    CHECK(*step_from_bytes(to_bytes(static_cast<Step>(i))) == static_cast<Step>(i));
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

TEST_CASE("the bytes are those of the protocol's version: others need another") {
  REQUIRE(kProtocolVersion == 5);
  CHECK(hex_of(to_bytes(sample_request())) ==
        "2d0000000000000070726f6772616d207028783a206633325b415d29207b2079203d2072656c752878292072657475726e20"
        "79207d0600000000000000637564613a310500000000000000736d5f39300b00000000000000746872656164733d313238ff"
        "ffffffffffffff0300000000000000020000000000000007000000000000000000e03f000010000000000063000000000000"
        "00000000000000f83f00000000000004400b000000000000000300000005000000000000000000d03f000000000000000003"
        "02000000000000000b00000000000000746872656164733d323536000000000000000001000000000000000a000000000000"
        "00746872656164733d36340200000000000000010000000000000041fbffffffffffffff010000000000000042ffffffffff"
        "ffff7f0200000000000000050000000000000002000000000000000100000000000000410100000000000000010000000000"
        "000042020000000000000000000000000000000000000000000000");
  CHECK(hex_of(to_bytes(sample_result())) ==
        "0519000000000000007a3a206174205b335d0020616e642061207a65726f2062797404000000000000000600000002000000"
        "00000000010000000000000001000000000000e03f000000000000d03f000000000000204002000000000000000100000000"
        "0000006100000000000000000300000000000000010000000000000002000000000000000300000000000000020000000000"
        "0000030000000000000004000000000000000500000000000000060000000000000003000000000000000700000000000000"
        "08000000000000000900000000000000");
  CHECK(hex_of(to_bytes(static_cast<Step>(2))) == "02");
}

TEST_CASE("what is cut short, too long or out of range is an error that names the field") {
  const std::string request = to_bytes(sample_request());
  for (std::size_t size = 0; size < request.size(); ++size)
    CHECK(request_from_bytes(request.substr(0, size)).error().code == Code::data_loss);
  CHECK(request_from_bytes(request + "x").error().message == "1 bytes are left over");
  CHECK(request_from_bytes("").error().message == "program is missing");
  const std::string result = to_bytes(sample_result());
  for (std::size_t size = 0; size < result.size(); ++size) CHECK_FALSE(result_from_bytes(result.substr(0, size)));
  TryResult uneven = sample_result();
  uneven.rivals_ps.back().pop_back();
  CHECK(result_from_bytes(to_bytes(uneven)).error().message == "a rival has 2 samples, expected 3");
  TryRequest crowded = sample_request();
  crowded.rivals.resize(1001);
  CHECK(request_from_bytes(to_bytes(crowded)).error().message.starts_with("rivals claims a length of 1001, "));
  std::swap(crowded.rivals, crowded.next);
  CHECK(request_from_bytes(to_bytes(crowded)).error().message.starts_with("next claims a length of 1001, "));
  CHECK(result_from_bytes("\x7f").error().message == "verdict is 127, expected 0 to 12");
  CHECK(step_from_bytes("\x7f").error().message == "step is 127, expected 0 to 6");
  CHECK(step_from_bytes("").error().message == "step is missing");
  const std::string huge("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  CHECK(request_from_bytes(huge).error().message ==
        "program claims a length of 18446744073709551615, 0 bytes are left");
  TryRequest odd = sample_request();
  odd.policy.noise = std::numeric_limits<double>::quiet_NaN();
  CHECK(request_from_bytes(to_bytes(odd)).error().message == "noise is nan, expected 0 to 1");
  odd = sample_request();
  odd.skew = -1;
  CHECK(request_from_bytes(to_bytes(odd)).error().message == "skew is -1, expected 0 to 63");
  odd = sample_request();
  odd.further.back().skew = 64;
  CHECK(request_from_bytes(to_bytes(odd)).error().message == "skew is 64, expected 0 to 63");
}

TEST_CASE("frames come whole, whatever the pieces") {
  const std::string bytes = encode_frame(FrameKind::request, "abc") + encode_frame(FrameKind::step, "");
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameReader reader;
    std::string seen;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      while (true) {
        const auto frame = reader.next();
        REQUIRE(frame);
        if (!*frame) break;
        seen += fmt::format("{}:{};", static_cast<int>((*frame)->kind), (*frame)->payload);
      }
    }
    CHECK(seen == "1:abc;2:;");
    CHECK(reader.pending() == 0);
  }
}

std::string error_of_frame(const std::string& bytes) {
  FrameReader reader;
  reader.append(bytes);
  const auto frame = reader.next();
  return frame ? "none" : frame.error().message;
}

TEST_CASE("each byte of a frame that is flipped is an error or more to wait for, never another frame") {
  const std::string good = encode_frame(FrameKind::result, to_bytes(sample_result()));
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      FrameReader reader;
      reader.append(bad);
      const auto frame = reader.next();
      CHECK((!frame || !*frame));
    }
  }
  CHECK(error_of_frame(good) == "none");
  CHECK(error_of_frame("Segmentation fault, or any garbage") == "a frame begins with 0x6d676553, not 0x4b574c50");
  std::string bad = good;
  bad[4] = 9;
  CHECK(error_of_frame(bad) == "a frame has version 9, not 5");
  bad = good;
  bad[8] = 9;
  CHECK(error_of_frame(bad) == "a frame is of the unknown kind 9");
  bad = good;
  bad[15] = '\x7f';
  CHECK(error_of_frame(bad).starts_with("a frame claims 21"));
  bad = good;
  bad.back() ^= 1;
  CHECK(error_of_frame(bad) == "a frame does not match its checksum");
}

TEST_CASE("random bytes are errors, and nothing else") {
  constexpr std::uint64_t kSeed = 7;
  MESSAGE("seed " << kSeed);
  SplitMix random(kSeed);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random.next() % 200, '\0');
    for (char& c : bytes) c = static_cast<char>(random.next() >> (random.next() % 50));
    CHECK(error_of_frame(bytes) != "");
    CHECK_FALSE(request_from_bytes(bytes));
    CHECK_FALSE(result_from_bytes(bytes));
    // And bytes that are nearly right.
    std::string near = to_bytes(sample_request());
    near[random.next() % near.size()] = static_cast<char>(random.next());
    if (const auto request = request_from_bytes(near)) CHECK(to_bytes(*request) == near);
  }
}

}  // namespace
}  // namespace padlock::tuner
