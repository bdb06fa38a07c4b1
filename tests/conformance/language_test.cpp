// Every feature of the language (docs/language.md) in every type that has it, on sizes round vectors and ends.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <array>
#include <utility>

#include "tests/regressions/regression.h"

namespace padlock::conformance {
namespace {

using regressions::Regression;
using regressions::shape;

constexpr std::array<std::int64_t, 8> kLengths = {0, 1, 2, 15, 16, 31, 67, 259};
constexpr std::array kModes = {"constant", "edge", "reflect", "symmetric", "wrap"};

/// Returns a program with one statement for each expression, whose results it returns.
std::string returns(const std::string& parameters, const std::vector<std::string>& expressions) {
  std::string body, names;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    body += fmt::format(" y{} = {}", i, expressions[i]);
    names += fmt::format("{}y{}", i == 0 ? "" : ", ", i);
  }
  return fmt::format("program p({}) {{{} return {} }}", parameters, body, names);
}

void same_on_lengths(const std::string& text, std::size_t tensors) {
  Regression r(text);
  for (const std::int64_t n : kLengths) r.same({std::vector<ir::ArgumentShape>(tensors, shape({n}))});
}

}  // namespace

TEST_CASE("language: arithmetic of every type") {
  for (const ir::DType t : ir::kAllDTypes) {
    if (t == ir::DType::boolean) continue;
    std::vector<std::string> all = {"add(a, b)",
                                    "sub(a, b)",
                                    "mul(a, b)",
                                    "maximum(a, b)",
                                    "minimum(a, b)",
                                    "neg(a)",
                                    "abs(a)",
                                    "sign(a)",
                                    "relu(a)",
                                    "add(a, 1)",
                                    "sub(v, b)",
                                    "clamp(a, lo = v, hi = 3)",
                                    "leaky_relu(a, alpha = 2)"};
    if (ir::is_float(t))
      all.insert(all.end(), {"div(a, b)", "sqrt(a)", "div(1, b)", "floor(a)", "ceil(a)", "round(a)"});
    same_on_lengths(returns(fmt::format("a: {0}[n], b: {0}[n], v: {0}", ir::name_of(t)), all), 2);
  }
}

TEST_CASE("language: activations, alone and fused with what they pad") {
  for (const char* t : {"f32", "f16", "bf16"})
    for (const ir::OpInfo& info : ir::kOperations) {
      if (info.op_class != ir::OpClass::activation) continue;
      same_on_lengths(fmt::format("program p(a: {}[n]) {{ y0 = {}(a) "
                                  "p0 = pad(a, low = [3], high = [5], value = -0.5) y1 = {}(p0) s = mul(y1, 0.5) "
                                  "return y0, y1, s }}",
                                  t, info.name, info.name),
                      1);
    }
}

TEST_CASE("language: abs and neg of the least integer are that integer in whatever reads them") {
  for (const auto& [type, least] : {std::pair("i8", "-128"), {"i16", "-32768"}, {"i32", "-2147483648"}})
    for (const char* op : {"abs", "neg"}) {
      same_on_lengths(fmt::format("program p(a: {0}[n], v: {0}) {{ m = minimum(a, {1}) s = {2}(m) y0 = gt(s, v) "
                                  "y1 = lt(s, 0) y2 = maximum(s, v) y3 = cast(s, i64) y4 = cast(s, f32) "
                                  "return y0, y1, y2, y3, y4 }}",
                                  type, least, op),
                      1);
    }
}

TEST_CASE("language: comparisons of every type, and what is done with bool") {
  for (const ir::DType t : ir::kAllDTypes)
    same_on_lengths(returns(fmt::format("a: {0}[n], b: {0}[n], v: {0}", ir::name_of(t)),
                            {"lt(a, b)", "le(a, b)", "gt(a, b)", "ge(a, b)", "eq(a, b)", "ne(a, v)"}),
                    2);
  same_on_lengths(returns("a: bool[n], b: bool[n]", {"and(a, b)", "or(a, b)", "not(a)", "select(a, b, true)"}), 2);
}

TEST_CASE("language: select and cast between all types") {
  for (const ir::DType from : ir::kAllDTypes) {
    std::vector<std::string> all = {"select(c, a, b)", "select(c, a, v)"};
    for (const ir::DType to : ir::kAllDTypes) all.push_back(fmt::format("cast(a, {})", ir::name_of(to)));
    same_on_lengths(returns(fmt::format("c: bool[n], a: {0}[n], b: {0}[n], v: {0}", ir::name_of(from)), all), 3);
  }
}

TEST_CASE("language: every pad mode in every type") {
  for (const ir::DType t : ir::kAllDTypes)
    for (const char* mode : kModes) {
      Regression r(fmt::format(
          "program p(x: {}[A, B], l: dim, h: dim) {{ y = pad(x, low = [l, h], high = [h, l], mode = {}) return y }}",
          ir::name_of(t), mode));
      r.same({{shape({3, 35})}, {{"l", 2}, {"h", 1}}});
      r.same({{shape({3, 35})}, {{"l", -2}, {"h", 40}}});
      r.same({{shape({5, 130})}, {{"l", 7}, {"h", -3}}});
    }
}

TEST_CASE("language: rows, columns and elements by data in every type, whatever the indices are") {
  for (const ir::DType t : ir::kAllDTypes)
    for (const char* index : {"i32", "i64"}) {
      Regression r(fmt::format(
          "program p(x: {}[R, C], i: {}[N], v: {}) {{ a = take(x, i, axis = 0, value = v) b = take(x, i, axis = 1)"
          " c = take(x, i, i, axes = [0, 1]) d = pad(a, low = [1, 2], high = [0, 3]) return a, b, c, d }}",
          ir::name_of(t), index, ir::name_of(t)));
      for (const auto& [rows, columns, count] : {std::tuple(7, 130, 9), {1, 3, 40}, {20, 1, 5}, {3, 16, 1}})
        r.same({{shape({rows, columns}), shape({count})}});
      r.same({{shape({0, 4}), shape({0})}});
    }
}

TEST_CASE("language: short rows of which data says alone whether they are there") {
  Regression r(
      "program p(x: f32[1, D], i: i64[N], R: dim) where R >= 1, 1 <= D <= 8 {"
      " b = broadcast(x, shape = [R, D], axes = [0, 1]) y = take(b, i, axis = 0, value = 9) return y }");
  for (const std::int64_t columns : {1, 3, 5, 8}) r.same({{shape({1, columns}), shape({2000})}, {{"R", 6}}});
}

TEST_CASE("language: searches among integers in any order, and what is found by them") {
  for (const char* index : {"i32", "i64"}) {
    Regression r(
        fmt::format("program p(a: {0}[N], x: {0}[M], v: f32[N, D]) {{ s = search(a, x) b = sub(s, 1)"
                    " y = take(v, b, axis = 0, value = 3) n = add(s, i64(N * 10)) return s, y, n }}",
                    index));
    for (const auto& [among, wanted, columns] : {std::tuple(1, 5, 8), {17, 40, 33}, {64, 3, 1}, {5, 1, 129}})
      r.same({{shape({among}), shape({wanted}), shape({among, columns})}});
  }
}

TEST_CASE("language: searches in a part of a row alone") {
  // Where columns are not split, the entries are read under the part's guard.
  Regression r(
      "program p(a: i64[N], x: i64[M, D], c: bool[M, E]) {"
      " s = search(a, x) g = ge(x, s) y = concat(c, g, axis = 1) return y }");
  for (const auto& [among, parts, others] : {std::tuple(7, 3, 36), {1, 8, 1}, {30, 40, 9}})
    r.same({{shape({among}), shape({25, parts}), shape({25, others})}});
}

TEST_CASE("language: a batch of sequences, and sizes as values") {
  Regression r(
      "program p(v: f16[T, D], o: i64[P], L: dim) where P >= 1, L >= 0 {"
      " f = slice(o, start = [0], limit = [P - 1]) l = slice(o, start = [1], limit = [P])"
      " b = reshape(f, shape = [P - 1, 1]) e = reshape(l, shape = [P - 1, 1]) t = iota(i64, shape = [1, L], axis = 1)"
      " r = add(b, t) g = lt(r, e) i = select(g, r, -1) y = take(v, i, axis = 0) p = sub(e, i64(L)) q = add(p, t)"
      " z = take(v, q, axis = 0, value = f16(L + 1)) return y, z }");
  for (const std::int64_t length : {0, 1, 7, 40})
    for (const std::int64_t columns : {1, 8, 65}) r.same({{shape({30, columns}), shape({6})}, {{"L", length}}});
}

TEST_CASE("language: the adjoint of every pad in every type") {
  for (const ir::DType t : ir::kAllDTypes) {
    if (t == ir::DType::boolean) continue;
    for (const char* mode : kModes) {
      Regression r(
          fmt::format("program p(g: {}[l + A + h, h + B + l], A: dim, B: dim, l: dim, h: dim) where A >= 1, B >= 1 {{"
                      " x = pad_adjoint(g, extent = [A, B], low = [l, h], high = [h, l], mode = {}) return x }}",
                      ir::name_of(t), mode));
      const auto same = [&](std::int64_t rows, std::int64_t columns, std::int64_t low, std::int64_t high) {
        r.same({{shape({low + rows + high, high + columns + low})},
                {{"A", rows}, {"B", columns}, {"l", low}, {"h", high}}});
      };
      same(3, 35, 2, 1);
      same(5, 67, 3, 3);
      same(2, 3, 9, 11);
      same(1, 1, 4, 0);
      same(9, 70, -2, 5);
      same(5, 64, -4, -1);
      same(20, 260, 3, 2);  // two groups of rows, and whole vectors
    }
  }
}

TEST_CASE("language: adjoints of pads between elements, of computed elements, of adjoints, and in transposes") {
  Regression interior(
      "program p(g: f32[A * 2 + l + 2, B * 3 - 2 + l], A: dim, B: dim, l: dim) where A >= 1, B >= 1, l >= -2 {"
      " x = pad_adjoint(g, extent = [A, B], low = [l, 0], high = [3, l], interior = [1, 2]) return x }");
  for (const std::int64_t l : {-2, 0, 5})
    interior.same({{shape({3 * 2 + l + 2, 33 * 3 - 2 + l})}, {{"A", 3}, {"B", 33}, {"l", l}}});
  Regression computed(
      "program p(g: f16[A, S + 2 * l], y: f16[A, S + 2 * l], S: dim, l: dim) where S >= 1, l >= 0 { m = mul(g, y)"
      " a = pad_adjoint(m, extent = [A, S], low = [0, l], high = [0, l], mode = reflect) b = pad_adjoint(a, extent = "
      "[1, S], low = [A - 1, 0], high = [0, 0], mode = wrap) t = transpose(b, perm = [1, 0]) p = pad(t, low = [2, 0], "
      "high = [2, 0], mode = edge) r = relu(a) return a, r, p }");
  for (const std::int64_t s : {1, 2, 40})
    for (const std::int64_t l : {0, 1, 9})
      computed.same({{shape({3, s + 2 * l}), shape({3, s + 2 * l})}, {{"S", s}, {"l", l}}});
  Regression axes(
      "program p(g: f64[N, C, H + 2 * p, W + 2 * p], H: dim, W: dim, p: dim) where H >= 1, W >= 1, p >= 0 {"
      " x = pad_adjoint(g, extent = [N, C, H, W], low = [0, 0, p, p], high = [0, 0, p, p], mode = symmetric)"
      " t = transpose(x, perm = [0, 2, 3, 1]) return x, t }");
  for (const std::int64_t p : {0, 1, 8})
    axes.same({{shape({2, 3, 5 + 2 * p, 19 + 2 * p})}, {{"H", 5}, {"W", 19}, {"p", p}}});
}

TEST_CASE("language: a gradient of rows so narrow that a vector has both ends of one") {
  for (const char* const mode : {"reflect", "symmetric", "wrap"})
    for (const char* const type : {"f16", "i16", "f64"}) {
      Regression narrow(fmt::format(
          "program p(g: {}[N, H + l + h, W + l + h], H: dim, W: dim, l: dim, h: dim) where H >= 1, W >= 1, l >= 0,"
          " h >= 0 {{ x = pad_adjoint(g, extent = [N, H, W], low = [0, l, l], high = [0, h, h], mode = {}) return x }}",
          type, mode));
      for (std::int64_t w = 3; w < 20; ++w)
        for (const auto& [l, h] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 1}, {1, 2}})
          narrow.same({{shape({3, 5 + l + h, w + l + h})}, {{"H", 5}, {"W", w}, {"l", l}, {"h", h}}});
    }
}

TEST_CASE("language: a gradient adds up in the order of its own axes, whichever the kernel's last one is") {
  for (const char* const mode : {"edge", "reflect", "symmetric", "wrap"}) {
    Regression across(
        fmt::format("program p(g: f32[N, H + 2 * p, W + 2 * p], H: dim, W: dim, p: dim) where H >= 1, W >= 1, p >= 0 {{"
                    " x = pad_adjoint(g, extent = [N, H, W], low = [0, p, p], high = [0, p, p], mode = {})"
                    " t = transpose(x, perm = [2, 0, 1]) return t }}",
                    mode));
    for (const std::int64_t p : {1, 2, 9})
      across.same({{shape({2, 33 + 2 * p, 12 + 2 * p})}, {{"H", 33}, {"W", 12}, {"p", p}}});
  }
}

TEST_CASE("language: fills from literals and run-time values, with interior padding of every type") {
  for (const ir::DType t : ir::kAllDTypes) {
    Regression r(
        fmt::format("program p(x: {0}[A, B], v: {0}, k: dim) {{"
                    "  y = pad(x, low = [1, k], high = [k, 1], interior = [1, 2], value = v)"
                    "  z = pad(x, low = [0, k], high = [k, 0], value = 1) return y, z }}",
                    ir::name_of(t)));
    for (const std::int64_t k : {-1, 0, 4}) r.same({{shape({3, 37})}, {{"k", k}}});
  }
}

TEST_CASE("language: slices with steps") {
  for (const int step : {1, 2, 3, 7}) {
    Regression r(
        fmt::format("program p(x: i16[A, B], s: dim, t: dim) where 0 <= s <= t {{"
                    "  y = slice(x, start = [0, s], limit = [A, t], step = [2, {}]) return y }}",
                    step));
    r.same({{shape({5, 100})}, {{"s", 0}, {"t", 100}}});
    r.same({{shape({5, 100})}, {{"s", 3}, {"t", 98}}});
    r.same({{shape({5, 100})}, {{"s", 50}, {"t", 50}}});
    r.refuses({{shape({5, 100})}, {{"s", 0}, {"t", 101}}}, "t");
  }
}

TEST_CASE("language: concat along every axis, also of empty operands") {
  for (const int axis : {0, 1, 2}) {
    Regression r(
        fmt::format("program p(x: f32[A, B, C], y: f32[D, E, F]) {{ z = concat(x, y, x, axis = {}) return z }}", axis));
    for (const std::int64_t n : {0, 1, 33}) {
      std::vector<std::int64_t> other = {2, 3, 35};
      other[static_cast<std::size_t>(axis)] = n;
      r.same({{shape({2, 3, 35}), shape(other)}});
    }
  }
}

TEST_CASE("language: transposes and broadcasts of every permutation of three axes") {
  for (const char* perm : {"0, 1, 2", "0, 2, 1", "1, 0, 2", "1, 2, 0", "2, 0, 1", "2, 1, 0"}) {
    Regression r(
        fmt::format("program p(x: u8[A, B, C], k: dim) {{ t = transpose(x, perm = [{}])"
                    "  y = pad(t, low = [k, k, k], high = [0, 1, 2], mode = reflect) return y }}",
                    perm));
    r.same({{shape({3, 5, 67})}, {{"k", 1}}});
    r.same({{shape({17, 2, 4})}, {{"k", -1}}});
  }
  Regression r(
      "program p(x: f32[A, 1], b: f32[B], k: dim) where k >= 0 {"
      "  y = broadcast(x, shape = [k, A, B], axes = [1, 2]) z = add(y, b) return z }");
  for (const std::int64_t k : {0, 1, 3}) r.same({{shape({4, 1}), shape({37})}, {{"k", k}}});
}

TEST_CASE("language: declared strides, and extents that are expressions") {
  Regression r(
      "program p(x: f16[N, C, H, W] strides [S, 1, W * C, C], b: f16[H, W] strides [0, 1]) where S >= 0 {"
      "  y = add(x, b) z = pad(y, low = [0, 0, 1, -1], high = [0, 1, 0, 2], mode = wrap) return z, y }");
  r.same({{shape({2, 3, 4, 33}, {400, 1, 99, 3}), shape({4, 33}, {0, 1})}});
  Regression sizes(
      "program p(x: i32[2*S + 1, T], S: dim, k: dim) where S >= 0, 1 <= k <= 64, T mod k == 0 {"
      "  y = pad(x, low = [S, max(k, 4)], high = [-S mod 8, T floordiv k - 1], mode = symmetric)"
      "  z = slice(y, start = [min(S, 3), 0], limit = [2*S + 1, T ceildiv 2]) return y, z }");
  sizes.same({{shape({11, 24})}, {{"S", 5}, {"k", 6}}});
  sizes.refuses({{shape({11, 25})}, {{"S", 5}, {"k", 6}}}, "mod");
}

TEST_CASE("language: results of several extents, inputs returned as they are, and rank 0") {
  Regression r(
      "program p(x: f64[A, B], s: f64[], v: f64) {"
      "  y = mul(x, s) z = pad(y, low = [1, 0], high = [0, 1], mode = edge) t = add(s, v) return z, x, t, y }");
  for (const std::int64_t n : {1, 9, 65}) r.same({{shape({3, n}), shape({})}});
}

TEST_CASE("language: literals that state a type, and fills that are tensors, of every type") {
  for (const ir::DType t : ir::kAllDTypes) {
    Regression r(
        fmt::format("program p(x: {0}[A, C, B], z: {0}[C, 1], c: bool[A, 1, 1], k: dim) {{"
                    "  y = pad(x, low = [k, 0, 1], high = [0, 0, k], value = z)"
                    "  m = select(c, {0}(1), 0) w = pad(x, low = [1, 0, k], high = [0, 0, 0], value = {0}(1))"
                    "  return y, m, w }}",
                    ir::name_of(t)));
    for (const std::int64_t k : {-1, 0, 3}) r.same({{shape({2, 3, 37}), shape({3, 1}), shape({2, 1, 1})}, {{"k", k}}});
  }
}

TEST_CASE("language: coordinates as elements of every type, and masks of them") {
  for (const ir::DType t : ir::kAllDTypes) {
    if (t == ir::DType::boolean) continue;
    Regression r(
        fmt::format("program p(k: dim) where 0 <= k <= 4096 {{ a = iota({0}, shape = [k, 3], axis = 0)"
                    "  b = iota({0}, shape = [2, k], axis = 1) c = pad(b, low = [1, k], high = [0, 2], mode = reflect)"
                    "  return a, b, c }}",
                    ir::name_of(t)));
    for (const std::int64_t k : {1, 2, 31, 300}) r.same({{}, {{"k", k}}});
  }
  Regression causal(
      "program p(x: f32[H, S, S]) { i = iota(i32, shape = [S, 1], axis = 0) j = iota(i32, shape = [S], axis = 0)"
      " m = ge(i, j) y = select(m, x, -inf) return y }");
  for (const std::int64_t n : kLengths) causal.same({{shape({2, n, n})}});
}

TEST_CASE("language: reshapes by groups of axes, of views, and row by row") {
  Regression window(
      "program p(x: f32[N, H, W, C], w: dim) where 1 <= w <= 16 {"
      " y = pad(x, low = [0, 0, 0, 0], high = [0, -H mod w, -W mod w, 0])"
      " t = reshape(y, shape = [N, H ceildiv w, w, W ceildiv w, w, C]) u = transpose(t, perm = [0, 1, 3, 2, 4, 5])"
      " z = reshape(u, shape = [N * (H ceildiv w) * (W ceildiv w), w, w, C]) return z }");
  window.same({{shape({2, 9, 10, 5})}, {{"w", 4}}});
  window.same({{shape({1, 7, 7, 33})}, {{"w", 7}}});
  Regression reverse(
      "program p(x: f16[N * h * v, w, w, C], N: dim, h: dim, v: dim, H: dim, W: dim)"
      " where N >= 0, h >= 0, v >= 0, 0 <= H <= h * w, 0 <= W <= v * w {"
      " t = reshape(x, shape = [N, h, v, w, w, C]) u = transpose(t, perm = [0, 1, 3, 2, 4, 5])"
      " r = reshape(u, shape = [N, h * w, v * w, C]) y = slice(r, start = [0, 0, 0, 0], limit = [N, H, W, C])"
      " return y }");
  reverse.same({{shape({12, 4, 4, 3})}, {{"N", 2}, {"h", 2}, {"v", 3}, {"H", 7}, {"W", 10}}});
  Regression shuffle(
      "program p(x: i8[N, C * 4, H, W], C: dim) where C >= 0 { t = reshape(x, shape = [N, C, 2, 2, H, W])"
      " u = transpose(t, perm = [0, 1, 4, 2, 5, 3]) y = reshape(u, shape = [N, C, H * 2, W * 2]) return y }");
  for (const std::int64_t n : {0, 1, 17}) shuffle.same({{shape({2, 12, 3, n})}, {{"C", 3}}});
  Regression patches(
      "program p(x: bf16[N, C, h * 4, v * 4], h: dim, v: dim) where h >= 0, v >= 0 {"
      " t = reshape(x, shape = [N, C, h, 4, v, 4]) u = transpose(t, perm = [0, 2, 4, 1, 3, 5])"
      " y = reshape(u, shape = [N, h * v, C * 16]) return y }");
  patches.same({{shape({2, 3, 8, 12})}, {{"h", 2}, {"v", 3}}});
}

TEST_CASE("language: reshapes that add, drop, merge and split axes between pads") {
  Regression r(
      "program p(x: i32[B, S], k: dim) where 0 <= k <= 9 { u = pad(x, low = [0, k], high = [0, -(S + k) mod 8])"
      " s = reshape(u, shape = [B, 1, (S + k) ceildiv 8, 8]) v = pad(s, low = [0, 1, 0, 1], high = [1, 0, 0, 0], mode "
      "= "
      "edge) f = reshape(v, shape = [(B + 1) * 2, (S + k) ceildiv 8 * 9]) y = pad(f, low = [0, 2], high = [1, 0], mode "
      "= "
      "wrap) q = reshape(y, shape = [(B + 1) * 2 + 1, 1, (S + k) ceildiv 8 * 9 + 2]) return y, q, s }");
  for (const std::int64_t n : {1, 2, 15, 67}) r.same({{shape({2, n})}, {{"k", 3}}});
  Regression flat(
      "program p(x: f64[A, B], C: dim, D: dim) where C >= 0, D >= 0 { y = reshape(x, shape = [C, D]) z = neg(y) w = "
      "pad(z, low = [1, 0], high = [0, 1], mode = constant) return w }");
  flat.same({{shape({6, 10})}, {{"C", 4}, {"D", 15}}});
  flat.same({{shape({6, 0})}, {{"C", 4}, {"D", 0}}});
  flat.same({{shape({1, 1})}, {{"C", 1}, {"D", 1}}});
  flat.refuses({{shape({6, 10})}, {{"C", 4}, {"D", 14}}}, "numbers of elements");
}

// The host takes rows together that are of one case (compiler/emit/host/emit_host.cpp): one, some and many rows of a
// group, and cases that begin and end inside one, at the low end, the high end and both, or never.
TEST_CASE("language: rows of every mode that are taken together") {
  struct Rows {
    std::int64_t planes, rows, columns, low, high;
  };
  for (const char* mode : kModes) {
    Regression r(
        fmt::format("program p(x: f32[N, H, W], lo: dim, hi: dim) where H >= 1, W >= 1 "
                    "{{ y = pad(x, low = [0, lo, 1], high = [1, hi, 2], mode = {}) return y }}",
                    mode));
    for (const Rows& s : {Rows{2, 40, 3, 3, 2},
                          {1, 3, 1500, 2, 5},
                          {3, 70, 120, 1, 0},
                          {2, 9, 17, -2, 3},
                          {1, 200, 33, 0, -7},
                          {2, 1, 1, 4, 4}})
      r.same({.tensors = {shape({s.planes, s.rows, s.columns})}, .symbols = {{"lo", s.low}, {"hi", s.high}}});
  }
}

}  // namespace padlock::conformance
