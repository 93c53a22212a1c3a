#include "oas/estimation/particle_posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"
#include "oas/core/sampling.hpp"

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

}  // namespace

std::string_view to_string(ParticleMove move) { return kMoves[static_cast<std::size_t>(move)]; }

ParticleMove particle_move(std::string_view name) {
  const auto found = std::find(kMoves.begin(), kMoves.end(), name);
  OAS_REQUIRE(found != kMoves.end(), "unknown move '{}'; known are {}", name,
              fmt::join(kMoves, ", "));
  return static_cast<ParticleMove>(found - kMoves.begin());
}

void ParticleOptions::validate() const {
  OAS_REQUIRE(particles >= 2 && particles <= 1'000'000,
              "particles is {}; it must lie between 2 and a million", particles);
  OAS_REQUIRE(threshold() >= 0.0 && threshold() <= particles,
              "ess_threshold is {}; it must lie between 0 and the number of particles, {}",
              threshold(), particles);
  OAS_REQUIRE(kappa0 > 0.0 && std::isfinite(kappa0), "kappa0 is {}; it must be positive", kappa0);
  OAS_REQUIRE(rate > 0.0 && std::isfinite(rate), "rate is {}; it must be positive", rate);
  OAS_REQUIRE(window >= 2, "window is {}; at least 2 rows are needed", window);
  OAS_REQUIRE(sweeps >= 1, "sweeps is {}; it must be at least 1", sweeps);
  OAS_REQUIRE(prior > 0.0 && std::isfinite(prior), "prior is {}; it must be positive", prior);
}

ParticlePosterior::ParticlePosterior(const Pomdp& sensors, const ParticleOptions& options,
                                     int particles)
    : options_((options.validate(), options)),
      start_(sensors.start()),
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

void ParticlePosterior::start_run() {
  filter_.set_beliefs(start_, population_);
  if (!stores_rows()) return;
  if (rows_.empty()) {
    window_start_ = start_;
  } else if (rows_.back().action != kNewRun) {
    rows_.push_back({kNewRun, kMissing});
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
  population_.transition = flat_array(state.at("transition"), population_.transition.size());
  population_.belief = flat_array(state.at("belief"), population_.belief.size());
  weights_.load(state.at("weights"));
  const std::vector<double> lineage = flat_array(state.at("lineage"), lineage_.size());
  std::transform(lineage.begin(), lineage.end(), lineage_.begin(),
                 [](double value) { return static_cast<std::int64_t>(value); });
  next_lineage_ = state.at("next_lineage").as_integer();
  collapsed_ = state.at("collapsed").as_bool();
  last_move_ = state.at("last_move").as_integer();
  const JsonView rows = state.at("rows");
  if (rows.size() % 2 != 0 || rows.size() > 2 * static_cast<std::size_t>(options_.window)) {
    rows.fail("pairs of action and observation, at most as many as the window has, are expected");
  }
  const std::vector<double> numbers = flat_array(rows, rows.size());
  rows_.clear();
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    rows_.push_back({Action{numbers[i]}, Observation{numbers[i + 1]}});
  }
  window_start_ = flat_array(state.at("window_start"), window_start_.size());
  past_.concentration() = flat_array(state.at("past"), past_.concentration().size());
  const JsonView report = state.at("report");
  report_.rows = report.at("rows").as_integer();
  report_.resamplings = report.at("resamplings").as_integer();
  report_.summaries = report.at("summaries").as_integer();
  report_.impossible = report.at("impossible").as_integer();
  report_.collapsed = report.at("collapsed").as_integer();
  report_.proposed = report.at("proposed").as_integer();
  report_.accepted = report.at("accepted").as_integer();
  report_.distinct = static_cast<int>(report.at("distinct").as_integer());
  report_.lowest_ess = report.at("lowest_ess").as_double();
}

}  // namespace oas
