#include <functional>
#include <limits>

#include "oas/core/team.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/gibbs/posterior_run.hpp"
#include "oas/estimation/likelihood/detail/start_moments.hpp"
#include "oas/estimation/likelihood/detail/team_rows.hpp"
#include "oas/estimation/likelihood/likelihood_estimator.hpp"
#include "oas/estimation/likelihood/row_likelihood.hpp"
#include "oas/estimation/likelihood/weighted_likelihood.hpp"
#include "oas/estimation/moments/detail/moment_rules.hpp"
#include "oas/estimation/sensors/detail/sensor_check.hpp"
#include "oas/estimation/sensors/detail/team_fit.hpp"
#include "oas/estimation/sensors/uncertain_sensors.hpp"

namespace oas::detail {

namespace {

constexpr int kPlainPasses = 20'000;  // plain expectation-maximisation may need thousands

// Keeps the rows, or reads their source again.
class LikelihoodBody final : public EvidenceBody {
 public:
  LikelihoodBody(const EstimatorInfo& info, const AnyModel& model, const EvidenceOptions& options,
                 bool refine, std::int64_t first_run = 0)
      : info_(info),
        given_(std::make_shared<const AnyModel>(model)),
        model_(opened(given_, options)),
        options_(options),
        refine_(refine),
        rows_(no_rows()) {
    const auto* finite = std::get_if<Pomdp>(model_.get());
    if (finite == nullptr) {
      const auto& continuous = std::get<ContinuousPomdp>(*model_);
      fold_ = fold_options(info, continuous.chain(), options);
      start_ = soft_start(continuous, fold_, options.memory_limit, first_run);
    } else if (refine) {
      fold_ = fold_options(info, *finite, options);
      start_ = finite_start(*finite, fold_, first_run);
    }
  }
  LikelihoodBody(const LikelihoodBody& other)
      : EvidenceBody(other),
        info_(other.info_),
        given_(other.given_),
        model_(other.model_),
        options_(other.options_),
        refine_(other.refine_),
        fold_(other.fold_),
        rows_(other.rows_),
        runs_(other.runs_),
        start_(other.start_ ? other.start_->clone() : nullptr),
        team_rows_(other.team_rows_) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<LikelihoodBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<LikelihoodBody>(info_, *given_, options_, refine_, first_run);
  }
  // Soft features take whole runs.
  [[nodiscard]] RunCut run_cut() const override {
    if (!std::holds_alternative<Pomdp>(*model_)) return {};
    return std::bind_front(PairFolder::cut_behind, fold_.pairing);
  }
  void go_on(std::int64_t rows, const RowBlock& before) override {
    rows_.go_on();
    if (start_) start_->go_on(rows, before);
  }
  void start_run(RunStart start) override {
    rows_.start_run(start);
    start_run_of_moments(start);
  }
  void add(const RowBlock& rows, const RowSource* /*from*/) override {
    rows_.add(rows);
    add_to_moments(rows);
  }
  void read(RowSource& source, std::int64_t first_run, Parallelism parallelism) override {
    if (parallelism.team != nullptr && source.cannot_rewind().empty()) {
      read_together(source, first_run, parallelism);
    } else if (parallelism.team == nullptr || parallelism.team->leads()) {
      rows_.read(source, moments_of_blocks());
    }
  }
  [[nodiscard]] std::string hinders_team() const override;
  void help(const std::string& order, Parallelism parallelism) override {
    if (!team_rows_) return;
    if (is_fit_order(order)) {
      help_fit(*team_rows_, std::get<Pomdp>(*model_), order, parallelism);
    } else {
      team_rows_->help(order, parallelism);
    }
  }
  void merge(const EvidenceBody& other) override {
    const auto& likelihood = static_cast<const LikelihoodBody&>(other);
    rows_.append(likelihood.rows_);
    rows_.start_run();
    if (start_) start_->merge(*likelihood.start_);
    runs_ += likelihood.runs_;
  }
  [[nodiscard]] bool can_merge() const override { return !options_.forgetting.active(); }
  [[nodiscard]] std::int64_t runs() const override { return runs_; }
  void save(ByteWriter& out) const override {
    rows_.save(out);
    out.put(runs_);
    if (start_) start_->save(out);
  }
  void load(ByteReader& in) override {
    rows_.load(in);
    runs_ = in.get<std::int64_t>();
    if (start_) start_->load(in);
  }
  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override;
  void check(const EstimateOptions& options, TransitionEstimate& estimate) const override;
  [[nodiscard]] Resampled resample(const TransitionEstimate& estimate,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const override;
  [[nodiscard]] std::vector<double> again(const EvidenceBody& simulated,
                                          const TransitionEstimate& estimate,
                                          const EstimateOptions& options) const override {
    const auto& rows = static_cast<const LikelihoodBody&>(simulated).rows_;
    return climb_again(likelihood_rows(rows.stored(), {1}).likelihood, estimate.transition,
                       settings(options).climb);
  }
  [[nodiscard]] std::optional<StoredRows> rows() const override;

 private:
  static std::shared_ptr<const AnyModel> opened(const std::shared_ptr<const AnyModel>& model,
                                                const EvidenceOptions& options) {
    const auto* finite = std::get_if<Pomdp>(model.get());
    if (finite == nullptr || !options.uncertain_sensors) return model;
    return std::make_shared<const AnyModel>(UncertainSensors::opened(*finite));
  }
  [[nodiscard]] RowLikelihood::Block moments_of_blocks() {
    return [this](const RowBlock& block) {
      by_runs(
          block, [&](const RunStart& start) { start_run_of_moments(start); },
          [&](const RowBlock& rows) { add_to_moments(rows); });
    };
  }
  [[nodiscard]] RowLikelihood no_rows() const {
    return std::visit([&](const auto& any) { return RowLikelihood(any, options_.memory_limit); },
                      *model_);
  }
  void read_together(RowSource& source, std::int64_t first_run, Parallelism parallelism);
  [[nodiscard]] LikelihoodBody like_for(const RowPart* part, std::int64_t first_run) const;
  [[nodiscard]] std::vector<std::int64_t> count(RowSource& source, std::span<const RowPart> parts,
                                                std::int64_t first_run, Parallelism parallelism,
                                                KeptRows& kept);
  void save_counts(ByteWriter& out) const;
  void add_counts(ByteReader& in, std::int64_t first_run);
  [[nodiscard]] CountedRows count_together(RowSource& source, std::span<const RowPart> parts,
                                           std::int64_t first_run, Parallelism parallelism);

  void start_run_of_moments(const RunStart& start) {
    if (start_) start_->start_run(start);
    ++runs_;
  }
  void add_to_moments(RowBlock rows) {
    if (!start_) return;
    if (rows.propensities.empty() && fold_.inverse_propensity) {
      ones_.assign(rows.size(), 1.0);
      rows.propensities = ones_;
    }
    start_->add(rows);
  }
  [[nodiscard]] LikelihoodEstimatorOptions settings(const EstimateOptions& options) const;
  // Draws are made by drawing paths; else, and where that would take too long, from the curvature
  // of the likelihood.
  [[nodiscard]] bool draws_paths() const {
    return !options_.forgetting.active() && !options_.uncertain_sensors &&
           can_draw_paths(rows_.num_rows(), chain_of(*model_).num_states());
  }
  void add_draws(const EstimateOptions& options, TransitionEstimate& estimate) const;
  void require_in_memory() const;

  const EstimatorInfo& info_;
  std::shared_ptr<const AnyModel> given_;
  std::shared_ptr<const AnyModel> model_;  // with sensors that may be uncertain
  EvidenceOptions options_;
  bool refine_;
  FoldOptions fold_;
  RowLikelihood rows_;
  std::int64_t runs_ = 0;
  std::unique_ptr<StartMoments> start_;  // none: starts at uniform
  std::vector<double> ones_;
  std::shared_ptr<const TeamRows> team_rows_;  // null: no team
};

std::string LikelihoodBody::hinders_team() const {
  if (options_.forgetting.active()) return "ages of rows are known in order only";
  const auto* const continuous = std::get_if<ContinuousPomdp>(model_.get());
  if (continuous == nullptr || continuous->has_sensors()) return {};
  return "it starts at mean features that come from the first rows";
}

// Everything but the rows.
void LikelihoodBody::save_counts(ByteWriter& out) const {
  rows_.save_counts(out);
  out.put(runs_);
  if (start_) start_->save(out);
}

void LikelihoodBody::add_counts(ByteReader& in, std::int64_t first_run) {
  rows_.add_counts(in);
  runs_ += in.get<std::int64_t>();
  if (!start_) return;
  LikelihoodBody more(info_, *given_, options_, refine_, first_run);
  more.start_->load(in);
  start_->merge(*more.start_);
}

// One for a part; null: for all rows.
LikelihoodBody LikelihoodBody::like_for(const RowPart* part, std::int64_t first_run) const {
  LikelihoodBody body(info_, *given_, options_, refine_,
                      first_run + (part == nullptr ? 0 : part->first_run));
  if (part != nullptr && part->rows_before > 0) body.go_on(part->rows_before, part->before.all());
  return body;
}

// The rows of each part; without parts, of the source.
std::vector<std::int64_t> LikelihoodBody::count(RowSource& source, std::span<const RowPart> parts,
                                                std::int64_t first_run, Parallelism parallelism,
                                                KeptRows& kept) {
  if (parts.empty()) {
    rows_.count(source, moments_of_blocks(), kept);
    return {rows_.num_rows()};
  }
  std::vector<std::int64_t> rows;
  const std::size_t at_once = num_threads(parallelism);
  for (std::size_t first = 0; first < parts.size(); first += at_once) {
    std::vector<std::string> counted(std::min(at_once, parts.size() - first));
    std::vector<KeptRows> kept_of(counted.size(), kept.fresh(counted.size()));
    rows.resize(first + counted.size());
    parallel_for(counted.size(), parallelism, [&](std::size_t i) {
      const RowPart& part = parts[first + i];
      LikelihoodBody body = like_for(&part, first_run);
      rows[first + i] = body.count(*part.rows, {}, 0, {1}, kept_of[i]).front();
      ByteWriter out;
      body.save_counts(out);
      counted[i] = out.take();
    });
    for (const std::string& bytes : counted) {
      ByteReader in(bytes);
      add_counts(in, first_run);
    }
    for (KeptRows& more : kept_of) kept.append(std::move(more));
  }
  return rows;
}

// The same on all ranks of a team, which all get to know it; what else was counted is left with
// rank 0.
CountedRows LikelihoodBody::count_together(RowSource& source, std::span<const RowPart> parts,
                                           std::int64_t first_run, Parallelism parallelism) {
  Team& team = *parallelism.team;
  CountedRows counted(parts, team, no_rows().stored(), options_.memory_limit);
  gather(
      team,
      [&] {
        ByteWriter out;
        const Stretch own = counted.share(team.rank());
        if (own.size() == 0) return out.take();
        const auto these = parts.empty() ? parts : parts.subspan(own.first, own.size());
        LikelihoodBody share = like_for(these.empty() ? nullptr : &these.front(), first_run);
        out.put_all(share.count(source, these, first_run, parallelism, counted.own));
        out.put(counted.own.all());
        share.save_counts(out);
        return out.take();
      },
      [&](const std::string& bytes) {
        if (bytes.empty()) return counted.add({}, true);
        ByteReader in(bytes);
        const auto rows = in.get_all<std::int64_t>();
        counted.add(rows, in.get<bool>());
        add_counts(in, first_run);
      });
  if (team.leads()) {
    ByteWriter out;
    counted.save(out);
    team.give_order(out.take());
  } else {
    const std::string order = team.order();
    ByteReader in(order);
    counted.load(in);
  }
  return counted;
}

// Rows are counted first, since windows are cut by their number; then each rank has its own.
void LikelihoodBody::read_together(RowSource& source, std::int64_t first_run,
                                   Parallelism parallelism) {
  Team& team = *parallelism.team;
  std::vector<RowPart> parts = source.parts(parallelism, numbered_from(first_run, run_cut()));
  CountedRows counted = count_together(source, parts, first_run, parallelism);
  if (num_windows(static_cast<std::size_t>(counted.num_rows())) == 1) {
    if (!team.leads()) return;
    source.rewind();
    rows_ = no_rows();
    return rows_.read(source, {});
  }
  std::vector<std::shared_ptr<RowSource>> sources;
  for (RowPart& part : parts) sources.push_back(std::move(part.rows));
  if (sources.empty()) sources.push_back({std::shared_ptr<void>(), &source});  // not owned
  for (const auto& each : sources) each->use({parallelism.threads});
  team_rows_ = std::make_shared<const TeamRows>(team, no_rows(), std::move(counted), sources);
  if (team.leads()) rows_.share(source, team_rows_);
}

LikelihoodEstimatorOptions LikelihoodBody::settings(const EstimateOptions& options) const {
  LikelihoodEstimatorOptions settings;
  settings.name = info_.name;
  settings.confidence = options.confidence;
  settings.error_bars = options.error_bars;
  settings.regions = options.error_bars;
  settings.climb.accelerate = refine_;
  settings.climb.prior = options.prior;
  if (!refine_) settings.climb.max_passes = kPlainPasses;
  if (options.max_passes) settings.climb.max_passes = *options.max_passes;
  if (options.max_seconds) settings.climb.max_seconds = *options.max_seconds;
  settings.structure = options.structure;
  const Pomdp& sizes = chain_of(*model_);
  settings.draws = options.draws_to_carry(
      static_cast<std::size_t>(sizes.num_actions() * sizes.num_states() * sizes.num_states()));
  settings.stream = options_.stream;
  settings.validate();
  return settings;
}

TransitionEstimate LikelihoodBody::estimate(const EstimateOptions& options) const {
  const LikelihoodEstimatorOptions likelihood = settings(options);
  const Pomdp judge = start_ ? start_->judge() : std::get<Pomdp>(*model_);
  TransitionModel start = TransitionModel::uniform(judge.num_states(), judge.num_actions());
  if (refine_) {
    if (auto moments = start_->estimate(judge)) start = std::move(*moments);
  }
  const std::vector<TransitionModel> starts =
      refine_ ? likelihood_starts(judge, start) : std::vector<TransitionModel>{start};
  const TransitionModel uniform = TransitionModel::uniform(judge.num_states(), judge.num_actions());
  if (!options.structure.empty()) {
    rows_.require_possible(options.structure.expand(options.structure.reduce(uniform)),
                           kAllowedTransition, options.parallelism);
  } else if (std::find(judge.start().begin(), judge.start().end(), 0.0) != judge.start().end()) {
    rows_.require_possible(uniform, kAnyTransition, options.parallelism);
  }
  const LikelihoodRows rows = with_forgetting(rows_.rows(options.parallelism, options.progress),
                                              options_.forgetting, rows_.run_lengths());
  TransitionEstimate estimate = options_.uncertain_sensors
                                    ? estimate_with_sensors(rows, starts, judge, likelihood)
                                    : estimate_likelihood(rows, starts, judge, likelihood);
  if (draws_paths()) add_draws(options, estimate);
  return estimate;
}

void LikelihoodBody::add_draws(const EstimateOptions& options, TransitionEstimate& estimate) const {
  const std::size_t count = options.draws_to_carry(estimate.transition.values().size());
  if (count == 0) return;
  PosteriorRun how{.draws = count,
                   .structure = options.structure,
                   .concentration = std::nullopt,
                   .stream = options_.stream,
                   .parallelism = options.parallelism,
                   .progress = options.progress};
  if (options.prior > 0.0) how.concentration = options.prior;
  const auto take = [&](const TransitionLikelihood& rows) {
    std::vector<double> draws = draws_around(rows, how, estimate);
    if (!draws.empty()) estimate.draws = std::move(draws);
  };
  if (rows_.in_memory()) return take(rows_.stored());
  RowLikelihood few = std::visit(
      [](const auto& any) { return RowLikelihood(any, std::numeric_limits<std::size_t>::max()); },
      *model_);
  rows_.source()->rewind();
  few.read(*rows_.source(), {});
  take(few.stored());
}

void LikelihoodBody::check(const EstimateOptions& options, TransitionEstimate& estimate) const {
  const auto* finite = std::get_if<Pomdp>(model_.get());
  // Older rows need not fit, nor need any where a prior has its say.
  if (finite == nullptr || options_.forgetting.active() || options.prior > 0.0) return;
  add_sensor_fit(rows_, *finite, settings(options), options.parallelism, estimate);
}

void LikelihoodBody::require_in_memory() const {
  OAS_REQUIRE(rows_.in_memory(),
              "the rows need more than {} bytes of memory, and a bootstrap keeps them "
              "there; allow more memory, or use asymptotic error bars",
              options_.memory_limit);
}

Resampled LikelihoodBody::resample(const TransitionEstimate& estimate,
                                   const EstimateOptions& options,
                                   const BootstrapOptions& bootstrap) const {
  require_in_memory();
  return resample_blocks(std::get<Pomdp>(*model_), rows_.stored(), estimate.transition,
                         settings(options).climb, bootstrap, options.parallelism);
}

std::optional<StoredRows> LikelihoodBody::rows() const {
  require_in_memory();
  StoredRows rows;
  rows_.visit_rows([&](Action action, Observation observation, const RunStart* start) {
    if (start != nullptr) rows.start_run(*start);
    RowBlock row;
    row.actions = {&action, 1};
    row.observations = {&observation, 1};
    rows.add(row);
  });
  return rows;
}

}  // namespace

std::unique_ptr<EvidenceBody> make_refined_body(const EstimatorInfo& info, const AnyModel& model,
                                                const EvidenceOptions& options) {
  return std::make_unique<LikelihoodBody>(info, model, options, true);
}

std::unique_ptr<EvidenceBody> make_likelihood_body(const EstimatorInfo& info, const AnyModel& model,
                                                   const EvidenceOptions& options) {
  return std::make_unique<LikelihoodBody>(info, model, options, false);
}

}  // namespace oas::detail
