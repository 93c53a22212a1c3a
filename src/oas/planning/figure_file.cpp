#include "oas/figures/figure_file.hpp"

#include "oas/planning/simplex_figure.hpp"

namespace oas {

void write_policy_figure(const std::string& path, const Plan& plan, const FigureOptions& options) {
  write_figure(path, policy_figure_svg(plan, options));
}

}  // namespace oas
