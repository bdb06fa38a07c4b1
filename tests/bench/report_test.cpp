#include "bench/report.h"

#include <doctest/doctest.h>

namespace padlock::bench {
namespace {

Comparison sample() {
  Comparison c{"pad \"x\"", 2e9, {}};
  c.rows.push_back({.name = "memcpy", .median_ms = 100, .ratio = {1, 1, 1}, .gb_per_s = 20, .samples_ms = {100, 100}});
  c.rows.push_back({.name = "pad", .median_ms = 50, .ratio = {0.5, 0.4, 0.625}, .gb_per_s = 40, .samples_ms = {50}});
  return c;
}

}  // namespace

TEST_CASE("table") {
  CHECK(to_table(sample()) ==
        "pad \"x\"\n"
        "  memcpy    100.0000 ms   1.000x [1.000, 1.000]    20.00 GB/s\n"
        "  pad        50.0000 ms   0.500x [0.400, 0.625]    40.00 GB/s\n");
}

TEST_CASE("table without bytes has no rate") {
  Comparison c = sample();
  c.bytes = 0;
  CHECK(to_table(c).find("GB/s") == std::string::npos);
}

TEST_CASE("json lines") {
  CHECK(to_json_lines(sample()) ==
        R"({"schema":2,"kind":"row","title":"pad \"x\"","name":"memcpy","median_ms":100,"ratio":1,)"
        R"("ratio_low":1,"ratio_high":1,"gb_per_s":20,"bytes":2e+09,"rounds":2})"
        "\n"
        R"({"schema":2,"kind":"row","title":"pad \"x\"","name":"pad","median_ms":50,"ratio":0.5,)"
        R"("ratio_low":0.4,"ratio_high":0.625,"gb_per_s":40,"bytes":2e+09,"rounds":1})"
        "\n");
}

TEST_CASE("provenance") {
  CHECK(to_json_line(Provenance{"A\tB\\", 2, "abc", 7}) ==
        R"({"schema":2,"kind":"provenance","cpu":"A\u0009B\\","hardware_threads":2,"commit":"abc","seed":7})"
        "\n");
  const Provenance here = provenance_of_this_machine("c0ffee", 1);
  CHECK(here.commit == "c0ffee");
  CHECK(!here.cpu.empty());
}

}  // namespace padlock::bench
