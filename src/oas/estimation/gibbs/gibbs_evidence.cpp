#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string_view>

#include "oas/core/quantile.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/error_bars/posterior_intervals.hpp"
#include "oas/estimation/gibbs/chain_group.hpp"
#include "oas/estimation/gibbs/entry_draws.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/gibbs/posterior_draws.hpp"
#include "oas/estimation/gibbs/transition_prior.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/same_sensors.hpp"
#include "oas/sensors/soft_features.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kNotDetermined = "is not determined";
constexpr std::uint64_t kEntriesOfChain = std::uint64_t{1} << 55;  // within them

// Standard errors, and intervals between two quantiles. Draws never lie on a bound, the truth
// may: an interval reaches to 0 where more paths than are left out above it have no such
// transition, and to 1 where as many have no other.
void set_entry_errors(const EntryDraws& draws, const TransitionPrior& prior,
                      TransitionEstimate& estimate) {
  const PosteriorDraws posterior = draws.posterior();
  const std::size_t entries = draws.size();
  const double out = 0.5 * (1.0 - estimate.confidence);
  const double many = out * static_cast<double>(posterior.size());
  estimate.standard_error.resize(entries);
  estimate.lower.resize(entries);
  estimate.upper.resize(entries);
  std::vector<double> sorted;
  for (std::size_t e = 0; e < entries; ++e) {
    if (!prior.is_free(e)) {
      estimate.standard_error[e] = 0.0;
      estimate.lower[e] = estimate.upper[e] = prior.fixed_value(e);
      continue;
    }
    const bool zero = draws.never[e] > many;
    const bool one = draws.always[e] > many;
    posterior.sort(e, sorted);
    estimate.standard_error[e] = std::sqrt(posterior.variance(e));
    estimate.lower[e] = zero ? 0.0 : limit_of_draws(sorted, out);
    const double most = prior.mass_left(e / prior.states());
    estimate.upper[e] = one ? most : limit_of_draws(sorted, 1.0 - out);
  }
}

// The regions know errors of any size; what is fixed and what is left bounds them.
void bound_region(const TransitionPrior& prior, ConfidenceRegion& region) {
  for (std::size_t e = 0; e < region.lower.size(); ++e) {
    if (prior.is_free(e)) {
      region.upper[e] = std::min(region.upper[e], prior.mass_left(e / prior.states()));
    } else {
      region.lower[e] = region.upper[e] = prior.fixed_value(e);
    }
  }
}

// Whether the log says less about a row than one visit would.
bool is_poor(const PosteriorDraws& posterior, const TransitionPrior& prior, std::size_t row) {
  for (std::size_t e = row * prior.states(); e < (row + 1) * prior.states(); ++e) {
    if (!prior.is_free(e)) continue;
    const double mass = prior.mass_left(row);
    const double mean = posterior.mean(e) / mass;
    const double variance = posterior.variance(e) / (mass * mass);
    if (is_poorly_known(mean, variance, prior.weight(row))) return true;
  }
  return false;
}

// Whether some reading speaks more for one state than for another.
bool tells_states_apart(const TransitionLikelihood& rows) {
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    const std::span<const double> emission = rows.emission(row);
    for (const double one : emission) {
      if (one != emission.front()) return true;
    }
  }
  return rows.num_states() == 1;
}

class GibbsBody final : public EvidenceBody {
 public:
  GibbsBody(const EstimatorInfo& info, std::shared_ptr<const AnyModel> model,
            const EvidenceOptions& options)
      : info_(info),
        model_(std::move(model)),
        options_(options),
        rows_(std::visit([&](const auto& any) { return RowLikelihood(any, options.memory_limit); },
                         *model_)) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<GibbsBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t /*first_run*/) const override {
    return std::make_unique<GibbsBody>(info_, model_, options_);
  }
  void start_run(RunStart start) override { rows_.start_run(start); }
  void add(const RowBlock& rows, const RowSource* /*from*/) override { rows_.add(rows); }
  [[nodiscard]] std::string hinders_team() const override { return "it keeps all rows in memory"; }
  void read(RowSource& source, std::int64_t /*first_run*/, Parallelism /*parallelism*/) override {
    rows_.read(source, {});
    OAS_REQUIRE(rows_.in_memory(),
                "the rows need more than {} bytes of memory, and {} goes over them thousands of "
                "times; allow more memory, or use oas-ml",
                options_.memory_limit, info_.name);
  }
  void merge(const EvidenceBody& other) override {
    rows_.append(static_cast<const GibbsBody&>(other).rows_);
    rows_.start_run();
  }
  [[nodiscard]] std::int64_t runs() const override {
    return static_cast<std::int64_t>(rows_.stored().runs());
  }
  void save(ByteWriter& out) const override { rows_.save(out); }
  void load(ByteReader& in) override { rows_.load(in); }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override;

 private:
  [[nodiscard]] const Pomdp& chain() const {
    const auto* continuous = std::get_if<ContinuousPomdp>(model_.get());
    return continuous != nullptr ? continuous->chain() : std::get<Pomdp>(*model_);
  }
  [[nodiscard]] std::string why_untold(bool blind, const EstimateOptions& options) const;
  [[nodiscard]] std::vector<GibbsChain> draw(const TransitionLikelihood& rows,
                                             const TransitionPrior& prior, bool patient,
                                             const EstimateOptions& options) const;
  [[nodiscard]] EntryDraws draw_entries(const std::vector<GibbsChain>& chains,
                                        const TransitionPrior& prior) const;
  void flag_rows(const std::vector<GibbsChain>& chains, const TransitionPrior& prior,
                 const std::string& untold, TransitionEstimate& estimate) const;
  void set_alpha(TransitionEstimate& estimate) const;

  const EstimatorInfo& info_;
  std::shared_ptr<const AnyModel> model_;
  EvidenceOptions options_;
  RowLikelihood rows_;
};

// Why no row can be told, which no sweep would change; empty: rows may be.
std::string GibbsBody::why_untold(bool blind, const EstimateOptions& options) const {
  if (blind) return "no reading tells states apart: this is the prior";
  const auto* finite = std::get_if<Pomdp>(model_.get());
  if (finite == nullptr || !options.structure.empty()) return {};
  const auto twins = first_same_sensors(finite->sensors());
  if (!twins) return {};
  return fmt::format("the states {} and {} have the same sensors and can be swapped",
                     finite->states()[twins->first], finite->states()[twins->second]);
}

// Chains that are far from each other go on, up to the user's patience, if it is of use.
std::vector<GibbsChain> GibbsBody::draw(const TransitionLikelihood& rows,
                                        const TransitionPrior& prior, bool patient,
                                        const EstimateOptions& options) const {
  const auto keep = static_cast<std::size_t>(options_.draws) / kChains;
  const std::size_t patience = patient ? static_cast<std::size_t>(options_.patience) : 1;
  std::vector<GibbsChain> chains;
  chains.reserve(kChains);
  for (std::size_t c = 0; c < kChains; ++c) {
    chains.emplace_back(rows, prior, Rng(options_.stream, c * kDrawsOfChain));
  }
  const ChainsEnd end =
      draw_until_met(chains, prior, keep, patience, options.parallelism, options.progress);
  if (end == ChainsEnd::impossible) {
    rows_.require_possible(prior.mean(),
                           options.structure.empty() ? kAnyTransition : kAllowedTransition,
                           options.parallelism);
    throw_invalid_argument("the paths of these rows are too unlikely to be drawn");
  }
  return chains;
}

EntryDraws GibbsBody::draw_entries(const std::vector<GibbsChain>& chains,
                                   const TransitionPrior& prior) const {
  EntryDraws entries(prior);
  for (std::size_t c = 0; c < chains.size(); ++c) {
    entries.add(chains[c].draws(), prior,
                Rng(options_.stream, c * kDrawsOfChain + kEntriesOfChain));
  }
  return entries;
}

void GibbsBody::flag_rows(const std::vector<GibbsChain>& chains, const TransitionPrior& prior,
                          const std::string& untold, TransitionEstimate& estimate) const {
  const PosteriorDraws posterior = transitions_of(chains, prior.entries());
  const std::vector<double> visits = telling_visits(chains, prior);
  const auto flag = [&](std::size_t row, std::string_view what, std::string reason) {
    const Action action{static_cast<int>(row / prior.states())};
    const State state{static_cast<int>(row % prior.states())};
    estimate.warnings.push_back(fmt::format("row ({}, {}) {}: {}", chain().actions()[action],
                                            chain().states()[state], what, reason));
    estimate.flag(action, state, std::move(reason));
  };
  for (std::size_t row = 0; row < prior.rows(); ++row) {
    if (prior.mass_left(row) == 0.0) continue;
    if (!untold.empty()) {
      flag(row, kNotDetermined, untold);
    } else if (visits[row] < kOneVisit) {
      flag(row, kNotDetermined, "it was left less than once: this is the prior");
    } else if (!agree(posterior, prior, row)) {
      flag(row, "has not settled",
           fmt::format("the chains that drew it still disagree after {} sweeps each; --patience "
                       "or --draws takes more",
                       chains.front().sweeps()));
      estimate.flagged.back().settled = false;
    } else if (is_poor(posterior, prior, row)) {
      flag(row, kNotDetermined, "the log says less about it than one visit would");
    }
  }
  estimate.status = estimate.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
}

void GibbsBody::set_alpha(TransitionEstimate& estimate) const {
  const auto* continuous = std::get_if<ContinuousPomdp>(model_.get());
  if (continuous != nullptr && !continuous->has_sensors()) {
    estimate.alpha.assign(static_cast<std::size_t>(chain().num_actions()), 0.0);
    return;
  }
  const SensorReport report = analyse_sensors(
      continuous != nullptr ? soft_sensors(continuous->sensors()) : chain().sensors());
  for (const ActionSensor& sensor : report.actions) estimate.alpha.push_back(sensor.alpha);
}

TransitionEstimate GibbsBody::estimate(const EstimateOptions& options) const {
  const TransitionLikelihood& rows = rows_.stored();
  OAS_REQUIRE(rows.rows() > 0, "the log has no row; at least one is needed");
  const TransitionPrior prior(rows.num_states(), rows.num_actions(), options.structure,
                              options_.concentration);
  // Under blind readings the posterior is the prior: paths would only make its draws depend on
  // each other.
  const bool blind = !tells_states_apart(rows);
  const std::string untold = why_untold(blind, options);
  const TransitionLikelihood no_rows = TransitionLikelihood::with_vectors(chain());
  const std::vector<GibbsChain> chains =
      draw(blind ? no_rows : rows, prior, untold.empty(), options);
  const EntryDraws entries = draw_entries(chains, prior);
  const PosteriorDraws posterior = transitions_of(chains, prior.entries());

  TransitionEstimate estimate;
  estimate.estimator = info_.name;
  estimate.confidence = options.confidence;
  estimate.num_batches = static_cast<int>(posterior.size());
  estimate.passes = static_cast<int>(chains.size() * chains.front().sweeps());
  estimate.pairs = rows.transitions();
  estimate.rows = static_cast<std::int64_t>(rows.rows());
  estimate.runs = runs();
  estimate.missing = static_cast<std::int64_t>(rows.missing());
  set_alpha(estimate);
  std::vector<double> means(entries.size());
  for (std::size_t e = 0; e < means.size(); ++e) {
    means[e] = prior.is_free(e) ? posterior.mean(e) : prior.fixed_value(e);
  }
  estimate.transition = TransitionModel(rows.num_states(), rows.num_actions(), std::move(means));
  estimate.draws = posterior.some(options.draws_to_carry(prior.entries()));
  set_entry_errors(entries, prior, estimate);
  estimate.visits = entries.visits;
  for (double& visits : estimate.visits) visits /= static_cast<double>(posterior.size());
  estimate.clipped.assign(estimate.visits.size(), 0.0);
  flag_rows(chains, prior, untold, estimate);
  if (!options.structure.empty()) estimate.structure = options.structure.brief();
  if (!options.error_bars) return estimate;
  add_posterior_regions(estimate.transition.values(), estimate);
  bound_region(prior, estimate.row_region);
  bound_region(prior, estimate.joint_region);
  return estimate;
}

}  // namespace

std::unique_ptr<EvidenceBody> make_gibbs_body(const EstimatorInfo& info, const AnyModel& model,
                                              const EvidenceOptions& options) {
  return std::make_unique<GibbsBody>(info, std::make_shared<const AnyModel>(model), options);
}

}  // namespace oas::detail
