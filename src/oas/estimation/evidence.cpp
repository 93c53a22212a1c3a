#include "oas/estimation/evidence.hpp"

#include <algorithm>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/fingerprint.hpp"
#include "oas/core/team.hpp"
#include "oas/estimation/detail/evidence_body.hpp"
#include "oas/estimation/detail/evidence_fingerprint.hpp"

namespace oas {

namespace {

constexpr std::string_view kMagic = "oas-evidence";
constexpr std::string_view kReleased = "released";  // no order of a body
constexpr std::uint32_t kVersion = 7;
constexpr std::size_t kMostDraws = 200;
constexpr std::size_t kLeastDraws = 40;
constexpr std::size_t kMostNumbers = 500'000;  // in the draws that an estimate carries

void check_start(const RunStart& start, int num_states) {
  OAS_REQUIRE(start.fits(num_states), "a run starts in a state that is none of the {}", num_states);
}

}  // namespace

void EvidenceOptions::validate() const {
  forgetting.validate();
  cells.validate();
  particles.validate();
  EvidenceOptions options = *this;
  SettingFields fields;
  options.visit_draws(fields);
  fields.check();
}

void EstimateOptions::validate() const {
  EstimateOptions options = *this;
  SettingFields fields;
  options.visit(fields);
  options.visit_budget(fields);
  fields.check();
}

std::size_t EstimateOptions::draws_to_carry(std::size_t entries) const {
  if (!error_bars) return 0;
  if (carried_draws) return static_cast<std::size_t>(*carried_draws);
  return std::clamp(kMostNumbers / entries, kLeastDraws, kMostDraws);
}

EstimateOptions EstimateOptions::bare() {
  EstimateOptions options;
  options.error_bars = false;
  options.parallelism = {1};
  return options;
}

struct Evidence::Waiting {
  std::int64_t run = 0;
  bool ended = false;
  std::unique_ptr<detail::EvidenceBody> body;  // where it can be merged; else
  StoredRows rows;

  Waiting() = default;
  Waiting(Waiting&&) = default;
  Waiting& operator=(Waiting&&) = default;
  Waiting(const Waiting& other)
      : run(other.run),
        ended(other.ended),
        body(other.body ? other.body->clone() : nullptr),
        rows(other.rows) {}

  void add(const RowBlock& block) {
    if (body) {
      body->add(block, nullptr);
    } else {
      rows.add(block);
    }
  }
  // Takes what is known here.
  void hand_over(detail::EvidenceBody& to) const {
    if (body) {
      to.merge(*body);
    } else {
      to.start_run(rows.all().starts.front());
      to.add(rows.all().part(0, rows.size()), nullptr);
    }
  }
};

Evidence::Evidence(const EstimatorInfo* info, Sizes sizes,
                   std::unique_ptr<detail::EvidenceBody> body, std::uint64_t fingerprint,
                   std::int64_t first_run)
    : info_(info),
      sizes_(sizes),
      body_(std::move(body)),
      fingerprint_(fingerprint),
      runs_(first_run) {}

Evidence::Sizes Evidence::sizes_of(const AnyModel& model) {
  const auto* finite = std::get_if<Pomdp>(&model);
  const Pomdp& chain = finite != nullptr ? *finite : std::get<ContinuousPomdp>(model).chain();
  return {chain.num_states(), chain.num_actions(), std::max(1, chain.num_observations())};
}

void Evidence::Sizes::check(const RowBlock& block) const {
  for (std::size_t row = 0; row < block.size(); ++row) {
    const int action = block.actions[row].value();
    const int observation = block.observations[row].value();
    // Beside likelihoods an observation only says that something was seen.
    const bool counted = block.likelihoods.empty();
    OAS_REQUIRE(action >= 0 && action < actions && observation >= kMissing.value() &&
                    (!counted || observation < observations),
                "row {} has action {} and observation {}; the model has {} actions and {} "
                "observations",
                row, action, observation, actions, observations);
  }
  for (const double propensity : block.propensities) {
    OAS_REQUIRE(propensity > 0.0 && propensity <= 1.0, "propensity {} is not in (0, 1]",
                propensity);
  }
  OAS_REQUIRE(block.likelihoods.empty() ||
                  block.likelihoods.size() == block.size() * static_cast<std::size_t>(states),
              "{} likelihoods in {} rows; the model has {} states", block.likelihoods.size(),
              block.size(), states);
  for (const RunStart& start : block.starts) check_start(start, states);
}

void Evidence::check_estimate(const TransitionEstimate& estimate) const {
  estimate.check_fits(sizes_.states, sizes_.actions);
}

Evidence::Evidence(const EstimatorInfo& info, const AnyModel& model, const EvidenceOptions& options)
    : Evidence(&info, sizes_of(model), (options.validate(), info.make(info, model, options)),
               detail::evidence_fingerprint(model, options), 0) {}

Evidence::Evidence(const Evidence& other)
    : info_(other.info_),
      sizes_(other.sizes_),
      body_(other.body_->clone()),
      fingerprint_(other.fingerprint_),
      runs_(other.runs_),
      run_(other.run_),
      last_run_(other.last_run_),
      next_start_(other.next_start_),
      waiting_(other.waiting_) {}
Evidence::Evidence(Evidence&& other) noexcept = default;
Evidence::~Evidence() = default;

Evidence& Evidence::operator=(Evidence other) noexcept {
  std::swap(info_, other.info_);
  std::swap(body_, other.body_);
  std::swap(sizes_, other.sizes_);
  std::swap(fingerprint_, other.fingerprint_);
  std::swap(runs_, other.runs_);
  std::swap(run_, other.run_);
  std::swap(last_run_, other.last_run_);
  std::swap(next_start_, other.next_start_);
  std::swap(waiting_, other.waiting_);
  return *this;
}

void Evidence::start_run(RunStart start) {
  check_start(start, sizes_.states);
  next_start_ = start;
  for (Waiting& waiting : waiting_) waiting.ended = true;
  run_ = -1;
  advance();
}

bool Evidence::last_is_open() const {
  if (waiting_.empty()) return run_ >= 0;
  return !waiting_.back().ended;
}

void Evidence::add(const RowBlock& block) {
  block.validate();
  sizes_.check(block);
  by_runs(
      block, [&](RunStart start) { start_run(start); },
      [&](const RowBlock& rows) { add(last_is_open() ? last_run_ : last_run_ + 1, rows); });
}

void Evidence::add(std::int64_t run, const RowBlock& block) {
  block.validate();
  sizes_.check(block);
  OAS_REQUIRE(block.run_starts.empty(), "a block of run {} starts other runs", run);
  if (block.size() == 0) return;
  if (run > last_run_) {
    last_run_ = run;
    const RunStart start = std::exchange(next_start_, {});
    if (run_ < 0 && waiting_.empty()) {
      run_ = run;
      body_->start_run(start);
    } else {
      Waiting& waiting = waiting_.emplace_back();
      waiting.run = run;
      if (body_->can_merge()) {
        waiting.body = body_->fresh(runs_);
        waiting.body->start_run(start);
      } else {
        waiting.rows.start_run(start);
      }
    }
    ++runs_;
  }
  if (run == run_) {
    body_->add(block, nullptr);
    return;
  }
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& waiting) { return waiting.run == run; });
  OAS_REQUIRE(found != waiting_.end() && !found->ended, "run {} has ended", run);
  found->add(block);
}

void Evidence::end_run(std::int64_t run) {
  if (run == run_) {
    run_ = -1;
  } else {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& waiting) { return waiting.run == run; });
    OAS_REQUIRE(found != waiting_.end() && !found->ended, "run {} has ended", run);
    found->ended = true;
  }
  advance();
}

// Takes in what need not wait any more.
void Evidence::advance() {
  if (run_ >= 0) return;
  auto next = waiting_.begin();
  for (; next != waiting_.end() && next->ended; ++next) next->hand_over(*body_);
  waiting_.erase(waiting_.begin(), next);
}

std::shared_ptr<const detail::EvidenceBody> Evidence::whole() const {
  if (waiting_.empty()) return {std::shared_ptr<void>(), body_.get()};  // not owned
  std::shared_ptr<detail::EvidenceBody> body = body_->clone();
  for (const Waiting& waiting : waiting_) waiting.hand_over(*body);
  return body;
}

void Evidence::read(RowSource& source, Parallelism parallelism) {
  static_cast<void>(num_threads(parallelism));  // throws where there cannot be so many
  start_run();
  if (!comes_together(parallelism)) return;
  std::optional<Exchange> owes_an_answer;
  if (parallelism.team != nullptr && !parallelism.team->leads()) {
    owes_an_answer.emplace(*parallelism.team);
  }
  source.use(parallelism);
  const std::int64_t before = body_->runs();
  body_->read(source, runs_, parallelism);
  const std::int64_t more = body_->runs() - before;
  runs_ += more;
  last_run_ += more;
}

// False where there is nothing to read on this rank.
bool Evidence::comes_together(Parallelism& parallelism) const {
  Team* const team = parallelism.team;
  if (team == nullptr) return true;
  const std::string hindrance = body_->hinders_team();
  if (team->leads()) {
    team->give_order("read");
    if (!hindrance.empty()) {
      team->tell(fmt::format("estimator '{}' runs on rank 0 alone: {}", info_->name, hindrance));
    }
  } else {
    static_cast<void>(team->order());
  }
  if (hindrance.empty()) return true;
  parallelism.team = nullptr;
  return team->leads();
}

void Evidence::help(Parallelism parallelism) {
  while (true) {
    const std::string order = parallelism.team->order();
    if (order == kReleased) return;
    body_->help(order, parallelism);
  }
}

void Evidence::release(Team& team) { team.give_order(std::string(kReleased)); }

void Evidence::merge(const Evidence& other) {
  OAS_REQUIRE(info_ == other.info_, "evidence of {} and {} cannot be merged", info_->name,
              other.info_->name);
  OAS_REQUIRE(fingerprint_ == other.fingerprint_,
              "evidence of {} cannot be merged: its model or its options are others", info_->name);
  OAS_REQUIRE(body_->can_merge(),
              "estimator '{}', with these options, takes rows in their order: nothing can be "
              "merged",
              info_->name);
  start_run();
  const auto runs = other.whole();
  body_->merge(*runs);
  runs_ += runs->runs();
  last_run_ += runs->runs();
}

Evidence Evidence::fresh(std::int64_t first_run) const {
  OAS_REQUIRE(first_run >= 0, "the first run is {}", first_run);
  return {info_, sizes_, body_->fresh(first_run), fingerprint_, first_run};
}

TransitionEstimate Evidence::estimate(const EstimateOptions& options) const {
  options.validate();
  return whole()->estimate(options);
}

void Evidence::check(const EstimateOptions& options, TransitionEstimate& estimate) const {
  options.validate();
  check_estimate(estimate);
  whole()->check(options, estimate);
}

Resampled Evidence::resample(const TransitionEstimate& estimate, const EstimateOptions& options,
                             const BootstrapOptions& bootstrap) const {
  options.validate();
  bootstrap.validate();
  check_estimate(estimate);
  return whole()->resample(estimate, options, bootstrap);
}

std::vector<double> Evidence::again(const Evidence& simulated, const TransitionEstimate& estimate,
                                    const EstimateOptions& options) const {
  options.validate();
  check_estimate(estimate);
  OAS_REQUIRE(info_ == simulated.info_ && fingerprint_ == simulated.fingerprint_,
              "evidence of {} and {}: estimator, model and options must agree", info_->name,
              simulated.info_->name);
  return whole()->again(*simulated.whole(), estimate, options);
}

MomentSeries Evidence::moments() const { return whole()->moments(); }

std::optional<StoredRows> Evidence::rows() const { return whole()->rows(); }

std::string Evidence::save() const {
  ByteWriter out;
  out.put_text(kMagic);
  out.put(kVersion);
  out.put_text(info_->name);
  out.put(fingerprint_);
  for (const std::int64_t value : {runs_, run_, last_run_}) out.put(value);
  next_start_.save(out);
  out.put(static_cast<std::int64_t>(waiting_.size()));
  for (const Waiting& waiting : waiting_) {
    out.put(waiting.run);
    out.put(waiting.ended);
    if (waiting.body) {
      waiting.body->save(out);
    } else {
      waiting.rows.save(out);
    }
  }
  body_->save(out);
  std::string bytes = out.take();
  ByteWriter end;
  end.put(fingerprint(bytes));
  return bytes + end.take();
}

void Evidence::load(std::string_view bytes) {
  constexpr std::size_t kChecksum = sizeof(std::uint64_t);
  OAS_REQUIRE(bytes.size() > kChecksum, "these bytes are not saved evidence");
  const std::string_view body = bytes.substr(0, bytes.size() - kChecksum);
  ByteReader in(body);
  OAS_REQUIRE(in.get_text() == kMagic, "these bytes are not saved evidence");
  const auto version = in.get<std::uint32_t>();
  OAS_REQUIRE(version == kVersion, "saved evidence of version {}; only {} is known", version,
              kVersion);
  const auto checksum = ByteReader(bytes.substr(body.size())).get<std::uint64_t>();
  OAS_REQUIRE(checksum == fingerprint(body), "saved evidence is damaged: its checksum differs");
  const std::string name = in.get_text();
  OAS_REQUIRE(name == info_->name && in.get<std::uint64_t>() == fingerprint_,
              "saved evidence of estimator '{}' was made for another estimator, model or options",
              name);
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  Evidence loaded = fresh();
  loaded.runs_ = in.get_integer(0, kMost);
  loaded.run_ = in.get_integer(-1, kMost);
  loaded.last_run_ = in.get_integer(loaded.run_, kMost);
  loaded.next_start_ = RunStart::loaded(in);
  check_start(loaded.next_start_, sizes_.states);
  for (std::int64_t left = in.get_integer(0, kMost); left > 0; --left) {
    Waiting& one = loaded.waiting_.emplace_back();
    one.run = in.get_integer(0, loaded.last_run_);
    one.ended = in.get<bool>();
    if (body_->can_merge()) {
      one.body = body_->fresh(0);
      one.body->load(in);
    } else {
      one.rows.load(in);
      sizes_.check(one.rows.all());
      for (const RunStart& start : one.rows.all().starts) check_start(start, sizes_.states);
    }
  }
  loaded.body_->load(in);
  OAS_REQUIRE(in.at_end(), "saved evidence is followed by other bytes");
  *this = std::move(loaded);
}

Evidence make_evidence(std::string_view name, const AnyModel& model,
                       const EvidenceOptions& options) {
  return {find_estimator(name), model, options};
}

Evidence make_evidence(std::string_view name, const AnyModel& model,
                       std::span<const Setting> settings) {
  const EstimatorInfo& info = find_estimator(name);
  return {info, model, evidence_options(info, settings)};
}

}  // namespace oas
