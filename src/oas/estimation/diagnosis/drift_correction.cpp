#include "oas/estimation/diagnosis/drift_correction.hpp"

#include <algorithm>
#include <cmath>

#include "oas/estimation/diagnosis/score_walk.hpp"
#include "oas/estimation/likelihood/transition_likelihood.hpp"

namespace oas {

namespace {

constexpr int kScoringSteps = 12;
constexpr int kEmissionSteps = 30;
constexpr double kSettled = 1e-3;  // standard deviations
constexpr double kLongestStep = 1.0;

// Readings of the rows marked in `behind`, less `shift`; false: one of them is impossible.
bool shift_readings(const ReadingLikelihood& likelihood, const DiagnosedRows& from,
                    const std::vector<char>& behind, const std::vector<double>& shift,
                    DiagnosedRows& to) {
  const std::size_t d = shift.size();
  const auto n = static_cast<std::size_t>(likelihood.sensors().num_states());
  for (std::size_t t = 0; t < from.size(); ++t) {
    if (behind[t] == 0 || from.observations[t] == kMissing) continue;
    for (std::size_t i = 0; i < d; ++i) {
      to.readings[t * d + i] = from.readings[t * d + i] - shift[i];
    }
    const auto likelihoods = std::span(to.likelihoods).subspan(t * n, n);
    likelihood(from.actions[t], std::span(to.readings).subspan(t * d, d), likelihoods);
    const double largest = *std::max_element(likelihoods.begin(), likelihoods.end());
    if (!(largest > 0.0) || !std::isfinite(largest)) return false;
    for (double& value : likelihoods) value /= largest;
  }
  return true;
}

// A step of scoring along the sensor directions, from the rows marked alone.
Vector scoring_step(const AnyModel& model, const DiagnosedRows& rows, const StratifiedFit& fit,
                    const std::vector<char>& behind) {
  const SensorDirections sensors(model, rows);
  ScoreWalk walk(model, rows, fit, sensors);
  const Eigen::Index size = sensors.size();
  Vector score = Vector::Zero(size);
  Matrix information = 1e-6 * Matrix::Identity(size, size);
  walk.run(0, [&](const ScoredRow& row) {
    if (behind[row.row] == 0) return;
    const auto own = row.others.rightCols(size);
    score += row.score.tail(size);
    information.noalias() += own.transpose() * row.weights.asDiagonal() * own;
  });
  return pseudo_inverse(information).inverse * score;
}

bool correct_readings(const StratifiedFit& fit, const DiagnosedRows& rows,
                      const std::vector<char>& behind, DriftCorrection& out) {
  const DensitySensors& sensors = std::get<ContinuousPomdp>(out.model).sensors();
  const ReadingLikelihood likelihood(sensors, rows.outlier_share);
  std::vector<double> shift(static_cast<std::size_t>(sensors.dimension()), 0.0);
  for (int step = 0; step < kScoringSteps; ++step) {
    const Vector move = scoring_step(out.model, out.rows, fit, behind);
    const SensorDirections scales(out.model, out.rows);
    double longest = 0.0;
    for (std::size_t i = 0; i < shift.size(); ++i) {
      if (sensors.discrete(static_cast<int>(i))) continue;
      const auto mean = static_cast<int>(2 * i);
      const double by = std::clamp(move(mean), -kLongestStep, kLongestStep);
      shift[i] += by * scales.scale(mean);
      longest = std::max(longest, std::abs(by));
    }
    if (!shift_readings(likelihood, rows, behind, shift, out.rows)) return false;
    if (longest < kSettled) break;
  }
  return true;
}

// Sensors that fit the rows marked, by expectation-maximisation from the model's.
ObservationModel refit_sensors(const Pomdp& model, const TransitionModel& transition,
                               const DiagnosedRows& rows, const std::vector<char>& behind) {
  TransitionLikelihood likelihood(model);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    if (behind[t] == 0) continue;
    if (t == 0 || behind[t - 1] == 0) likelihood.start_run(RunStart::unknown());
    const auto run = std::lower_bound(rows.run_starts.begin(), rows.run_starts.end(), t);
    if (run != rows.run_starts.end() && *run == t) {
      likelihood.start_run(rows.starts[static_cast<std::size_t>(run - rows.run_starts.begin())]);
    }
    likelihood.append(rows.actions[t], rows.observations[t]);
  }
  ObservationModel sensors = model.sensors();
  const auto width = static_cast<std::size_t>(model.num_observations());
  for (int step = 0; step < kEmissionSteps; ++step) {
    PassOptions options;
    options.emissions = true;
    options.sensors = std::make_shared<const ObservationModel>(sensors);
    const LikelihoodPass pass = likelihood.pass(transition, options);
    if (!pass.possible()) break;
    std::vector<double> values(sensors.values().begin(), sensors.values().end());
    for (std::size_t row = 0; row < values.size(); row += width) {
      double sum = 0.0;
      for (std::size_t o = 0; o < width; ++o) sum += pass.emission_counts[row + o];
      if (sum < 1.0) continue;
      for (std::size_t o = 0; o < width; ++o) {
        values[row + o] = (pass.emission_counts[row + o] + 1e-9) / (sum + 1e-9 * width);
      }
    }
    sensors = ObservationModel(model.num_states(), model.num_actions(), model.num_observations(),
                               std::move(values));
  }
  return sensors;
}

void correct_observations(const Pomdp& model, const StratifiedFit& fit, const DiagnosedRows& rows,
                          const std::vector<char>& behind, DriftCorrection& out) {
  const ObservationModel after = refit_sensors(model, fit.strata.front().transition, rows, behind);
  out.rows.likelihoods.clear();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const ObservationModel& sensors = behind[t] != 0 ? after : model.sensors();
    for (State s{0}; s < model.num_states(); ++s) {
      out.rows.likelihoods.push_back(rows.observations[t] == kMissing
                                         ? 1.0
                                         : sensors(rows.actions[t], s, rows.observations[t]));
    }
  }
  out.model = ContinuousPomdp(model);
}

}  // namespace

std::optional<DriftCorrection> correct_drift(const AnyModel& model, const DiagnosedRows& rows,
                                             std::size_t rows_before, Parallelism parallelism) {
  const auto* finite = std::get_if<Pomdp>(&model);
  const bool real =
      finite == nullptr && std::get<ContinuousPomdp>(model).has_sensors() && !rows.readings.empty();
  if (rows.known_states() || (finite == nullptr && !real)) return {};
  const std::vector<std::size_t> order = rows.in_order();
  std::vector<char> behind(rows.size(), 0);
  for (std::size_t i = rows_before; i < order.size(); ++i) behind[order[i]] = 1;
  const StratifiedFit fit{
      {fit_rows(
          model, rows, [&](std::size_t row) { return behind[row] == 0; }, parallelism)},
      {}};
  DriftCorrection out{model, rows};
  if (finite != nullptr) {
    correct_observations(*finite, fit, rows, behind, out);
  } else if (!correct_readings(fit, rows, behind, out)) {
    return {};
  }
  return out;
}

}  // namespace oas
