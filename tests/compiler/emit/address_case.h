#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/binding/binding.h"
#include "support/int128.h"
#include "tests/common/rng.h"

// Programs of the form z = concat(pad(slice(transpose(x))), w), with the language's closed forms for the source of each
// element. It uses none of the project's expressions or layouts, and computes in 128 bits.
namespace padlock::compiler {

using Wide = std::vector<Int128>;

/// An element of x (input 0) or w (input 1), as an offset in its storage, or the fill.
struct ElementSource {
  static constexpr int kFill = -1;
  int input = kFill;
  Int128 offset = 0;
};

struct AddressCase {
  std::string name;
  std::string type = "i8";
  int element_bytes = 1;
  Wide extents;                 // of x
  Wide strides = {};            // of x; empty: dense
  std::vector<int> perm = {};   // transpose; empty: none
  Wide start = {}, limit = {};  // slice; empty: none
  Wide step = {};
  Wide low = {}, high = {};  // pad
  Wide interior = {};        // of mode constant; empty: none
  std::string mode = "constant";
  int concat_axis = -1;     // -1: no concat
  Int128 tail = 0;          // extent of w on that axis
  bool tail_first = false;  // concat(w, pad) instead of concat(pad, w)

  [[nodiscard]] std::string text() const;
  [[nodiscard]] ir::BindRequest request() const;

  [[nodiscard]] Wide strides_of_x() const;
  [[nodiscard]] Wide sliced_extents() const;
  [[nodiscard]] Wide padded_extents() const;
  [[nodiscard]] Wide result_extents() const;
  /// Returns the bytes of storage of a buffer: 0 and 1 are the inputs, 2 the result.
  [[nodiscard]] Int128 storage_bytes(int buffer) const;
  [[nodiscard]] int inputs() const { return concat_axis < 0 ? 1 : 2; }

  [[nodiscard]] ElementSource source(Wide coordinates) const;
  /// Returns the coordinates of a result element whose source is x's storage element `offset`, or an element at most a
  /// few strides before it; nullopt if there is none.
  [[nodiscard]] std::optional<Wide> result_of(Int128 offset) const;
  /// Returns the result coordinates on one axis at which the source changes its form.
  [[nodiscard]] Wide cuts(std::size_t axis) const;
};

/// Draws a case of up to four axes whose input or result is larger than 2^31 bytes, both below 2^47.
[[nodiscard]] AddressCase random_address_case(testing::Rng& rng);

}  // namespace padlock::compiler
