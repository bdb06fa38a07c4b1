#include "tests/activation/search/most_margin.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace padlock::activation::search {
namespace {

using Vector = std::vector<long double>;

/// Solves a square system by Gauss, with the largest pivot of each column.
Vector solve(std::vector<Vector> rows, Vector right) {
  const std::size_t n = rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(rows[i][k]) > std::abs(rows[pivot][k])) pivot = i;
    std::swap(rows[k], rows[pivot]);
    std::swap(right[k], right[pivot]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const long double factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j < n; ++j) rows[i][j] -= factor * rows[k][j];
      right[i] -= factor * right[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) right[k] -= rows[k][j] * right[j];
    right[k] /= rows[k][k];
  }
  return right;
}

std::vector<Vector> transposed(const std::vector<Vector>& rows) {
  std::vector<Vector> made(rows.size(), Vector(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.size(); ++j) made[j][i] = rows[i][j];
  return made;
}

Vector with_weight(const Row& row) {
  Vector all = row.factors;
  all.push_back(row.weight);
  return all;
}

/// The row that is violated most, or null.
const Row* most_violated(const std::vector<Row>& rows, const Vector& x) {
  const Row* found = nullptr;
  long double most = 1e-7L;
  for (const Row& row : rows) {
    long double sum = row.weight * x.back() - row.bound;
    for (std::size_t i = 0; i < row.factors.size(); ++i) sum += row.factors[i] * x[i];
    if (sum > most) {
      most = sum;
      found = &row;
    }
  }
  return found;
}

}  // namespace

/// Begins at the corner where all variables are at their bounds.
std::vector<long double> most_margin(const std::vector<Row>& rows, long double most) {
  const std::size_t n = rows.front().factors.size() + 1;
  std::vector<Vector> active(n, Vector(n));  // the rows of the corner
  Vector bounds(n, most), shares(n);         // theirs, and how they make up the margin: none is negative
  for (std::size_t i = 0; i < n; ++i) active[i][i] = 1;
  shares.back() = 1;
  Vector x = bounds;
  for (int step = 0; step < 1000; ++step) {
    const Row* const entering = most_violated(rows, x);
    if (entering == nullptr) break;
    const Vector factors = with_weight(*entering);
    const Vector change = solve(transposed(active), factors);
    std::size_t leaving = n;
    for (std::size_t i = 0; i < n; ++i)
      if (change[i] > 1e-12L && (leaving == n || shares[i] * change[leaving] < shares[leaving] * change[i]))
        leaving = i;
    if (leaving == n) break;  // no variables satisfy all rows
    const long double share = shares[leaving] / change[leaving];
    for (std::size_t i = 0; i < n; ++i) shares[i] -= share * change[i];
    shares[leaving] = share;
    active[leaving] = factors;
    bounds[leaving] = entering->bound;
    x = solve(active, bounds);
  }
  return x;
}

}  // namespace padlock::activation::search
