#include "tools/text/tune_text.h"

#include <doctest/doctest.h>

namespace padlock::tools {

TEST_CASE("a line of progress says how far, how good and how long") {
  padlock_progress progress{};
  progress.region_count = 2;
  progress.tried = 10;
  progress.config_count = 20;
  progress.best = "unroll=1";
  progress.best_picoseconds = 12'340'000;
  progress.seconds_left = 4;
  CHECK(progress_line(progress, false, 200) ==
        "region 1 of 2: tried 10 of 20 configs, 4 s left, best 12.3 us unroll=1");
  progress.region = 1;
  CHECK(progress_line(progress, true, 200) ==
        "[##########..........] region 2 of 2: tried 10 of 20 configs, 4 s left, best 12.3 us unroll=1");
  progress.seconds = 12;
  CHECK(progress_line(progress, true, 200).starts_with("[#################...] region 2 of 2: "));  // 1.75 of 2
  CHECK(progress_line(progress, true, 30).size() == 30);
  padlock_progress racing = progress;
  racing.region = 0;
  racing.region_count = 1;
  racing.racing = 1;
  racing.best = "";
  CHECK(progress_line(racing, false, 200) == "region 1 of 1: timing the best of 10 configs in turn, 4 s left");
  padlock_progress nothing{};
  nothing.region_count = 1;
  nothing.best = "";
  CHECK(progress_line(nothing, true, 200) ==
        "[....................] region 1 of 1: making data, and trying the default, 0 s left");
}

TEST_CASE("durations have three digits or so") {
  CHECK(duration_text(999'000) == "999 ns");
  CHECK(duration_text(1'500'000) == "1.5 us");
  CHECK(duration_text(2'345'000'000) == "2.35 ms");
}

}  // namespace padlock::tools
