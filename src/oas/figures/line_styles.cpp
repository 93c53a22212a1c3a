#include "oas/figures/line_styles.hpp"

#include <algorithm>
#include <array>

namespace oas {

namespace {

// Okabe and Ito, Color Universal Design (2008).
constexpr std::array<std::string_view, 7> kPalette = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                      "#E69F00", "#56B4E9", "#8C6D46"};

struct FixedColor {
  std::string_view series;
  std::string_view color;
};
// An algorithm, and the agent built on it, look the same in every figure.
constexpr FixedColor kFixedColors[] = {
    {"oas", "#0072B2"},         {"oas-ucrl", "#0072B2"},
    {"oas-overlap", "#56B4E9"}, {"oas-ucrl-pooled", "#56B4E9"},
    {"oas-ml", "#8C6D46"},      {"oas-ucrl-ml", "#8C6D46"},
    {"pooled-free", "#56B4E9"}, {"ml-free", "#8C6D46"},
    {"psrl-free", "#009E73"},   {"em", "#E69F00"},
    {"oas-soft", "#CC79A7"},    {"oas-weighted", "#E69F00"},
    {"spectral", "#D55E00"},    {"seeu", "#D55E00"},
    {"particle", "#009E73"},    {"psrl", "#009E73"},
    {"gibbs", "#009E73"},       {"sm-ucrl", "#CC79A7"},
    {"oracle", "#7F7F7F"},      {"uniform", "#B0B0B0"},
    {"myopic", "#E69F00"},
};

constexpr std::array<std::string_view, 4> kDashes = {"", "7 3", "2 3", "9 3 2 3"};

}  // namespace

std::map<std::string, Style> styles_of(const std::vector<std::string>& labels) {
  std::map<std::string, Style> styles;
  std::vector<std::string_view> left(kPalette.begin(), kPalette.end());
  for (const std::string& label : labels) {
    for (const FixedColor& fixed : kFixedColors) {
      if (fixed.series != label) continue;
      styles[label].color = fixed.color;
      left.erase(std::remove(left.begin(), left.end(), fixed.color), left.end());
    }
  }
  if (left.empty()) left.assign(kPalette.begin(), kPalette.end());
  std::size_t next = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    Style& style = styles[labels[i]];
    if (style.color.empty()) style.color = left[next++ % left.size()];
    style.dash = kDashes[i % kDashes.size()];
  }
  return styles;
}

}  // namespace oas
