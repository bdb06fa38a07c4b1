#pragma once

#include <cstdint>
#include <vector>

#include "compiler/host_config.h"
#include "compiler/kernel.h"
#include "compiler/mutation.h"
#include "compiler/segments.h"
#include "compiler/walk.h"

// A kernel turned into loops for the host: rows (the flattened outer axes), a decision tree over the predicates of a
// row, and for each of its cases a list of segments of the innermost axis. Each segment calls a body with its bounds;
// segments whose code differs only in addresses share one body.
namespace padlock::compiler {

/// How a body's load moves as the innermost coordinate does.
enum class LoadKind : std::uint8_t {
  invariant,   ///< the same element
  contiguous,  ///< the next element
  reversed,    ///< the element before
  strided,     ///< `step` elements on
  general,     ///< element `offset` of the tensor, an expression over all coordinates; may have a guard
};

struct BodyLoad {
  LoadKind kind = LoadKind::invariant;
  ir::DType dtype = ir::DType::f32;
  ir::Expr step;                // strided: elements for each step of the innermost coordinate; over symbols
  ir::Expr offset;              // general
  PredicateId guard = kAlways;  // general
};

struct BodyNode {
  NodeKind kind = NodeKind::constant;
  ir::DType dtype = ir::DType::f32;
  ir::Op op = ir::Op::relu;
  std::uint64_t bits = 0;
  ir::ValueId scalar = 0;
  int load = 0;                 // load
  PredicateId guard = kAlways;  // when
  std::vector<int> operands = {};
};

/// Straight-line code for a run of innermost coordinates.
struct Body {
  std::vector<BodyNode> nodes;  // operands first
  std::vector<int> roots;       // one for each result
  std::vector<BodyLoad> loads;
  int lanes = 1;            ///< elements of one vector; 1 where a predicate or a period remains
  bool uses_rows = false;   ///< reads the outer coordinates
  std::vector<Walk> walks;  ///< the first is `elements`
};

/// A load as one segment does it.
struct Stream {
  ir::ValueId tensor = 0;
  std::uint32_t layout = 0;
  /// What is read at an output coordinate: what the proof speaks of.
  std::vector<ir::Expr> coordinates;
  /// The element offset at innermost coordinate 0, over the outer coordinates (0 where the load's kind is general):
  /// what the code starts from.
  ir::Expr base;
};

struct SegmentCall {
  ir::Expr begin, end;                    ///< columns of the segment, over symbols
  ir::Expr run_begin = {}, run_end = {};  ///< those of them that belong to a task
  std::vector<Segment> pieces;            ///< adjacent, that it consists of; without their roots
  int body = 0;
  std::vector<Stream> streams;  // one for each of the body's loads
};

struct ScheduledCase {
  PredicateId test = kAlways;
  int holds = -1;
  int fails = -1;
  std::vector<SegmentCall> calls;

  [[nodiscard]] bool is_test() const { return holds >= 0; }
};

/// Divisions that are done in 32 bits where the guards hold: in 64 they take several times as long.
struct Narrowing {
  std::vector<ir::Expr> divisions;
  std::vector<ir::Guard> guards;  ///< of Assumption::index32: comparisons of sizes with constants
};

struct HostSchedule {
  Kernel kernel;
  HostConfig config;
  Mutation mutation = Mutation::none;
  ir::Expr rows = {}, columns = {};  // what a launch covers: flattened outer axes x innermost axis
  std::vector<Body> bodies = {};
  std::vector<ScheduledCase> cases = {};  // the first is the root
  Narrowing narrowing = {};
};

[[nodiscard]] HostSchedule schedule_for_host(Kernel kernel, const HostConfig& config,
                                             Mutation mutation = Mutation::none);

}  // namespace padlock::compiler
