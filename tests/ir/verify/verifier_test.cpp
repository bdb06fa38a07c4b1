#include <string>

#include <doctest/doctest.h>

#include "tests/allocation_count.h"
#include "tests/ir/program_testing.h"

// Names, symbols, bounds, constraints, divisors, layouts and results. Operations have operations_test.cpp.
namespace padlock::ir {
namespace {

using testing::accept;
using testing::check_refused;
using testing::requirements_of;

std::string repeat(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

const Symbol& symbol_of(const Program& program, std::string_view name) {
  return program.exprs().symbol(program.exprs().find_symbol(name)->symbol());
}

/// Returns the range that `where` gives to S, an extent, or to k, a dim.
Range range_of(std::string_view name, const std::string& where) {
  const Program program = accept("program p(x: f32[S], k: dim) where " + where + " { return x }");
  return symbol_of(program, name).range;
}

constexpr Int128 kLimit = Int128{1} << 40;

/// Returns the number of allocations while a text is parsed: the cost of parsing, the same on every machine.
long cost(const std::string& text) {
  const long before = padlock::testing::allocation_count();
  static_cast<void>(parse_program(text));
  return padlock::testing::allocation_count() - before;
}

TEST_CASE("one namespace, nothing is redefined") {
  check_refused("program p(x: f32[2], x: f32[2]) { return x }",
                "1:22: expected a new name, found the tensor 'x' again");
  check_refused("program p(x: f32[2], x: f32) { return x }", "1:22: expected a new name, found the tensor 'x' again");
  check_refused("program p(k: dim, k: dim, x: f32) { y = neg(x) return y }",
                "1:19: expected a new name, found the symbol 'k' again");
  check_refused("program p(x: f32[x]) { return x }", "1:18: expected a symbol, found the tensor 'x'");
  check_refused("program p(x: f32[s], s: f32) { return x }",
                "1:18: expected a symbol, found the scalar 's'; a number in sizes is declared as 's: dim'");
  check_refused("program p(x: f32[S]) { x = relu(x) return x }",
                "1:24: expected a new name, found the tensor 'x' again");
  check_refused("program p(x: f32[S]) { S = relu(x) return S }",
                "1:24: expected a new name, found the symbol 'S' again");
  check_refused("program p(x: f32[S]) { y = relu(x) y = relu(y) return y }",
                "1:36: expected a new name, found the statement 'y' again");
}

TEST_CASE("nothing is used before its statement") {
  check_refused("program p(x: f32[S]) { y = relu(z) z = relu(x) return y }",
                "1:33: expected a value or a literal, found 'z' before its statement");
  check_refused("program p(x: f32[S]) { y = relu(y) return y }",
                "1:33: expected a value or a literal, found 'y' before its statement");
  check_refused("program p(x: f32[S]) { y = relu(q) return y }",
                "1:33: expected a value or a literal, found the unknown name 'q'");
  check_refused("program p(x: f32[S]) { y = relu(S) return y }",
                "1:33: expected a value or a literal, found the symbol 'S'");
}

TEST_CASE("symbols are declared by standing alone or as a dim") {
  const Program program = accept("program p(x: f32[S + T, 2*S], y: f32[(S)] strides [D], T: dim) { return x }");
  CHECK(symbol_of(program, "S").kind == SymbolKind::extent);
  CHECK(symbol_of(program, "D").kind == SymbolKind::stride);
  CHECK(symbol_of(program, "T").kind == SymbolKind::dim);
  CHECK(program.dim_parameters().size() == 1);
  CHECK(requirements_of(program, Requirement::Kind::parameter_extent) == "extent of 'x' on axis 0: S + T >= 0\n");
  check_refused(
      "program p(x: f32[2*S]) { return x }",
      "1:20: expected a symbol, found the unknown name 'S' (a symbol is declared by standing alone as an extent or "
      "stride of a tensor parameter, or as a dim parameter)");
  check_refused("program p(x: f32[2]) where x >= 1 { return x }", "1:28: expected a symbol, found the tensor 'x'");
  check_refused("program p(x: f32[2], s: f32) where s >= 1 { return x }",
                "1:36: expected a symbol, found the scalar 's'; a number in sizes is declared as 's: dim'");
  check_refused("program p(x: f32[S]) { y = relu(x) z = pad(y, low = [y], high = [0]) return z }",
                "1:54: expected a symbol, found the statement 'y'");
}

TEST_CASE("a symbol that is a dim as well is one symbol, at least 0 where it is an extent or stride") {
  const Program program = accept("program p(x: f32[S, 3] strides [3, T], S: dim, T: dim, y: f32[S]) { return x }");
  CHECK(program.exprs().symbol_count() == 2);
  CHECK(symbol_of(program, "S").kind == SymbolKind::extent);
  CHECK(symbol_of(program, "S").range == Range{0, kLimit});
  CHECK(symbol_of(program, "T").kind == SymbolKind::dim);  // it takes no dense value: a caller gives it
  CHECK(symbol_of(program, "T").range == Range{0, kLimit});
}

TEST_CASE("bounds come from the constraints in the symbol alone") {
  CHECK(range_of("S", "S <= 100") == Range{0, 100});
  CHECK(range_of("S", "S < 100, S > 3") == Range{4, 99});
  CHECK(range_of("S", "100 >= S >= 3") == Range{3, 100});
  CHECK(range_of("S", "S >= -7") == Range{0, kLimit});
  CHECK(range_of("S", "S == 5") == Range{5, 5});
  CHECK(range_of("S", "2*S + 1 <= 10") == Range{0, 4});
  CHECK(range_of("S", "10 - 3*S >= 0") == Range{0, 3});
  CHECK(range_of("S", "S*S <= 100") == Range{0, 10});
  CHECK(range_of("S", "S floordiv 8 <= 3") == Range{0, 31});
  CHECK(range_of("S", "S ceildiv 8 >= 3") == Range{17, kLimit});
  CHECK(range_of("S", "max(S, 5) <= 9, min(S, 5) >= 2") == Range{2, 9});
  CHECK(range_of("S", "S + k <= 5 + k") == Range{0, 5});
  CHECK(range_of("S", "S <= 5000000000000") == Range{0, 5000000000000});
  CHECK(range_of("S", "S mod 8 >= 0") == Range{0, kLimit});
  CHECK(range_of("S", "S mod 8 == 3") == Range{0, kLimit});
  CHECK(range_of("S", "S >= k") == Range{0, kLimit});
  CHECK(range_of("S", "S <= 9223372036854775807") == Range{0, kInt64Max});
  CHECK(range_of("k", "k <= 8") == Range{-kLimit, 8});
  CHECK(range_of("k", "k >= -8") == Range{-8, kLimit});
  CHECK(range_of("k", "0 - 3*k <= 10") == Range{-3, kLimit});
  CHECK(range_of("k", "k floordiv 4 == -2") == Range{-8, -5});
  CHECK(range_of("k", "S + k >= 0") == Range{-kLimit, kLimit});
  CHECK(range_of("k", "k >= -9223372036854775808") == Range{kInt64Min, kLimit});
}

TEST_CASE("congruences come from constraints as well") {
  const auto congruence = [](const std::string& where) {
    return symbol_of(accept("program p(x: f32[S], k: dim) where " + where + " { return x }"), "S").congruence;
  };
  CHECK(congruence("S mod 8 == 3") == Congruence{8, 3});
  CHECK(congruence("0 == S mod 8") == Congruence{8, 0});
  CHECK(congruence("(S + 3) mod 8 == 0") == Congruence{8, 5});
  CHECK(congruence("(3*S) mod 8 == 1") == Congruence{8, 3});
  CHECK(congruence("(6*S) mod 8 == 2") == Congruence{4, 3});
  CHECK(congruence("S mod 4 == 2, S mod 6 == 0") == Congruence{12, 6});
  CHECK(congruence("S mod 8 <= 3") == Congruence{1, 0});
  CHECK(congruence("-S mod 8 == 5") == Congruence{8, 3});
}

TEST_CASE("a symbol without an admissible value is an error that names the constraint") {
  const auto where = [](const std::string& text) {
    return "program p(x: f32[S], k: dim) where " + text + " { return x }";
  };
  const std::string extent =
      ", which none does (with the constraints before it, and as an extent or stride is at least 0)";
  const std::string head = "expected a constraint that some value of 'S' satisfies, found ";
  check_refused(where("S <= -1"), "1:36: " + head + "S <= -1" + extent);
  check_refused(where("S >= 3, S < 3"), "1:44: " + head + "S < 3" + extent);
  check_refused(where("1 <= S <= 7, S mod 8 == 0"), "1:49: " + head + "S mod 8 == 0" + extent);
  check_refused(where("S mod 8 == 9"), "1:36: " + head + "S mod 8 == 9" + extent);
  check_refused(where("(2*S) mod 8 == 1"), "1:36: " + head + "2*(S mod 4) == 1" + extent);
  check_refused(where("S mod 4 == 2, S mod 6 == 1"), "1:50: " + head + "S mod 6 == 1" + extent);
  check_refused(
      where("S >= 2199023255552"),
      "1:36: expected a constraint that some value of 'S' satisfies, found none in [2199023255552, 1099511627776] (a "
      "side that no constraint in 'S' alone bounds is bounded by 2^40)");
  check_refused(where("k == 3, k == 4"),
                "1:44: expected a constraint that some value of 'k' satisfies, found k == 4, which none does (with the "
                "constraints before it)");
}

TEST_CASE("constraints that fail for every binding are errors") {
  const auto where = [](const std::string& text) {
    return "program p(x: f32[S], k: dim) where " + text + " { return x }";
  };
  const auto message = [](const std::string& text) {
    return "expected constraints that some binding satisfies, found '" + text + "', which none does";
  };
  check_refused(where("1 > 2"), "1:36: " + message("1 > 2"));
  check_refused(where("S <= k, k < S"), "1:44: " + message("k < S"));
  check_refused(where("S <= 9, k <= 9, S + k >= 19"), "1:52: " + message("S + k >= 19"));
  check_refused(where("S < 18446744073709551616 + S"),
                "1:36: expected a constraint whose sides fit 64 bits, found S + 18446744073709551616");
}

TEST_CASE("bounds and stated constraints always stay, in that order and first") {
  const Program program =
      accept("program p(x: f32[S], k: dim) where min(S, 9) == S, S mod 8 == 0, k <= S { return x }");
  CHECK(requirements_of(program, Requirement::Kind::bound) ==
        "lower bound of 'S': S >= 0\nupper bound of 'S': S <= 9\n"
        "lower bound of 'k': k >= -1099511627776\nupper bound of 'k': k <= 1099511627776\n");
  CHECK(program.constraints().size() == 3);
  const std::string stated = requirements_of(program, Requirement::Kind::constraint);
  CHECK(stated.find("constraint 'min(S, 9) == S': ") == 0);
  CHECK(stated.find("constraint 'S mod 8 == 0': ") != std::string::npos);
  CHECK(stated.find("constraint 'k <= S': k <= S\n") != std::string::npos);
  // Extents and strides go parameter by parameter, so they are one stage.
  const auto stage = [](Requirement::Kind kind) {
    return kind == Requirement::Kind::parameter_stride ? Requirement::Kind::parameter_extent : kind;
  };
  Requirement::Kind last = Requirement::Kind::bound;
  const Program all = accept(
      "program p(x: f32[S, k] strides [k - 1, 1], k: dim, y: f32[S - 1]) where S >= k"
      " { z = pad(y, low = [k], high = [0]) return z }");
  for (const Requirement& r : all.requirements()) {
    CHECK(last <= stage(r.kind));
    last = stage(r.kind);
  }
  CHECK(last == Requirement::Kind::storage);
}

TEST_CASE("a divisor is provably positive, as written, from what stands before it") {
  const auto extent = [](const std::string& e) {
    return "program p(x: f32[S, T], k: dim) where T >= 1, k > S { y = pad(x, low = [0, " + e +
           "], high = [0, 0]) return y }";
  };
  for (const char* good : {"S mod T", "S floordiv (T * T)", "S mod (S + 1)", "S ceildiv (k - S)", "S mod max(k, 1)",
                           "S mod (S - S + 3)", "S floordiv min(T, 4)"})
    accept(extent(good));
  const std::string hint = "; a constraint such as ";
  const std::string until = " >= 1, stated before its use, would do";
  const std::string head = "expected a divisor that is provably positive, found ";
  check_refused(extent("S mod S"), "1:82: " + head + "S" + hint + "S" + until);
  check_refused(extent("0 * (S floordiv (k - 1))"), "1:92: " + head + "k - 1" + hint + "k - 1" + until);
  check_refused(extent("0 floordiv (2 - 2)"), "1:87: " + head + "0");
  check_refused(extent("S mod -8"), "1:82: " + head + "-8");
  check_refused("program p(x: f32[S, S mod T], y: f32[T]) { return x }", "1:27: " + head + "T" + hint + "T" + until);
}

TEST_CASE("for a divisor in a constraint only earlier constraints count") {
  accept("program p(x: f32[S, T]) where T >= 1, S mod T == 0 { return x }");
  check_refused(
      "program p(x: f32[S, T]) where S mod T == 0, T >= 1 { return x }",
      "1:37: expected a divisor that is provably positive, found T; a constraint such as T >= 1, stated before its "
      "use, would do");
  // A default bound counts wherever no constraint states another.
  accept("program p(x: f32[S, T]) where S mod (1099511627777 - T) == 0 { return x }");
  check_refused(
      "program p(x: f32[S, T]) where S mod (1099511627777 - T) == 0, T <= 5000000000000 { return x }",
      "1:37: expected a divisor that is provably positive, found -T + 1099511627777; a constraint such as -T + "
      "1099511627777 >= 1, stated before its use, would do");
  accept("program p(x: f32[S, T]) where T <= 5, S mod (6 - T) == 0, S floordiv (6 - T) <= 100 { return x }");
}

TEST_CASE("extents and strides of parameters") {
  const Program program =
      accept("program p(w: u8[S], x: f32[S - 4, T] strides [T - 1, 0], T: dim) where T >= 0, S <= 100 { return x }");
  CHECK(requirements_of(program, Requirement::Kind::parameter_extent) == "extent of 'x' on axis 0: S - 4 >= 0\n");
  CHECK(requirements_of(program, Requirement::Kind::parameter_stride) == "stride of 'x' on axis 0: T - 1 >= 0\n");
  for (const Requirement& r : program.requirements())
    if (r.kind == Requirement::Kind::parameter_stride) {
      CHECK(r.parameter == 1);
      CHECK(r.axis == 0);
    }
  check_refused("program p(x: f32[-1]) { return x }", "1:18: expected extent of 'x' on axis 0 >= 0, found -1");
  check_refused("program p(x: f32[S] strides [-1]) { return x }",
                "1:30: expected stride of 'x' on axis 0 >= 0, found -1");
  check_refused("program p(x: f32[S, 2] strides [1]) { return x }",
                "1:11: expected 2 strides of 'x', one for each axis, found 1");
  check_refused("program p(x: f32[] strides [1]) { return x }",
                "1:11: expected 0 strides of 'x', one for each axis, found 1");
  check_refused("program p(x: f32[9223372036854775808]) { return x }",
                "1:18: expected a value that fits 64 bits, found 9223372036854775808");
  accept("program p(x: f32[9223372036854775808 - 9223372036854775800]) { return x }");
  accept("program p(x: f32[] strides [], y: f32[S] strides [0]) { return x, y }");
}

TEST_CASE("layouts: dense without strides, as declared with them") {
  const Program program = accept("program p(x: f32[A, B, C], y: f32[A, B] strides [1, A]) { z = relu(y) return z, x }");
  const auto strides = [&](std::string_view name) {
    std::string text;
    for (const Expr e : program.value(*program.find(name)).layout.strides())
      text += to_string(program.exprs(), e) + " ";
    return text;
  };
  CHECK(strides("x") == "B*C C 1 ");
  CHECK(strides("y") == "1 A ");
  CHECK(strides("z") == "B 1 ");
  CHECK_FALSE(program.find("A").has_value());
}

TEST_CASE("storage below 2^47 bytes") {
  check_refused("program p(x: f32[35184372088832]) { return x }",
                "1:11: expected bytes of 'x' < 140737488355328, found 140737488355328");
  accept("program p(x: f32[35184372088831]) { return x }");
  accept("program p(x: f32[35184372088832, 0]) { return x }");
  const Program program = accept("program p(x: f32[S]) { y = concat(x, x, axis = 0) z = relu(y) return x }");
  CHECK(requirements_of(program, Requirement::Kind::storage).empty());
  const Program wide = accept("program p(x: f32[S, T]) { y = neg(x) z = cast(y, f64) w = cast(z, f64) return x }");
  CHECK(requirements_of(wide, Requirement::Kind::storage) ==
        "bytes of 'x': 4*S*T < 140737488355328\nbytes of statement 'z': 8*S*T < 140737488355328\n");
}

TEST_CASE("results are different tensors, inputs included") {
  const Program program = accept("program p(x: f32[S], s: f32) { y = relu(x) z = relu(s) return z, x, y }");
  CHECK(program.results() == std::vector<ValueId>{3, 0, 2});
  CHECK(program.value(3).rank() == 0);
  CHECK(program.tensor_parameters() == std::vector<ValueId>{0});
  CHECK(program.scalar_parameters() == std::vector<ValueId>{1});
  check_refused("program p(x: f32[S]) { return x, x }", "1:34: expected results that differ, found 'x' again");
  check_refused("program p(x: f32[S]) { return y }", "1:31: expected a tensor, found the unknown name 'y'");
  check_refused("program p(x: f32[S]) { return S }", "1:31: expected a tensor, found the symbol 'S'");
  check_refused("program p(x: f32[S], s: f32) { return s }", "1:39: expected a tensor, found the scalar 's'");
}

TEST_CASE("depth: 1000 operators work, beyond the limit the place is named") {
  const auto pad = [](const std::string& e) {
    return "program p(x: f32[S], k: dim) where 0 <= k <= 9 {\n y = pad(x, low = [" + e + "], high = [0]) return y }";
  };
  accept(pad("k" + repeat(" floordiv 3 ceildiv 2", 500)));
  accept(pad("k" + repeat(" * k + 7 mod 5", 333)));
  accept(pad("k" + repeat(" * 3 + 7 floordiv 5", 333)));
  accept(pad(repeat("min(3, max(k, ", 49) + "k" + repeat(") + 1)", 49)));
  accept(pad(repeat("(", 99) + "k" + repeat(" floordiv 2)", 99)));
  accept(pad(repeat("-", 1000) + "k"));
  accept(pad("k" + repeat(" ceildiv (S + 2)", 1000)));
  check_refused(pad("k" + repeat(" * S floordiv 7", 1500)), "2:20: expected an expression at most 2500 operators deep",
                Code::resource_exhausted);
}

TEST_CASE("sharing costs nothing, depth across statements is refused with the statement") {
  const auto chain = [](int levels, const std::string& step) {
    std::string text = "program p(v0: f32[S]) where 1 <= S <= 2 {\n";
    for (int i = 0; i < levels; ++i) {
      const std::string from = "v" + std::to_string(i), to = "v" + std::to_string(i + 1);
      std::string line = step;
      for (std::size_t at; (at = line.find("FROM")) != std::string::npos;) line.replace(at, 4, from);
      for (std::size_t at; (at = line.find("TO")) != std::string::npos;) line.replace(at, 2, to);
      text += line + "\n";
    }
    return text + "return v" + std::to_string(levels) + "}";
  };
  const auto grows_with_levels = [&](int levels, const std::string& step) {
    const long half = cost(chain(levels / 2, step)), whole = cost(chain(levels, step));
    CAPTURE(half);
    CAPTURE(whole);
    CHECK(whole < 3 * half);
  };
  const Program doubled = accept(chain(40, "TO = concat(FROM, FROM, axis = 0)"));
  CHECK(to_string(doubled.exprs(), doubled.values().back().extents()[0]) == "1099511627776*S");
  const std::string pads =
      "aTO = pad(FROM, low = [1], high = [0], interior = [1]) bTO = pad(FROM, low = [0], high = [1], interior = [1]) "
      "TO = add(aTO, bTO)";
  grows_with_levels(40, pads);
  const std::string slices =
      "aTO = slice(FROM, start = [0], limit = [min(S, 1)], step = [2]) TO = concat(FROM, aTO, axis = 0)";
  grows_with_levels(400, slices);
  const std::string deep =
      "TO = pad(FROM, low = [0], high = [7], interior = [1]) cTO = slice(TO, start = [0], limit = [1])";
  grows_with_levels(1000, deep);
  const auto refused = parse_program(chain(3000, deep));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == Code::resource_exhausted);
  CHECK(refused.error().message.find("steps, found more up to statement 'v") != std::string::npos);
}

TEST_CASE("a requirement is stated once, but a stride's is not always checked and replaces no other") {
  const Program program = accept(
      "program p(x: f32[S] strides [k - 1], k: dim) { y = pad(x, low = [k - 1 - S], high = [0])"
      " z = pad(x, low = [k - 1 - S], high = [0]) return y }");
  CHECK(requirements_of(program, Requirement::Kind::parameter_stride) == "stride of 'x' on axis 0: k - 1 >= 0\n");
  CHECK(requirements_of(program, Requirement::Kind::statement) ==
        "padded extent on axis 0 (statement 'y'): k - 1 >= 0\n");
  // What a constraint states is asked of no binding again.
  const Program stated =
      accept("program p(x: f32[S], k: dim) where k <= S, k >= 0 { y = slice(x, start = [k], limit = [S]) return y }");
  CHECK(requirements_of(stated, Requirement::Kind::statement).empty());
}

TEST_CASE("many constraints and many questions cost little more than as many times few") {
  const auto k = [](int i) { return "k" + std::to_string(i % 200); };
  const auto text = [&](int constraint_count, int statement_count) {
    std::string parameters, constraints, statements;
    for (int i = 0; i < 200; ++i) parameters += ", k" + std::to_string(i) + ": dim";
    for (int i = 0; i < constraint_count; ++i)
      constraints += (i == 0 ? "" : ", ") + k(7 * i) + " + " + std::to_string(1 + i % 5) + "*" + k(13 * i + 1) +
                     " <= " + k(29 * i + 2) + " + " + std::to_string(i % 90);
    for (int i = 0; i < statement_count; ++i)
      statements += "v" + std::to_string(i) + " = pad(x, low = [" + k(3 * i) + " - " + k(11 * i + 5) + "], high = [2*" +
                    k(17 * i) + "])\n";
    return "program p(x: f32[S]" + parameters + ") where " + constraints + "{" + statements + "return x}";
  };
  const long half = cost(text(250, 200));
  const long before = padlock::testing::allocation_count();
  CHECK(accept(text(500, 400)).constraints().size() == 500);
  const long whole = padlock::testing::allocation_count() - before;
  CAPTURE(half);
  CHECK(whole < 5 * half);  // each question is asked of the constraints that share its symbols
}

TEST_CASE("normal forms that are too long, though their texts are short") {
  const auto pad = [](const std::string& e) {
    return "program p(x: f32[S], k: dim) {\n y = pad(x, low = [" + e + "], high = [0]) return y }";
  };
  const auto listed = [](int count, std::string_view between, std::string_view before, std::string_view after = "") {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += std::string(i == 0 ? "" : between) + std::string(before) + std::to_string(i + 2) + std::string(after);
    return text;
  };
  accept(pad(listed(511, " + ", "k mod ")));  // with S the extent has 512
  check_refused(pad(listed(513, " + ", "k mod ")),
                "2:20: expected an expression whose normal form has at most 512 terms, found 513",
                Code::resource_exhausted);
  accept(pad("k" + repeat(" * k", 511)));
  check_refused(pad("k" + repeat(" * k", 512)),
                "2:20: expected an expression whose normal form has at most 512 factors, found 513",
                Code::resource_exhausted);
  check_refused(pad("min(" + listed(513, ", ", "k mod ") + ")"),
                "2:20: expected an expression whose normal form has at most 512 operands, found 513",
                Code::resource_exhausted);
  // Terms that meet are one.
  accept(pad("k" + repeat(" + k", 4000)));
  accept(pad("0" + repeat(" + k mod 7 - k mod 7", 1000)));
}

TEST_CASE("too many of anything") {
  std::string constraints, symbols, axes;
  for (int i = 0; i < 513; ++i) constraints += (i == 0 ? "" : ", ") + std::string("S >= 0");
  check_refused("program p(x: f32[S]) where " + constraints + " { return x }",
                "1:" + std::to_string(28 + 8 * 512) + ": expected at most 512 constraints", Code::resource_exhausted);
  for (int i = 0; i < 65; ++i) axes += i == 0 ? "1" : ", 1";
  check_refused("program p(x: f32[" + axes + "]) { return x }", "1:11: expected a tensor of rank at most 64",
                Code::resource_exhausted);
  for (int i = 0; i < 4097; ++i) symbols += (i == 0 ? "k" : ", k") + std::to_string(i) + ": dim";
  CHECK(parse_program("program p(x: f32[], " + symbols + ") { return x }").error().message ==
        "expected at most 4096 symbols");
}

}  // namespace
}  // namespace padlock::ir
