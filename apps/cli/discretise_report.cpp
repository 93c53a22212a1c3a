#include "discretise_report.hpp"

#include <fmt/format.h>

#include "cli.hpp"

namespace oas::cli {

namespace {

std::string splits_text(const Cells& cells) {
  std::string text;
  for (std::size_t c = 0; c < cells.splits().size(); ++c) {
    text += fmt::format("  split points{}: {:.6g}\n",
                        cells.dimension() > 1 ? fmt::format(" of component {}", c + 1) : "",
                        fmt::join(cells.splits()[c], " "));
  }
  return text;
}

}  // namespace

std::string discretise_text(const Discretised& found) {
  std::string text = fmt::format("{} cells, alpha {:.4f}\n{}", found.cells.num_cells(), found.alpha,
                                 splits_text(found.cells));
  if (found.carried) {
    text +=
        "that the densities were calibrated on labelled rows goes along with the draws of the "
        "estimate; a new estimate with these cells would take them as exact\n";
  }
  if (!found.output.empty()) text += fmt::format("{}: written\n", found.output);
  if (!found.log_output.empty()) {
    text += fmt::format("{}: {} written\n", found.log_output, counted(found.rows, "row"));
  }
  return text;
}

}  // namespace oas::cli
