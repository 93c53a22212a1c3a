#include "oas/jobs/log_diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "oas/core/contracts.hpp"
#include "oas/estimation/diagnosis/label_error.hpp"

namespace oas {

namespace {

constexpr std::size_t kMostStretches = 100;
constexpr std::size_t kStretchRows = 10;  // at least, on average

using Question = DiagnosisQuestion;

// Stretches of about equally many rows, none of which ends between rows of one place.
RowCells stretches_of(const DiagnosedRows& rows) {
  const std::vector<std::size_t> order = rows.in_order();
  const std::size_t most = std::clamp<std::size_t>(order.size() / kStretchRows, 2, kMostStretches);
  RowCells cells{std::vector<int>(order.size(), 0), 0};
  int last = -1;
  std::size_t first = 0;  // row of this place
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || rows.place[order[i]] > rows.place[order[i - 1]]) first = i;
    const int cell = static_cast<int>(first * most / order.size());
    if (cell != last) {
      last = cell;
      ++cells.count;
    }
    cells.of_row[order[i]] = cells.count - 1;
  }
  return cells;
}

class Diagnosing {
 public:
  Diagnosing(const DiagnosedLog& log, const DiagnosisOptions& options)
      : log_(log),
        options_(options),
        sensors_(log.model, log.rows),
        stretches_(stretches_of(log.rows)),
        units_{log.rows.unit_of_row(), static_cast<int>(log.rows.units.size())} {
    out_.level = options.level;
    out_.replicates = options.replicates;
    out_.seed = options.seed;
    out_.rows = static_cast<std::int64_t>(log.rows.size());
    out_.missing = log.missing;
    out_.runs = static_cast<std::int64_t>(log.rows.run_starts.size());
    out_.timed = log.timed;
    out_.units = log.rows.units;
    for (int q = 0; q < kDiagnosisQuestions; ++q) {
      out_.answers.push_back({});
      out_.answers.back().asked = static_cast<Question>(q);
    }
  }

  LogDiagnosis run() {
    tell("one model for all rows");
    out_.fitted = fit_rows(log_.model, log_.rows, {}, options_.parallelism);
    const StratifiedFit pooled{{out_.fitted}, {}};
    tell("scores of all rows");
    ScoreWalk walk(log_.model, log_.rows, pooled, sensors_);
    const ScoreTally tally = tally_scores(walk, log_.rows, true);
    const ScoreLayout layout = layout_of(walk);
    test_scores(tally, layout);
    test_sensors();
    test_rows();
    adjust();
    compare_units_beside_change();
    explain(tally, layout);
    describe_stretches();
    put_into_words(log_, tally, layout, out_);
    return std::move(out_);
  }

 private:
  void tell(const std::string& stage) const {
    if (options_.stage) options_.stage(stage);
  }
  DiagnosisAnswer& answer(Question question) {
    return out_.answers[static_cast<std::size_t>(question)];
  }

  static ScoreLayout layout_of(const ScoreWalk& walk) {
    return {static_cast<Eigen::Index>(walk.dynamics().size()), walk.rows_of_dynamics()};
  }

  ScoreTally tally_scores(ScoreWalk& walk, const DiagnosedRows& rows, bool with_ranks) {
    ScoreTally tally({stretches_, units_}, walk.size(), options_.replicates, options_.seed,
                     options_.parallelism);
    const ReadingLikelihood* const likelihood = sensors_.reading_likelihood();
    std::optional<ReadingRanks> ranks;
    if (with_ranks && likelihood != nullptr) ranks.emplace(*likelihood, options_.seed);
    std::size_t last = 0;
    walk.run(options_.seed, [&](const ScoredRow& row) {
      tally.add(row);
      if (!ranks) return;
      const auto width = static_cast<std::size_t>(likelihood->sensors().dimension());
      const std::span<const double> readings = rows.readings;
      const bool apart = row.row != last + 1 || is_run_start(row.row);
      ranks->add(row, rows.actions[row.row], readings.subspan(row.row * width, width), apart);
      last = row.row;
    });
    tally.finish();
    if (ranks) out_.reading_fit = ranks->finish(error_of_labels());
    return tally;
  }
  [[nodiscard]] double error_of_labels() const {
    const auto states = static_cast<std::size_t>(chain_of(log_.model).num_states());
    std::vector<double> visits(states, 0.0);
    for (std::size_t i = 0; i < out_.fitted.visits.size(); ++i) {
      visits[i % states] += out_.fitted.visits[i];
    }
    return label_widening(static_cast<double>(out_.rows - out_.missing),
                          std::get<ContinuousPomdp>(log_.model).density_draws().labelled_rows,
                          visits);
  }
  [[nodiscard]] bool is_run_start(std::size_t row) const {
    return std::binary_search(log_.rows.run_starts.begin(), log_.rows.run_starts.end(), row);
  }

  void set(Question question, double p_value, const char* why_not) {
    DiagnosisAnswer& one = answer(question);
    one.p_value = p_value;
    if (!one.tested()) one.why_not = why_not;
  }

  void test_scores(const ScoreTally& tally, const ScoreLayout& layout) {
    tell("change, units, drift");
    out_.change = test_change(tally, 0, ScorePart::dynamics, layout);
    out_.unit_difference = test_cells(tally, 1, ScorePart::dynamics, layout);
    out_.drift = test_change(tally, 0, ScorePart::sensors, layout);
    const char* const nothing = "the log says too little about the dynamics";
    set(Question::change, out_.change.p_value, nothing);
    set(Question::units, out_.unit_difference.p_value,
        units_.count < 2 ? "there is one unit only" : nothing);
    set(Question::drift, out_.drift.p_value,
        sensors_.can_draw() ? "the log says too little about the sensors"
                            : "the log does not say what else might have been read");
  }

  void test_sensors() {
    tell("fit of the sensors");
    if (out_.reading_fit) {
      set(Question::sensors, out_.reading_fit->p_value, "nothing was read");
      return;
    }
    const auto* finite = std::get_if<Pomdp>(&log_.model);
    if (finite == nullptr || !sensors_.can_draw()) {
      set(Question::sensors, std::numeric_limits<double>::quiet_NaN(),
          log_.rows.known_states() ? "it does not know of rows in which the state is known"
                                   : "the log does not say what else might have been read");
      return;
    }
    SensorFitTest test(finite->with_transition(out_.fitted.transition));
    std::size_t run = 0;
    for (std::size_t t = 0; t < log_.rows.size(); ++t) {
      const bool starts = run < log_.rows.run_starts.size() && log_.rows.run_starts[run] == t;
      test.add(log_.rows.actions[t], log_.rows.observations[t],
               starts ? &log_.rows.starts[run] : nullptr);
      run += starts;
    }
    out_.sensor_fit = test.finish();
    set(Question::sensors, out_.sensor_fit->p_value, "no reading is expected often enough");
  }

  void test_rows() {
    tell("timing");
    out_.timing = test_timing(log_.model, log_.rows, out_.fitted, options_.parallelism);
    set(Question::timing, out_.timing.p_value, out_.timing.why_not.c_str());
    DiagnosisAnswer& reaction = answer(Question::reading_first);
    reaction.why_not = why_no_reaction();
    if (!reaction.why_not.empty()) return;
    reaction.confirms = out_.timing.own == RowOrder::reading_first;
    const OrderedRows before = rows_in_order(log_.model, log_.rows, RowOrder::before);
    out_.reaction = test_reaction(before.model, before.rows, dynamics_of(before),
                                  options_.replicates, options_.seed, options_.parallelism);
    set(Question::reading_first, out_.reaction.test.p_value, out_.reaction.why_not.c_str());
  }
  // Rows whose likelihood speaks for `after` are not asked; the others have that of `before`.
  [[nodiscard]] std::string why_no_reaction() const {
    if (log_.rows.known_states()) return "it does not know of rows in which the state is known";
    const TimingTest& test = out_.timing;
    const bool other_fits = test.tested() && test.p_value <= options_.level / kDiagnosisQuestions;
    if (test.own == RowOrder::after) return other_fits ? "" : "the rows are not of timing before";
    if (!other_fits || test.best().order != RowOrder::after) return "";
    return test.own == RowOrder::before ? "timing before does not fit"
                                        : "the rows fit timing after better";
  }
  // With the rows taken for `before`.
  [[nodiscard]] FittedDynamics dynamics_of(const OrderedRows& before) const {
    if (out_.timing.own == RowOrder::before) return out_.fitted;
    for (const OrderRival& rival : out_.timing.rivals) {
      if (rival.order == RowOrder::before && !rival.impossible) return rival.fitted;
    }
    return fit_rows(before.model, before.rows, {}, options_.parallelism);
  }

  // Holm's method: the k-th smallest of n p-values times n - k + 1, never below the one before.
  void adjust() {
    std::vector<DiagnosisAnswer*> tested;
    for (DiagnosisAnswer& one : out_.answers) {
      if (one.tested() && !one.confirms) tested.push_back(&one);
    }
    std::stable_sort(tested.begin(), tested.end(),
                     [](const auto* x, const auto* y) { return x->p_value < y->p_value; });
    double largest = 0.0;
    for (std::size_t k = 0; k < tested.size(); ++k) {
      largest = std::max(largest, tested[k]->p_value * static_cast<double>(tested.size() - k));
      tested[k]->holm = std::min(1.0, largest);
      tested[k]->found = tested[k]->holm <= out_.level;
    }
  }

  // The log itself, or with a drift taken out.
  struct Source {
    const AnyModel& model;
    const DiagnosedRows& rows;
  };

  // Rows by the groups of their units and by the side of the change on which they lie.
  [[nodiscard]] StratifiedFit stratify(const Source& source, bool by_group, bool by_change) const {
    StratifiedFit fit;
    std::vector<int>& of = fit.stratum_of_row;
    of.assign(source.rows.size(), 0);
    int count = 1;
    if (by_group) {
      count = static_cast<int>(out_.groups->dynamics.size());
      for (std::size_t t = 0; t < of.size(); ++t) {
        of[t] = out_.groups->of_unit[static_cast<std::size_t>(units_.of_row[t])];
      }
    }
    if (by_change) {
      const std::vector<std::size_t> order = source.rows.in_order();
      for (std::size_t i = out_.change_point->rows_before; i < order.size(); ++i) {
        of[order[i]] += count;
      }
      count *= 2;
    }
    for (int g = 0; g < count; ++g) {
      const bool empty = std::find(of.begin(), of.end(), g) == of.end();
      fit.strata.push_back(empty ? out_.fitted
                                 : fit_rows(
                                       source.model, source.rows,
                                       [&](std::size_t row) { return of[row] == g; },
                                       options_.parallelism));
    }
    return fit;
  }

  // A test again, with the rows in strata.
  template <class Test>
  void again(Question question, const Source& source, bool by_group, bool by_change,
             const Test& test) {
    DiagnosisAnswer& one = answer(question);
    if (!one.found) return;
    tell(fmt::format("{} beside the rest", diagnosis_key(question)));
    const SensorDirections sensors(source.model, source.rows);
    const StratifiedFit fit = stratify(source, by_group, by_change);
    ScoreWalk walk(source.model, source.rows, fit, sensors);
    const ScoreTally tally = tally_scores(walk, source.rows, false);
    one.beside = test(tally, layout_of(walk)).p_value;
    one.explained = !(one.beside <= out_.level);
  }

  // What units have in common hides in the change what they differ in: they are compared on both
  // sides of it as well, at half the level each. Where the change is real, that is one more test of
  // the units; where it is not, there is a false alarm already.
  void compare_units_beside_change() {
    if (!answer(Question::change).found) return;
    locate();
    DiagnosisAnswer& units = answer(Question::units);
    if (!units.tested()) return;
    tell("units on both sides of the change");
    const StratifiedFit fit = stratify({log_.model, log_.rows}, false, true);
    ScoreWalk walk(log_.model, log_.rows, fit, sensors_);
    const ScoreTally tally = tally_scores(walk, log_.rows, false);
    const ScoreTest beside = test_cells(tally, 1, ScorePart::dynamics, layout_of(walk));
    if (!beside.tested()) return;
    if (beside.p_value < units.p_value) {
      scores_beside_change_ = standardised_cells(tally, 1, ScorePart::dynamics, layout_of(walk));
    }
    units.p_value = std::min(1.0, 2.0 * std::min(units.p_value, beside.p_value));
    adjust();
    if (!answer(Question::change).found) out_.change_point.reset();
  }
  // [unit][direction]: how the units differ, where that is clearest.
  [[nodiscard]] Matrix unit_scores(const ScoreTally& tally, const ScoreLayout& layout) const {
    return scores_beside_change_ ? *scores_beside_change_
                                 : standardised_cells(tally, 1, ScorePart::dynamics, layout);
  }

  void explain(const ScoreTally& tally, const ScoreLayout& layout) {
    const bool change = answer(Question::change).found;
    const bool units = answer(Question::units).found;
    const bool drift = answer(Question::drift).found;
    if (units) {
      tell("groups of units");
      out_.groups = find_groups(log_.model, log_.rows, unit_scores(tally, layout), out_.fitted,
                                options_.parallelism);
    }
    if (change && !drift && sensors_.size() > 0) {
      const ScoreTest beside = test_change(tally, 0, ScorePart::dynamics_beside_drift, layout);
      answer(Question::change).maybe_drift = !(beside.p_value <= out_.level);
    }
    if (change + units + drift < 2) return;
    const Source itself{log_.model, log_.rows};
    std::optional<DriftCorrection> corrected;
    if (drift) {
      tell("the log without drift");
      corrected =
          correct_drift(log_.model, log_.rows, rows_before(out_.drift.split), options_.parallelism);
    }
    const Source steady = corrected ? Source{corrected->model, corrected->rows} : itself;
    const ScorePart part =
        drift && !corrected ? ScorePart::dynamics_beside_drift : ScorePart::dynamics;
    again(Question::change, steady, units, false,
          [&](const ScoreTally& other, const ScoreLayout& its) {
            return test_change(other, 0, part, its);
          });
    again(Question::units, steady, false, change,
          [&](const ScoreTally& other, const ScoreLayout& its) {
            return test_cells(other, 1, part, its);
          });
    again(Question::drift, itself, units, change,
          [](const ScoreTally& other, const ScoreLayout& its) {
            return test_change(other, 0, ScorePart::sensors, its);
          });
  }

  [[nodiscard]] std::size_t rows_before(int split) const {
    const std::vector<int>& of = stretches_.of_row;
    return static_cast<std::size_t>(
        std::count_if(of.begin(), of.end(), [split](int cell) { return cell < split; }));
  }

  void locate() {
    tell("place of the change");
    out_.change_point = locate_change(log_.model, log_.rows, rows_before(out_.change.split),
                                      out_.fitted, options_.parallelism);
    widen_limits(*out_.change_point);
    const std::vector<std::size_t> order = log_.rows.in_order();
    const std::size_t places[] = {out_.change_point->rows_before, out_.change_point->lower,
                                  out_.change_point->upper};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t row = order[std::min(places[i], order.size() - 1)];
      out_.change_text[i] = log_.place_text(log_.rows.place[row]);
    }
  }

  // Splits that gain nearly as much when both sides are fitted anew belong to the limits too.
  void widen_limits(ChangePoint& point) const {
    const std::vector<double>& gain = out_.change.gain;
    const double least = *std::max_element(gain.begin(), gain.end()) - 2.0 * kPlaceFall;
    for (std::size_t c = 0; c < gain.size(); ++c) {
      if (gain[c] == 0.0 || gain[c] < least) continue;
      const std::size_t before = rows_before(static_cast<int>(c) + 1);
      point.lower = std::min(point.lower, before);
      point.upper = std::max(point.upper, before);
    }
  }

  void describe_stretches() {
    out_.stretch_end.assign(static_cast<std::size_t>(stretches_.count), 0.0);
    out_.stretch_rows.assign(out_.stretch_end.size(), 0);
    for (std::size_t t = 0; t < log_.rows.size(); ++t) {
      const auto cell = static_cast<std::size_t>(stretches_.of_row[t]);
      double& end = out_.stretch_end[cell];
      end = out_.stretch_rows[cell] == 0 ? log_.rows.place[t] : std::max(end, log_.rows.place[t]);
      ++out_.stretch_rows[cell];
    }
    std::partial_sum(out_.stretch_rows.begin(), out_.stretch_rows.end(), out_.stretch_rows.begin());
    for (const double end : out_.stretch_end) {
      out_.stretch_end_text.push_back(log_.place_text(end));
    }
  }

  const DiagnosedLog& log_;
  const DiagnosisOptions& options_;
  SensorDirections sensors_;
  RowCells stretches_;
  RowCells units_;
  std::optional<Matrix> scores_beside_change_;
  LogDiagnosis out_;
};

}  // namespace

LogDiagnosis diagnose_log(const DiagnosedLog& log, const DiagnosisOptions& options) {
  check_ranges(options);
  const auto& starts = log.rows.starts;
  if (std::none_of(starts.begin(), starts.end(), [](auto& one) { return one.is_unknown(); })) {
    return Diagnosing(log, options).run();
  }
  // Runs that were cut did not begin in all states alike; else the tests would find that.
  DiagnosedLog with_law = log;
  const auto law = std::make_shared<const std::vector<double>>(
      fit_rows(log.model, log.rows, {}, options.parallelism).unknown_start);
  for (RunStart& start : with_law.rows.starts) start = start.with_law(law);
  return Diagnosing(with_law, options).run();
}

}  // namespace oas
