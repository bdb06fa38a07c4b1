#include "tuner/trial/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "ir/reference/interpreter.h"
#include "ir/reference/scalar_ops.h"
#include "runtime/host/in_parallel.h"
#include "support/stopwatch.h"
#include "tuner/trial/edge_elements.h"

namespace padlock::tuner {
namespace {

ir::Interpreter interpreter_for(const Problem& problem) {
  std::vector<std::span<const std::byte>> inputs(problem.inputs().begin(), problem.inputs().end());
  return {problem.binding(), std::move(inputs), problem.scalars()};
}

const ir::Value& result_value(const Problem& problem, std::size_t result) {
  return problem.program().value(problem.program().results()[result]);
}

std::string describe(const Problem& problem, std::size_t result, std::size_t index, const ir::Element& expected,
                     std::uint64_t found) {
  const ir::Value& value = result_value(problem, result);
  return fmt::format("{}: at {} expected {:#x}{}, found {:#x}", value.name,
                     ir::coordinates_of(index, problem.binding().extents_of(value)), expected.bits,
                     expected.nan_open ? " (any NaN)" : "", found);
}

constexpr std::int64_t kPart = 1 << 12;  // elements that one thread interprets at a time

/// Compares some elements with the interpreter's, on one thread.
Result<std::string> difference_of_part(const Problem& problem, std::size_t result, std::span<const std::byte> actual,
                                       std::span<const std::int64_t> elements) {
  const ir::Value& value = result_value(problem, result);
  const std::vector<std::int64_t> extents = problem.binding().extents_of(value);
  ir::Interpreter interpreter = interpreter_for(problem);
  for (const std::int64_t element : elements) {
    const auto index = static_cast<std::size_t>(element);
    PADLOCK_TRY(const ir::Element expected,
                interpreter.element(problem.program().results()[result], ir::coordinates_of(index, extents)));
    const std::uint64_t found = ir::element_bits(actual, index, value.dtype);
    if (!ir::same_element(value.dtype, expected, found)) return describe(problem, result, index, expected, found);
  }
  return std::string();
}

/// Compares some elements with the interpreter's and describes the first difference.
Result<std::string> sampled_difference(const Problem& problem, std::size_t result, std::span<const std::byte> actual,
                                       std::span<const std::int64_t> elements) {
  const runtime::PartsOf parts{.all = std::ssize(elements), .part = kPart};
  std::vector<Result<std::string>> found(static_cast<std::size_t>(parts.count()));
  runtime::in_parallel(parts.count(), [&](std::int64_t i) {
    found[static_cast<std::size_t>(i)] = difference_of_part(problem, result, actual, parts.of(elements, i));
  });
  for (Result<std::string>& part : found)
    if (!part || !part->empty()) return std::move(part);
  return std::string();
}

/// Interprets `bytes` of a value on many threads. Flags the elements where any NaN will do.
Result<std::vector<bool>> interpret_value(const Problem& problem, ir::ValueId id, std::span<std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(ir::byte_size(problem.program().value(id).dtype));
  const runtime::PartsOf parts{.all = std::ssize(bytes), .part = kPart * size};
  std::vector<Status> done(static_cast<std::size_t>(parts.count()));
  std::vector<std::vector<bool>> flags(done.size());
  runtime::in_parallel(parts.count(), [&](std::int64_t i) {
    const auto first = static_cast<std::size_t>(parts.begin(i) / size);
    done[static_cast<std::size_t>(i)] =
        interpreter_for(problem).evaluate_part(id, first, parts.of(bytes, i), &flags[static_cast<std::size_t>(i)]);
  });
  std::vector<bool> nan_open;
  nan_open.reserve(static_cast<std::size_t>(parts.all / size));
  for (std::size_t i = 0; i < done.size(); ++i) {
    PADLOCK_CHECK(done[i]);
    nan_open.insert(nan_open.end(), flags[i].begin(), flags[i].end());
  }
  return nan_open;
}

/// Returns how many result elements can be interpreted in `ms` milliseconds, extrapolated from a few. 0: any time.
Result<std::int64_t> interpreted_in(const Problem& problem, double ms) {
  constexpr std::int64_t kProbed = 512;
  if (ms <= 0) return kInt64Max;
  const Stopwatch watch;
  std::int64_t probed = 0;
  for (const ir::ValueId id : problem.program().results()) {
    const ir::Value& value = problem.program().value(id);
    const std::int64_t some = std::min(problem.binding()(value.layout.element_count()), kProbed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(some * ir::byte_size(value.dtype)));
    PADLOCK_CHECK(interpreter_for(problem).evaluate_part(id, 0, bytes));
    probed += some;
  }
  const double each = watch.milliseconds() / static_cast<double>(std::max<std::int64_t>(probed, 1));
  const double threads = std::max(std::thread::hardware_concurrency(), 1U);
  return static_cast<std::int64_t>(std::min(1e15, ms * threads / std::max(each, 1e-9)));
}

std::unexpected<Error> computed_wrongly(const std::string& difference) {
  return internal_error("the default config does not compute what the interpreter does: " + difference);
}

}  // namespace

Status Reference::interpret() {
  const ir::Program& program = problem_->program();
  for (const ir::ValueId id : program.results()) {
    const ir::Value& value = program.value(id);
    const std::int64_t elements = problem_->binding()(value.layout.element_count());
    auto& bytes = bytes_.emplace_back(static_cast<std::size_t>(elements * ir::byte_size(value.dtype)));
    PADLOCK_TRY(nan_open_.emplace_back(), interpret_value(*problem_, id, bytes));
  }
  return {};
}

Status Reference::compute_and_compare(const Computation& computation, std::int64_t sampled) {
  PADLOCK_TRY(bytes_, computation(*problem_));
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    PADLOCK_TRY(const auto elements, edge_and_random_elements(*problem_, i, static_cast<std::size_t>(sampled)));
    PADLOCK_TRY(const std::string difference, sampled_difference(*problem_, i, bytes_[i], elements));
    if (!difference.empty()) return computed_wrongly(difference);
  }
  return {};
}

Result<Reference> Reference::compute(const Problem& problem, const Computation& computation, ReferenceEffort effort) {
  Reference reference(problem);
  const std::int64_t elements = problem.result_elements();
  PADLOCK_TRY(const std::int64_t in_time, interpreted_in(problem, effort.most_ms));
  if (elements <= std::min(effort.most_interpreted, in_time)) {
    PADLOCK_CHECK(reference.interpret());
    return reference;
  }
  // Samples and full comparisons at smaller sizes share the time.
  const std::int64_t sampled = std::clamp(in_time / 2, ReferenceEffort::kFewestSampled, ReferenceEffort::kSampled);
  PADLOCK_CHECK(reference.compute_and_compare(computation, sampled));
  PADLOCK_TRY(
      const Problem small,
      Problem::create(problem.program(), shrink(problem.program(), problem.symbols(), sampled), problem.seed()));
  reference.note_ = fmt::format(
      "the reference of {} elements is the default config, compared with the interpreter at {}", elements, sampled);
  if (small.result_elements() > effort.most_interpreted) {
    reference.note_ += "; no sizes were found that are small enough to compare all";
    return reference;
  }
  PADLOCK_TRY(const Reference checked, compute(small, computation, {.most_interpreted = effort.most_interpreted}));
  PADLOCK_TRY(const auto results, computation(small));
  for (std::size_t i = 0; i < results.size(); ++i) {
    PADLOCK_TRY(const std::string difference, checked.difference(i, results[i]));
    if (!difference.empty()) return computed_wrongly(difference);
  }
  reference.note_ += fmt::format(" and at all {} of smaller sizes", small.result_elements());
  return reference;
}

Result<std::string> Reference::difference(std::size_t result, std::span<const std::byte> actual) const {
  const std::vector<std::byte>& expected = bytes_[result];
  if (std::ranges::equal(actual, expected)) return std::string();
  const ir::Value& value = result_value(*problem_, result);
  const std::size_t count = expected.size() / static_cast<std::size_t>(ir::byte_size(value.dtype));
  std::optional<ir::Interpreter> interpreter;  // made on first use
  for (std::size_t i = 0; i < count; ++i) {
    ir::Element wanted{.bits = ir::element_bits(expected, i, value.dtype)};
    const std::uint64_t found = ir::element_bits(actual, i, value.dtype);
    if (found == wanted.bits) continue;
    if (!nan_open_.empty()) {
      wanted.nan_open = nan_open_[result][i];
    } else if (ir::is_float(value.dtype)) {
      if (!interpreter) interpreter.emplace(interpreter_for(*problem_));
      PADLOCK_TRY(wanted, interpreter->element(problem_->program().results()[result],
                                               ir::coordinates_of(i, problem_->binding().extents_of(value))));
    }
    if (!ir::same_element(value.dtype, wanted, found)) return describe(*problem_, result, i, wanted, found);
  }
  return std::string();
}

}  // namespace padlock::tuner
