#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "oas/core/index.hpp"
#include "oas/model/continuous_pomdp.hpp"
#include "oas/model/pomdp.hpp"

namespace oas {

/// A division of the space of real-valued observations into finitely many cells, the same for all
/// actions and states (paper, appendix on continuous observations): split points c_1 < c_2 < … cut
/// the line into (-∞, c_1], (c_1, c_2], …, (c_k, ∞); for vectors each component is cut, and a cell
/// is a box, the last component varying fastest. A value.
class Cells {
 public:
  /// One list of ascending finite split points per component, maybe empty. Throws InvalidArgument
  /// naming index and value, and when there would be more than kMaxCells cells.
  explicit Cells(std::vector<std::vector<double>> splits);
  static constexpr std::size_t kMaxCells = 65'536;

  [[nodiscard]] int dimension() const { return static_cast<int>(splits_.size()); }
  [[nodiscard]] int num_cells() const { return num_cells_; }
  [[nodiscard]] const std::vector<std::vector<double>>& splits() const { return splits_; }

  /// The cell that holds a reading. Throws InvalidArgument when it has other components.
  [[nodiscard]] Observation cell(std::span<const double> reading) const;

  friend bool operator==(const Cells&, const Cells&) = default;

 private:
  std::vector<std::vector<double>> splits_;
  int num_cells_ = 1;
};

/// The cells of readings [row][component], where `observations` are not missing, in their place. A
/// reading with a component that is missing (NaN) is in no cell: it becomes missing.
void to_cells(std::span<const double> readings, const Cells& cells,
              std::span<Observation> observations);

/// Called whenever a piece of some long work is done; may be empty.
using WorkDone = std::function<void()>;

/// P(cell | s, a) by the distribution functions: Z_a(u,s) = F(c_u) - F(c_{u-1}), exact up to
/// rounding (three or more dependent components: VectorDensity::box). `progress` is told each
/// (action, state). Throws InvalidArgument when dimensions differ.
[[nodiscard]] ObservationModel cell_sensors(const DensitySensors& sensors, const Cells& cells,
                                            const WorkDone& progress = {});

/// The same model with cells for observations: exact, nothing but information is lost.
[[nodiscard]] Pomdp discretise(const ContinuousPomdp& model, const Cells& cells,
                               const WorkDone& progress = {});

/// The object "cells" of a model file that discretise() led to: {"splits": [[…], …]}.
[[nodiscard]] nlohmann::ordered_json cells_to_json(const Cells& cells);

/// Reads it back out of a model file. Throws ParseError naming file, path and value.
[[nodiscard]] Cells parse_cells(std::string_view text, const std::string& file);

}  // namespace oas
