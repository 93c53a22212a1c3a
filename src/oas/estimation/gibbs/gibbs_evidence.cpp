#include <algorithm>
#include <cmath>
#include <numeric>

#include "oas/core/quantile.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/error_bars/confidence_region.hpp"
#include "oas/estimation/gibbs/gibbs_chain.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/sensors/revealing.hpp"
#include "oas/sensors/soft_features.hpp"

namespace oas::detail {

namespace {

constexpr int kChains = 4;
constexpr std::size_t kDrawsToKeep = 200;  // in the estimate, for what is computed from it
constexpr double kApart = 1.1;             // R-hat of chains that have not met
constexpr double kOneVisit = 1.0;          // of a row: what it takes to be determined
constexpr double kPoorDeviation = 0.05;    // of an entry, below which a row is determined anyhow
constexpr std::uint64_t kDrawsOfChain = std::uint64_t{1} << 56;
constexpr std::uint64_t kEntriesOfChain = std::uint64_t{1} << 55;  // within them

// Draws of all chains, seen entry by entry.
class Posterior {
 public:
  Posterior(const std::vector<GibbsDraws>& chains, std::vector<double> GibbsDraws::*which)
      : entries_(chains.front().counts.size()) {
    for (const GibbsDraws& chain : chains) {
      values_.insert(values_.end(), (chain.*which).begin(), (chain.*which).end());
    }
    num_draws_ = values_.size() / entries_;
  }

  [[nodiscard]] std::size_t size() const { return num_draws_; }

  // Some of the draws, far apart.
  [[nodiscard]] std::vector<double> some(std::size_t count) const {
    count = std::min(count, num_draws_);
    std::vector<double> result;
    for (std::size_t i = 0; i < count; ++i) {
      const double* first = values_.data() + (i * num_draws_ / count) * entries_;
      result.insert(result.end(), first, first + entries_);
    }
    return result;
  }

  // All draws of an entry, ascending.
  void sort(std::size_t entry, std::vector<double>& out) const {
    out.resize(num_draws_);
    for (std::size_t d = 0; d < num_draws_; ++d) out[d] = value(d, entry);
    std::sort(out.begin(), out.end());
  }

  [[nodiscard]] double mean(std::size_t entry) const { return mean_of(entry, 0, num_draws_); }
  [[nodiscard]] double variance(std::size_t entry) const {
    return variance_of(entry, 0, num_draws_);
  }
  // Split R-hat (Gelman and others 2013): the spread over halves of chains and the spread within.
  // Near 1 where all of them draw from the same distribution.
  [[nodiscard]] double disagreement(std::size_t entry) const {
    constexpr std::size_t kParts = 2 * kChains;
    const std::size_t length = num_draws_ / kParts;
    double within = 0.0;
    std::vector<double> means;
    for (std::size_t part = 0; part < kParts; ++part) {
      within += variance_of(entry, part * length, length) / kParts;
      means.push_back(mean_of(entry, part * length, length));
    }
    const double centre = std::accumulate(means.begin(), means.end(), 0.0) / kParts;
    double between = 0.0;
    for (const double mean : means) between += (mean - centre) * (mean - centre) / (kParts - 1);
    return within > 0.0 ? std::sqrt(1.0 - 1.0 / static_cast<double>(length) + between / within)
                        : 1.0;
  }

 private:
  [[nodiscard]] double value(std::size_t draw, std::size_t entry) const {
    return values_[draw * entries_ + entry];
  }
  [[nodiscard]] double mean_of(std::size_t entry, std::size_t first, std::size_t count) const {
    double sum = 0.0;
    for (std::size_t d = first; d < first + count; ++d) sum += value(d, entry);
    return sum / static_cast<double>(count);
  }
  [[nodiscard]] double variance_of(std::size_t entry, std::size_t first, std::size_t count) const {
    const double mean = mean_of(entry, first, count);
    double sum = 0.0;
    for (std::size_t d = first; d < first + count; ++d) {
      sum += (value(d, entry) - mean) * (value(d, entry) - mean);
    }
    return sum / static_cast<double>(count - 1);
  }

  std::size_t entries_;
  std::size_t num_draws_ = 0;
  std::vector<double> values_;  // [draw][entry]
};

// Standard errors, and intervals between two quantiles. Draws never lie on a bound, the truth
// may: an interval reaches to 0 where more paths than are left out above it have no such
// transition, and to 1 where as many have no other.
void set_entry_errors(const std::vector<GibbsDraws>& chains, TransitionEstimate& estimate) {
  const Posterior posterior(chains, &GibbsDraws::entries);
  const std::size_t entries = chains.front().counts.size();
  const double out = 0.5 * (1.0 - estimate.confidence);
  const double many = out * static_cast<double>(posterior.size());
  estimate.standard_error.resize(entries);
  estimate.lower.resize(entries);
  estimate.upper.resize(entries);
  std::vector<double> sorted;
  for (std::size_t e = 0; e < entries; ++e) {
    int never = 0;
    int always = 0;
    for (const GibbsDraws& chain : chains) {
      never += chain.never[e];
      always += chain.always[e];
    }
    posterior.sort(e, sorted);
    estimate.standard_error[e] = std::sqrt(posterior.variance(e));
    estimate.lower[e] = never > many ? 0.0 : sorted_quantile(sorted, out);
    estimate.upper[e] = always > many ? 1.0 : sorted_quantile(sorted, 1.0 - out);
  }
}

// Why a row is not determined; null: it is. An entry of mean m and variance v is known as if
// m (1 - m) / v - 1 transitions had been seen, those of the prior included.
const char* reason_to_flag(const Posterior& posterior, std::size_t row, std::size_t states,
                           double prior, double visits) {
  if (visits < kOneVisit) return "it was left less than once: this is the prior";
  const double known_at_first = prior * static_cast<double>(states);
  for (std::size_t e = row * states; e < (row + 1) * states; ++e) {
    if (posterior.disagreement(e) > kApart) {
      return "the chains that drew it have not met; take more draws";
    }
    const double mean = posterior.mean(e);
    const double variance = posterior.variance(e);
    if (variance > kPoorDeviation * kPoorDeviation &&
        mean * (1.0 - mean) / variance - 1.0 < known_at_first + kOneVisit) {
      return "the log says less about it than one visit would";
    }
  }
  return nullptr;
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
  [[nodiscard]] double prior() const {
    return options_.concentration.value_or(1.0 / chain().num_states());
  }
  // That of rows, seen from one entry, if the user asked for it. By default that of rows is for
  // drawing rows, sparse however many states there are, and would be far too sure that what was
  // not seen is 0; an entry by itself has Jeffreys' prior.
  [[nodiscard]] EntryPrior entry_prior() const {
    const int others = chain().num_states() - 1;
    if (options_.concentration) return {*options_.concentration, *options_.concentration * others};
    return {0.5, others > 0 ? 0.5 : 0.0};
  }
  [[nodiscard]] std::vector<GibbsDraws> draw(const EstimateOptions& options) const;
  void set_alpha(TransitionEstimate& estimate) const;

  const EstimatorInfo& info_;
  std::shared_ptr<const AnyModel> model_;
  EvidenceOptions options_;
  RowLikelihood rows_;
};

std::vector<GibbsDraws> GibbsBody::draw(const EstimateOptions& options) const {
  std::vector<GibbsDraws> chains(kChains);
  const auto keep = static_cast<std::size_t>(options_.draws) / kChains;
  parallel_for(kChains, options.parallelism, [&](std::size_t c) {
    const std::uint64_t first = c * kDrawsOfChain;
    GibbsChain chain(rows_.stored(), prior(), entry_prior(), Rng(options_.stream, first),
                     Rng(options_.stream, first + kEntriesOfChain));
    chains[c] = chain.run(keep, options.progress);
  });
  if (chains.front().impossible) {
    rows_.require_possible(TransitionModel::uniform(chain().num_states(), chain().num_actions()),
                           kAnyTransition, options.parallelism);
  }
  return chains;
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
  const std::vector<GibbsDraws> chains = draw(options);
  const auto states = static_cast<std::size_t>(rows.num_states());
  const std::size_t entries = chains.front().counts.size();
  const Posterior posterior(chains, &GibbsDraws::transition);

  TransitionEstimate estimate;
  estimate.estimator = info_.name;
  estimate.confidence = options.confidence;
  estimate.num_batches = static_cast<int>(posterior.size());
  estimate.passes = (options_.draws + options_.draws / GibbsChain::kWarmUp) / kChains * kChains;
  estimate.pairs = rows.transitions();
  estimate.rows = static_cast<std::int64_t>(rows.rows());
  estimate.runs = runs();
  estimate.missing = static_cast<std::int64_t>(rows.missing());
  set_alpha(estimate);
  std::vector<double> means(entries);
  for (std::size_t e = 0; e < entries; ++e) means[e] = posterior.mean(e);
  estimate.draws = posterior.some(kDrawsToKeep);
  set_entry_errors(chains, estimate);
  estimate.visits.assign(entries / states, 0.0);
  for (const GibbsDraws& chain : chains) {
    for (std::size_t e = 0; e < entries; ++e) {
      estimate.visits[e / states] += chain.counts[e] / static_cast<double>(posterior.size());
    }
  }
  estimate.clipped.assign(estimate.visits.size(), 0.0);
  estimate.transition = TransitionModel(rows.num_states(), rows.num_actions(), std::move(means));
  for (std::size_t row = 0; row < estimate.visits.size(); ++row) {
    const char* reason = reason_to_flag(posterior, row, states, prior(), estimate.visits[row]);
    if (reason == nullptr) continue;
    const Action action{static_cast<int>(row / states)};
    const State state{static_cast<int>(row % states)};
    estimate.flag(action, state, reason);
    estimate.warnings.push_back(fmt::format("row ({}, {}) is not determined: {}",
                                            chain().actions()[action], chain().states()[state],
                                            reason));
  }
  estimate.status = estimate.flagged.empty() ? EstimateStatus::ok : EstimateStatus::flagged;
  if (options.error_bars) add_bonferroni_regions(estimate.transition.values(), estimate);
  return estimate;
}

}  // namespace

std::unique_ptr<EvidenceBody> make_gibbs_body(const EstimatorInfo& info, const AnyModel& model,
                                              const EvidenceOptions& options) {
  return std::make_unique<GibbsBody>(info, std::make_shared<const AnyModel>(model), options);
}

}  // namespace oas::detail
