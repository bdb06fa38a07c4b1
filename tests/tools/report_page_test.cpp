#include "tools/text/report_page.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string_view>

namespace padlock::tools {
namespace {

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

ReportRegion region_of(int timed, int failed) {
  ReportRegion region{.program = "pad_relu",
                      .machine = "host, AMD EPYC, 2026-01-31T12:00:00Z",
                      .region = "4*B*S + 4*B*lo <= 1048576",
                      .sizes = "B=64,S=1000,lo=3",
                      .chosen = "vector_bytes=32,unroll=2,split=1,store=automatic,task_kib=0",
                      .coverage = "24 of 31 configs measured",
                      .default_config = "vector_bytes=32,unroll=2,split=1,store=automatic,task_kib=1",
                      .bytes = 514'048,
                      .copy_ps = 20e6,
                      .timed = {},
                      .failed = {}};
  for (int i = 0; i < timed; ++i)
    region.timed.push_back(
        {fmt::format("vector_bytes=32,unroll=2,split=1,store=automatic,task_kib={}", i), 28e6 + i, 1e5});
  for (int i = 0; i < failed; ++i)
    region.failed.push_back({fmt::format("vector_bytes=64,unroll=4,split=0,store=plain,task_kib={}", i), "timeout",
                             "no result within 5 s"});
  return region;
}

TEST_CASE("a region has a dot a config, the default, the choice, the copy, and what failed") {
  const std::string page = report_page("tuning.db", {region_of(3, 2)});
  CHECK(count(page, "<section>") == 1);
  CHECK(count(page, "<circle ") == 3);
  CHECK(count(page,
              "<g class=\"dot chosen\"><title>chosen: vector_bytes=32,unroll=2,split=1,store=automatic,task_kib=0: "
              "18.4 GB/s (18.3 GB/s to 18.4 GB/s)") == 1);
  CHECK(count(page, "<g class=\"dot default\"><title>default: ") == 1);
  CHECK(count(page, "plain copy 25.7 GB/s") == 1);
  CHECK(count(page, "<td class=\"verdict\">timeout</td><td>no result within 5 s</td>") == 2);
  CHECK(count(page, "(24 of 31 configs measured); 3 timed, 2 failed") == 1);
}

TEST_CASE("the picture shows what decided: times over the default's, and who was timed alone stands aside") {
  ReportRegion region = region_of(4, 0);
  region.timed[0].median_ps = 30e6;  // alone it looked slower than the default
  region.timed[0].ratio = {.value = 0.9, .noise = 0.01};
  region.timed[1].ratio = {.value = 1, .noise = 0};
  region.timed[2].median_ps = 20e6;  // alone it looked fastest
  region.timed[3].ratio = {.value = 0.8, .noise = 0.01, .slower_in = "warm and then read"};
  const std::string page = report_page("tuning.db", {region});
  CHECK(count(page,
              "<g class=\"dot chosen\"><title>chosen: vector_bytes=32,unroll=2,split=1,store=automatic,task_kib=0: "
              "20.4 GB/s (20.2 GB/s to 20.6 GB/s)") == 1);  // 0.9 of 28 us
  CHECK(count(page, "<g class=\"dot default\"><title>default: ") == 1);
  CHECK(count(page, "<g class=\"dot aside\"><title>alone: ") == 1);
  CHECK(count(page, "<g class=\"dot aside\"><title>slower warm and then read: ") == 1);
}

TEST_CASE("where bytes are not known there are launches, and no copy") {
  ReportRegion region = region_of(2, 0);
  region.bytes = 0;
  const std::string page = report_page("tuning.db", {region});
  CHECK(count(page, "35.7 k launches/s") >= 2);
  CHECK(count(page, "class=\"copy\"") == 0);
  CHECK(count(page, "B/s") == 0);
}

TEST_CASE("what stands in a record is text, and as long as it may be") {
  const std::string hostile = "</svg><script>alert(\"&amp;\")</script>";
  ReportRegion region = region_of(1, 1);
  region.program = region.machine = region.region = region.sizes = region.chosen = region.coverage = hostile;
  region.timed[0].config = hostile;
  region.failed[0] = {hostile, hostile, hostile + std::string(100'000, '<')};
  const std::string page = report_page(hostile, {region});
  CHECK(count(page, "<script") == 0);
  CHECK(count(page, "</svg>") == 1);
  CHECK(count(page, "&lt;/svg&gt;&lt;script&gt;alert(&quot;&amp;amp;&quot;)&lt;/script&gt;") == 12);
  CHECK(page.size() < 20'000);
}

TEST_CASE("times of any size have a picture") {
  ReportRegion region = region_of(0, 0);
  region.timed = {{"a", 1, 0}, {"b", 9e18, 9e18}, {"c", 1e6, 1e18}, {"d", 5, 5}};
  for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 47}) {
    region.bytes = bytes;
    const std::string page = report_page("tuning.db", {region});
    CHECK(count(page, "<circle ") == 4);
    CHECK(count(page, "nan") == 0);
    CHECK(count(page, "\"inf") == 0);
    CHECK(page.size() < 10'000);
  }
}

TEST_CASE("a page of a thousand records is below a megabyte, and one of none is a page") {
  const std::string page = report_page("tuning.db", std::vector<ReportRegion>(40, region_of(23, 2)));
  CHECK(count(page, "<circle ") == 920);
  CHECK(page.size() < 1'000'000);
  MESSAGE(page.size(), " bytes");
  CHECK(report_page("tuning.db", {}).ends_with("</body>\n</html>\n"));
}

}  // namespace
}  // namespace padlock::tools
