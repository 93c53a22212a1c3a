#include "oas/estimation/likelihood/likelihood_estimator.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/error_bars/detail/free_coordinates.hpp"
#include "oas/estimation/error_bars/detail/likelihood_errors.hpp"
#include "oas/estimation/error_bars/detail/many_state_errors.hpp"
#include "oas/estimation/error_bars/detail/never_left.hpp"
#include "oas/estimation/error_bars/detail/penalised_fit.hpp"
#include "oas/estimation/error_bars/draws_at_maximum.hpp"
#include "oas/estimation/likelihood/detail/best_climb.hpp"
#include "oas/estimation/likelihood/detail/root_climb.hpp"
#include "oas/estimation/likelihood/structured_likelihood.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/same_sensors.hpp"

namespace oas {

namespace {

using detail::FreeCoordinates;

using detail::kDoubtfulSensor;
constexpr const char* kMadeUp = "the log can be explained without ever leaving it";
constexpr const char* kNotTold = "the log does not tell its entries apart";
constexpr double kSameTransition = 1e-6;
constexpr double kSwapFall = 2.0;       // of a log-likelihood: a swap that makes no difference
constexpr double kNeverVisited = 1e-3;  // expected visits of a row
constexpr int kMostLawRounds = 20;
constexpr double kLawTolerance = 1e-3;  // of a probability of the first state
constexpr double kStartShare = 0.02;    // of uniform in a start
constexpr std::uint64_t kStartSeed = 20'250'115;

std::int64_t num_transitions(const LikelihoodRows& rows) {
  return std::accumulate(rows.transitions.begin(), rows.transitions.end(), std::int64_t{0});
}

// Flags a row as never visited or for `reason`; null: only if it was never visited.
void flag_row(const Pomdp& model, std::size_t row, const char* reason,
              TransitionEstimate& estimate) {
  if (estimate.visits[row] < kNeverVisited) reason = "it was never visited";
  if (reason == nullptr) return;
  const auto index = static_cast<int>(row);
  estimate.flagged.push_back(
      {Action{index / model.num_states()}, State{index % model.num_states()}, reason});
}

// What was climbed, and where.
struct Maximum {
  LikelihoodFunction objective;
  TransitionModel at;  // of a structure: reduced
  LikelihoodPass pass;
};

// States with the same sensors can be mixed without any effect on what is seen, wherever runs
// start; only a structure can keep them apart. It does not if they can be swapped within it. Why
// rows are not identified; empty: they may be.
std::string why_not_identified(const Maximum& maximum, const Pomdp& model,
                               const TransitionStructure& structure, int& passes) {
  const auto swaps = [&](State one, State other) {
    if (structure.empty()) return true;
    const TransitionModel whole =
        detail::with_swapped_states(structure.expand(maximum.at), one, other);
    const TransitionModel reduced = structure.reduce(whole);
    const TransitionModel again = structure.expand(reduced);
    for (std::size_t i = 0; i < again.values().size(); ++i) {
      if (std::abs(again.values()[i] - whole.values()[i]) > kSameTransition) return false;
    }
    ++passes;
    const double value = maximum.objective(reduced, {}).log_likelihood;
    return maximum.pass.log_likelihood - value < kSwapFall;
  };
  for (State one{0}; one < model.num_states(); ++one) {
    for (State other{one + 1}; other < model.num_states(); ++other) {
      if (!same_sensors(model.sensors(), one, other) || !swaps(one, other)) continue;
      return fmt::format("the states {} and {} have the same sensors and can be swapped",
                         model.states()[one], model.states()[other]);
    }
  }
  return {};
}

// Without an information: the structure may say all, else nothing is known.
void judge_without_information(const TransitionModel& at, const Pomdp& model, bool too_large,
                               TransitionEstimate& estimate) {
  if (FreeCoordinates(at).size() == 0) {
    estimate.standard_error.assign(at.values().size(), 0.0);
    estimate.lower.assign(at.values().begin(), at.values().end());
    estimate.upper = estimate.lower;
    return;
  }
  for (std::size_t row = 0; row < estimate.visits.size(); ++row) {
    flag_row(model, row, too_large ? "there are too many entries" : "the log is too short to tell",
             estimate);
  }
}

// Error bars at a maximum, and flags of the rows that are not determined. With many coordinates the
// summit has no information; `squared` is then the likelihood with squared weights, if there are.
void judge_summit(const detail::Summit& summit, const LikelihoodFunction& squared,
                  const detail::ErrorContext& context, const Pomdp& model,
                  const LikelihoodEstimatorOptions& options, TransitionEstimate& estimate) {
  const std::string& not_identified = context.not_identified;
  JointErrors errors = summit.information.size() > 0
                           ? detail::likelihood_errors(summit, context, estimate.passes)
                           : detail::many_state_errors(summit, squared, context, estimate.passes);
  if (!not_identified.empty()) {
    std::fill(errors.determined.begin(), errors.determined.end(), 0);
  }
  set_error_bars(errors, summit.at.values(), estimate);
  drop_empty_rows(context.visits, errors, estimate);
  for (std::size_t row = 0; row < errors.determined.size(); ++row) {
    if (errors.determined[row] != 0) continue;
    const bool made_up = !context.made_up.empty() && context.made_up[row] != 0;
    const char* reason = made_up ? kMadeUp : kNotTold;
    flag_row(model, row, not_identified.empty() ? reason : not_identified.c_str(), estimate);
  }
  if (options.regions) add_regions(errors, summit.at.values(), estimate);
  if (options.draws == 0) return;
  estimate.draws =
      draws_at_maximum(errors, summit.at.values(), static_cast<std::size_t>(model.num_states()),
                       options.draws, Rng(options.stream));
}

// False where there is none.
bool dense_information(const LikelihoodRows& rows, const Maximum& maximum, double imaginary,
                       ObservedInformation& information, detail::ErrorContext& context) {
  information = observed_information(maximum.objective, maximum.at, maximum.pass, imaginary);
  if (rows.squared) {
    const ObservedInformation squared =
        observed_information(rows.squared, maximum.at, rows.squared(maximum.at, {}));
    information.passes += squared.passes + 1;
    context.spread = squared.matrix;
  }
  const bool finite = information.matrix.allFinite() && context.spread.allFinite();
  return finite && information.matrix.size() > 0 && (!rows.squared || context.spread.size() > 0);
}

// Flags the rows that are not determined, and adds error bars.
void judge_rows(const LikelihoodRows& rows, const detail::BestClimb& best, const Pomdp& model,
                const LikelihoodEstimatorOptions& options, TransitionEstimate& estimate) {
  const TransitionModel& at = best.end.transition;
  Maximum maximum{detail::with_prior(rows.likelihood, options.climb.prior, at), at, {}};
  maximum.pass = maximum.objective(at, {});
  const double imaginary = options.climb.prior * model.num_states();  // in each row
  const double all_imaginary = imaginary * static_cast<double>(estimate.visits.size());
  ++estimate.passes;
  detail::ErrorContext context;
  const bool many = detail::has_many_coordinates(at);
  ObservedInformation information;
  const bool known = many || dense_information(rows, maximum, all_imaginary, information, context);
  estimate.passes += information.passes;
  if (!known) return judge_without_information(at, model, information.too_large, estimate);
  for (const double visits : estimate.visits) context.visits.push_back(visits + imaginary);
  context.rows = static_cast<double>(rows.rows);
  context.revealing =
      *std::min_element(estimate.alpha.begin(), estimate.alpha.end()) > kDoubtfulSensor;
  context.penalised = imaginary > 0.0;
  context.prior = options.climb.prior;
  context.others = best.others;
  context.not_identified = why_not_identified(maximum, model, options.structure, estimate.passes);
  const detail::Summit summit = many ? detail::make_summit(maximum.objective, at, maximum.pass)
                                     : detail::make_summit(maximum.objective, at, maximum.pass,
                                                           std::move(information.matrix));
  // Imaginary visits are not made up by the sensors' noise.
  if (imaginary == 0.0) {
    context.made_up = detail::made_up_rows(summit, estimate.visits, context.rows, estimate.passes);
  }
  judge_summit(summit, rows.squared, context, model, options, estimate);
}

void add_warnings(const Pomdp& model, const LikelihoodEstimate& climbed,
                  TransitionEstimate& estimate) {
  const auto name = [&](std::size_t row) {
    const auto index = static_cast<int>(row);
    return fmt::format("({}, {})", model.actions()[index / model.num_states()],
                       model.states()[index % model.num_states()]);
  };
  if (climbed.status != LikelihoodStatus::converged) {
    estimate.warnings.push_back(
        fmt::format("the maximisation did not converge: {}; about {:.2g} of "
                    "log-likelihood could still be gained",
                    climbed.brief(), climbed.to_gain));
  }
  const auto n = static_cast<std::size_t>(model.num_states());
  for (const FlaggedRow& row : estimate.flagged) {
    estimate.warnings.push_back(fmt::format(
        "row {} is not determined: {}",
        name(static_cast<std::size_t>(row.action) * n + static_cast<std::size_t>(row.state)),
        row.reason));
  }
  if (estimate.standard_error.empty()) {
    estimate.warnings.push_back("too few rows for error bars");
  }
}

// What weak sensors leave open may be so at a lower maximum only.
void warn_of_more_maxima(const Pomdp& model, int climbs, TransitionEstimate& estimate) {
  const auto weakest = std::min_element(estimate.alpha.begin(), estimate.alpha.end());
  const bool open = std::any_of(
      estimate.flagged.begin(), estimate.flagged.end(),
      [](const FlaggedRow& row) { return row.reason == kNotTold || row.reason == kMadeUp; });
  if (!open || *weakest >= kDoubtfulSensor) return;
  estimate.warnings.push_back(fmt::format(
      "the sensor hardly tells the states apart under action '{}' (alpha = "
      "{:.2g}), so the likelihood may have a higher maximum than the one found "
      "from {} starts, and rows may be determined there",
      model.actions()[static_cast<int>(weakest - estimate.alpha.begin())], *weakest, climbs));
}

std::vector<double> row_sums(const std::vector<double>& counts, int num_states) {
  std::vector<double> sums;
  for (auto row = counts.begin(); row != counts.end(); row += num_states) {
    sums.push_back(std::accumulate(row, row + num_states, 0.0));
  }
  return sums;
}

// Rows without visits say nothing: they become uniform.
TransitionModel with_uniform_rows(const TransitionModel& transition,
                                  const std::vector<double>& visits) {
  std::vector<double> values(transition.values().begin(), transition.values().end());
  const int n = transition.num_states();
  for (std::size_t row = 0; row < visits.size(); ++row) {
    if (visits[row] < kNeverVisited) std::fill_n(values.begin() + row * n, n, 1.0 / n);
  }
  return {n, transition.num_actions(), std::move(values)};
}

LikelihoodFunction with_start_law(LikelihoodFunction likelihood,
                                  std::shared_ptr<const std::vector<double>> law) {
  return [likelihood = std::move(likelihood), law = std::move(law)](
             const TransitionModel& transition, const PassOptions& options) {
    PassOptions with = options;
    with.unknown_start = *law;
    return likelihood(transition, with);
  };
}

// The law of first states of runs that start in an unknown one, which is learned too: it takes the
// shares that the rows suggest (with one imaginary run for each state), T is climbed again under
// it, and so on. Empty where there is no such run. The likelihoods of `rows` then know it.
std::vector<double> learn_start_law(LikelihoodRows& rows, const LikelihoodOptions& options,
                                    LikelihoodEstimate& climbed) {
  if (climbed.pass.unknown_starts.empty()) return {};
  const auto law = std::make_shared<std::vector<double>>();
  rows.likelihood = with_start_law(rows.likelihood, law);
  if (rows.squared) rows.squared = with_start_law(rows.squared, law);
  std::vector<double> before(climbed.pass.unknown_starts.size(), 0.0);
  for (int round = 0; round < kMostLawRounds; ++round) {
    const std::vector<double>& starts = climbed.pass.unknown_starts;
    const auto n = static_cast<double>(starts.size());
    const double runs = std::accumulate(starts.begin(), starts.end(), 0.0);
    law->assign(starts.size(), 0.0);
    double change = 0.0;
    for (std::size_t s = 0; s < starts.size(); ++s) {
      (*law)[s] = (starts[s] + 1.0) / (runs + n);
      change = std::max(change, std::abs((*law)[s] - before[s]));
    }
    if (change < kLawTolerance) {
      *law = before;  // under which T was climbed
      break;
    }
    before = *law;
    // Zeros that an earlier law asked for must be able to leave.
    const TransitionModel from = mixed_with_uniform(climbed.transition, kStartShare);
    const int passes = climbed.passes;
    climbed = maximize_likelihood(rows.likelihood, from, options);
    climbed.passes += passes;
    if (climbed.status == LikelihoodStatus::impossible) break;
  }
  return *law;
}

}  // namespace

void LikelihoodEstimatorOptions::validate() const {
  OAS_REQUIRE(confidence > 0.0 && confidence < 1.0,
              "confidence is {}; it must lie strictly between 0 and 1", confidence);
  climb.validate();
}

LikelihoodRows likelihood_rows(const TransitionLikelihood& likelihood, Parallelism parallelism) {
  LikelihoodRows rows;
  rows.likelihood = [&likelihood, parallelism](const TransitionModel& transition,
                                               const PassOptions& options) {
    return likelihood.pass(transition, options, parallelism);
  };
  rows.rows = static_cast<std::int64_t>(likelihood.rows());
  rows.runs = static_cast<std::int64_t>(likelihood.runs());
  rows.missing = static_cast<std::int64_t>(likelihood.missing());
  rows.transitions = likelihood.transitions();
  return rows;
}

TransitionEstimate estimate_likelihood(const LikelihoodRows& all_rows,
                                       const std::vector<TransitionModel>& given_starts,
                                       const Pomdp& model,
                                       const LikelihoodEstimatorOptions& options) {
  options.validate();
  OAS_REQUIRE(!given_starts.empty(), "no model to start from");
  LikelihoodRows rows = all_rows;
  std::vector<TransitionModel> starts = given_starts;
  const bool structured = !options.structure.empty();
  if (structured) {
    rows.likelihood = reduced_likelihood(options.structure, all_rows.likelihood);
    if (rows.squared) rows.squared = reduced_likelihood(options.structure, all_rows.squared);
    for (TransitionModel& start : starts) start = options.structure.reduce(start);
  }
  OAS_REQUIRE(num_transitions(rows) > 0,
              "the log has no transition: its runs have one row each, {} in all", rows.rows);
  TransitionEstimate estimate;
  estimate.estimator = options.name;
  estimate.confidence = options.confidence;
  estimate.pairs = rows.transitions;
  estimate.rows = rows.rows;
  estimate.runs = rows.runs;
  estimate.missing = rows.missing;
  estimate.effective_rows = rows.effective_rows;
  estimate.alpha = sensor_alphas(model);
  const double weakest = *std::min_element(estimate.alpha.begin(), estimate.alpha.end());
  detail::BestClimb best = detail::best_climb(rows, starts, model, options, weakest);
  LikelihoodEstimate& climbed = best.end;
  estimate.unknown_start = learn_start_law(rows, options.climb, climbed);
  OAS_REQUIRE(climbed.status != LikelihoodStatus::impossible,
              "the rows cannot happen under the sensors and the start, whatever the transitions{}",
              structured ? " that the structure allows" : "");
  estimate.passes = climbed.passes;
  estimate.log_likelihood = climbed.pass.log_likelihood;
  estimate.visits = row_sums(climbed.pass.counts, model.num_states());
  estimate.clipped.assign(estimate.visits.size(), 0.0);
  if (options.error_bars) {
    judge_rows(rows, best, model, options, estimate);
  } else {
    for (std::size_t row = 0; row < estimate.visits.size(); ++row) {
      flag_row(model, row, nullptr, estimate);
    }
  }
  estimate.transition = with_uniform_rows(climbed.transition, estimate.visits);
  if (structured) {
    const TransitionModel transition = options.structure.expand(climbed.transition);
    PassOptions with;
    with.unknown_start = estimate.unknown_start;
    const LikelihoodPass pass = all_rows.likelihood(transition, with);
    ++estimate.passes;
    expand_estimate(options.structure, row_sums(pass.counts, model.num_states()), estimate);
  }
  estimate.status = estimate.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
  add_warnings(model, climbed, estimate);
  warn_of_more_maxima(model, best.climbs, estimate);
  return estimate;
}

std::vector<TransitionModel> likelihood_starts(const Pomdp& model, const TransitionModel& first) {
  const int n = model.num_states();
  std::vector<TransitionModel> starts = {mixed_with_uniform(first, kStartShare),
                                         TransitionModel::uniform(n, model.num_actions())};
  if (!has_blind_sensor(model)) return starts;
  Rng rng({kStartSeed, 0, Role::bootstrap});
  const std::vector<double> concentration(static_cast<std::size_t>(n), 1.0);
  for (int start = 0; start < 3; ++start) {
    std::vector<double> values(first.values().size());
    for (std::size_t row = 0; row < values.size(); row += concentration.size()) {
      sample_dirichlet(concentration, std::span(values).subspan(row, concentration.size()), rng);
    }
    starts.push_back(
        mixed_with_uniform(TransitionModel(n, model.num_actions(), std::move(values)), 0.3));
  }
  return starts;
}

std::vector<double> sensor_alphas(const Pomdp& model) {
  std::vector<double> alphas;
  for (Action a{0}; a < model.num_actions(); ++a) {
    alphas.push_back(pseudo_inverse(Matrix(model.sensors().matrix(a))).smallest);
  }
  return alphas;
}

bool has_blind_sensor(const Pomdp& model) { return !analyse_sensors(model.sensors()).revealing(); }

}  // namespace oas
