#include "oas/estimation/diagnosis/label_error.hpp"

#include <algorithm>
#include <numeric>

namespace oas {

double label_widening(double rows, double labelled_rows, std::span<const double> visits) {
  const double all = std::accumulate(visits.begin(), visits.end(), 0.0);
  if (!(labelled_rows > 0.0) || !(all > 0.0)) return 1.0;
  double squares = 0.0;
  for (const double one : visits) squares += one * one / (all * all);
  const auto states = static_cast<double>(visits.size());
  return 1.0 + rows / labelled_rows * std::max(1.0, squares * states);
}

}  // namespace oas
