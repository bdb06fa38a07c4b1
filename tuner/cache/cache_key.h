#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace padlock::tuner {

/// FieldClass tells how a difference in a field affects the use of a record.
enum class FieldClass : std::uint8_t {
  must,  ///< other code, or code that does not run: the record is useless
  perf,  ///< the same code at another speed: useless in a strict match, a guess in a loose one
  info,  ///< for people
};

[[nodiscard]] std::string_view name_of(FieldClass c);

// The one table of what identifies a tuning record: X(name, class). Everything about keys is generated from it.
//
// program: hash of the canonical text. types: of parameters and results. abi, code: compiler/targets/revision.h.
// target: the target of the code, "host" or "sm_90". cpu: a host's LLVM name and all its features, so that no record
// crosses between machines with and without, say, AVX-512. device, driver, host, date: where and when. policy: how
// samples were taken.
#define PADLOCK_KEY_FIELDS(X) \
  X(program, must)            \
  X(types, must)              \
  X(abi, must)                \
  X(code, must)               \
  X(llvm, must)               \
  X(target, must)             \
  X(architecture, must)       \
  X(cpu, must)                \
  X(multiprocessors, perf)    \
  X(bandwidth, perf)          \
  X(threads, perf)            \
  X(l2_bytes, perf)           \
  X(l3_bytes, perf)           \
  X(policy, perf)             \
  X(device, info)             \
  X(driver, info)             \
  X(host, info)               \
  X(date, info)

/// All as text; empty for a field that this kind of device does not have.
struct KeyFields {
#define PADLOCK_FIELD(name, field_class) std::string name = {};
  PADLOCK_KEY_FIELDS(PADLOCK_FIELD)
#undef PADLOCK_FIELD

  friend bool operator==(const KeyFields&, const KeyFields&) = default;
};

struct KeyField {
  std::string_view name;
  FieldClass field_class;
  std::string KeyFields::* value;
};

inline constexpr std::array kKeyFields = {
#define PADLOCK_FIELD(name, field_class) KeyField{#name, FieldClass::field_class, &KeyFields::name},
    PADLOCK_KEY_FIELDS(PADLOCK_FIELD)
#undef PADLOCK_FIELD
};

/// CacheKey identifies the subject of a record. Immutable.
class CacheKey {
 public:
  explicit CacheKey(KeyFields fields);

  [[nodiscard]] const KeyFields& fields() const { return fields_; }
  /// Hash of all must and perf fields: equal digests match strictly.
  [[nodiscard]] const std::string& digest() const { return digest_; }

 private:
  KeyFields fields_;
  std::string digest_;
};

enum class Match : std::uint8_t {
  strict,  ///< all must and perf fields are equal
  loose,   ///< all must fields are equal
};

/// A field in which a record differs from the wanted key.
struct KeyDifference {
  FieldClass field_class = FieldClass::must;
  std::string_view field;
  std::string wanted;
  std::string recorded;

  /// "bandwidth: wanted '4800 GB/s', recorded '3400 GB/s'"; long values are cut to where they differ.
  [[nodiscard]] std::string to_string() const;
};

struct KeyMatch {
  bool hit = false;
  /// The first field that differs, must before perf: the reason of a miss, or the risk of a loose hit.
  std::optional<KeyDifference> difference = {};
};

[[nodiscard]] KeyMatch match(const KeyFields& wanted, const KeyFields& recorded, Match how);
/// Counts the must fields that differ, to find the nearest of several records that miss.
[[nodiscard]] int count_must_differences(const KeyFields& wanted, const KeyFields& recorded);

}  // namespace padlock::tuner
