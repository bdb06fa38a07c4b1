#include "tests/limits/hostile_texts.h"

#include <array>
#include <functional>

#include <fmt/format.h>

namespace padlock::testing {
namespace {

using Part = std::function<std::string(std::size_t)>;

/// Returns part(0), part(1), ... with `between` between them, as many as fit into `bytes`; at least one.
std::string repeated(std::size_t bytes, std::string_view between, const Part& part,
                     std::size_t most = ~std::size_t{0}) {
  std::string text = part(0);
  for (std::size_t i = 1; i < most; ++i) {
    const std::string next = part(i);
    if (text.size() + between.size() + next.size() > bytes) break;
    text.append(between).append(next);
  }
  return text;
}

/// The number of parts of about `each` bytes in a text.
std::size_t count_of(std::size_t bytes, std::size_t each) { return bytes > 2 * each ? bytes / each - 1 : 1; }

// --- one expression -------------------------------------------------------------------------------------------------

/// A program that pads by one expression of two amounts.
std::string padded_by(const std::string& amount, std::string_view where = "") {
  return fmt::format(
      "program p(x: f32[S], k: dim, l: dim)\n{}{{\n  y = pad(x, low = [{}], high = [0])\n  return y\n}}\n", where,
      amount);
}

constexpr std::size_t kFrame = 100;  // bytes around the expression

std::size_t inside(std::size_t bytes) { return bytes > kFrame ? bytes - kFrame : 1; }

std::string sum_of(std::size_t bytes, const Part& term) { return padded_by(repeated(inside(bytes), " + ", term)); }

std::string sum_of_mods(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("k mod {}", i + 17); });
}
std::string sum_of_quotients(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("k floordiv {}", i + 17); });
}
std::string sum_of_rounded_quotients(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("(k + {0}*l) ceildiv {1}", i + 3, i + 17); });
}
std::string sum_of_powers(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) {
    std::string power = "k";
    for (std::size_t j = 0; j < i % 60; ++j) power += j < i / 60 ? "*l" : "*k";
    return power;
  });
}
std::string sum_of_extrema(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("min(k, {0}*l + {0})", i + 2); });
}
std::string sum_of_mods_by_extents(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("k mod (S + {})", i + 1); });
}
std::string sum_of_nested_mods(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) { return fmt::format("(k mod {} + l) mod {}", i + 3, 2 * i + 17); });
}
std::string power(std::size_t bytes) {
  return padded_by(repeated(inside(bytes), "*", [](std::size_t) { return std::string("k"); }));
}
std::string product_of_sums(std::size_t bytes) {
  return padded_by(repeated(inside(bytes), "*", [](std::size_t i) { return fmt::format("(k + l + {})", i + 1); }));
}
std::string product_of_mods(std::size_t bytes) {
  return padded_by(repeated(inside(bytes), "*", [](std::size_t i) { return fmt::format("(k mod {})", i + 17); }));
}
std::string product_of_long_sums(std::size_t bytes) {
  const auto sum = [&](std::string_view base) {
    return "(" +
           repeated(inside(bytes) / 2, " + ", [&](std::size_t i) { return fmt::format("{} mod {}", base, i + 17); }) +
           ")";
  };
  return padded_by(sum("k") + "*" + sum("l"));
}
std::string mod_of_long_sum(std::size_t bytes) {
  return padded_by(
      "(" + repeated(inside(bytes), " + ", [](std::size_t i) { return fmt::format("{}*k mod {}", i + 2, i + 17); }) +
      ") mod 7");
}
std::string nested_quotients(std::size_t bytes) {
  std::string text = "k";
  for (std::size_t i = 0; text.size() + 20 < inside(bytes) && i < 250; ++i)
    text = fmt::format("({} + l) floordiv 3", text);
  return padded_by(
      repeated(inside(bytes), " + ", [&](std::size_t i) { return fmt::format("{} mod {}", text, i + 5); }));
}
std::string minimum(std::size_t bytes) {
  return padded_by("min(" +
                   repeated(inside(bytes), ", ", [](std::size_t i) { return fmt::format("{}*k + l", i + 2); }) + ")");
}
std::string nested_extrema(std::size_t bytes) {
  std::string text = "k";
  for (std::size_t i = 0; i < 120; ++i) text = fmt::format("max(min({}, l + {}), S - {})", text, 3 * i, 2 * i);
  return padded_by(repeated(inside(bytes), " + ", [&](std::size_t i) { return fmt::format("{}*{}", i + 2, text); }));
}
std::string parentheses(std::size_t bytes) {
  const std::string open(200, '('), close(200, ')');
  return padded_by(
      repeated(inside(bytes), " + ", [&](std::size_t i) { return fmt::format("{}k{} mod {}", open, close, i + 17); }));
}
std::string signs(std::size_t bytes) {
  return padded_by(repeated(inside(bytes), " + ",
                            [](std::size_t i) { return std::string(1000, '-') + fmt::format("k mod {}", i + 17); }));
}
std::string long_literals(std::size_t bytes) {
  return sum_of(bytes, [](std::size_t i) {
    return fmt::format("8507059173023461586584365185794205{:04} * k floordiv {}", i, i + 3);
  });
}

// --- symbols and constraints ----------------------------------------------------------------------------------------

std::string amounts(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += fmt::format(", k{}: dim", i);
  return text;
}

std::string sum_of_symbols(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 22);
  return fmt::format("program p(x: f32[S]{})\n{{\n  y = pad(x, low = [{}], high = [0])\n  return y\n}}\n",
                     amounts(count),
                     repeated(bytes, " + ", [](std::size_t i) { return fmt::format("k{}", i); }, count));
}
std::string product_of_symbols(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 22);
  return fmt::format("program p(x: f32[S]{})\n{{\n  y = pad(x, low = [{}], high = [0])\n  return y\n}}\n",
                     amounts(count), repeated(bytes, "*", [](std::size_t i) { return fmt::format("k{}", i); }, count));
}
std::string sum_of_products(std::size_t bytes) {
  const std::size_t count = 60;
  return fmt::format("program p(x: f32[S]{})\n{{\n  y = pad(x, low = [{}], high = [0])\n  return y\n}}\n",
                     amounts(count), repeated(bytes > 1000 ? bytes - 900 : 1, " + ", [&](std::size_t i) {
                       return fmt::format("k{}*k{}*k{}", i % count, i / count % count, i / count / count);
                     }));
}
std::string extents_of_rank(std::size_t bytes) {
  return fmt::format("program p({})\n{{\n  y = relu(x0)\n  return y\n}}\n",
                     repeated(bytes > 60 ? bytes - 60 : 1, ", ", [](std::size_t t) {
                       return fmt::format(
                           "x{}: f32[{}]", t,
                           repeated(2000, ", ", [&](std::size_t a) { return fmt::format("s{}_{}", t, a); }, 64));
                     }));
}
std::string constrained(std::size_t bytes, std::size_t count, const Part& constraint) {
  return fmt::format("program p(x: f32[S]{})\nwhere {}\n{{\n  y = pad(x, low = [k0], high = [0])\n  return y\n}}\n",
                     amounts(count), repeated(bytes, ", ", constraint));
}
std::string ordered_symbols(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 22);
  return constrained(bytes - 11 * count, count,
                     [&](std::size_t i) { return fmt::format("k{} <= k{}", i % count, (i + 1) % count); });
}
std::string constraints_of_two(std::size_t bytes) {
  return constrained(
      bytes, 40, [](std::size_t i) { return fmt::format("k{} + {}*k{} >= {}", i % 40, i / 40 + 1, (i + 7) % 40, i); });
}
std::string long_constraints(std::size_t bytes) {
  return constrained(bytes, 40, [&](std::size_t i) {
    return repeated(bytes / 24, " + ", [&](std::size_t j) { return fmt::format("k{} mod {}", j % 40, i + j + 3); }) +
           fmt::format(" >= {}", i);
  });
}
std::string long_constraints_of_one_symbol(std::size_t bytes) {
  return constrained(bytes, 20, [&](std::size_t i) {
    return repeated(bytes / 24, " + ", [&](std::size_t j) { return fmt::format("k{} mod {}", i % 20, i + j + 3); }) +
           fmt::format(" >= {}", i);
  });
}
std::string equal_symbols(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 34);
  return constrained(bytes - 11 * count, count, [&](std::size_t i) {
    return fmt::format("k{} == k{} + k{}", i % count, (i + 1) % count, (i + 3) % count);
  });
}
std::string products_in_constraints(std::size_t bytes) {
  return constrained(bytes, 40, [](std::size_t i) {
    return fmt::format("k{}*k{} >= k{} mod {}", i % 40, i / 40 % 40, (i + 9) % 40, i + 2);
  });
}
std::string congruences(std::size_t bytes) {
  return constrained(bytes, 40, [](std::size_t i) {
    return fmt::format("(k{} + {}*k{}) mod {} == 0", i % 40, i + 1, (i + 3) % 40, i + 2);
  });
}
std::string dependent_divisors(std::size_t bytes) {
  return constrained(bytes, 40,
                     [](std::size_t i) { return fmt::format("k{0} >= 1, S mod (k{0} + {1}) == 0", i % 40, i); });
}

// --- statements -----------------------------------------------------------------------------------------------------

constexpr std::string_view kHead = "program p(x: f32[B, S], c: bool[B, S], k: dim, l: dim)\n{\n  v0 = relu(x)\n";

/// A chain of statements, each of the one before it.
std::string chain(std::size_t bytes, const Part& statement, std::string_view head = kHead) {
  std::size_t last = 0;
  std::string text(head);
  text += repeated(bytes > head.size() + 30 ? bytes - head.size() - 30 : 1, "\n", [&](std::size_t i) {
    last = i;
    return fmt::format("  v{} = {}", i + 1, statement(i));
  });
  // The last part that was made may not have fitted.
  const std::size_t made = text.rfind("\n  v") + 4;
  last = std::stoul(text.substr(made));
  return text + fmt::format("\n  return v{}\n}}\n", last);
}

template <const char* kForm>
std::string chain_of(std::size_t bytes) {
  return chain(bytes, [](std::size_t i) { return fmt::format(fmt::runtime(kForm), i, i + 1); });
}

#define PADLOCK_CHAIN(name, form)      \
  constexpr char name##_form[] = form; \
  std::string name(std::size_t bytes) { return chain_of<name##_form>(bytes); }

PADLOCK_CHAIN(pads, "pad(v{0}, low = [1, k], high = [0, 1], value = {0}.5)")
PADLOCK_CHAIN(pads_of_rows, "pad(v{0}, low = [k, 0], high = [1, 0], value = {0}.5)")
PADLOCK_CHAIN(crops, "pad(v{0}, low = [0, -{1}], high = [0, k])")
PADLOCK_CHAIN(pads_by_new_mods, "pad(v{0}, low = [0, k mod {1}], high = [0, l floordiv {1}])")
PADLOCK_CHAIN(interior_pads, "pad(v{0}, low = [0, 1], high = [0, 0], interior = [0, 1])")
PADLOCK_CHAIN(edge_pads, "pad(v{0}, low = [0, k], high = [0, 2], mode = edge)")
PADLOCK_CHAIN(reflect_pads, "pad(v{0}, low = [1, k], high = [0, 2], mode = reflect)")
PADLOCK_CHAIN(symmetric_pads, "pad(v{0}, low = [0, 1], high = [0, 2], mode = symmetric)")
PADLOCK_CHAIN(wrap_pads, "pad(v{0}, low = [0, l], high = [0, 2], mode = wrap)")
PADLOCK_CHAIN(slices, "slice(v{0}, start = [0, 1], limit = [B, max(S - {1}, 1)])")
PADLOCK_CHAIN(stepped_slices, "slice(v{0}, start = [0, 0], limit = [B, S floordiv {1}], step = [1, 2])")
PADLOCK_CHAIN(concats, "concat(v{0}, x, axis = 1)")
PADLOCK_CHAIN(doubled, "concat(v{0}, v{0}, axis = 1)")
PADLOCK_CHAIN(concats_of_rows, "concat(v{0}, x, axis = 0)")
PADLOCK_CHAIN(concats_both_sides, "concat(x, v{0}, x, axis = 1)")
PADLOCK_CHAIN(transposes, "transpose(v{0}, perm = [1, 0])")
PADLOCK_CHAIN(broadcasts, "broadcast(v{0}, shape = [B, S], axes = [0, 1])")
PADLOCK_CHAIN(relus, "relu(v{0})")
PADLOCK_CHAIN(additions, "add(v{0}, v{0})")
PADLOCK_CHAIN(divisions, "div(v{0}, {1}.25)")
PADLOCK_CHAIN(roots, "sqrt(v{0})")
PADLOCK_CHAIN(maxima, "maximum(v{0}, {1}.5)")
PADLOCK_CHAIN(clamps, "clamp(v{0}, lo = -{1}.5, hi = {1}.5)")
PADLOCK_CHAIN(selections, "select(c, v{0}, x)")
#undef PADLOCK_CHAIN

std::string casts(std::size_t bytes) {
  static constexpr std::array kTypes = {"f64", "i64", "bf16", "u8", "f16", "i16", "f32"};
  return chain(bytes, [](std::size_t i) { return fmt::format("cast(v{}, {})", i, kTypes[i % kTypes.size()]); });
}
std::string shifted_additions(std::size_t bytes) {
  return chain(bytes / 2, [](std::size_t i) {
    return fmt::format("pad(v{}, low = [0, {}], high = [0, -{}])\n  w{} = add(v{}, x)", i, i % 5 + 1, i % 5 + 1, i, i);
  });
}
std::string stencil(std::size_t bytes) {
  std::string text(kHead);
  text += repeated(bytes * 6 / 10, "\n", [](std::size_t i) {
    return fmt::format("  w{0} = pad(x, low = [0, {0}], high = [0, -{0}])", i + 1);
  });
  const std::size_t count = std::stoul(text.substr(text.rfind("\n  w") + 4));
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("\n  v{} = add(v{}, w{})", i + 1, i, i + 1);
  return text + fmt::format("\n  return v{}\n}}\n", count);
}

// --- wide operations, many tensors and results
// ------------------------------------------------------------------------

std::string wide_concat(std::size_t bytes, int axis) {
  const std::size_t count = count_of(bytes, 26);
  const auto tensor = [&](std::size_t i) {
    return axis == 0 ? fmt::format("x{0}: f32[n{0}, S]", i) : fmt::format("x{0}: f32[B, n{0}]", i);
  };
  const std::string tensors = repeated(bytes, ", ", tensor, count);
  const std::string names = repeated(bytes, ", ", [](std::size_t i) { return fmt::format("x{}", i); }, count);
  return fmt::format("program p({})\n{{\n  y = concat({}, axis = {})\n  return y\n}}\n", tensors, names, axis);
}
std::string wide_concat_outer(std::size_t bytes) { return wide_concat(bytes, 0); }
std::string wide_concat_inner(std::size_t bytes) { return wide_concat(bytes, 1); }
std::string wide_concat_repeated(std::size_t bytes) {
  return fmt::format("program p(x: f32[S], z: f32[T])\n{{\n  y = concat({}, axis = 0)\n  return y\n}}\n",
                     repeated(inside(bytes), ", ", [](std::size_t i) { return i % 2 == 0 ? "x" : "z"; }));
}
std::string added_tensors(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 46);
  std::string text =
      fmt::format("program p({})\n{{\n",
                  repeated(bytes, ", ", [](std::size_t i) { return fmt::format("x{}: f32[B, S]", i); }, count));
  text += "  v0 = relu(x0)\n";
  for (std::size_t i = 1; i < count; ++i) text += fmt::format("  v{} = add(v{}, x{})\n", i, i - 1, i);
  return text + fmt::format("  return v{}\n}}\n", count - 1);
}
std::string results(std::size_t bytes, std::string_view form) {
  const std::size_t count = count_of(bytes, form.size() + 14);
  std::string text(kHead);
  for (std::size_t i = 1; i < count; ++i) text += fmt::format("  v{} = {}\n", i, fmt::format(fmt::runtime(form), i));
  return text + fmt::format("  return {}\n}}\n",
                            repeated(bytes, ", ", [](std::size_t i) { return fmt::format("v{}", i); }, count));
}
std::string results_of_equal_extents(std::size_t bytes) { return results(bytes, "add(x, {}.5)"); }
std::string results_of_own_extents(std::size_t bytes) { return results(bytes, "pad(x, low = [0, {}], high = [0, k])"); }
std::string padded_results(std::size_t bytes) {
  return results(bytes, "pad(x, low = [0, k], high = [0, -k], value = {}.5)");
}
std::string scalars(std::size_t bytes) {
  const std::size_t count = count_of(bytes, 40);
  std::string text = "program p(x: f32[S]";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format(", a{}: f32", i);
  text += ")\n{\n  v0 = relu(x)\n";
  for (std::size_t i = 1; i < count; ++i) text += fmt::format("  v{} = add(v{}, a{})\n", i, i - 1, i);
  return text + fmt::format("  return v{}\n}}\n", count - 1);
}
std::string unused_statements(std::size_t bytes) {
  std::string text(kHead);
  for (std::size_t i = 1; text.size() + 70 < bytes; ++i)
    text += fmt::format("  v{} = pad(x, low = [0, k mod {}], high = [0, l])\n", i, i + 3);
  return text + "  return v0\n}\n";
}

// --- rank
// -------------------------------------------------------------------------------------------------------------

std::string listed(std::size_t count, const Part& part) { return repeated(~std::size_t{0}, ", ", part, count); }

/// Pads of all axes of a tensor of the highest rank.
std::string high_rank(std::size_t bytes, std::string_view low, std::string_view mode) {
  constexpr std::size_t kRank = 64;
  const auto list = [](std::string_view form) {
    return listed(kRank, [&](std::size_t i) { return fmt::format(fmt::runtime(form), i); });
  };
  const std::string head = fmt::format("program p(x: f32[{}], k: dim)\n{{\n  v0 = relu(x)\n", list("s{}"));
  return chain(
      bytes,
      [&](std::size_t i) { return fmt::format("pad(v{}, low = [{}], high = [{}]{})", i, list(low), list("1"), mode); },
      head);
}
std::string pads_of_high_rank(std::size_t bytes) { return high_rank(bytes, "k", ""); }
std::string reflected_high_rank(std::size_t bytes) { return high_rank(bytes, "-k", ", mode = reflect"); }
std::string transposed_high_rank(std::size_t bytes) {
  const std::string head = fmt::format("program p(x: f32[{}], k: dim)\n{{\n  v0 = relu(x)\n",
                                       listed(64, [](std::size_t i) { return fmt::format("s{}", i); }));
  return chain(
      bytes,
      [](std::size_t i) {
        return fmt::format("transpose(v{}, perm = [{}])", i,
                           listed(64, [](std::size_t a) { return fmt::format("{}", 63 - a); }));
      },
      head);
}
std::string strides_of_high_rank(std::size_t bytes) {
  const std::size_t rank = std::min<std::size_t>(64, count_of(bytes, 60));
  return fmt::format("program p(x: f32[{}] strides [{}], k: dim)\n{{\n  v0 = relu(x)\n  return v0\n}}\n",
                     listed(rank, [](std::size_t i) { return fmt::format("s{}", i); }),
                     listed(rank, [&](std::size_t i) { return fmt::format("s{}*s{} + {}", i, (i + 1) % rank, i); }));
}

// --- words
// ------------------------------------------------------------------------------------------------------------

std::string long_names(std::size_t bytes) {
  const std::size_t length = std::min<std::size_t>(4000, bytes / 8 + 1);
  const std::string name(length, 'n');
  return fmt::format(
      "program p(x: f32[{0}], k: dim)\n{{\n  y = pad(x, low = [{1}], high = [k])\n  return y\n}}\n", name,
      repeated(bytes - length, " + ", [&](std::size_t i) { return fmt::format("{} mod {}", name, i + 2); }));
}
std::string comments(std::size_t bytes) {
  return repeated(bytes, "\n", [](std::size_t) { return std::string("// \xc3\xa9 program p(x: f32[S])"); }) +
         "\nprogram p(x: f32[S])\n{\n  y = relu(x)\n  return y\n}\n";
}
std::string literals(std::size_t bytes) {
  return chain(bytes, [](std::size_t i) { return fmt::format("add(v{}, {}.{}e-300)", i, i, std::string(900, '7')); });
}

constexpr std::array kFamilies = std::to_array<HostileFamily>({
#define PADLOCK_FAMILY(name) {#name, name}
    PADLOCK_FAMILY(sum_of_mods),
    PADLOCK_FAMILY(sum_of_quotients),
    PADLOCK_FAMILY(sum_of_rounded_quotients),
    PADLOCK_FAMILY(sum_of_powers),
    PADLOCK_FAMILY(sum_of_extrema),
    PADLOCK_FAMILY(sum_of_mods_by_extents),
    PADLOCK_FAMILY(sum_of_nested_mods),
    PADLOCK_FAMILY(power),
    PADLOCK_FAMILY(product_of_sums),
    PADLOCK_FAMILY(product_of_mods),
    PADLOCK_FAMILY(product_of_long_sums),
    PADLOCK_FAMILY(mod_of_long_sum),
    PADLOCK_FAMILY(nested_quotients),
    PADLOCK_FAMILY(minimum),
    PADLOCK_FAMILY(nested_extrema),
    PADLOCK_FAMILY(parentheses),
    PADLOCK_FAMILY(signs),
    PADLOCK_FAMILY(long_literals),
    PADLOCK_FAMILY(sum_of_symbols),
    PADLOCK_FAMILY(product_of_symbols),
    PADLOCK_FAMILY(sum_of_products),
    PADLOCK_FAMILY(extents_of_rank),
    PADLOCK_FAMILY(ordered_symbols),
    PADLOCK_FAMILY(constraints_of_two),
    PADLOCK_FAMILY(long_constraints),
    PADLOCK_FAMILY(long_constraints_of_one_symbol),
    PADLOCK_FAMILY(equal_symbols),
    PADLOCK_FAMILY(products_in_constraints),
    PADLOCK_FAMILY(congruences),
    PADLOCK_FAMILY(dependent_divisors),
    PADLOCK_FAMILY(pads),
    PADLOCK_FAMILY(pads_of_rows),
    PADLOCK_FAMILY(crops),
    PADLOCK_FAMILY(pads_by_new_mods),
    PADLOCK_FAMILY(interior_pads),
    PADLOCK_FAMILY(edge_pads),
    PADLOCK_FAMILY(reflect_pads),
    PADLOCK_FAMILY(symmetric_pads),
    PADLOCK_FAMILY(wrap_pads),
    PADLOCK_FAMILY(slices),
    PADLOCK_FAMILY(stepped_slices),
    PADLOCK_FAMILY(concats),
    PADLOCK_FAMILY(doubled),
    PADLOCK_FAMILY(concats_of_rows),
    PADLOCK_FAMILY(concats_both_sides),
    PADLOCK_FAMILY(transposes),
    PADLOCK_FAMILY(broadcasts),
    PADLOCK_FAMILY(relus),
    PADLOCK_FAMILY(additions),
    PADLOCK_FAMILY(divisions),
    PADLOCK_FAMILY(roots),
    PADLOCK_FAMILY(maxima),
    PADLOCK_FAMILY(clamps),
    PADLOCK_FAMILY(selections),
    PADLOCK_FAMILY(casts),
    PADLOCK_FAMILY(shifted_additions),
    PADLOCK_FAMILY(stencil),
    PADLOCK_FAMILY(wide_concat_outer),
    PADLOCK_FAMILY(wide_concat_inner),
    PADLOCK_FAMILY(wide_concat_repeated),
    PADLOCK_FAMILY(added_tensors),
    PADLOCK_FAMILY(results_of_equal_extents),
    PADLOCK_FAMILY(results_of_own_extents),
    PADLOCK_FAMILY(padded_results),
    PADLOCK_FAMILY(scalars),
    PADLOCK_FAMILY(unused_statements),
    PADLOCK_FAMILY(pads_of_high_rank),
    PADLOCK_FAMILY(reflected_high_rank),
    PADLOCK_FAMILY(transposed_high_rank),
    PADLOCK_FAMILY(strides_of_high_rank),
    PADLOCK_FAMILY(long_names),
    PADLOCK_FAMILY(comments),
    PADLOCK_FAMILY(literals),
#undef PADLOCK_FAMILY
});

}  // namespace

std::span<const HostileFamily> hostile_families() { return kFamilies; }

}  // namespace padlock::testing
