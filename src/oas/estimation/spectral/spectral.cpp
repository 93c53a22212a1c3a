#include "oas/estimation/spectral/spectral.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/estimation/spectral/detail/last_row_policy.hpp"
#include "oas/sensors/left_inverse.hpp"

namespace oas {

namespace {

constexpr double kLongerMemory = 1e-6;  // p-value below which a log is not memoryless

Matrix normalised_columns(Matrix matrix) {
  for (Eigen::Index s = 0; s < matrix.cols(); ++s) {
    const double sum = matrix.col(s).sum();
    if (sum > 0.0) matrix.col(s) /= sum;
  }
  return matrix;
}

// Collects named blocks into one estimate: row s of T_a is the mean over blocks of a, weighted by
// the visits to s, and only then clipped.
class Collector {
 public:
  Collector(const Pomdp& model, const LeftInverses& inverses)
      : model_(model), parts_(static_cast<std::size_t>(model.num_actions())) {
    const int n = model.num_states();
    for (Part& part : parts_) {
      part.sum = Matrix::Zero(n, n);
      part.visits = Vector::Zero(n);
    }
    for (int a = 0; a < model.num_actions(); ++a) {
      estimate_.alpha.push_back(inverses.alpha(Action{a}));
    }
  }

  void add(int action, std::int64_t triples, const SpectralBlock& block) {
    Part& part = parts_[static_cast<std::size_t>(action)];
    part.triples += triples;
    if (triples == 0) return;
    ++part.tried;
    if (!block.usable()) {
      ++part.failed;
      if (triples > part.worst_triples) {
        part.worst_triples = triples;
        part.reason = fmt::format("{} ({} triples)", block.why_not(), triples);
      }
      return;
    }
    const Vector visits = static_cast<double>(triples) * block.weights;
    part.sum += visits.asDiagonal() * block.transition;
    part.visits += visits;
  }

  void warn(std::string text) { estimate_.warnings.push_back(std::move(text)); }

  TransitionEstimate finish() {
    const int n = model_.num_states();
    std::vector<double> values;
    for (int a = 0; a < model_.num_actions(); ++a) {
      Part& part = parts_[static_cast<std::size_t>(a)];
      estimate_.pairs.push_back(part.triples);
      for (int s = 0; s < n; ++s) add_row(a, s, part, values);
      describe(a, part);
    }
    estimate_.estimator = "spectral";
    estimate_.transition = TransitionModel(n, model_.num_actions(), std::move(values));
    estimate_.status = estimate_.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
    return std::move(estimate_);
  }

 private:
  struct Part {
    Matrix sum;
    Vector visits;
    std::int64_t triples = 0;
    int tried = 0;
    int failed = 0;
    std::int64_t worst_triples = 0;  // of the largest block that failed, and its reason
    std::string reason = "the action was never seen in three consecutive rows";
  };

  void add_row(int action, int state, const Part& part, std::vector<double>& values) {
    const auto row = part.sum.row(state);
    const double positive = row.cwiseMax(0.0).sum();
    const double negative = std::max(0.0, positive - row.sum());  // not less, by rounding
    estimate_.visits.push_back(part.visits(state));
    estimate_.clipped.push_back(positive > 0.0 ? negative / (positive + negative) : 1.0);
    if (!(positive > 0.0)) {
      const bool failed = part.tried == part.failed;
      estimate_.flagged.push_back(
          {Action{action}, State{state}, failed ? part.reason : "no positive mass is left"});
    }
    for (int next = 0; next < row.size(); ++next) {
      values.push_back(positive > 0.0 ? std::max(row(next), 0.0) / positive
                                      : 1.0 / static_cast<double>(row.size()));
    }
  }

  void describe(int action, const Part& part) {
    const std::string name = model_.actions()[action];
    if (part.failed > 0 || part.tried == 0) {
      warn(fmt::format("action '{}': {} of {} decompositions failed: {}", name, part.failed,
                       part.tried, part.reason));
    }
  }

  const Pomdp& model_;
  std::vector<Part> parts_;
  TransitionEstimate estimate_;
};

std::vector<double> as_weights(std::span<const std::int64_t> counts) {
  return {counts.begin(), counts.end()};
}

// [x][o] → L_c(:,o) for all actions c side by side, S × A·O.
Matrix all_inverses(const LeftInverses& inverses) {
  const int o = inverses.num_observations();
  Matrix all(inverses.num_states(), inverses.num_actions() * o);
  for (int a = 0; a < inverses.num_actions(); ++a) {
    all.middleCols(a * o, o) = inverses.transposed(a).transpose();
  }
  return all;
}

// Everything that turns the triples of a log into decompositions.
class LogSolver {
 public:
  LogSolver(const TripleFolder& log, const Pomdp& model, const SpectralOptions& options, Rng& rng)
      : log_(log), model_(model), options_(options), rng_(rng), inverses_(model), policy_(log) {}

  TransitionEstimate solve() {
    Collector collector(model_, inverses_);
    const bool before = model_.timing() == Timing::before;
    const int num_actions = model_.num_actions();
    for (int action = 0; action < num_actions; ++action) {
      if (options_.pooling == SpectralPooling::sensors) {
        add_pooled(action, collector);
        continue;
      }
      for (int partner = 0; partner < num_actions; ++partner) {
        before ? add_block(action, partner, action, collector)
               : add_block(partner, action, action, collector);
      }
    }
    warn(collector);
    TransitionEstimate estimate = collector.finish();
    estimate.rows = log_.rows();
    estimate.runs = log_.runs();
    estimate.missing = log_.missing();
    return estimate;
  }

 private:
  void add_block(int second, int third, int learned, Collector& collector) {
    const int block = second * model_.num_actions() + third;
    const std::int64_t triples = log_.counts().total(block);
    if (triples == 0) return;
    const ThreeViews views{log_.counts().sizes(), as_weights(log_.counts().block(block)), {}};
    const SpectralSensors sensors{model_.sensors().matrix(Action{second}),
                                  policy_.tilt(second, third),
                                  inverses_.transposed(third).transpose()};
    collector.add(learned, triples,
                  solve_spectral_block(views, sensors, options_.decomposition, rng_));
  }

  void add_pooled(int action, Collector& collector) {
    std::int64_t triples = 0;
    ThreeViews views = model_.timing() == Timing::before ? views_before(action, triples)
                                                         : views_after(action, triples);
    if (triples == 0) return;
    const int n = model_.num_states();
    SpectralSensors sensors;
    if (model_.timing() == Timing::before) {
      sensors.second = model_.sensors().matrix(Action{action});
      sensors.third_inverse = Matrix::Identity(n, n);
    } else {
      sensors.second = Matrix::Identity(n, n);
      sensors.third_inverse = inverses_.transposed(action).transpose();
    }
    collector.add(action, triples,
                  solve_spectral_block(views, sensors, options_.decomposition, rng_));
  }

  // x3 = (a3,o3) through the left inverses.
  ThreeViews views_before(int action, std::int64_t& triples) const {
    const auto [d1, o, o3] = log_.counts().sizes();
    const int num_actions = model_.num_actions();
    ThreeViews views{{d1, o, num_actions * o}, {}, {}};
    views.features[2] = all_inverses(inverses_);
    views.weights.resize(static_cast<std::size_t>(d1 * o * num_actions * o));
    for (int partner = 0; partner < num_actions; ++partner) {
      const auto counts = log_.counts().block(action * num_actions + partner);
      triples += log_.counts().total(action * num_actions + partner);
      for (int pair = 0; pair < d1 * o; ++pair) {  // (x1,o2)
        for (int third = 0; third < o3; ++third) {
          views.weights[static_cast<std::size_t>((pair * num_actions + partner) * o + third)] =
              static_cast<double>(counts[static_cast<std::size_t>(pair * o + third)]);
        }
      }
    }
    return views;
  }

  // x1 joined with a2; x2 = (a2,o2) through the left inverses, triples weighted by 1/π(a3|a2,o2).
  ThreeViews views_after(int action, std::int64_t& triples) const {
    const auto [d1, o, o3] = log_.counts().sizes();
    const int num_actions = model_.num_actions();
    ThreeViews views{{num_actions * d1, num_actions * o, o}, {}, {}};
    views.features[1] = all_inverses(inverses_);
    views.weights.resize(static_cast<std::size_t>(num_actions * d1 * num_actions * o * o3));
    for (int partner = 0; partner < num_actions; ++partner) {
      const auto counts = log_.counts().block(partner * num_actions + action);
      const Vector tilt = policy_.tilt(partner, action);
      triples += log_.counts().total(partner * num_actions + action);
      for (int x1 = 0; x1 < d1; ++x1) {
        for (int second = 0; second < o; ++second) {
          if (!(tilt(second) > 0.0)) continue;
          const int from = (x1 * o + second) * o3;
          const int to = (((partner * d1 + x1) * num_actions + partner) * o + second) * o3;
          for (int third = 0; third < o3; ++third) {
            views.weights[static_cast<std::size_t>(to + third)] =
                static_cast<double>(counts[static_cast<std::size_t>(from + third)]) / tilt(second);
          }
        }
      }
    }
    return views;
  }

  void warn(Collector& collector) const {
    const bool pooled = options_.pooling == SpectralPooling::sensors;
    if (pooled && model_.timing() == Timing::before) return;  // valid for any policy
    const double p = detail::longer_memory_p_value(log_);
    if (p < kLongerMemory) {
      collector.warn(fmt::format(
          "the actions of this log depend on more than the row before (p = {:.2g}); the spectral "
          "estimate is then not consistent: use oas-overlap",
          p));
    }
    if (!pooled) return;
    for (int a = 0; a < model_.num_actions(); ++a) {
      int lost = 0;
      for (int second = 0; second < model_.num_actions(); ++second) {
        const Vector tilt = policy_.tilt(second, a);
        lost += static_cast<int>(
            ((tilt.array() <= 0.0) && (policy_.seen(second).array() > 0.0)).count());
      }
      if (lost > 0) {
        collector.warn(fmt::format(
            "action '{}' never followed {} of the pairs of action and observation that were seen: "
            "its rows are biased if it could not follow them",
            model_.actions()[a], lost));
      }
    }
  }

  const TripleFolder& log_;
  const Pomdp& model_;
  const SpectralOptions& options_;
  Rng& rng_;
  LeftInverses inverses_;
  detail::LastRowPolicy policy_;
};

}  // namespace

bool SpectralBlock::usable() const {
  return decomposition.status == DecompositionStatus::ok && labels.certain();
}

std::string SpectralBlock::why_not() const {
  if (decomposition.status != DecompositionStatus::ok) return decomposition.message;
  return "the emissions found do not tell which state is which";
}

SpectralBlock solve_spectral_block(const ThreeViews& views, const SpectralSensors& sensors,
                                   const DecompositionOptions& options, Rng& rng) {
  const auto num_states = static_cast<int>(sensors.second.cols());
  SpectralBlock block;
  block.decomposition = decompose(views, num_states, options, rng);
  if (block.decomposition.status != DecompositionStatus::ok) return block;
  const Matrix& second = block.decomposition.means[1];
  const bool tilted = sensors.tilt.size() > 0;
  const Matrix expected =
      tilted ? normalised_columns(sensors.tilt.asDiagonal() * sensors.second) : sensors.second;
  block.labels = match_labels(second, expected);
  const Matrix& third = block.decomposition.means[2];
  if (sensors.third_inverse.size() > 0) {
    // The known sensor names the next states already.
    block.transition = (sensors.third_inverse * third).transpose()(block.labels.column, Eigen::all);
  } else {
    block.transition =
        relabelled((pseudo_inverse(second).inverse * third).transpose(), block.labels);
  }
  block.weights = block.decomposition.weights(block.labels.column);
  block.emission = second(Eigen::all, block.labels.column);
  if (tilted) {
    for (Eigen::Index o = 0; o < block.emission.rows(); ++o) {
      if (sensors.tilt(o) > 0.0) block.emission.row(o) /= sensors.tilt(o);
    }
    block.emission = normalised_columns(block.emission);
  }
  return block;
}

TransitionEstimate estimate_spectral(const TripleFolder& log, const Pomdp& model,
                                     const SpectralOptions& options, Rng& rng) {
  options.validate();
  OAS_REQUIRE(log.num_actions() == model.num_actions() &&
                  log.num_observations() == model.num_observations(),
              "triples for {} actions and {} observations, a model with {} and {}",
              log.num_actions(), log.num_observations(), model.num_actions(),
              model.num_observations());
  OAS_REQUIRE(log.counts().total() > 0,
              "the log has {} rows and no three consecutive observed rows; at least one such "
              "triple is needed",
              log.rows());
  return LogSolver(log, model, options, rng).solve();
}

TransitionEstimate estimate_constant(const TripleCounts& counts, ConstantViews views,
                                     const Pomdp& model, const SpectralOptions& options, Rng& rng) {
  options.validate();
  const bool columns = views == ConstantViews::emission_columns;
  const int size = columns ? model.num_states() : model.num_observations();
  const std::array<int, 3> sizes = {size, size, size};
  OAS_REQUIRE(counts.num_blocks() == model.num_actions() && counts.sizes() == sizes,
              "constant-action triples must be {} blocks of {}x{}x{}", model.num_actions(), size,
              size, size);
  const LeftInverses inverses(model);
  Collector collector(model, inverses);
  for (int a = 0; a < model.num_actions(); ++a) {
    const Matrix sensor = model.sensors().matrix(Action{a});
    ThreeViews three{counts.sizes(), as_weights(counts.block(a)), {}};
    if (columns) three.features = {sensor, sensor, sensor};
    SpectralSensors sensors{sensor, {}, {}};
    if (!options.estimated_sensors) sensors.third_inverse = inverses.transposed(a).transpose();
    collector.add(a, counts.total(a),
                  solve_spectral_block(three, sensors, options.decomposition, rng));
  }
  return collector.finish();
}

}  // namespace oas
