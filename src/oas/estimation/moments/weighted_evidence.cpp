#include <algorithm>

#include "oas/core/checks.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/counts/weighted_pairs.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/moments/detail/moment_rules.hpp"

namespace oas::detail {

namespace {

// Weights depend on all rows: they are kept, or their source is read again.
class WeightedBody final : public EvidenceBody {
 public:
  WeightedBody(const EstimatorInfo& info, std::shared_ptr<const Pomdp> model,
               const EvidenceOptions& options, std::int64_t first_run)
      : info_(info),
        model_(std::move(model)),
        options_(options),
        first_run_(first_run),
        marginals_(model_->num_actions(), model_->num_observations(), first_run,
                   model_->reading_first()) {}

  [[nodiscard]] std::unique_ptr<EvidenceBody> clone() const override {
    return std::make_unique<WeightedBody>(*this);
  }
  [[nodiscard]] std::unique_ptr<EvidenceBody> fresh(std::int64_t first_run) const override {
    return std::make_unique<WeightedBody>(info_, model_, options_, first_run);
  }
  void start_run(RunStart start) override {
    marginals_.start_run(start);
    rows_.start_run(start);
    ++runs_;
  }
  void add(const RowBlock& rows, const RowSource* from) override {
    marginals_.add(rows.actions, rows.observations, rows.propensities);
    if (from == nullptr) {
      OAS_REQUIRE(source_ == nullptr, "the rows before are not in memory");
      rows_.add(rows);
    }
  }
  void read(RowSource& source, std::int64_t first_run, Parallelism parallelism) override {
    OAS_REQUIRE(runs_ == 0, "rows of one source only can be read");
    const bool helps = parallelism.team != nullptr && !parallelism.team->leads();
    if (helps && !source.cannot_rewind().empty()) return;  // rank 0 says so
    OAS_REQUIRE(source.cannot_rewind().empty(),
                "{}: estimator {} reads a log twice, which a pipe does not allow. Put it "
                "into a file, or use oas-overlap",
                source.cannot_rewind(), info_.name);
    EvidenceBody::read(source, first_run, parallelism);
    source_ = &source;
    shared_ = parallelism.team != nullptr;
  }
  // Of the second reading; the order is what rank 0 knows from the first.
  void help(const std::string& order, Parallelism parallelism) override {
    ByteReader in(order);
    marginals_.load(in);
    static_cast<void>(second_reading_together(weights(), parallelism));
  }
  void merge(const EvidenceBody& other) override {
    const auto& weighted = static_cast<const WeightedBody&>(other);
    marginals_.merge(weighted.marginals_);
    rows_.add(weighted.rows_);
    rows_.start_run();
    runs_ += weighted.runs_;
  }
  [[nodiscard]] bool can_merge() const override { return !options_.forgetting.active(); }
  [[nodiscard]] std::int64_t runs() const override { return runs_; }
  [[nodiscard]] std::optional<StoredRows> rows() const override {
    return source_ == nullptr ? std::optional(rows_) : std::nullopt;
  }
  void save(ByteWriter& out) const override {
    OAS_REQUIRE(source_ == nullptr, "rows that are not in memory cannot be saved");
    marginals_.save(out);
    rows_.save(out);
    out.put(first_run_);
    out.put(runs_);
  }
  void load(ByteReader& in) override {
    marginals_.load(in);
    rows_.load(in);
    check_rows(rows_.all());
    first_run_ = in.get<std::int64_t>();
    runs_ = in.get<std::int64_t>();
  }

  [[nodiscard]] TransitionEstimate estimate(const EstimateOptions& options) const override {
    const WeightedPairs weighted = weights();
    MomentSeries series = second_reading(weighted, options.parallelism);
    series.forget(options_.forgetting);
    return estimate_moments(info_.name, series, weighted.inverses, *model_, weighted.fold, options);
  }

 private:
  // Saved rows may be forged.
  void check_rows(const RowBlock& rows) const {
    for (const Action action : rows.actions) check_action(action, model_->num_actions());
    for (const Observation seen : rows.observations) {
      check_observation(seen, model_->num_observations());
    }
    for (const RunStart& start : rows.starts) {
      OAS_REQUIRE(start.fits(model_->num_states()), "a saved run starts in a state that is none");
    }
  }

  [[nodiscard]] WeightedPairs weights() const {
    WeightedPairs weighted =
        weighted_pairs(*model_, marginals_, !options_.actions_ignore_observations);
    weighted.fold.forgetting = options_.forgetting;
    return weighted;
  }

  static void fold(RowSource& source, PairFolder& folder) {
    for (RowBlock block; source.next(block);) {
      require_propensities(block, folder.options(), &source);
      folder.add(block);
    }
  }

  [[nodiscard]] MomentSeries second_reading(const WeightedPairs& weights,
                                            Parallelism parallelism) const {
    PairFolder all(weights.inverses, model_->timing(), weights.fold, first_run_);
    if (source_ == nullptr) {
      all.add(rows_.all());
      return all.finish();
    }
    source_->rewind();
    if (shared_) {
      ByteWriter order;
      marginals_.save(order);
      parallelism.team->give_order(order.take());
      return second_reading_together(weights, parallelism);
    }
    std::vector<RowPart> parts;
    if (!weights.fold.forgetting.active()) parts = source_->parts(parallelism, {});
    if (parts.empty()) {
      fold(*source_, all);
    } else {
      fold(parts, weights, parallelism, all);
    }
    return all.finish();
  }

  void fold(std::span<const RowPart> parts, const WeightedPairs& weights, Parallelism parallelism,
            PairFolder& all) const {
    for (std::size_t first = 0; first < parts.size(); first += kPartsAtOnce) {
      const auto some = parts.subspan(first, std::min(kPartsAtOnce, parts.size() - first));
      std::vector<std::optional<PairFolder>> folders(some.size());
      parallel_for(some.size(), parallelism, [&](std::size_t i) {
        folders[i].emplace(weights.inverses, model_->timing(), weights.fold,
                           first_run_ + some[i].first_run);
        fold(*some[i].rows, *folders[i]);
      });
      for (const auto& folder : folders) all.merge(*folder);
    }
  }

  [[nodiscard]] MomentSeries second_reading_together(const WeightedPairs& weights,
                                                     Parallelism parallelism) const {
    Team& team = *parallelism.team;
    const std::vector<RowPart> parts = source_->parts(parallelism, {});
    std::vector<std::int64_t> sizes;
    for (const RowPart& part : parts) sizes.push_back(part.size);
    const Stretch own = share_of(sizes, team.rank(), team.size());
    PairFolder all(weights.inverses, model_->timing(), weights.fold, first_run_);
    gather(
        team,
        [&] {
          if (parts.empty() ? !team.leads() : own.size() == 0) return std::string();
          PairFolder share(weights.inverses, model_->timing(), weights.fold,
                           first_run_ + (parts.empty() ? 0 : parts[own.first].first_run));
          if (parts.empty()) {
            fold(*source_, share);
          } else {
            fold(std::span(parts).subspan(own.first, own.size()), weights, parallelism, share);
          }
          ByteWriter out;
          share.save(out);
          return out.take();
        },
        [&](const std::string& bytes) {
          if (bytes.empty()) return;
          PairFolder share(weights.inverses, model_->timing(), weights.fold, first_run_);
          ByteReader in(bytes);
          share.load(in);
          all.merge(share);
        });
    return all.finish();
  }

  const EstimatorInfo& info_;
  std::shared_ptr<const Pomdp> model_;
  EvidenceOptions options_;
  std::int64_t first_run_;
  ObservationMarginals marginals_;
  StoredRows rows_;
  RowSource* source_ = nullptr;  // in place of rows_
  std::int64_t runs_ = 0;
  bool shared_ = false;  // the ranks of a team have read it
};

}  // namespace

std::unique_ptr<EvidenceBody> make_weighted_body(const EstimatorInfo& info, const AnyModel& model,
                                                 const EvidenceOptions& options) {
  if (const auto* continuous = std::get_if<ContinuousPomdp>(&model)) {
    return make_cell_body(info, *continuous, options);
  }
  return std::make_unique<WeightedBody>(info, std::make_shared<const Pomdp>(std::get<Pomdp>(model)),
                                        options, 0);
}

}  // namespace oas::detail
