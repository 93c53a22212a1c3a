#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/parallel.hpp"
#include "oas/estimation/diagnosis/change_point.hpp"
#include "oas/estimation/diagnosis/diagnosed_rows.hpp"
#include "oas/estimation/diagnosis/drift_correction.hpp"
#include "oas/estimation/diagnosis/reading_ranks.hpp"
#include "oas/estimation/diagnosis/row_timing.hpp"
#include "oas/estimation/diagnosis/score_tests.hpp"
#include "oas/estimation/sensors/sensor_fit.hpp"
#include "oas/logs/log_options.hpp"
#include "oas/model/any_model.hpp"

namespace oas {

/// How a log is diagnosed.
struct DiagnosisOptions {
  double level = 0.05;
  int replicates = 999;
  std::uint64_t seed = 1;
  Parallelism parallelism = {};
  std::function<void(const std::string&)> stage = {};  ///< is told what is worked on

  template <class Fields>
  void visit(Fields& fields) {
    fields("level", level, {0.001, 0.5},
           "probability of any false alarm, over all tests together (Holm)");
    fields("replicates", replicates, {199, 99'999},
           "simulated logs behind a p-value, which is at least 1 / (replicates + 1)");
    fields("seed", seed, "seed of the simulations");
  }
};

/// A log as it is diagnosed, and how to name its places.
struct DiagnosedLog {
  AnyModel model;  ///< what its rows are read with: see row_model()
  DiagnosedRows rows;
  bool timed = false;  ///< all files have times
  std::int64_t missing = 0;
  std::function<std::string(double)> place_text;
};

/// Reads all files; each starts a run. Units of one name in several files are one unit, whose rows
/// without times go on counting from file to file; units that have numbers or no names are told
/// apart by their file. Throws as LogReader does.
[[nodiscard]] DiagnosedLog read_diagnosed_log(const AnyModel& model,
                                              std::span<const std::string> paths,
                                              const LogOptions& options = {});

enum class DiagnosisQuestion { timing, reading_first, sensors, drift, units, change };
inline constexpr int kDiagnosisQuestions = 6;

/// The answer to one question.
struct DiagnosisAnswer {
  DiagnosisQuestion asked = DiagnosisQuestion::timing;
  std::string why_not;  ///< it was not tested
  double p_value = std::numeric_limits<double>::quiet_NaN();
  double holm = std::numeric_limits<double>::quiet_NaN();  ///< p-value among all tests
  /// p-value when what else was found is allowed for; NaN where nothing else was.
  double beside = std::numeric_limits<double>::quiet_NaN();
  /// A small p-value is what the model says, and no alarm: it takes no part in Holm's method.
  bool confirms = false;
  bool found = false;        ///< holm <= level
  bool explained = false;    ///< found, but by something else that was found too
  bool maybe_drift = false;  ///< a change of the dynamics; a drift of the sensors would do as well
  std::string text;          ///< the plain answer
  std::string power;         ///< what the log would have shown nine times in ten

  [[nodiscard]] bool tested() const { return p_value == p_value; }
};

/// Does one model fit all rows of a log?
struct LogDiagnosis {
  double level = 0.05;
  int replicates = 0;
  std::uint64_t seed = 0;
  std::int64_t rows = 0;
  std::int64_t missing = 0;
  std::int64_t runs = 0;
  bool timed = false;
  std::vector<std::string> units;
  FittedDynamics fitted;                 ///< one model for all rows
  std::vector<DiagnosisAnswer> answers;  ///< of all questions, in their order

  ScoreTest change;                 ///< by stretch of the rows in their order
  std::vector<double> stretch_end;  ///< [stretch]: place of its last row
  std::vector<std::string> stretch_end_text;
  std::vector<std::int64_t> stretch_rows;   ///< rows up to its end
  std::optional<ChangePoint> change_point;  ///< where a change was found
  std::string change_text[3];               ///< its place, and limits
  ScoreTest unit_difference;                ///< by unit
  std::optional<UnitGroups> groups;         ///< where units were found to differ
  ScoreTest drift;                          ///< by stretch
  std::optional<SensorFit> sensor_fit;      ///< finite observations
  std::optional<ReadingFit> reading_fit;    ///< real-valued ones
  TimingTest timing;
  ReactionTest reaction;

  [[nodiscard]] const DiagnosisAnswer& answer(DiagnosisQuestion question) const {
    return answers[static_cast<std::size_t>(question)];
  }
};

/// Fits one model (the dynamics of `log.model`, if any, are not looked at) and asks what speaks
/// against it: wrong timing, sensors that do not fit or drift, units that differ, dynamics that
/// change. Tests of prediction scores with replicates of their own (score_tests.hpp), so that
/// levels hold for short logs, rare events, any policy; all together by Holm's method. Where
/// several of drift, units and change are found, each is tested again beside the others, and called
/// explained when it vanishes. Same seed, same bytes, for any number of threads.
/// Throws InvalidArgument when the rows cannot happen or hold no transition.
[[nodiscard]] LogDiagnosis diagnose_log(const DiagnosedLog& log,
                                        const DiagnosisOptions& options = {});

/// "change", "reading_first", …
[[nodiscard]] const char* diagnosis_key(DiagnosisQuestion question);
/// "Did the dynamics change?"
[[nodiscard]] const char* diagnosis_question(DiagnosisQuestion question);

/// Fills in text and power of all answers.
void put_into_words(const DiagnosedLog& log, const ScoreTally& tally, const ScoreLayout& layout,
                    LogDiagnosis& diagnosis);

/// All of it, "oas-diagnosis/1".
[[nodiscard]] nlohmann::ordered_json diagnosis_to_json(const Pomdp& model,
                                                       const LogDiagnosis& diagnosis);

/// A drawing (SVG): the path of the scores with its critical line and the change, units with their
/// groups, how the readings fit.
[[nodiscard]] std::string diagnosis_figure_svg(const LogDiagnosis& diagnosis);

}  // namespace oas
