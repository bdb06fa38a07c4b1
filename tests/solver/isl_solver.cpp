#include "tests/solver/isl_solver.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <isl/ctx.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

namespace padlock::solver {

namespace {

constexpr std::uint64_t kIslOperations = 2'000;

struct Free {
  void operator()(isl_point* point) const { isl_point_free(point); }
  void operator()(isl_mat* matrix) const { isl_mat_free(matrix); }
};
using Point = std::unique_ptr<isl_point, Free>;
using Matrix = std::unique_ptr<isl_mat, Free>;

/// By chunks, because no other way takes more than a long.
isl_val* make_value(isl_ctx* ctx, Int128 value) {
  const auto low = static_cast<std::int64_t>(value);
  if (low == value) return isl_val_int_from_si(ctx, low);
  const UInt128 magnitude = value < 0 ? UInt128{0} - static_cast<UInt128>(value) : static_cast<UInt128>(value);
  const std::array<std::uint64_t, 2> chunks = {static_cast<std::uint64_t>(magnitude),
                                               static_cast<std::uint64_t>(magnitude >> 64)};
  isl_val* made = isl_val_int_from_chunks(ctx, chunks.size(), sizeof(chunks[0]), chunks.data());
  return value < 0 ? isl_val_neg(made) : made;
}

/// Returns nullopt if it does not fit, or is not a value.
std::optional<Int128> read_value(isl_val* owned) {
  const std::unique_ptr<isl_val, decltype([](isl_val* v) { isl_val_free(v); })> value(owned);
  if (value == nullptr || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
  std::array<std::uint64_t, 2> chunks = {};
  const isl_size count = isl_val_n_abs_num_chunks(value.get(), sizeof(chunks[0]));
  if (count < 0 || count > static_cast<isl_size>(chunks.size())) return std::nullopt;
  if (isl_val_get_abs_num_chunks(value.get(), sizeof(chunks[0]), chunks.data()) != isl_stat_ok) return std::nullopt;
  if (chunks[1] >> 62 != 0) return std::nullopt;
  const auto magnitude = static_cast<Int128>((UInt128{chunks[1]} << 64) | chunks[0]);
  return isl_val_sgn(value.get()) < 0 ? -magnitude : magnitude;
}

/// The rows of one kind; columns: the variables, then the constant.
Matrix make_matrix(isl_ctx* ctx, int variables, const std::vector<LinearRow>& rows, bool equalities) {
  unsigned count = 0;
  for (const LinearRow& row : rows) count += row.is_equality == equalities;
  isl_mat* matrix = isl_mat_alloc(ctx, count, static_cast<unsigned>(variables) + 1);
  int at = 0;
  for (const LinearRow& row : rows) {
    if (row.is_equality != equalities) continue;
    // An allocated matrix holds nothing defined.
    for (int column = 0; column <= variables; ++column) matrix = isl_mat_set_element_si(matrix, at, column, 0);
    for (const auto& [variable, coefficient] : row.terms)
      matrix = isl_mat_set_element_val(matrix, at, variable, make_value(ctx, coefficient));
    matrix = isl_mat_set_element_val(matrix, at, variables, make_value(ctx, row.constant));
    ++at;
  }
  return Matrix(matrix);
}

}  // namespace

struct Isl::Context {
  isl_ctx* ctx = isl_ctx_alloc();
  Context() {
    if (ctx != nullptr) isl_options_set_on_error(ctx, ISL_ON_ERROR_CONTINUE);
  }
  ~Context() {
    if (ctx != nullptr) isl_ctx_free(ctx);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] std::unexpected<Error> error() const {
    const bool quota = isl_ctx_last_error(ctx) == isl_error_quota;
    const char* message = isl_ctx_last_error_msg(ctx);
    isl_ctx_reset_error(ctx);
    if (quota) return resource_exhausted("the proof's budget of isl operations is used up");
    return internal_error(std::string("isl failed: ") + (message != nullptr ? message : "no message"));
  }
};

Isl::Isl() = default;
Isl::~Isl() = default;

IntegerSolver::Answer Isl::find_point(int variables, const std::vector<LinearRow>& rows, std::uint64_t operations) {
  if (context_ == nullptr) context_ = std::make_unique<Context>();
  isl_ctx* ctx = context_->ctx;
  if (ctx == nullptr) return internal_error("isl could not allocate a context");
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, operations);
  Matrix equalities = make_matrix(ctx, variables, rows, true);
  Matrix inequalities = make_matrix(ctx, variables, rows, false);
  isl_space* space = isl_space_set_alloc(ctx, 0, static_cast<unsigned>(variables));
  isl_basic_set* set = isl_basic_set_from_constraint_matrices(space, equalities.release(), inequalities.release(),
                                                              isl_dim_set, isl_dim_div, isl_dim_param, isl_dim_cst);
  const Point point(isl_basic_set_sample_point(set));
  if (point == nullptr) return context_->error();
  const isl_bool is_void = isl_point_is_void(point.get());
  if (is_void == isl_bool_error) return context_->error();
  if (is_void == isl_bool_true) return std::nullopt;
  std::vector<Int128> values;
  for (int i = 0; i < variables; ++i) {
    const std::optional<Int128> value = read_value(isl_point_get_coordinate_val(point.get(), isl_dim_set, i));
    if (!value) return internal_error("isl gave a point whose coordinates are not integers of 126 bits");
    values.push_back(*value);
  }
  return values;
}

IntegerSolver::Answer SolverWithIsl::solve(int variables, std::vector<LinearRow> rows, std::uint64_t pivots) {
  Answer answer = IntegerSolver::solve(variables, rows, pivots);
  if (answer) return answer;
  ++asked_;
  answer = isl_.find_point(variables, rows, kIslOperations);
  answered_ += answer.has_value() ? 1 : 0;
  return answer;
}

}  // namespace padlock::solver
