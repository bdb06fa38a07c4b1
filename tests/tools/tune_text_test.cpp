#include "tools/tune_text.h"

#include <doctest/doctest.h>

namespace padlock::tools {

TEST_CASE("a line of progress says how far, how good and how long") {
  const api::Progress progress{.tried = 10,
                               .candidates = 20,
                               .racing = false,
                               .best = "unroll=1",
                               .best_ps = 12'340'000,
                               .seconds = 3,
                               .seconds_left = 4};
  CHECK(progress_line(0, 2, progress, false, 200) == "region 1 of 2: tried 10 of 20, 4 s left, best 12.3 us unroll=1");
  CHECK(progress_line(1, 2, progress, true, 200) ==
        "[##########..........] region 2 of 2: tried 10 of 20, 4 s left, best 12.3 us unroll=1");
  CHECK(progress_line(1, 2, progress, true, 30).size() == 30);
  api::Progress racing = progress;
  racing.racing = true;
  racing.best.clear();
  CHECK(progress_line(0, 1, racing, false, 200) == "region 1 of 1: racing, 10 of 20, 4 s left");
  CHECK(progress_line(0, 1, {}, true, 200) == "[####################] region 1 of 1: tried 0 of 0, 0 s left");
}

TEST_CASE("durations have three digits or so") {
  CHECK(duration_text(999'000) == "999 ns");
  CHECK(duration_text(1'500'000) == "1.5 us");
  CHECK(duration_text(2'345'000'000) == "2.35 ms");
}

}  // namespace padlock::tools
