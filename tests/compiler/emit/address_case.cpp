#include "tests/compiler/emit/address_case.h"

#include <fmt/format.h>
#include <algorithm>

namespace padlock::compiler {
namespace {

constexpr std::int64_t kDefaultBound = std::int64_t{1} << 40;  // of a symbol that no constraint bounds
constexpr std::int64_t kStatedBound = kDefaultBound * 256;

Int128 floor_mod(Int128 a, Int128 b) { return ((a % b) + b) % b; }

/// The element of an axis of extent n that a mirrored, repeated or wrapped pad takes for i.
Int128 mapped(std::string_view mode, Int128 i, Int128 n) {
  if (mode == "edge") return std::clamp<Int128>(i, 0, n - 1);
  if (mode == "wrap") return floor_mod(i, n);
  if (mode == "symmetric") {
    const Int128 t = floor_mod(i, 2 * n);
    return t < n ? t : 2 * n - 1 - t;
  }
  const Int128 p = std::max<Int128>(2 * (n - 1), 1);
  const Int128 t = floor_mod(i, p);
  return t < n ? t : p - t;
}

Wide dense(const Wide& extents) {
  Wide strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

Int128 elements(const Wide& extents, const Wide& strides) {
  Int128 last = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) last += (extents[i] - 1) * strides[i];
  return last + 1;
}

std::int64_t narrow(Int128 v) { return static_cast<std::int64_t>(v); }

std::vector<std::int64_t> narrow(const Wide& values) {
  std::vector<std::int64_t> list;
  for (const Int128 v : values) list.push_back(narrow(v));
  return list;
}

/// "[N0, N1]"
std::string names(const char* prefix, std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, i);
  return "[" + list + "]";
}

/// Numbers as literals: a step or an interior has to be one, and of a stride of 1 the compiler makes use.
std::string literals(const Wide& values) {
  std::string list;
  for (const Int128 v : values) list += fmt::format("{}{}", list.empty() ? "" : ", ", narrow(v));
  return "[" + list + "]";
}

/// Prints pad amounts. An unpadded axis has a literal 0, which makes simpler code.
std::string pad_list(const char* prefix, const Wide& amounts) {
  std::string list;
  for (std::size_t i = 0; i < amounts.size(); ++i)
    list += (i == 0 ? "" : ", ") + (amounts[i] == 0 ? std::string("0") : fmt::format("{}{}", prefix, i));
  return "[" + list + "]";
}

std::string stride_list(const Wide& strides) {
  std::string list;
  for (std::size_t i = 0; i < strides.size(); ++i)
    list += (i == 0 ? "" : ", ") + (strides[i] == 1 ? std::string("1") : fmt::format("S{}", i));
  return " strides [" + list + "]";
}

/// Symbols by name, with the bounds that the larger ones have to be given.
class Symbols {
 public:
  void dims(const char* prefix, const Wide& values) { add(prefix, values, true, false); }
  void pads(const char* prefix, const Wide& values) { add(prefix, values, true, true); }
  void extents(const char* prefix, const Wide& values) { add(prefix, values, false, false); }

  std::map<std::string, std::int64_t> by_name;
  std::string parameters, bounds;

 private:
  void add(const char* prefix, const Wide& values, bool is_dim, bool zero_is_literal) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (zero_is_literal && values[i] == 0) continue;
      const std::string name = fmt::format("{}{}", prefix, i);
      const std::int64_t value = narrow(values[i]);
      if (is_dim) by_name[name] = value;
      if (is_dim) parameters += fmt::format(", {}: dim", name);
      if (value > kDefaultBound || value < -kDefaultBound)
        bounds += fmt::format("{} -{} <= {} <= {}", bounds.empty() ? " where" : ",", kStatedBound, name, kStatedBound);
    }
  }
};

Symbols symbols_of(const AddressCase& c) {
  Symbols symbols;
  symbols.extents("N", c.extents);
  Wide bounded = c.strides;
  for (Int128& s : bounded) s = s == 1 ? 0 : s;  // written as 1
  symbols.extents("S", bounded);
  symbols.dims("b", c.start);
  symbols.dims("e", c.limit);
  symbols.pads("l", c.low);
  symbols.pads("h", c.high);
  return symbols;
}

Wide extents_of_w(const AddressCase& c) {
  Wide extents = c.padded_extents();
  extents[static_cast<std::size_t>(c.concat_axis)] = c.tail;
  return extents;
}

}  // namespace

std::string AddressCase::text() const {
  const Symbols symbols = symbols_of(*this);
  const std::size_t rank = extents.size();
  std::string parameters = fmt::format("x: {}{}", type, names("N", rank));
  if (!strides.empty()) parameters += stride_list(strides);
  std::string bounds = symbols.bounds;
  if (concat_axis >= 0) {
    parameters += fmt::format(", w: {}{}", type, names("M", rank));
    for (std::size_t i = 0; i < rank; ++i)
      bounds += fmt::format("{} M{} <= {}", bounds.empty() ? " where" : ",", i, kStatedBound);
  }
  std::string body, value = "x";
  const auto statement = [&](const char* result, const std::string& expression) {
    body += fmt::format(" {} = {}", result, expression);
    value = result;
  };
  if (!perm.empty())
    statement("t", fmt::format("transpose({}, perm = {})", value, literals({perm.begin(), perm.end()})));
  if (!start.empty())
    statement("s", fmt::format("slice({}, start = {}, limit = {}, step = {})", value, names("b", rank),
                               names("e", rank), literals(step)));
  std::string options = mode == "constant" ? ", value = bits(0x7b)" : ", mode = " + mode;
  if (!interior.empty()) options = ", interior = " + literals(interior) + options;
  statement("p",
            fmt::format("pad({}, low = {}, high = {}{})", value, pad_list("l", low), pad_list("h", high), options));
  if (concat_axis >= 0) statement("z", fmt::format("concat({}, axis = {})", tail_first ? "w, p" : "p, w", concat_axis));
  return fmt::format("program p({}{}){} {{{} return {} }}", parameters, symbols.parameters, bounds, body, value);
}

ir::BindRequest AddressCase::request() const {
  ir::BindRequest request;
  request.tensors.push_back(ir::ArgumentShape{narrow(extents), std::nullopt});
  if (!strides.empty()) request.tensors[0]->strides = narrow(strides);
  if (concat_axis >= 0) request.tensors.push_back(ir::ArgumentShape{narrow(extents_of_w(*this)), std::nullopt});
  request.symbols = symbols_of(*this).by_name;
  return request;
}

Wide AddressCase::strides_of_x() const { return strides.empty() ? dense(extents) : strides; }

Wide AddressCase::sliced_extents() const {
  Wide n = extents;
  for (std::size_t i = 0; i < perm.size(); ++i) n[i] = extents[static_cast<std::size_t>(perm[i])];
  for (std::size_t i = 0; i < start.size(); ++i) n[i] = (limit[i] - start[i] + step[i] - 1) / step[i];
  return n;
}

Wide AddressCase::padded_extents() const {
  Wide n = sliced_extents();
  for (std::size_t i = 0; i < n.size(); ++i)
    n[i] += low[i] + high[i] + (interior.empty() ? 0 : std::max<Int128>(n[i] - 1, 0) * interior[i]);
  return n;
}

Wide AddressCase::result_extents() const {
  Wide n = padded_extents();
  if (concat_axis >= 0) n[static_cast<std::size_t>(concat_axis)] += tail;
  return n;
}

Int128 AddressCase::storage_bytes(int buffer) const {
  if (buffer == 0) return element_bytes * elements(extents, strides_of_x());
  const Wide n = buffer == 1 ? extents_of_w(*this) : result_extents();
  return element_bytes * elements(n, dense(n));
}

ElementSource AddressCase::source(Wide at) const {
  if (concat_axis >= 0) {
    const auto k = static_cast<std::size_t>(concat_axis);
    const Int128 cut = tail_first ? tail : padded_extents()[k];
    const bool in_first = at[k] < cut;
    if (!in_first) at[k] -= cut;
    if (in_first == tail_first) {
      const Wide w_strides = dense(extents_of_w(*this));
      Int128 offset = 0;
      for (std::size_t i = 0; i < at.size(); ++i) offset += at[i] * w_strides[i];
      return {1, offset};
    }
  }
  const Wide n = sliced_extents();
  const Wide x_strides = strides_of_x();
  Int128 offset = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    Int128 j = at[i] - low[i];
    if (mode == "constant") {
      const Int128 pitch = interior.empty() ? 1 : interior[i] + 1;
      if (j < 0 || j % pitch != 0 || j / pitch >= n[i]) return {};
      j /= pitch;
    } else {
      j = mapped(mode, j, n[i]);
    }
    if (!start.empty()) j = start[i] + j * step[i];
    offset += j * x_strides[perm.empty() ? i : static_cast<std::size_t>(perm[i])];
  }
  return {0, offset};
}

std::optional<Wide> AddressCase::result_of(Int128 offset) const {
  const Wide x_strides = strides_of_x();
  std::vector<std::size_t> order(extents.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return x_strides[a] > x_strides[b]; });
  Wide x_at(extents.size());
  for (const std::size_t i : order) {
    x_at[i] = x_strides[i] == 0 ? 0 : std::min(offset / x_strides[i], extents[i] - 1);
    offset -= x_at[i] * x_strides[i];
  }
  const Wide n = sliced_extents(), out = result_extents();
  Wide at(extents.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    Int128 j = x_at[perm.empty() ? i : static_cast<std::size_t>(perm[i])];
    if (!start.empty()) j = (j - start[i]) / step[i];
    if (j < 0 || j >= n[i]) return std::nullopt;
    at[i] = j * (interior.empty() ? 1 : interior[i] + 1) + low[i];
    if (tail_first && concat_axis == static_cast<int>(i)) at[i] += tail;
    if (at[i] < 0 || at[i] >= out[i]) return std::nullopt;
  }
  return at;
}

Wide AddressCase::cuts(std::size_t axis) const {
  const Int128 n = sliced_extents()[axis], out = result_extents()[axis];
  const Int128 shift = tail_first && concat_axis == static_cast<int>(axis) ? tail : 0;
  Wide all = {0,
              shift,
              shift + low[axis],
              shift + low[axis] + n,
              shift + low[axis] - n,
              shift + low[axis] + 2 * n,
              shift + padded_extents()[axis],
              out - 1};
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  std::erase_if(all, [&](Int128 at) { return at < 0 || at >= out; });
  return all;
}

}  // namespace padlock::compiler
