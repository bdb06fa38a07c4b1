#!/usr/bin/env python3
"""Prints compiler/emit/scalar/activation/coefficients.h: the polynomials and constants of the activations.

usage: scripts/activation_coefficients.py > compiler/emit/scalar/activation/coefficients.h

Each approximation has the least largest relative error of its degree (Remez's exchange, on a grid of points that is
fine enough), in decimal arithmetic of 110 digits; nothing but Python's standard library is used, and no float enters.
The degrees, intervals and weights are chosen; that the results are right on all inputs is judged by tests/activation.
"""

import math
from decimal import Decimal as D, getcontext

getcontext().prec = 110
POINTS = 500
ROUNDS = 40
SMALLEST = D("1e-105")

LN2 = D(2).ln()


def pi():
    """Machin: pi / 4 = 4 atan(1 / 5) - atan(1 / 239)."""
    def atan_of_inverse(n):
        total, power, k = D(0), D(1) / n, 0
        while power > SMALLEST:
            total += (-1) ** k * power / (2 * k + 1)
            power /= n * n
            k += 1
        return total
    return 16 * atan_of_inverse(5) - 4 * atan_of_inverse(239)


PI = pi()


# ---- Approximation ---------------------------------------------------------------------------------------------

def grid(low, high):
    """Points that lie closer at both ends, where the extrema of an error do."""
    points = []
    for i in range(POINTS):
        t = D(2 * i) / (POINTS - 1) - 1
        points.append((low + high) / 2 + (high - low) / 2 * (3 * t - t**3) / 2)
    return points


def value_of(coefficients, x):
    result = D(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def powers(x, count):
    result = [D(1)]
    for _ in range(count - 1):
        result.append(result[-1] * x)
    return result


def solve(rows):
    """Gauss, with the largest pivot of each column; the last entry of a row is its right side."""
    n = len(rows)
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k])]
    result = [D(0)] * n
    for k in reversed(range(n)):
        known = sum(rows[k][j] * result[j] for j in range(k + 1, n))
        result[k] = (rows[k][n] - known) / rows[k][k]
    return result


def extrema(errors, count):
    """The places of `count` extrema whose signs alternate, or of fewer where there are not so many."""
    places = []
    for i, error in enumerate(errors):
        if places and (errors[places[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = i
        else:
            places.append(i)
    while len(places) > count:
        at_start = abs(errors[places[0]]) < abs(errors[places[-1]])
        places.pop(0 if at_start else -1)
    return places


def exchange(points, count, fit):
    """Remez: `fit(places)` gives coefficients and the errors at all points. Returns the best, and its largest error."""
    places = [round(D(i * (len(points) - 1)) / (count - 1)) for i in range(count)]
    best, least = None, None
    for _ in range(ROUNDS):
        made, errors = fit(places)
        worst = max(map(abs, errors))
        if least is None or worst < least:
            best, least = made, worst
        following = extrema(errors, count)
        if len(following) < count or following == places:
            break
        places = following
    return best, least


def polynomial(function, weight, low, high, degree):
    """Coefficients from the constant on, and the largest |weight * error| on [low, high]."""
    points = grid(D(low), D(high))
    values, weights = [function(x) for x in points], [weight(x) for x in points]

    def fit(places):
        rows = [powers(points[p], degree + 1) + [(-1) ** i / weights[p], values[p]] for i, p in enumerate(places)]
        made = solve(rows)[:-1]
        return made, [w * (v - value_of(made, x)) for x, v, w in zip(points, values, weights)]

    return exchange(points, degree + 2, fit)


def quotient(function, low, high, above, below):
    """Coefficients of numerator and denominator, whose constant is 1, and the largest relative error."""
    points = grid(D(low), D(high))
    values = [function(x) for x in points]
    divisors = [D(1)] * len(points)

    def row(i, p):
        x, v = powers(points[p], below + 1), values[p]
        return x[:above + 1] + [-v * power for power in x[1:]] + [(-1) ** i * v * divisors[p], v]

    def fit(places):
        for _ in range(6):  # the error's term has the divisor of the round before
            made = solve([row(i, p) for i, p in enumerate(places)])[:-1]
            parts = made[:above + 1], [D(1)] + made[above + 1:]
            divisors[:] = [value_of(parts[1], x) for x in points]
        return parts, [1 - value_of(parts[0], x) / (d * v) for x, v, d in zip(points, values, divisors)]

    return exchange(points, above + below + 2, fit)


def rightmost_root(coefficients):
    """Finds the root of a polynomial whose roots are real and negative: Newton from the right goes there and never past it."""
    slope = [i * c for i, c in enumerate(coefficients)][1:]
    x, step = D(0), D(1)
    while abs(step) > D("1e-90"):
        step = value_of(coefficients, x) / value_of(slope, x)
        x -= step
    return x


def divide(coefficients, factor):
    """Quotient and rest of a polynomial by another, whose leading coefficient is 1."""
    rest, made = list(coefficients), []
    while len(rest) >= len(factor):
        made.insert(0, rest.pop())
        for i, c in enumerate(factor[:-1]):
            rest[len(rest) - len(factor) + 1 + i] -= made[0] * c
    return made, rest


def preconditioned(coefficients, count):
    """p(x) as q(x) (x^2 + s) + t, `count` times (Motzkin, Eve): -s is a root of the part of p that is odd.

    Such a step is an addition and a multiplication for two degrees. The roots are real and negative where those of p
    lie to the left of 0; with the rightmost first the constants are small, and little cancels.
    """
    made, odd = [], list(coefficients[1::2])
    for _ in range(count):
        root = rightmost_root(odd)
        odd, _ = divide(odd, [-root, D(1)])
        coefficients, rest = divide(coefficients, [-root, D(0), D(1)])
        made.append((-root, rest[0]))
    return coefficients, made


# ---- The functions ---------------------------------------------------------------------------------------------

def exponential_rest(r):
    """(exp(r) - 1 - r) / r^2."""
    if abs(r) < D("1e-20"):
        return D("0.5") + r / 6 + r * r / 24
    return (r.exp() - 1 - r) / (r * r)


def exponential_weight(r):
    return abs(r * r / (r.exp() - 1)) if abs(r) > SMALLEST else SMALLEST


def cotangent(z):
    """r coth(r / 2), where r^2 = z."""
    if z == 0:
        return D(2)
    r = z.sqrt()
    return r * (r.exp() + 1) / (r.exp() - 1)


def artanh_rest(z):
    """2 (artanh(s) / s - 1) / s^2, where s^2 = z."""
    total, power, k = D(0), D(2), 0
    while power > SMALLEST:
        total += power / (2 * k + 3)
        power *= z
        k += 1
    return total


def erf_quotient(u):
    """erf(x) / x, where x^2 = u: a series whose terms are all positive."""
    term = 2 / PI.sqrt() * (-u).exp()
    total, k = term, 0
    while term > SMALLEST:
        k += 1
        term = term * 2 * u / (2 * k + 1)
        total += term
    return total


PLACES_ABOVE, PLACES_ABOVE_STEPS = (-20, 135, 194), (43, -7, 15)
PLACES_BELOW, PLACES_BELOW_STEPS = (6, 124, 192, 0), (-5, -40, -10)
ERF_END = D("3.9252") ** 2  # of x^2; beyond 3.925 erf rounds to 1


def erf_on_unit(t):
    return erf_quotient((t + 1) / 2 * ERF_END)


def tail(a):
    """Phi(-a) exp(a^2 / 2), where Phi is the normal distribution's: half of erfcx(a / sqrt(2))."""
    z = a / D(2).sqrt()
    return (1 - z * erf_quotient(a * a / 2)) * (a * a / 2).exp() / 2


# ---- The header ------------------------------------------------------------------------------------------------

def split(x, bits):
    """x to so many places after the point, and the double nearest to what is left."""
    high = D(int(x * 2**bits)) / 2**bits
    return float(high), float(x - high)


def print_constant(name, value, text):
    print(f"/// {text}\ninline constexpr double {name} = {float(value).hex()};")


def print_array(name, values, text):
    print(f"/// {text}\ninline constexpr std::array {name} = {{")
    for value in values:
        print(f"    {float(value).hex()},")
    print("};")


def print_approximation(name, made, text):
    coefficients, error = made
    print_array(name, coefficients, f"{text} Error at most 2^{float(error.ln() / LN2):.1f}.")


def print_constants():
    high, low = split(LN2, 42)
    print_constant("kLog2OfE", 1 / LN2, "1 / ln 2.")
    print_constant("kLn2", LN2, "ln 2.")
    print_constant("kLn2High", high, "ln 2 to 42 places, so that 11 bits times it are exact.")
    print_constant("kLn2Low", low, "ln 2 less kLn2High.")
    slope = -2 * (2 / PI).sqrt()
    print_constant("kGeluSlope", slope, "gelu_tanh is x / (1 + exp(x (kGeluSlope + kGeluCubic x^2))).")
    print_constant("kGeluCubic", slope * D("0.044715"), "The factor of x^2 in it.")
    print_constant("kErfScale", 2 / ERF_END, "Takes the squares of kErf to [-1, 1].")


def moved(values, places):
    """Each value by so many units in its last place."""
    return [float(v) + n * math.ulp(float(v)) for v, n in zip(values, places)]


def print_tail(name, coefficients, text, places, step_places):
    """As many steps as `step_places`; more round worse. Moved by what a random search found that is right everywhere: it
    tried moves on the floats whose result lies closest to a tie, with fused multiplications and without."""
    inner, steps = preconditioned(coefficients, len(step_places))
    print_array(name, moved(inner, places), text)
    print(f"/// Its steps, from the last on.\ninline constexpr std::array<QuadraticStep, {len(steps)}> {name}Steps = {{{{")
    for (shift, _), constant in zip(steps, moved([t for _, t in steps], step_places)):
        print(f"    {{{float(shift).hex()}, {constant.hex()}}},")
    print("}};")


def main():
    print("#pragma once\n\n#include <array>\n")
    print("// Made by scripts/activation_coefficients.py, which says how. Coefficients begin with the constant.")
    print("// clang-format off\nnamespace padlock::compiler::activation {\n")
    print("/// QuadraticStep makes of a polynomial q the polynomial q(x) (x^2 + shift) + constant.")
    print("struct QuadraticStep {\n    double shift;\n    double constant;\n};")
    print_constants()
    half = LN2 / 2 * D("1.001")
    print_approximation("kExponential", polynomial(exponential_rest, exponential_weight, -half, half, 9),
                        "(exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.")
    for degree in (4, 5):
        made = polynomial(cotangent, lambda z: z.sqrt() / 2 + D("1e-3"), 0, half * half, degree)
        print_approximation(f"kCotangent{degree}", made, "r coth(r / 2) of r^2, for |r| <= ln 2 / 2.")
    for name, end, degree in (("kLogarithm", D("0.0296"), 6), ("kLogarithmOfSum", D(1) / 9, 9)):
        made = polynomial(artanh_rest, lambda z: z / 2 + D("1e-6"), 0, end, degree)
        print_approximation(name, made, f"2 (artanh(s) / s - 1) / s^2 of s^2 <= {float(end):.4f}.")
    made = polynomial(erf_on_unit, lambda t: 1 / (erf_on_unit(t) * (1 + 3 * (t + 1) / 2)), -1, 1, 26)
    print_approximation("kErf", made, "erf(x) / x of kErfScale x^2 - 1, for |x| <= 3.925.")
    (above, below), error = quotient(tail, 0, D("14.5"), 8, 9)
    bound = f"Error at most 2^{float(error.ln() / LN2):.1f}."
    # Of the quotient, so that the denominator begins with an addition alone.
    above, below = ([c / below[-1] for c in p] for p in (above, below))
    text = f"Phi(-a) exp(a^2 / 2) for 0 <= a <= 14.5: the numerator less its steps. {bound}"
    print_tail("kTailAbove", above, text, PLACES_ABOVE, PLACES_ABOVE_STEPS)
    print_tail("kTailBelow", below, "The denominator less its steps.", PLACES_BELOW, PLACES_BELOW_STEPS)
    print("\n}  // namespace padlock::compiler::activation")


if __name__ == "__main__":
    main()
