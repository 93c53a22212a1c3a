#include "oas/model/run_start.hpp"

#include <algorithm>
#include <cmath>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"

namespace oas {

RunStart RunStart::known(State state) {
  OAS_REQUIRE(state >= 0, "a run starts in state {}", state.value());
  return RunStart(state.value());
}

RunStart RunStart::with_whole_reading() const {
  const auto missing = [](double component) { return std::isnan(component); };
  const bool whole = !first_ || std::ranges::none_of(first_->reading, missing);
  return whole ? *this : with(FirstReading());
}

double RunStart::belief(std::span<const double> start, std::span<double> out,
                        std::span<const double> unknown) const {
  const std::size_t n = start.size();
  if (unknown.empty() && law_) unknown = *law_;
  OAS_REQUIRE(fits(static_cast<int>(n)) && out.size() >= n &&
                  (!is_unknown() || unknown.empty() || unknown.size() == n),
              "this start of a run does not fit a model of {} states (room for {})", n, out.size());
  if (from_model()) {
    std::copy(start.begin(), start.end(), out.begin());
  } else if (is_unknown() && !unknown.empty()) {
    std::copy(unknown.begin(), unknown.end(), out.begin());
  } else {
    std::fill_n(out.begin(), n, value_ == kUnknown ? 1.0 / static_cast<double>(n) : 0.0);
    if (value_ >= 0) out[static_cast<std::size_t>(value_)] = 1.0;
  }
  if (!first_ || first_->likelihood.empty()) return 1.0;
  double probability = 0.0;
  for (std::size_t s = 0; s < n; ++s) probability += out[s] * first_->likelihood[s];
  if (!(probability > 0.0)) return 0.0;
  // In this order: 1/probability may be beyond all numbers.
  for (std::size_t s = 0; s < n; ++s) out[s] = out[s] * first_->likelihood[s] / probability;
  return probability;
}

void RunStart::save(ByteWriter& out) const {
  out.put(value_);
  out.put(first_ != nullptr);
  if (!first_) return;
  out.put(first_->observation);
  out.put_all(first_->reading);
  out.put_all(first_->likelihood);
}

RunStart RunStart::loaded(ByteReader& in) {
  RunStart start(in.get<int>());
  if (!in.get<bool>()) return start;
  FirstReading first;
  first.observation = in.get<Observation>();
  first.reading = in.get_all<double>();
  first.likelihood = in.get_all<double>();
  return start.with(std::move(first));
}

FirstReading first_reading(const ObservationModel& sensor, Observation observation) {
  check_observation(observation, sensor.num_observations());
  FirstReading first{observation, {}, {}};
  if (observation == kMissing) return first;
  for (State s{0}; s < sensor.num_states(); ++s) {
    first.likelihood.push_back(sensor(Action{0}, s, observation));
  }
  return first;
}

void save_all(const std::vector<RunStart>& starts, ByteWriter& out) {
  out.put(static_cast<std::int64_t>(starts.size()));
  for (const RunStart& start : starts) start.save(out);
}

std::vector<RunStart> load_starts(ByteReader& in) {
  std::vector<RunStart> starts;
  for (std::int64_t left = in.get_integer(0, std::int64_t{1} << 40); left > 0; --left) {
    starts.push_back(RunStart::loaded(in));
  }
  return starts;
}

}  // namespace oas
