#include "oas/sensors/cells.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/json_text.hpp"
#include "oas/sensors/detail/cell_probabilities.hpp"

namespace oas {

Cells::Cells(std::vector<std::vector<double>> splits) : splits_(std::move(splits)) {
  OAS_REQUIRE(!splits_.empty(), "cells of no component");
  std::size_t count = 1;
  for (std::size_t c = 0; c < splits_.size(); ++c) {
    check_finite(splits_[c], fmt::format("splits[{}]", c));
    for (std::size_t i = 1; i < splits_[c].size(); ++i) {
      OAS_REQUIRE(splits_[c][i] > splits_[c][i - 1],
                  "splits[{}][{}] is {} after {}; split points must ascend", c, i, splits_[c][i],
                  splits_[c][i - 1]);
    }
    count *= splits_[c].size() + 1;
    OAS_REQUIRE(count <= kMaxCells, "more than {} cells", kMaxCells);
  }
  num_cells_ = static_cast<int>(count);
}

Observation Cells::cell(std::span<const double> reading) const {
  OAS_REQUIRE(reading.size() == splits_.size(), "a reading of {} components for cells of {}",
              reading.size(), splits_.size());
  std::size_t cell = 0;
  for (std::size_t c = 0; c < splits_.size(); ++c) {
    const auto& splits = splits_[c];
    const auto above = std::lower_bound(splits.begin(), splits.end(), reading[c]);
    cell = cell * (splits.size() + 1) + static_cast<std::size_t>(above - splits.begin());
  }
  return Observation{cell};
}

void to_cells(std::span<const double> readings, const Cells& cells,
              std::span<Observation> observations) {
  const auto d = static_cast<std::size_t>(cells.dimension());
  OAS_REQUIRE(readings.size() == observations.size() * d,
              "{} readings of {} components for {} rows", readings.size(), d, observations.size());
  for (std::size_t t = 0; t < observations.size(); ++t) {
    if (observations[t] == kMissing) continue;
    const auto reading = readings.subspan(t * d, d);
    const bool complete =
        std::none_of(reading.begin(), reading.end(), [](double x) { return std::isnan(x); });
    observations[t] = complete ? cells.cell(reading) : kMissing;
  }
}

ObservationModel cell_sensors(const DensitySensors& sensors, const Cells& cells,
                              const WorkDone& progress) {
  OAS_REQUIRE(sensors.dimension() == cells.dimension(),
              "cells of {} components for observations of {}", cells.dimension(),
              sensors.dimension());
  const auto size = static_cast<std::size_t>(cells.num_cells());
  std::vector<double> values;
  for (Action a{0}; a < sensors.num_actions(); ++a) {
    for (State s{0}; s < sensors.num_states(); ++s) {
      values.resize(values.size() + size);
      const std::span<double> row = std::span(values).last(size);
      detail::CellProbabilities(sensors(a, s), false)(cells.splits(), row);
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& value : row) value /= sum;
      if (progress) progress();
    }
  }
  return {sensors.num_states(), sensors.num_actions(), cells.num_cells(), std::move(values),
          "cell probabilities"};
}

Pomdp discretise(const ContinuousPomdp& model, const Cells& cells, const WorkDone& progress) {
  std::optional<ObservationModel> first;
  if (model.first_density()) first = cell_sensors(*model.first_density(), cells);
  return model.with_sensors(cell_sensors(model.sensors(), cells, progress), std::move(first));
}

nlohmann::ordered_json cells_to_json(const Cells& cells) { return {{"splits", cells.splits()}}; }

Cells parse_cells(std::string_view text, const std::string& file) {
  const nlohmann::ordered_json document = parse_json(text, file);
  const JsonView view = JsonView(document, file).at("cells");
  view.require_keys(std::array<std::string_view, 1>{"splits"});
  const JsonView list = view.at("splits");
  std::vector<std::vector<double>> splits;
  for (std::size_t c = 0; c < list.size(); ++c) {
    const std::array extents = {static_cast<int>(list.at(c).size())};
    splits.push_back(list.at(c).as_array(extents));
  }
  try {
    return Cells(std::move(splits));
  } catch (const InvalidArgument& error) {
    view.fail(error.what());
  }
}

}  // namespace oas
