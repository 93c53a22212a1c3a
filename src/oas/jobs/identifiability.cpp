#include "oas/jobs/identifiability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/linear_algebra.hpp"
#include "oas/counts/row_pairing.hpp"
#include "oas/sensors/revealing.hpp"

namespace oas {

namespace {

constexpr std::ptrdiff_t kMostCoordinates = 500;
constexpr double kLeastInformation = 1e-7;  // per visit; seeing states gives at least 4
constexpr double kMoves = 0.01;             // square of a direction's share in a row
constexpr double kManySteps = 1e6;

std::string blind_reason(const Pomdp& model, const std::vector<Action>& blind, Action action) {
  const bool own = std::find(blind.begin(), blind.end(), action) != blind.end();
  if (own) return "its sensor does not tell all states apart";
  return fmt::format(
      "the sensor of '{}', seen beside it, does not tell all states apart{}",
      model.actions()[blind.front()],
      model.timing() == Timing::before ? " (oas-weighted can, with propensities)" : "");
}

void judge_moments(const Pomdp& model, const SurveyOptions& options, Identifiability& result) {
  const std::vector<Action> blind = analyse_sensors(model.sensors()).blind_actions();
  const double floor = options.policy.min_action_probability.value_or(1.0);
  const bool certain = weights_by_propensity(model.timing(), model.num_actions(),
                                             find_policy(options.policy.name).reacts) &&
                       floor <= 0.0;
  for (RowIdentifiability& row : result.rows) {
    if (row.visits == 0.0) {
      row.moments = "it is never visited";
    } else if (!blind.empty()) {
      row.moments = blind_reason(model, blind, row.action);
    } else if (certain) {
      row.moments = "the policy never explores, so that propensities are 1";
    }
  }
}

// The information per visit, its coordinates, and what follows for the rows.
class InformationJudge {
 public:
  InformationJudge(const Pomdp& model, const std::vector<Trajectory>& logs, Parallelism parallelism)
      : model_(model), visits_(count_visits(model, logs)) {
    information_ = survey_information(model, just_inside(model.transition()),
                                      unvisited_entries(model, visits_), logs, parallelism);
    const double share = information_.steps / std::accumulate(visits_.begin(), visits_.end(), 0.0);
    for (double& visits : visits_) visits *= share;
  }

  void judge(Identifiability& result) const {
    for (std::size_t row = 0; row < result.rows.size(); ++row) {
      if (visits_[row] > 0.0) result.rows[row].standard_error = 0.0;
    }
    if (information_.matrix.size() == 0) return;
    Vector scale(information_.matrix.rows());  // coordinates in which information is per visit
    const auto n = static_cast<std::size_t>(model_.num_states());
    for (std::size_t i = 0; i < information_.entries.size(); ++i) {
      scale(static_cast<Eigen::Index>(i)) = 1.0 / std::sqrt(visits_[information_.entries[i] / n]);
    }
    const SymmetricEigen eigen =
        symmetric_eigen(Matrix(scale.asDiagonal() * information_.matrix * scale.asDiagonal()));
    const Vector& values = eigen.values;
    const Eigen::Index unknown = (values.array() < kLeastInformation).count();  // the first ones
    const Eigen::Index known = values.size() - unknown;
    result.unknown_directions = static_cast<int>(unknown);
    const Matrix unknown_directions =
        information_.expand(eigen.vectors.leftCols(unknown));  // per visit: comparable rows
    const Matrix factor =
        information_.expand(scale.asDiagonal() * eigen.vectors.rightCols(known) *
                            values.tail(known).cwiseSqrt().cwiseInverse().asDiagonal());
    for (std::size_t row = 0; row < result.rows.size(); ++row) {
      if (visits_[row] == 0.0) continue;
      const auto first = static_cast<Eigen::Index>(row * n);
      const Matrix moves = unknown_directions.middleRows(first, model_.num_states());
      if (unknown > 0 && moves.rowwise().squaredNorm().maxCoeff() > kMoves) {
        result.rows[row].likelihood = describe(moves);
        result.rows[row].standard_error = std::nan("");
      } else {
        result.rows[row].standard_error =
            factor.middleRows(first, model_.num_states()).rowwise().norm().maxCoeff() *
            std::sqrt(information_.steps / kManySteps);
      }
    }
  }

 private:
  // The two states between which probability can move unseen.
  [[nodiscard]] std::string describe(const Matrix& moves) const {
    Eigen::Index column = 0;
    moves.colwise().squaredNorm().maxCoeff(&column);
    Eigen::Index up = 0;
    Eigen::Index down = 0;
    moves.col(column).maxCoeff(&up);
    moves.col(column).minCoeff(&down);
    return fmt::format("probability can move between '{}' and '{}' unseen",
                       model_.states()[State{static_cast<int>(std::min(up, down))}],
                       model_.states()[State{static_cast<int>(std::max(up, down))}]);
  }

  const Pomdp& model_;
  std::vector<double> visits_;  // in the rows behind the information
  FisherInformation information_;
};

bool look_alike(const Pomdp& model, State one, State other) {
  constexpr double kSame = 1e-9;
  for (Action a{0}; a < model.num_actions(); ++a) {
    for (Observation o{0}; o < model.num_observations(); ++o) {
      if (std::abs(model.sensors()(a, one, o) - model.sensors()(a, other, o)) > kSame) return false;
    }
  }
  return true;
}

}  // namespace

bool Identifiability::by_moments() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const RowIdentifiability& row) { return row.moments.empty(); });
}

bool Identifiability::by_likelihood() const {
  return std::all_of(rows.begin(), rows.end(),
                     [](const RowIdentifiability& row) { return row.likelihood.empty(); });
}

Identifiability identify(const Pomdp& model, const SurveyOptions& options,
                         const std::vector<Trajectory>& logs, Parallelism parallelism) {
  OAS_REQUIRE(model.has_transition(), "the model has no transition model to judge");
  Identifiability result;
  const std::vector<double> visits = count_visits(model, logs);
  double steps = 0.0;
  for (const double count : visits) steps += count;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    const auto index = static_cast<int>(i);
    RowIdentifiability row{Action{index / model.num_states()},
                           State{index % model.num_states()},
                           visits[i] / steps,
                           {},
                           {},
                           std::nan("")};
    if (visits[i] == 0.0) row.likelihood = "it is never visited";
    result.rows.push_back(std::move(row));
  }
  for (State one{0}; one < model.num_states(); ++one) {
    for (State other{one.value() + 1}; other < model.num_states(); ++other) {
      if (look_alike(model, one, other)) result.alike.emplace_back(one, other);
    }
  }
  judge_moments(model, options, result);
  const auto visited =
      std::count_if(visits.begin(), visits.end(), [](double v) { return v > 0.0; });
  result.too_large = visited * (model.num_states() - 1) > kMostCoordinates;
  if (result.too_large) {
    for (RowIdentifiability& row : result.rows) {
      if (row.likelihood.empty()) row.likelihood = "too many entries to look at the information";
    }
    return result;
  }
  InformationJudge(model, logs, parallelism).judge(result);
  return result;
}

}  // namespace oas
