#include "tools/text/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace padlock::tools {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Padlock: what tuning found</title>
<style>
:root { color-scheme: light dark; --page: #fff; --ink: #1b1f24; --soft: #59636e; --line: #d1d9e0; --dot: #0969da;
  --best: #1a7f37; --copy: #9a6700; --bad: #cf222e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #3d444d; --dot: #58a6ff; --best: #3fb950;
    --copy: #d29922; --bad: #f85149; }
}
body { background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto;
  max-width: 64rem; padding: 0 1rem; }
h2 { font-size: 1.1rem; margin: 2.5rem 0 0; overflow-wrap: anywhere; }
p { margin: .3rem 0; overflow-wrap: anywhere; }
.soft, .tick { color: var(--soft); }
code, td, .name { font-family: ui-monospace, monospace; font-size: 12px; }
td, th { border-top: 1px solid var(--line); overflow-wrap: anywhere; padding: .2rem .8rem .2rem 0; text-align: left;
  vertical-align: top; }
svg { display: block; height: auto; margin-top: .6rem; width: 100%; }
svg text { fill: var(--ink); font-size: 11px; }
svg .tick { fill: var(--soft); }
svg .name { font-size: 10px; }
.grid { stroke: var(--line); }
.dot line { stroke: var(--dot); stroke-width: 2; }
.dot circle { fill: var(--dot); }
.default circle { fill: var(--page); stroke: var(--dot); stroke-width: 2; }
.aside { opacity: .45; }
.chosen line { stroke: var(--best); }
.chosen circle { fill: var(--best); }
.chosen.default circle { fill: var(--page); stroke: var(--best); }
.chosen text { fill: var(--best); font-weight: bold; }
.copy { stroke: var(--copy); stroke-dasharray: 5 3; stroke-width: 2; }
svg text.copied { fill: var(--copy); }
.verdict { color: var(--bad); white-space: nowrap; }
</style>
</head>
<body>
)";

constexpr double kWidth = 1100, kLeft = 570, kRight = 1070, kTop = 24, kRow = 18;
// Texts from tuning are shorter; longer ones are cut.
constexpr std::size_t kMostText = 300, kMostName = 76;

std::string escaped(std::string_view text, std::size_t most = kMostText) {
  std::string out;
  for (const char c : text.substr(0, most)) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  return text.size() > most ? out + "..." : out;
}

/// Prints "41.2 GB/s".
std::string rate_text(double rate, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  for (; rate >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) rate /= 1000;
  return fmt::format("{:.3g} {}{}/s", rate, kPrefixes[prefix], unit);
}

/// Draws one region. Rates are per second, of bytes or of launches.
class Picture {
 public:
  explicit Picture(const ReportRegion& region) : region_(region), timed_(region.timed) {
    show_what_decided();
    std::ranges::stable_sort(timed_, {}, [](const TimedConfig& c) { return std::pair(!c.ratio, c.median_ps); });
    for (const TimedConfig& config : timed_) most_ = std::max(most_, highest(config));
    if (has_copy()) most_ = std::max(most_, rate(region.copy_ps));
  }

  [[nodiscard]] std::string svg() {
    bottom_ = kTop + kRow * static_cast<double>(timed_.size());
    out_ = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"configs by {} a second\">\n",
                       kWidth, bottom_ + 40, region_.bytes > 0 ? "bytes" : "launches");
    ticks();
    for (std::size_t i = 0; i < timed_.size(); ++i) row(timed_[i], kTop + kRow * (static_cast<double>(i) + 0.5));
    if (has_copy()) copy();
    return std::move(out_) + "</svg>\n";
  }

 private:
  /// Draws the configs that raced, by their times as fractions of the default's: these ratios decided.
  void show_what_decided() {
    const auto standard = std::ranges::find_if(
        timed_, [](const TimedConfig& c) { return c.ratio && c.ratio->value == 1 && c.ratio->noise == 0; });
    if (standard == timed_.end()) return;
    const double ps = standard->median_ps;
    for (TimedConfig& config : timed_) {
      if (!config.ratio || &config == &*standard) continue;
      config.median_ps = ps * config.ratio->value;
      config.noise_ps = ps * config.ratio->noise;
    }
  }

  /// Returns whether a race is recorded; records of earlier versions have none.
  [[nodiscard]] bool has_race() const {
    return std::ranges::any_of(timed_, [](const TimedConfig& config) { return config.ratio.has_value(); });
  }
  [[nodiscard]] bool has_copy() const { return region_.bytes > 0 && region_.copy_ps > 0; }
  [[nodiscard]] const char* unit() const { return region_.bytes > 0 ? "B" : " launches"; }
  [[nodiscard]] double rate(double ps) const {
    return (region_.bytes > 0 ? static_cast<double>(region_.bytes) : 1) * 1e12 / std::max(ps, 1.0);
  }
  /// The upper end of a config's interval, limited to what a picture can show.
  [[nodiscard]] double highest(const TimedConfig& config) const {
    return std::min(rate(config.median_ps - config.noise_ps), 1.5 * rate(config.median_ps));
  }
  [[nodiscard]] double x(double rate) const { return kLeft + (kRight - kLeft) * rate / (1.05 * most_); }

  void ticks() {
    const double rough = most_ / 5, power = std::pow(10, std::floor(std::log10(rough)));
    const double step = power * (rough <= 2 * power ? 2 : rough <= 5 * power ? 5 : 10);
    for (int i = 0; x(i * step) <= kRight; ++i)
      out_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
          "<text class=\"tick\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
          x(i * step), kTop, bottom_, bottom_ + 16, i == 0 ? "0" : rate_text(i * step, unit()));
  }

  void row(const TimedConfig& config, double y) {
    const bool chosen = config.config == region_.chosen, standard = config.config == region_.default_config;
    const bool alone = !config.ratio && has_race(), slower = config.ratio && !config.ratio->slower_in.empty();
    const std::string note = chosen && standard ? "chosen, default: "
                             : chosen           ? "chosen: "
                             : standard         ? "default: "
                             : alone            ? "alone: "
                             : slower           ? fmt::format("slower {}: ", config.ratio->slower_in)
                                                : "";
    const double at = rate(config.median_ps), low = rate(config.median_ps + config.noise_ps);
    out_ += fmt::format("<g class=\"dot{}{}{}\"><title>{}{}: {} ({} to {})</title>", chosen ? " chosen" : "",
                        standard ? " default" : "", alone || slower ? " aside" : "", note, escaped(config.config),
                        rate_text(at, unit()), rate_text(low, unit()), rate_text(highest(config), unit()));
    out_ += fmt::format("<text class=\"name\" x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}{}</text>", kLeft - 8, y + 4,
                        note, escaped(config.config, kMostName));
    out_ += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{3:.1f}\" y2=\"{3:.1f}\"/><circle cx=\"{2:.1f}\" "
        "cy=\"{3:.1f}\" r=\"4\"/></g>\n",
        x(low), x(highest(config)), x(at), y);
  }

  void copy() {
    const double speed = rate(region_.copy_ps);
    out_ += fmt::format(
        "<line class=\"copy\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text class=\"copied\" x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"{4}\">plain copy {5}</text>\n",
        x(speed), kTop, bottom_, kTop - 8, x(speed) > (kLeft + kRight) / 2 ? "end" : "start", rate_text(speed, unit()));
  }

  const ReportRegion& region_;  // borrowed
  std::vector<TimedConfig> timed_;
  double most_ = 0, bottom_ = 0;
  std::string out_;
};

std::string failures(const ReportRegion& region) {
  if (region.failed.empty()) return {};
  std::string text = "<table><tr><th>failed</th><th>verdict</th><th>why</th></tr>\n";
  for (const FailedConfig& f : region.failed)
    text += fmt::format("<tr><td>{}</td><td class=\"verdict\">{}</td><td>{}</td></tr>\n", escaped(f.config),
                        escaped(f.verdict), escaped(f.message));
  return text + "</table>\n";
}

std::string section(const ReportRegion& region) {
  std::string text =
      fmt::format("<section>\n<h2>{}: {}</h2>\n<p class=\"soft\">measured at {} on {}</p>\n", escaped(region.program),
                  escaped(region.region), escaped(region.sizes), escaped(region.machine));
  text += region.chosen.empty() ? std::string("<p>nothing was chosen")
                                : fmt::format("<p>chosen: <code>{}</code>", escaped(region.chosen));
  if (!region.coverage.empty()) text += fmt::format(" ({})", escaped(region.coverage));
  text += fmt::format("; {} timed, {} failed</p>\n", region.timed.size(), region.failed.size());
  if (!region.timed.empty()) text += Picture(region).svg();
  return text + failures(region) + "</section>\n";
}

}  // namespace

std::string report_page(const std::string& cache, const std::vector<ReportRegion>& regions) {
  std::string page(kHead);
  page += fmt::format("<h1>What tuning found</h1>\n<p class=\"soft\">{} region{} of {}</p>\n", regions.size(),
                      regions.size() == 1 ? "" : "s", escaped(cache));
  page +=
      "<p>A dot is a config's median over its launches, its line the median's interval; further right is faster. The "
      "one "
      "that runs where nothing was chosen, the default, is a ring; the one that was chosen is green. Dots in full "
      "colour "
      "were timed in turn with the default, each launch of one right after those of another: that decided. Pale ones "
      "were timed alone, at another moment, or are slower than the default in one of the settings. A dashed line is "
      "a "
      "plain copy of as many bytes as the program reads and writes, timed when this page was made.</p>\n";
  for (const ReportRegion& region : regions) page += section(region);
  return page + "</body>\n</html>\n";
}

}  // namespace padlock::tools
