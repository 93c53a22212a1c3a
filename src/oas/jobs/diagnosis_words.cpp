#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cctype>
#include <cmath>

#include "oas/estimation/diagnosis/noncentrality.hpp"
#include "oas/jobs/log_diagnosis.hpp"

namespace oas {

namespace {

using Question = DiagnosisQuestion;
// Differences of units must be this much larger than to first order to be shown: measured in
// simulated fleets (docs/how-to/does-one-model-fit.md).
constexpr double kUnitsShown = 2.0;
constexpr double kPower = 0.9;
constexpr std::size_t kNamedUnits = 12;
constexpr double kSure = 3.0;  // of log-likelihood: 20 to 1

// A row of T in which a change would have to be at least so large to be shown.
struct RowPower {
  std::string row;
  double change = 0.0;
};

class Words {
 public:
  Words(const DiagnosedLog& log, const ScoreTally& tally, const ScoreLayout& layout,
        LogDiagnosis& diagnosis)
      : log_(log), chain_(chain_of(log.model)), tally_(tally), layout_(layout), out_(diagnosis) {
    double tests = 0.0;
    for (const DiagnosisAnswer& one : out_.answers) tests += one.tested() && !one.confirms;
    strict_ = out_.level / std::max(tests, 1.0);
  }

  void all() {
    for (DiagnosisAnswer& one : out_.answers) {
      if (!one.tested()) {
        one.text = fmt::format("Not tested: {}.", one.why_not);
        continue;
      }
      switch (one.asked) {
        case Question::timing:
          timing(one);
          break;
        case Question::reading_first:
          reading_first(one);
          break;
        case Question::sensors:
          sensors(one);
          break;
        case Question::drift:
          drift(one);
          break;
        case Question::units:
          units(one);
          break;
        case Question::change:
          change(one);
          break;
      }
    }
  }

 private:
  void timing(DiagnosisAnswer& one) const {
    const TimingTest& test = out_.timing;
    const OrderRival& best = test.best();
    if (best.impossible) {
      one.text = fmt::format("{} fits; with {} the rows cannot happen.", capital(name(test.own)),
                             names_of(test.rivals));
      return;
    }
    if (one.found) {
      one.text = fmt::format("No: the rows fit {} better ({} more).", name(best.order), gap(best));
      if (best.order == RowOrder::before && may_be_reading_first()) {
        one.text += " Or they are reading-first: see below.";
      }
    } else {
      one.text = verdict_on_rivals();
    }
    const boost::math::normal law;
    const double strict = strict_ / static_cast<double>(test.rivals.size());
    const double needed = boost::math::quantile(boost::math::complement(law, strict)) +
                          boost::math::quantile(law, kPower);
    one.power = fmt::format("a log-likelihood that is better by {:.1f} on average",
                            needed * best.standard_error);
  }

  // Which orders fit worse, and which the log cannot tell from the model's.
  [[nodiscard]] std::string verdict_on_rivals() const {
    const std::string own = name(out_.timing.own);
    std::vector<std::string> worse;
    std::vector<std::string> open;
    for (const OrderRival& rival : out_.timing.rivals) {
      if (rival.p_value_of_rival() <= out_.level) {
        worse.push_back(rival.impossible ? fmt::format("{} is impossible", name(rival.order))
                                         : fmt::format("{} fits worse ({} less)", name(rival.order),
                                                       gap(rival)));
      } else {
        open.push_back(fmt::format("{} ({} {})", name(rival.order), gap(rival),
                                   rival.difference > 0.0 ? "more" : "less"));
      }
    }
    if (open.empty()) return fmt::format("Yes: {}.", fmt::join(worse, "; "));
    const std::string cannot =
        fmt::format("The log cannot tell {} from {}.", own, fmt::join(open, " or "));
    return worse.empty() ? cannot : fmt::format("{} {}.", cannot, capital(worse.front()));
  }

  [[nodiscard]] bool may_be_reading_first() const {
    return sensors_ignore_actions(log_.model) && out_.timing.own == RowOrder::after;
  }
  static std::string gap(const OrderRival& rival) {
    return fmt::format("log-likelihood {:.1f} ± {:.1f}", std::abs(rival.difference),
                       rival.standard_error);
  }
  static std::string name(RowOrder order) {
    const bool timing = order != RowOrder::reading_first;
    return fmt::format("{}{}", timing ? "timing " : "", to_string(order));
  }
  static std::string names_of(const std::vector<OrderRival>& rivals) {
    std::vector<std::string> names;
    for (const OrderRival& rival : rivals) names.push_back(name(rival.order));
    return fmt::format("{}", fmt::join(names, " or "));
  }
  static std::string capital(std::string text) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    return text;
  }

  [[nodiscard]] bool found(Question question) const { return out_.answer(question).found; }

  // Whether the log allows for timing `after`: the model's own, or one that it cannot tell from it.
  [[nodiscard]] bool after_is_open() const {
    const TimingTest& test = out_.timing;
    if (test.own == RowOrder::after) return test.p_value > out_.level;
    return std::any_of(test.rivals.begin(), test.rivals.end(), [&](const OrderRival& rival) {
      return rival.order == RowOrder::after && rival.p_value_of_rival() > out_.level;
    });
  }

  void reading_first(DiagnosisAnswer& one) const {
    const bool reacts = one.confirms ? one.p_value <= out_.level : one.found;
    if (one.confirms && reacts) {
      one.text = "Yes, as the model says: the action depends on the row's own reading.";
    } else if (one.confirms) {
      one.text =
          "No dependence of the action on the row's own reading was found: the rows may as well be "
          "of timing before. The log cannot tell which.";
    } else if (!reacts) {
      one.text =
          "No dependence of the action on the row's own reading was found: before, or the log "
          "cannot tell.";
    } else if (after_is_open()) {
      one.text =
          "The action and the row's own reading depend on each other: the rows are reading-first, "
          "or of timing after. The log cannot tell which.";
    } else {
      one.text = "The action depends on the row's own reading: the rows are reading-first.";
    }
    if (reacts && (found(Question::sensors) || found(Question::drift))) {
      one.text += " But sensors that do not fit may look the same: settle that first.";
    }
    one.power = fmt::format(
        "an action in whose rows the reading makes a state likelier by {:.2g} than in others",
        out_.reaction.smallest(strict_, kPower));
  }

  void sensors(DiagnosisAnswer& one) const {
    one.text = one.found ? "No: " : "Nothing contradicts it. Worst: ";
    if (out_.reading_fit) {
      const ReadingFit::Part& worst = out_.reading_fit->worst();
      const std::string off =
          worst.name.starts_with("all")
              ? "the joint density of all components"
              : fmt::format("{}, off by {:+.3f} standard deviations of what was predicted",
                            worst.name, worst.shift);
      one.text += fmt::format("{}, correlation of neighbours {:+.3f}.", off, worst.dependence);
      const double labels = std::get<ContinuousPomdp>(log_.model).density_draws().labelled_rows;
      if (one.found && labels > 0.0) {
        one.text += fmt::format(
            " This allows for the densities being fitted to only {:.0f} labelled "
            "rows.",
            labels);
      }
      one.power = fmt::format("a shift of all readings by {:.2g} standard deviations",
                              out_.reading_fit->smallest_shift(strict_, kPower));
      return;
    }
    const SensorFit& fit = *out_.sensor_fit;
    one.text += fit.brief(std::get<Pomdp>(log_.model)) + ".";
    const double needed = noncentrality_at_level(fit.degrees, strict_, kPower);
    const double share = std::sqrt(needed / std::max(fit.if_even, 1e-300));
    one.power = share < 1.0
                    ? fmt::format("readings that are noise in {:.2g} % of the rows", 100.0 * share)
                    : "nothing: the log is too short to show even sensors of noise";
  }

  void drift(DiagnosisAnswer& one) const {
    const std::size_t at = static_cast<std::size_t>(out_.drift.split - 1);
    one.text =
        one.found ? fmt::format("Yes, most of all near {}.", place(at)) : "No drift was found.";
    explain(one);
    const SensorDirections directions(log_.model, log_.rows);
    const Vector information = information_of(tally_, ScorePart::sensors, layout_);
    Eigen::Index best = 0;
    information.maxCoeff(&best);
    const double needed = out_.drift.noncentrality_of(best, strict_, kPower);
    const double length = std::sqrt(4.0 * needed / information(best));
    const int direction = static_cast<int>(best);
    one.power = fmt::format("a change, half way, of {} by {:.2g}", directions.name(direction),
                            length * directions.scale(direction));
  }

  void units(DiagnosisAnswer& one) const {
    one.text = one.found ? "Yes: " + groups() : "No difference was found.";
    explain(one);
    one.power = power_of_rows(out_.unit_difference, "units in two equal groups that differ in",
                              kUnitsShown);
  }

  [[nodiscard]] std::string groups() const {
    const UnitGroups& found = *out_.groups;
    std::string text = fmt::format("{} groups fit best:", found.dynamics.size());
    for (std::size_t g = 0; g < found.dynamics.size(); ++g) {
      std::string names;
      std::size_t count = 0;
      for (std::size_t u = 0; u < out_.units.size(); ++u) {
        if (found.of_unit[u] != static_cast<int>(g)) continue;
        if (count++ < kNamedUnits) names += (names.empty() ? "" : " ") + out_.units[u];
      }
      if (count > kNamedUnits) names += " …";
      text += fmt::format("{} {} of {} ({})", g > 0 ? ";" : "", g + 1, count, names);
    }
    const auto unsure = std::count_if(found.margin.begin(), found.margin.end(),
                                      [](double margin) { return margin < kSure; });
    if (!found.clear) text += "; they are not clearly apart";
    if (unsure > 0) text += fmt::format("; {} of the units could be in another", unsure);
    return text + ".";
  }

  void change(DiagnosisAnswer& one) const {
    one.text = one.found ? fmt::format("Yes, near {} ({} to {}, 95 %){}.", named_place(0),
                                       out_.change_text[1], out_.change_text[2], most_in())
                         : "No change was found.";
    explain(one);
    if (one.maybe_drift) {
      one.text +=
          " Sensors that changed there would look much the same in this log: check "
          "them before you believe it.";
    }
    one.power = power_of_rows(out_.change, "a change, half way, of", 1.0);
  }

  // The row of T in which a change shows most, if it is one.
  [[nodiscard]] std::string most_in() const {
    if (out_.change.block == 0) return "";
    const Eigen::Index first = out_.change.blocks[out_.change.block].coordinates.front();
    return ", most of all in row " + row_name(layout_.row_of[static_cast<std::size_t>(first)]);
  }
  [[nodiscard]] std::string row_name(int row) const {
    const int states = chain_.num_states();
    return fmt::format("({}, {})", chain_.actions()[row / states], chain_.states()[row % states]);
  }
  [[nodiscard]] std::string named_place(int which) const {
    if (out_.timed) return out_.change_text[which];
    return (out_.units.size() > 1 ? "step " : "row ") + out_.change_text[which] +
           (out_.units.size() > 1 ? " of the units" : "");
  }
  [[nodiscard]] std::string place(std::size_t stretch) const {
    const std::string text = log_.place_text(end_of(stretch));
    if (out_.timed) return text;
    return (out_.units.size() > 1 ? "step " : "row ") + text;
  }
  [[nodiscard]] double end_of(std::size_t stretch) const { return out_.stretch_end[stretch]; }

  void explain(DiagnosisAnswer& one) const {
    if (!one.found || !(one.beside == one.beside)) return;
    one.text +=
        one.explained
            ? fmt::format(
                  " But it vanishes when the other findings are allowed for (p = {:.2g}): "
                  "they explain it.",
                  one.beside)
            : fmt::format(" It remains when the other findings are allowed for (p = {:.2g}).",
                          one.beside);
  }

  // What had to happen to the row of T that the log knows best, and to the one it knows least.
  [[nodiscard]] std::string power_of_rows(const ScoreTest& test, const char* what,
                                          double factor) const {
    const Vector information = information_of(tally_, ScorePart::dynamics, layout_);
    std::vector<RowPower> rows;
    std::vector<std::size_t> seen;
    for (std::size_t i = 0; i < layout_.row_of.size(); ++i) {
      const auto row = static_cast<std::size_t>(layout_.row_of[i]);
      const double one = information(static_cast<Eigen::Index>(i));
      const double needed = test.noncentrality_of(static_cast<Eigen::Index>(i), strict_, kPower);
      const double length = one > 0.0 ? std::min(1.0, factor * std::sqrt(4.0 * needed / one)) : 1.0;
      if (seen.empty() || seen.back() != row) {
        seen.push_back(row);
        rows.push_back({row_name(static_cast<int>(row)), 0.0});
      }
      rows.back().change = std::max(rows.back().change, length);
    }
    const auto less = [](const RowPower& x, const RowPower& y) { return x.change < y.change; };
    const auto [best, worst] = std::minmax_element(rows.begin(), rows.end(), less);
    if (best->change >= 1.0) return "nothing: the log is too short for any change of one row";
    std::string text = fmt::format("{} row {} by {:.2g}", what, best->row, best->change);
    if (rows.size() < 2) return text;
    return text + (worst->change >= 1.0
                       ? fmt::format(", of row {} none however large", worst->row)
                       : fmt::format(", of row {} by {:.2g}", worst->row, worst->change));
  }

  const DiagnosedLog& log_;
  const Pomdp& chain_;
  const ScoreTally& tally_;
  const ScoreLayout& layout_;
  LogDiagnosis& out_;
  double strict_;
};

}  // namespace

const char* diagnosis_key(DiagnosisQuestion question) {
  constexpr const char* kKeys[] = {"timing", "reading_first", "sensors",
                                   "drift",  "units",         "change"};
  return kKeys[static_cast<std::size_t>(question)];
}

const char* diagnosis_question(DiagnosisQuestion question) {
  constexpr const char* kQuestions[] = {
      "Is the timing right?", "Were actions chosen with the row's own reading?",
      "Do the sensors fit?",  "Do the sensors drift?",
      "Do the units differ?", "Did the dynamics change?",
  };
  return kQuestions[static_cast<std::size_t>(question)];
}

void put_into_words(const DiagnosedLog& log, const ScoreTally& tally, const ScoreLayout& layout,
                    LogDiagnosis& diagnosis) {
  Words(log, tally, layout, diagnosis).all();
}

}  // namespace oas
