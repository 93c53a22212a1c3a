#include <cmath>
#include <nlohmann/json.hpp>

#include "oas/jobs/log_diagnosis.hpp"

namespace oas {

namespace {

using Json = nlohmann::ordered_json;

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json dynamics_json(const Pomdp& model, const FittedDynamics& fitted) {
  Json all = Json::array();
  for (Action a{0}; a < model.num_actions(); ++a) {
    Json matrix = Json::array();
    for (State s{0}; s < model.num_states(); ++s) {
      Json row = Json::array();
      for (State next{0}; next < model.num_states(); ++next) {
        row.push_back(fitted.transition(a, s, next));
      }
      matrix.push_back(std::move(row));
    }
    all.push_back(std::move(matrix));
  }
  return all;
}

Json test_json(const ScoreTest& test, double level) {
  if (!test.tested()) return nullptr;
  return {{"evidence", test.statistic},
          {"dimensions", test.dimensions},
          {"critical", test.critical(level)},
          {"path", test.path}};
}

Json change_json(const Pomdp& model, const LogDiagnosis& diagnosis) {
  const ChangePoint& change = *diagnosis.change_point;
  return {{"place", diagnosis.change_text[0]},
          {"place_lower", diagnosis.change_text[1]},
          {"place_upper", diagnosis.change_text[2]},
          {"rows_before", change.rows_before},
          {"rows_before_lower", change.lower},
          {"rows_before_upper", change.upper},
          {"log_likelihood_gain", change.log_likelihood_gain},
          {"transition_before", dynamics_json(model, change.before)},
          {"transition_after", dynamics_json(model, change.after)}};
}

Json groups_json(const Pomdp& model, const LogDiagnosis& diagnosis) {
  const UnitGroups& groups = *diagnosis.groups;
  Json document = {{"clear", groups.clear},
                   {"log_likelihood_gain", groups.log_likelihood_gain},
                   {"margins", groups.margin},
                   {"groups", Json::array()}};
  for (std::size_t g = 0; g < groups.dynamics.size(); ++g) {
    Json members = Json::array();
    for (std::size_t u = 0; u < groups.of_unit.size(); ++u) {
      if (groups.of_unit[u] == static_cast<int>(g)) members.push_back(diagnosis.units[u]);
    }
    document["groups"].push_back(
        {{"units", std::move(members)}, {"transition", dynamics_json(model, groups.dynamics[g])}});
  }
  return document;
}

Json timing_json(const TimingTest& test) {
  const OrderRival& best = test.best();
  Json document = {{"rows", to_string(test.own)},
                   {"log_likelihood_difference_of_other", best.difference},
                   {"standard_error", best.standard_error},
                   {"other_impossible", best.impossible},
                   {"others", Json::array()}};
  for (const OrderRival& rival : test.rivals) {
    document["others"].push_back({{"rows", to_string(rival.order)},
                                  {"log_likelihood_difference", rival.difference},
                                  {"standard_error", rival.standard_error},
                                  {"impossible", rival.impossible},
                                  {"p_value_of_model", rival.p_value},
                                  {"p_value_of_other", rival.p_value_of_rival()}});
  }
  return document;
}

Json readings_json(const ReadingFit& fit) {
  Json parts = Json::array();
  for (const ReadingFit::Part& part : fit.parts) {
    parts.push_back({{"name", part.name},
                     {"rows", part.rows},
                     {"p_value", part.p_value},
                     {"shift", part.shift},
                     {"dependence", part.dependence},
                     {"ranks", part.histogram}});
  }
  return parts;
}

}  // namespace

nlohmann::ordered_json diagnosis_to_json(const Pomdp& model, const LogDiagnosis& diagnosis) {
  Json document = {{"format", "oas-diagnosis/1"},
                   {"rows", diagnosis.rows},
                   {"missing_observations", diagnosis.missing},
                   {"runs", diagnosis.runs},
                   {"units", diagnosis.units},
                   {"level", diagnosis.level},
                   {"replicates", diagnosis.replicates},
                   {"seed", diagnosis.seed},
                   {"answers", Json::array()}};
  for (const DiagnosisAnswer& one : diagnosis.answers) {
    Json answer = {{"name", diagnosis_key(one.asked)},
                   {"question", diagnosis_question(one.asked)},
                   {"tested", one.tested()},
                   {"found", one.found},
                   {"p_value", finite_or_null(one.p_value)},
                   {"p_value_holm", finite_or_null(one.holm)},
                   {"p_value_beside_others", finite_or_null(one.beside)},
                   {"explained_by_others", one.explained},
                   {"answer", one.text}};
    if (one.confirms) answer["confirms_the_model"] = one.p_value <= diagnosis.level;
    if (one.maybe_drift) answer["drift_would_explain"] = true;
    if (!one.power.empty()) answer["shown_nine_times_in_ten"] = one.power;
    document["answers"].push_back(std::move(answer));
  }
  document["stretch_ends"] = diagnosis.stretch_end_text;
  document["stretch_rows"] = diagnosis.stretch_rows;
  document["change_test"] = test_json(diagnosis.change, diagnosis.level);
  document["drift_test"] = test_json(diagnosis.drift, diagnosis.level);
  document["unit_test"] = test_json(diagnosis.unit_difference, diagnosis.level);
  if (diagnosis.change_point) document["change"] = change_json(model, diagnosis);
  if (diagnosis.groups) document["unit_groups"] = groups_json(model, diagnosis);
  if (diagnosis.reading_fit) document["readings"] = readings_json(*diagnosis.reading_fit);
  if (diagnosis.answer(DiagnosisQuestion::timing).tested()) {
    document["timing"] = timing_json(diagnosis.timing);
  }
  document["transition"] = dynamics_json(model, diagnosis.fitted);
  return document;
}

}  // namespace oas
