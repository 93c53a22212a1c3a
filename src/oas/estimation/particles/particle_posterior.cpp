#include "oas/estimation/particles/particle_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"
#include "oas/model/run_start.hpp"

namespace oas {

namespace {

constexpr std::array<std::string_view, 3> kMoves = {"none", "jitter", "window"};

// Below this effective number of models one is as good as alone.
constexpr double kAlone = 1.5;
constexpr std::int64_t kCollapseCheck = 64;  // rows
constexpr std::int64_t kMoveShare = 32;

std::vector<double> flat_array(const JsonView& view, std::size_t size) {
  const std::array<int, 1> extents = {static_cast<int>(size)};
  return view.as_array(extents);
}

// More than any log has; sums of a few such numbers are far from the limits of integers.
constexpr std::int64_t kMostRows = std::int64_t{1} << 50;

std::int64_t count_in(const JsonView& view, std::int64_t most) {
  const std::int64_t value = view.as_integer();
  if (value < 0 || value > most) {
    view.fail(fmt::format("{} does not lie between 0 and {}", value, most));
  }
  return value;
}

// [row][n][stride]: over n every particle has a distribution.
void check_distributions(std::span<const double> values, std::size_t n, std::size_t stride,
                         std::string_view what) {
  std::vector<double> one(n);
  for (std::size_t row = 0; row < values.size(); row += n * stride) {
    for (std::size_t i = 0; i < stride; ++i) {
      for (std::size_t s = 0; s < n; ++s) one[s] = values[row + s * stride + i];
      check_simplex(one, what);
    }
  }
}

}  // namespace

std::string_view to_string(ParticleMove move) { return kMoves[static_cast<std::size_t>(move)]; }

ParticleMove particle_move(std::string_view name) {
  const auto found = std::find(kMoves.begin(), kMoves.end(), name);
  OAS_REQUIRE(found != kMoves.end(), "unknown move '{}'; known are {}", name,
              fmt::join(kMoves, ", "));
  return static_cast<ParticleMove>(found - kMoves.begin());
}

void ParticleOptions::validate() const {
  check_ranges(*this);
  OAS_REQUIRE(threshold() <= particles,
              "ess_threshold is {}; it must lie between 0 and the number of particles, {}",
              threshold(), particles);
}

ParticlePosterior::ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options,
                                     int particles)
    : options_((options.validate(), options)),
      start_(sensors.start()),
      first_sensor_(sensors.first_observation()),
      filter_(sensors, particles),
      population_(filter_.make_population()),
      weights_(static_cast<std::size_t>(particles), filter_.stride()),
      probabilities_(filter_.stride(), 1.0),
      lineage_(static_cast<std::size_t>(particles)),
      window_start_(start_),
      past_(filter_, options.prior),
      logs_(filter_.stride()),
      proposal_logs_(filter_.stride()),
      parents_(static_cast<std::size_t>(particles)),
      parent_lineage_(static_cast<std::size_t>(particles)),
      models_(static_cast<std::size_t>(particles)),
      gathered_(static_cast<std::size_t>(particles)),
      row_(start_.size()),
      values_(start_.size()) {
  filter_.set_beliefs(start_, population_);
  std::iota(lineage_.begin(), lineage_.end(), 0);
  next_lineage_ = particles;
  report_.distinct = particles;
  report_.lowest_ess = particles;
  if (stores_rows()) {
    rows_.reserve(static_cast<std::size_t>(options_.window));
    proposal_ = filter_.make_population();
  }
}

ParticlePosterior::ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options, Rng& rng)
    : ParticlePosterior(sensors, options, options.particles) {
  for (std::size_t i = 0; i < lineage_.size(); ++i) {
    for (int a = 0; a < filter_.num_actions(); ++a) past_.sample(population_, a, i, rng);
  }
}

ParticlePosterior::ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options,
                                     std::span<const TransitionModel> particles)
    : ParticlePosterior(sensors, options, static_cast<int>(particles.size())) {
  for (std::size_t i = 0; i < particles.size(); ++i) {
    OAS_REQUIRE(particles[i].num_states() == filter_.num_states() &&
                    particles[i].num_actions() == filter_.num_actions(),
                "particle {} has {} states and {} actions, the sensors have {} and {}", i,
                particles[i].num_states(), particles[i].num_actions(), filter_.num_states(),
                filter_.num_actions());
    const std::span<const double> values = particles[i].values();
    for (std::size_t e = 0; e < values.size(); ++e) {
      population_.transition[e * filter_.stride() + i] = values[e];
    }
  }
}

bool ParticlePosterior::stores_rows() const { return options_.move == ParticleMove::window; }

std::vector<double> ParticlePosterior::belief_after(Observation first) const {
  if (first == kMissing) return start_;
  OAS_REQUIRE(first_sensor_.has_value(), "the model has no first_observation");
  std::vector<double> belief(start_.size());
  RunStart().with(first_reading(*first_sensor_, first)).belief(start_, belief);
  return belief;
}

void ParticlePosterior::start_run(Observation first) {
  const std::vector<double> belief = belief_after(first);
  filter_.set_beliefs(belief, population_);
  if (!stores_rows()) return;
  if (rows_.empty()) {
    window_start_ = belief;
  } else if (rows_.back().action != kNewRun) {
    rows_.push_back({kNewRun, first});
  } else {
    rows_.back().observation = first;
  }
}

double ParticlePosterior::update(Action action, Observation observation, Rng& rng) {
  // A mark of a new run may have filled the window.
  if (stores_rows() && rows_.size() >= static_cast<std::size_t>(options_.window)) summarise(rng);
  filter_.update(population_, action, observation, probabilities_);
  const double probability = observation == kMissing ? 1.0 : weights_.multiply(probabilities_);
  // Moves must skip what was skipped here, or it would drown all else.
  if (stores_rows()) rows_.push_back({action, probability > 0.0 ? observation : kMissing});
  count_row(probability);
  if (weights_.effective_size() < options_.threshold()) rejuvenate(rng);
  if (stores_rows() && rows_.size() >= static_cast<std::size_t>(options_.window)) summarise(rng);
  return probability;
}

void ParticlePosterior::rejuvenate(Rng& rng) {
  if (!stores_rows()) {
    resample(rng);
    if (options_.move == ParticleMove::jitter) jitter(rng);
    return;
  }
  // Moves read all stored rows again. When they are due so often that this would be most of the
  // work, particles get on with uneven weights for a while.
  const std::int64_t since = report_.rows - last_move_;
  if (since * kMoveShare >= static_cast<std::int64_t>(rows_.size())) {
    move_on_window(nullptr, rng);
  }
}

void ParticlePosterior::count_row(double probability) {
  ++report_.rows;
  if (probability == 0.0) ++report_.impossible;
  const bool uneven = weights_.effective_size() < options_.threshold();
  if (uneven || report_.rows % kCollapseCheck == 0) collapsed_ = look_for_collapse();
  if (collapsed_) ++report_.collapsed;
  report_.lowest_ess = std::min(report_.lowest_ess, weights_.effective_size());
}

bool ParticlePosterior::look_for_collapse() {
  if (weights_.effective_size() < kAlone) return true;
  // Copies share their lineage; add up their weights.
  for (std::size_t i = 0; i < lineage_.size(); ++i) {
    models_[i] = {lineage_[i], weights_.values()[i]};
  }
  std::sort(models_.begin(), models_.end());
  double squares = 0.0;
  for (std::size_t i = 0; i < models_.size();) {
    double weight = 0.0;
    const std::int64_t lineage = models_[i].first;
    for (; i < models_.size() && models_[i].first == lineage; ++i) weight += models_[i].second;
    squares += weight * weight;
  }
  return weights_.sum() * weights_.sum() < kAlone * squares;
}

TransitionModel ParticlePosterior::transition(int particle) const {
  std::vector<double> values(past_.concentration().size());
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = population_.transition[e * filter_.stride() + static_cast<std::size_t>(particle)];
  }
  return {filter_.num_states(), filter_.num_actions(), std::move(values)};
}

std::vector<double> ParticlePosterior::belief(int particle) const {
  std::vector<double> values(start_.size());
  for (std::size_t s = 0; s < values.size(); ++s) {
    values[s] = population_.belief[s * filter_.stride() + static_cast<std::size_t>(particle)];
  }
  return values;
}

int ParticlePosterior::draw(Rng& rng) const { return sample_categorical(weights_.values(), rng); }

ParticlePosterior::Moments ParticlePosterior::moments() const {
  detail::RowMoments sums(filter_);
  sums.add(population_, weights_.values());
  Moments result;
  for (std::size_t e = 0; e < sums.size(); ++e) {
    result.mean.push_back(sums.mean(e));
    result.deviation.push_back(std::sqrt(sums.variance(e)));
  }
  return result;
}

std::vector<double> ParticlePosterior::quantiles(double level) const {
  OAS_REQUIRE(level >= 0.0 && level <= 1.0, "level is {}; it must lie in [0, 1]", level);
  const std::span<const double> weights = weights_.values();
  std::vector<std::size_t> order(weights.size());
  std::vector<double> result(past_.concentration().size());
  for (std::size_t e = 0; e < result.size(); ++e) {
    const double* values = population_.transition.data() + e * filter_.stride();
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) {
      return values[i] != values[j] ? values[i] < values[j] : i < j;
    });
    double cumulated = 0.0;
    result[e] = values[order.back()];
    for (const std::size_t i : order) {
      cumulated += weights[i];
      if (cumulated >= level * weights_.sum()) {
        result[e] = values[i];
        break;
      }
    }
  }
  return result;
}

void ParticlePosterior::mean_belief(std::span<double> out) const {
  const std::span<const double> weights = weights_.values();
  for (std::size_t s = 0; s < out.size(); ++s) {
    const double* values = population_.belief.data() + s * filter_.stride();
    double sum = 0.0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * values[i];
    out[s] = sum / weights_.sum();
  }
}

nlohmann::ordered_json ParticlePosterior::save() const {
  nlohmann::ordered_json state = {{"transition", population_.transition},
                                  {"belief", population_.belief},
                                  {"weights", weights_.save()},
                                  {"lineage", lineage_},
                                  {"next_lineage", next_lineage_},
                                  {"collapsed", collapsed_},
                                  {"last_move", last_move_}};
  std::vector<int> rows;
  for (const Row& row : rows_) {
    rows.push_back(row.action.value());
    rows.push_back(row.observation.value());
  }
  state["rows"] = rows;
  state["window_start"] = window_start_;
  state["past"] = past_.concentration();
  state["report"] = {{"rows", report_.rows},
                     {"resamplings", report_.resamplings},
                     {"summaries", report_.summaries},
                     {"impossible", report_.impossible},
                     {"collapsed", report_.collapsed},
                     {"proposed", report_.proposed},
                     {"accepted", report_.accepted},
                     {"distinct", report_.distinct},
                     {"lowest_ess", report_.lowest_ess}};
  return state;
}

void ParticlePosterior::load(const JsonView& state) {
  constexpr std::array<std::string_view, 11> kKeys = {
      "transition", "belief", "weights",      "lineage", "next_lineage", "collapsed",
      "last_move",  "rows",   "window_start", "past",    "report"};
  state.require_keys(kKeys);
  const std::size_t n = start_.size();
  population_.transition = flat_array(state.at("transition"), population_.transition.size());
  check_distributions(population_.transition, n, filter_.stride(), "transition");
  population_.belief = flat_array(state.at("belief"), population_.belief.size());
  check_distributions(population_.belief, n, filter_.stride(), "belief");
  weights_.load(state.at("weights"));
  load_report(state.at("report"));
  next_lineage_ = count_in(state.at("next_lineage"), kMostRows);
  const JsonView lineage = state.at("lineage");
  if (lineage.size() != lineage_.size()) lineage.fail("expected one entry per particle");
  for (std::size_t i = 0; i < lineage_.size(); ++i) {
    lineage_[i] = count_in(lineage.at(i), next_lineage_ - 1);
  }
  collapsed_ = state.at("collapsed").as_bool();
  last_move_ = count_in(state.at("last_move"), report_.rows);
  load_rows(state.at("rows"));
  window_start_ = flat_array(state.at("window_start"), n);
  check_simplex(window_start_, "window_start");
  const JsonView past = state.at("past");
  past_.concentration() = flat_array(past, past_.concentration().size());
  for (std::size_t e = 0; e < past_.concentration().size(); ++e) {
    const double value = past_.concentration()[e];
    if (!(value > 0.0 && value <= kMostRows)) past.at(e).fail("no concentration");
  }
}

void ParticlePosterior::load_rows(const JsonView& rows) {
  if (rows.size() % 2 != 0 || rows.size() > 2 * static_cast<std::size_t>(options_.window)) {
    rows.fail("expected pairs of action and observation, at most as many as the window has");
  }
  const std::vector<double> numbers = flat_array(rows, rows.size());
  rows_.clear();
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const double action = numbers[i];
    const double observation = numbers[i + 1];
    const bool whole = action == std::floor(action) && observation == std::floor(observation);
    const bool new_run = action == kNewRun && (observation == kMissing || first_sensor_);
    if (!whole || !(new_run || (action >= 0 && action < filter_.num_actions())) ||
        observation < kMissing || observation >= filter_.num_observations()) {
      rows.at(i).fail(
          fmt::format("there is no action {} with observation {}", action, observation));
    }
    rows_.push_back({Action{action}, Observation{observation}});
  }
}

void ParticlePosterior::load_report(const JsonView& report) {
  constexpr std::array<std::string_view, 9> kKeys = {"rows",       "resamplings", "summaries",
                                                     "impossible", "collapsed",   "proposed",
                                                     "accepted",   "distinct",    "lowest_ess"};
  report.require_keys(kKeys);
  report_.rows = count_in(report.at("rows"), kMostRows);
  report_.resamplings = count_in(report.at("resamplings"), kMostRows);
  report_.summaries = count_in(report.at("summaries"), report_.rows);
  report_.impossible = count_in(report.at("impossible"), report_.rows);
  report_.collapsed = count_in(report.at("collapsed"), report_.rows);
  report_.proposed = count_in(report.at("proposed"), kMostRows);
  report_.accepted = count_in(report.at("accepted"), report_.proposed);
  report_.distinct = static_cast<int>(count_in(report.at("distinct"), num_particles()));
  report_.lowest_ess = report.at("lowest_ess").as_double();
  if (!(report_.lowest_ess > 0.0 && report_.lowest_ess <= num_particles() + 1e-6)) {
    report.at("lowest_ess").fail("no effective number of particles");
  }
}

}  // namespace oas
