#pragma once

#include "tests/tuner/cache/samples.h"

// The records of the processes that write one cache: for these processes and for the one that checks it afterwards.
namespace padlock::tuner::testing {

inline CacheKey key_of_writer(int writer) {
  KeyFields key_fields = fields();
  key_fields.threads = std::to_string(writer);
  return CacheKey(key_fields);
}

inline Measurement crash_record(int writer, int number) {
  return measurement(fmt::format("S >= {}", number), fmt::format("writer={}", writer), 1000 + number);
}

}  // namespace padlock::tuner::testing
