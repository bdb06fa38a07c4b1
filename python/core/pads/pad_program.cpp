#include "python/core/pads/pad_program.h"

#include <array>
#include <functional>

#include "padlock/padlock.h"

namespace padlock::python {
namespace {

constexpr std::array kModeNames = {"constant", "edge", "reflect", "symmetric", "wrap"};

std::string numbered(const char* name, int axis) { return name + std::to_string(axis); }

/// Prints "[a, b, c]", with a further entry for an element's halves unless `last` is NULL.
std::string list(const PadKind& kind, const char* last, const std::function<std::string(int)>& entry) {
  std::string text = "[";
  for (int axis = 0; axis < kind.axes; ++axis) text += (axis > 0 ? ", " : "") + entry(axis);
  if (kind.halves) text += (kind.axes > 0 ? ", " : "") + std::string(last);
  return text + "]";
}

std::string parameter(const PadKind& kind, const std::string& type) {
  std::string text = "x: " + type + list(kind, "2", [](int axis) { return numbered("n", axis); });
  if (kind.layout == PadLayout::dense) return text;
  const bool rows = kind.layout == PadLayout::dense_rows;
  return text + " strides " + list(kind, "1", [&](int axis) {
           const std::string row = kind.halves ? "2" : "1";
           return rows && axis == kind.axes - 1 ? row : numbered("s", axis);
         });
}

std::string amounts(const PadRequest& request, const PadKind& kind, const char* name) {
  return list(kind, "0", [&](int axis) { return is_untouched(request, axis) ? "0" : numbered(name, axis); });
}

std::string pad_of(const PadRequest& request, const PadKind& kind, const char* operand, const char* fill) {
  std::string text = std::string("pad(") + operand + ", low = " + amounts(request, kind, "l") +
                     ", high = " + amounts(request, kind, "h");
  if (!request.interior.empty())
    text += ", interior = " +
            list(kind, "0", [&](int axis) { return std::to_string(request.interior[static_cast<std::size_t>(axis)]); });
  if (request.mode == PadMode::constant) return text + ", value = " + fill + ")";
  return text + ", mode = " + kModeNames[static_cast<std::size_t>(request.mode)] + ")";
}

std::string half(const PadKind& kind, const char* first, const char* last) {
  return "slice(x, start = " + list(kind, first, [](int) { return "0"; }) +
         ", limit = " + list(kind, last, [](int axis) { return numbered("n", axis); }) + ")";
}

}  // namespace

bool is_untouched(const PadRequest& request, int axis) {
  const auto at = static_cast<std::size_t>(axis);
  return request.low[at] == 0 && request.high[at] == 0 && (request.interior.empty() || request.interior[at] == 0);
}

std::string pad_text(const PadRequest& request, const PadKind& kind) {
  const std::string type = padlock_type_name(kind.type);
  std::string text =
      "program pad_" + std::string(kModeNames[static_cast<std::size_t>(request.mode)]) + "(" + parameter(kind, type);
  if (request.mode == PadMode::constant) text += ", v: " + type;
  if (kind.two_fills) text += ", w: " + type;
  bool pads = false;
  for (int axis = 0; axis < kind.axes; ++axis) {
    if (is_untouched(request, axis)) continue;
    pads = true;
    text += ", " + numbered("l", axis) + ": dim, " + numbered("h", axis) + ": dim";
  }
  text += ")\n{\n";
  if (!pads) return text + "  return x\n}\n";
  if (!kind.two_fills) return text + "  y = " + pad_of(request, kind, "x", "v") + "\n  return y\n}\n";
  return text + "  a = " + half(kind, "0", "1") + "\n  b = " + half(kind, "1", "2") +
         "\n  c = " + pad_of(request, kind, "a", "v") + "\n  d = " + pad_of(request, kind, "b", "w") +
         "\n  y = concat(c, d, axis = " + std::to_string(kind.axes) + ")\n  return y\n}\n";
}

}  // namespace padlock::python
