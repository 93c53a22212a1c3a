#include "oas/jobs/data_needed.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/evidence.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/transition_error.hpp"

namespace oas {

namespace {

constexpr std::uint64_t kDrawSeed = 31'415;
constexpr double kMostDraws = 400.0;
constexpr double kFewestDraws = 50.0;
constexpr double kWeakSensor = 0.05;  // σ_S(Z_a)

// Columns of independent standard normal numbers.
Matrix normal_columns(Eigen::Index rows, Eigen::Index columns) {
  Rng rng({kDrawSeed, 0, Role::bootstrap});
  Matrix normal(rows, columns);
  for (Eigen::Index k = 0; k < columns; ++k) {
    for (Eigen::Index i = 0; i < rows; ++i) normal(i, k) = sample_normal(rng);
  }
  return normal;
}

Vector truth_of(const Pomdp& model) {
  const auto values = model.transition().values();
  return VectorView(values.data(), static_cast<Eigen::Index>(values.size()));
}

class MomentForecast final : public ErrorForecast {
 public:
  // `series` of `steps` steps.
  MomentForecast(const Pomdp& model, const MomentSeries& series, double steps)
      : truth_(truth_of(model)), num_states_(model.num_states()), steps_(steps) {
    const PairMoments total = series.total();
    const auto entries = static_cast<Eigen::Index>(total.sums.size());
    const Vector sums = VectorView(total.sums.data(), entries);
    mean_.resize(entries);
    for (Eigen::Index first = 0; first < entries; first += num_states_) {
      mean_.segment(first, num_states_) =
          sums.segment(first, num_states_).sum() * truth_.segment(first, num_states_);
    }
    const auto pairs = static_cast<double>(total.total_pairs());
    const auto count = static_cast<double>(series.batches.size());
    Matrix deviations(entries, static_cast<Eigen::Index>(series.batches.size()));
    for (std::size_t b = 0; b < series.batches.size(); ++b) {
      const double share = static_cast<double>(series.batches[b].total_pairs()) / pairs;
      deviations.col(static_cast<Eigen::Index>(b)) =
          (VectorView(series.batches[b].sums.data(), entries) - share * sums) *
          std::sqrt(count / (count - 1.0));
    }
    noise_ = deviations * normal_columns(deviations.cols(), static_cast<Eigen::Index>(kMostDraws));
  }

  [[nodiscard]] double error(double steps) const override {
    const double ratio = steps / steps_;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < noise_.cols(); ++k) {
      const Vector drawn = ratio * mean_ + std::sqrt(ratio) * noise_.col(k);
      double square = 0.0;
      for (Eigen::Index first = 0; first < drawn.size(); first += num_states_) {
        const auto row = drawn.segment(first, num_states_).cwiseMax(0.0);
        const double positive = row.sum();
        const auto true_row = truth_.segment(first, num_states_);
        square += positive > 0.0
                      ? (row / positive - true_row).squaredNorm()
                      : (true_row.array() - 1.0 / static_cast<double>(num_states_)).square().sum();
      }
      sum += std::sqrt(square);
    }
    return sum / static_cast<double>(noise_.cols());
  }

 private:
  Vector truth_;
  Eigen::Index num_states_;
  double steps_;
  Vector mean_;   // expected moments of so many steps
  Matrix noise_;  // and draws of their noise
};

class LikelihoodForecast final : public ErrorForecast {
 public:
  LikelihoodForecast(const Pomdp& model, const std::vector<Trajectory>& logs,
                     Parallelism parallelism)
      : truth_(truth_of(model)) {
    const TransitionModel inside = just_inside(model.transition());
    const FisherInformation information = survey_information(
        model, inside, std::vector<char>(inside.values().size(), 0), logs, parallelism);
    steps_ = information.steps;
    const Eigen::LLT<Matrix> cholesky(information.matrix);
    OAS_REQUIRE(cholesky.info() == Eigen::Success,
                "the information is singular: likelihood does not determine every row");
    const Matrix inverse_factor = cholesky.matrixU().solve(
        Matrix(Matrix::Identity(information.matrix.rows(), information.matrix.rows())));  // L⁻ᵀ
    const Matrix factor = information.expand(inverse_factor);
    covariance_ = factor * factor.transpose();
    const double draws =
        std::clamp(4e6 / static_cast<double>(covariance_.size()) * 10.0, kFewestDraws, kMostDraws);
    noise_ = factor * normal_columns(factor.cols(), static_cast<Eigen::Index>(draws));
  }

  // √E‖T̂ - T‖² without bounds.
  [[nodiscard]] double unbounded(double steps) const {
    return std::sqrt(covariance_.trace() * steps_ / steps);
  }

  [[nodiscard]] double error(double steps) const override {
    const double ratio = steps_ / steps;
    double sum = 0.0;
    for (Eigen::Index k = 0; k < noise_.cols(); ++k) {
      sum += (projected(truth_ + std::sqrt(ratio) * noise_.col(k)) - truth_).norm();
    }
    return sum / static_cast<double>(noise_.cols());
  }

 private:
  // The point x >= 0 nearest to y in the metric of the information: x = y + Σλ with λ >= 0 and
  // λ·x = 0, by Gauss-Seidel (Hildreth 1957). Rows keep their sums, since those of Σ are 0.
  [[nodiscard]] Vector projected(Vector point) const {
    constexpr int kMostSweeps = 200;
    constexpr double kNegative = -1e-9;
    if (point.minCoeff() >= 0.0) return point;
    Vector multiplier = Vector::Zero(point.size());
    for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
      double worst = 0.0;
      for (Eigen::Index i = 0; i < point.size(); ++i) {
        const double variance = covariance_(i, i);
        if (!(variance > 0.0) || (point(i) >= 0.0 && multiplier(i) == 0.0)) continue;
        const double next = std::max(0.0, multiplier(i) - point(i) / variance);
        worst = std::min(worst, point(i));
        point += (next - multiplier(i)) * covariance_.row(i).transpose();
        multiplier(i) = next;
      }
      if (worst > kNegative) break;
    }
    return point;
  }

  Vector truth_;
  double steps_ = 0.0;
  Matrix covariance_;  // of all entries, from so many steps
  Matrix noise_;
};

std::string first_reason(const Pomdp& model, const Identifiability& found, bool by_likelihood) {
  for (const RowIdentifiability& row : found.rows) {
    const std::string& reason = by_likelihood ? row.likelihood : row.moments;
    if (reason.empty()) continue;
    return fmt::format("row ({}, {}): {}", model.actions()[row.action], model.states()[row.state],
                       reason);
  }
  return {};
}

// How many steps until logs speak for the truth more than noise speaks for other dynamics: a climb
// gains half a unit of log-likelihood for each parameter from noise, and as much again now and
// then, so that the truth must gain one. 0 where uniform dynamics are near enough.
double steps_to_be_found(const Pomdp& model, double target, const std::vector<Trajectory>& logs,
                         Parallelism parallelism) {
  const int n = model.num_states();
  const TransitionModel uniform = TransitionModel::uniform(n, model.num_actions());
  if (transition_error(model.transition(), uniform).frobenius <= target) return 0.0;
  TransitionLikelihood rows(model);
  for (const Trajectory& log : logs) {
    rows.start_run();
    rows.append(log.actions, log.observations);
  }
  const double gain = rows.pass(model.transition(), {}, parallelism).log_likelihood -
                      rows.pass(uniform, {}, parallelism).log_likelihood;
  const double parameters = static_cast<double>(model.num_actions()) * n * (n - 1);
  return gain > 0.0 ? parameters * static_cast<double>(rows.rows()) / gain
                    : std::numeric_limits<double>::infinity();
}

std::string presumed_of_search(const Pomdp& model) {
  const std::vector<double> alphas = sensor_alphas(model);
  const auto weakest = std::min_element(alphas.begin(), alphas.end());
  if (*weakest >= kWeakSensor) return {};
  return fmt::format(
      "that the search finds the highest maximum; with a sensor as weak as that of {} (alpha "
      "{:.2g}) "
      "it may not",
      model.actions()[static_cast<int>(weakest - alphas.begin())], *weakest);
}

}  // namespace

double ErrorForecast::steps_for(double target) const {
  OAS_REQUIRE(target > 0.0, "target error is {}; it must be positive", target);
  double low = 1.0;
  double high = 1e18;
  if (error(high) > target) return std::numeric_limits<double>::infinity();
  if (error(low) <= target) return low;
  while (high / low > 1.001) {
    const double middle = std::sqrt(low * high);
    (error(middle) > target ? low : high) = middle;
  }
  return high;
}

std::unique_ptr<ErrorForecast> forecast_moments(const Pomdp& model, const std::string& estimator,
                                                const SurveyOptions& options,
                                                const std::vector<Trajectory>& logs,
                                                Parallelism parallelism) {
  EvidenceOptions settings;
  settings.actions_ignore_observations = !find_policy(options.policy.name).reacts;
  const Evidence empty = make_evidence(estimator, model, settings);
  std::vector<MomentSeries> parts(logs.size());
  parallel_for(logs.size(), parallelism, [&](std::size_t r) {
    Evidence evidence = empty;
    evidence.add(logs[r]);
    parts[r] = evidence.moments();
  });
  MomentSeries series;
  for (MomentSeries& part : parts) series.append(std::move(part));
  return std::make_unique<MomentForecast>(model, series, static_cast<double>(series.rows));
}

std::unique_ptr<ErrorForecast> forecast_likelihood(const Pomdp& model,
                                                   const std::vector<Trajectory>& logs,
                                                   Parallelism parallelism) {
  return std::make_unique<LikelihoodForecast>(model, logs, parallelism);
}

double cramer_rao_error(const Pomdp& model, const std::vector<Trajectory>& logs, double steps,
                        Parallelism parallelism) {
  return LikelihoodForecast(model, logs, parallelism).unbounded(steps);
}

std::vector<DataNeeded> data_needed(const Pomdp& model, double target,
                                    const std::vector<std::string>& estimators,
                                    const SurveyOptions& options,
                                    const std::vector<Trajectory>& logs,
                                    const Identifiability& identifiability,
                                    Parallelism parallelism) {
  std::vector<DataNeeded> result;
  for (const std::string& name : estimators) {
    const EstimatorInfo& info = find_estimator(name);
    const bool likelihood = info.climbs;
    OAS_REQUIRE(
        likelihood || (info.reading == Reading::once && info.errors == ErrorSource::batches),
        "estimator '{}': the error of moments and likelihood only can be predicted", name);
    DataNeeded one{name, std::nullopt, first_reason(model, identifiability, likelihood)};
    if (one.reason.empty()) {
      const std::unique_ptr<ErrorForecast> forecast =
          likelihood ? forecast_likelihood(model, logs, parallelism)
                     : forecast_moments(model, name, options, logs, parallelism);
      one.steps = forecast->steps_for(target);
      if (likelihood) {
        one.steps = std::max(*one.steps, steps_to_be_found(model, target, logs, parallelism));
        one.presumes = presumed_of_search(model);
      }
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace oas
