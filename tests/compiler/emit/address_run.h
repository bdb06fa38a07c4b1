#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi/launch_plan.h"
#include "compiler/targets/target_compiler.h"
#include "ir/binding/binding.h"
#include "runtime/host/host_image.h"
#include "tests/compiler/emit/address_case.h"
#include "tests/compiler/schedule/sparse_storage.h"
#include "tests/compiler/seeded/mutation.h"

namespace padlock::compiler {

/// A way of compiling.
struct Variant {
  std::string_view name;
  std::string_view config;
  bool bounds_check = false;
  Mutation mutation = Mutation::none;
};

struct Compiled {
  ir::Program program;
  runtime::HostImage image;  // of one kernel

  [[nodiscard]] const std::vector<runtime::HostVariant>& variants() const { return image.kernels.front(); }
};

/// Compiles a text once for each variant, whatever the sizes: for the host, or a GPU's kernels for simt. Fails the test
/// if compiling fails.
class Compilations {
 public:
  explicit Compilations(bool for_gpu = false);
  const Compiled& of(const std::string& text, const Variant& variant);

 private:
  [[nodiscard]] Result<abi::CompiledCode> compile(const ir::Program& program, const Variant& variant);

  std::unique_ptr<TargetCompiler> host_;  // one of the two
  std::unique_ptr<TargetCompiler> gpu_;
  std::map<std::string, std::unique_ptr<Compiled>> all_;
};

/// A case bound to its sizes. Of its storage only the pages exist that its calls should touch. All borrowed.
class AddressRun {
 public:
  /// Takes a variant of the kernel, which must admit these sizes. Fails the test if the sizes are refused, or if the
  /// bound extents differ from the closed forms.
  AddressRun(const AddressCase& c, const Compiled& compiled, std::size_t variant = 0);

  /// Calls the kernel at all interesting places and compares its output. Returns the first difference; empty if there
  /// is none.
  std::string run(testing::Rng& rng);
  /// Makes it a GPU's grid of vectors, of which a call takes one block.
  void takes_tiles();
  /// The tile of a transpose: numbers of rows and stored columns. The last columns may be the next tile's.
  struct TransposeShape {
    std::int64_t rows, columns, halo;
  };
  /// Makes it a grid of such tiles, for a result of two axes.
  void takes_transposes(const TransposeShape& shape);
  /// Returns whether a variant of the kernel admits these sizes.
  [[nodiscard]] bool admits(std::size_t variant) const { return plan_of(variant).variant > 0; }
  /// Returns how many launches they take.
  [[nodiscard]] std::size_t launches() const { return std::max<std::size_t>(1, plan_.parts.size()); }
  [[nodiscard]] std::int64_t elements_checked() const { return elements_checked_; }

 private:
  /// Rows and columns of one call of the kernel.
  struct Range {
    std::int64_t row_first, row_last, column_first, column_last;
  };
  struct Expected {
    Int128 element;  // the result's element
    ElementSource source;
  };

  /// A launch of some rows, or of all of them.
  struct Launch {
    const std::vector<std::int64_t>& sizes;
    std::int64_t first_element, elements;
    std::vector<std::int64_t> origins;
  };

  /// Plans a launch that may choose between this variant and the first.
  [[nodiscard]] abi::LaunchPlan plan_of(std::size_t variant) const;
  [[nodiscard]] Launch launch_of(Int128 element) const;
  void check_sizes() const;
  [[nodiscard]] Int128 flat(const Wide& at) const;
  [[nodiscard]] Wide coordinates(Int128 index) const;
  [[nodiscard]] Wide random_coordinates(testing::Rng& rng) const;
  [[nodiscard]] std::vector<Int128> places(testing::Rng& rng) const;
  std::string check_near(Int128 at, testing::Rng& rng);
  std::string check_tile(Int128 at);
  std::string check_transpose(Int128 at);
  bool place(const Range& range);
  void collect(const Range& range);
  [[nodiscard]] std::array<ByteSpan, 3> spans() const;
  [[nodiscard]] std::vector<Int128> neighbours(const Range& range) const;
  std::string call_and_compare(const Range& range);
  std::string call_and_compare(const Range& range, const Range& arguments, const Launch& part);
  [[nodiscard]] std::string compare() const;
  [[nodiscard]] std::byte* address(int buffer, Int128 element) const;
  void put(int buffer, Int128 element, std::uint64_t bits);
  [[nodiscard]] std::uint64_t result_bits(Int128 element) const;

  const AddressCase& case_;
  const Compiled& compiled_;
  const ir::Program& program_;
  const runtime::HostVariant& kernel_;
  std::optional<ir::Binding> binding_;
  abi::LaunchPlan plan_;
  Wide extents_;  // the result's
  Int128 total_ = 1;
  std::int64_t columns_ = 0;         // the launch's; for tiles, all elements
  std::int64_t block_elements_ = 0;  // for tiles
  std::optional<TransposeShape> shape_;
  std::vector<std::unique_ptr<SparseStorage>> storage_;  // x, w, the result
  std::vector<Expected> expected_;                       // by the next call
  std::vector<Int128> neighbours_;                       // elements that the next call must not change
  std::int64_t elements_checked_ = 0;
};

}  // namespace padlock::compiler
