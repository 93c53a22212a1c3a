#include "oas/estimation/likelihood/detail/quad_tables.hpp"

#include <algorithm>
#include <cstddef>

namespace oas::detail {

namespace {

constexpr double kDense = 0.5;  // of the quads: no list is worth while

bool is_zero(const double* quad) {
  return quad[0] == 0.0 && quad[1] == 0.0 && quad[2] == 0.0 && quad[3] == 0.0;
}

}  // namespace

void QuadTables::fill(const std::vector<double>& matrices, int num_states, int stride) {
  const auto n = static_cast<std::size_t>(num_states);
  const auto width = static_cast<std::size_t>(stride);
  const std::size_t columns = width / 4;
  const auto most = static_cast<std::size_t>(kDense * static_cast<double>(n * columns));
  quads_.assign(matrices.size() / (n * width), {});
  lists_.clear();
  for (std::size_t a = 0; a < quads_.size(); ++a) {
    Quads& quads = quads_[a];
    const double* const matrix = matrices.data() + a * n * width;
    for (std::size_t q = 0; q < columns && quads.row.size() <= most; ++q) {
      quads.first.push_back(static_cast<std::uint32_t>(quads.row.size()));
      for (std::size_t s = 0; s < n; ++s) {
        const double* const quad = matrix + s * width + 4 * q;
        if (is_zero(quad)) continue;
        quads.row.push_back(static_cast<std::uint32_t>(s));
        quads.values.insert(quads.values.end(), quad, quad + 4);
      }
    }
    quads.first.push_back(static_cast<std::uint32_t>(quads.row.size()));
    if (quads.row.size() > most) quads = {};
  }
  const bool any = std::any_of(quads_.begin(), quads_.end(),
                               [](const Quads& quads) { return !quads.first.empty(); });
  for (std::size_t a = 0; any && a < quads_.size(); ++a) {
    const Quads& quads = quads_[a];
    if (quads.first.empty()) {
      lists_.emplace_back();
      continue;
    }
    lists_.push_back(
        {static_cast<int>(columns), quads.first.data(), quads.row.data(), quads.values.data()});
  }
}

}  // namespace oas::detail
