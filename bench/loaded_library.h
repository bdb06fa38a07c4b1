#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/listed_program.h"
#include "padlock/padlock.h"

namespace padlock::bench {

/// Offsets of tensors that lie one after another in one array, in bytes.
struct TensorPlaces {
  std::vector<std::int64_t> offsets;
  std::int64_t bytes = 0;         ///< of the tensors
  std::int64_t extent_bytes = 0;  ///< of the array, with the gaps between them

  /// Puts a tensor behind the others, at a multiple of a cache line.
  void add(std::int64_t tensor_bytes);
};

/// The choices with which a program is compiled.
struct CompiledFor {
  int threads = 1;  ///< one or two
  std::string target = "host";
  std::string config = {};  ///< "key=value,..."; empty: the default. Of target "host" alone
};

/// A call of a program as one library compiled and bound it.
class LoadedCall {
 public:
  /// Has `run` read its inputs in the array `inputs` and write its results in the array `results`, both borrowed.
  void place(const std::byte* inputs, std::byte* results);
  /// Aborts where it fails.
  void run() const;

  std::string code = {};                          ///< assembly
  std::vector<std::int64_t> result_extents = {};  ///< of the first result
  TensorPlaces inputs = {}, results = {};

 private:
  friend class LoadedLibrary;
  decltype(&padlock_call_launch) launch_ = nullptr;
  padlock_call* call_ = nullptr;
  std::vector<const void*> input_pointers_ = {};
  std::vector<void*> result_pointers_ = {};
};

/// One of several builds of libpadlock in this process, through its C interface alone: inside, all have the same names.
/// What it makes lives as long as the process, which ends with a message where something fails.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::string& path);

  /// Compiles for one or two threads, and binds to the program's sizes.
  [[nodiscard]] LoadedCall call(const ListedProgram& program, const CompiledFor& how = {}) const;

 private:
  template <class Function>
  Function* find(const char* name, Function* declared) const;
  template <class Function, class Made, class... Given>
  void make(const char* name, Function* declared, Made*& made, Given... given) const;
  template <class Function>
  padlock_tensor_info info(const char* name, Function* declared, const padlock_call* call, std::size_t index) const;
  template <class Function, class Use>
  void check(Function* function, Use&& use) const;

  void* handle_;
  std::array<padlock_context*, 2> contexts_{};  // by threads, less one
};

}  // namespace padlock::bench
