#include "check_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli.hpp"

namespace oas::cli {

namespace {

constexpr std::size_t kShown = 10;

// "a, b, c and 26 more".
std::string short_list(const std::vector<std::string>& items) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(items.size(), kShown));
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + shown, ", "));
  if (items.size() > kShown) text += fmt::format(" and {} more", items.size() - kShown);
  return text;
}

std::string short_numbers(const std::vector<double>& values) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(values.size(), kShown));
  return fmt::format("{:.3f}{}", fmt::join(values.begin(), values.begin() + shown, " "),
                     values.size() > kShown ? " …" : "");
}

std::vector<std::string> names_of(const Labels& labels, const auto& indices) {
  std::vector<std::string> names;
  names.reserve(indices.size());
  for (const auto i : indices) names.push_back(labels[i]);
  return names;
}

const char* describe(Reward::Kind kind) {
  switch (kind) {
    case Reward::Kind::none:
      return "no reward";
    case Reward::Kind::by_observation:
      return "reward of the observation";
    case Reward::Kind::by_action_state:
      return "reward of action and state";
    case Reward::Kind::by_transition:
      break;
  }
  return "reward of action, state, next state and observation";
}

// The same sensor for every action is one line.
bool same_for_all(const Pomdp& model) {
  return model.num_actions() > 1 && !model.sensors().action_that_differs();
}

}  // namespace

void report_head(const Pomdp& model, Report& report) {
  report.text = model.brief() + "\n" + describe(model.reward().kind());
  if (model.reward().kind() != Reward::Kind::none &&
      (model.has_transition() || !reward_needs_transition(model.reward(), model.timing()))) {
    const Matrix expected = model.expected_reward();
    report.text += fmt::format(", expected between {:.4g} and {:.4g} a step", expected.minCoeff(),
                               expected.maxCoeff());
  }
  report.text += '\n';
  if (model.discount()) {
    report.text += fmt::format(
        "discount {} is kept but not used: oas maximises the long-run average "
        "reward\n",
        *model.discount());
  }
}

void report_sensors(const Pomdp& model, const std::optional<SensorReport>& sensors,
                    Report& report) {
  if (!sensors) {
    report.text +=
        fmt::format("\nsensors\n  {} observations of {} states: too large for singular values\n",
                    model.num_observations(), model.num_states());
    report.json["sensors"] = nullptr;
    report.json["alpha"] = nullptr;
    return;
  }
  const bool same = same_for_all(model);
  Table table({"action", "alpha", "rank", "singular values of the sensor"});
  for (int a = 0; a < model.num_actions(); ++a) {
    const ActionSensor& sensor = sensors->actions[static_cast<std::size_t>(a)];
    if (!same || a == 0) {
      table.add({same ? "all" : model.actions()[a], fmt::format("{:.4f}", sensor.alpha),
                 fmt::format("{}", sensor.rank), short_numbers(sensor.singular_values)});
    }
    report.json["sensors"].push_back({{"action", model.actions()[a]},
                                      {"alpha", sensor.alpha},
                                      {"rank", sensor.rank},
                                      {"singular_values", sensor.singular_values}});
  }
  report.json["alpha"] = sensors->alpha;
  report.text += "\nsensors\n" + table.text();
  if (sensors->revealing()) {
    report.text += fmt::format("  alpha {:.4f}: the least revealing action is {}\n", sensors->alpha,
                               model.actions()[sensors->weakest]);
  } else if (model.num_observations() < model.num_states()) {
    report.text += fmt::format("  {} observations cannot tell {} states apart\n",
                               model.num_observations(), model.num_states());
  } else {
    report.text += fmt::format("  not all states can be told apart under: {}\n",
                               short_list(names_of(model.actions(), sensors->blind_actions())));
  }
}

void report_dynamics(const Pomdp& model, const ErgodicityReport& ergodicity,
                     const CommunicationReport& communication, Report& report) {
  report.text += fmt::format("\ndynamics\n  {}\n  {}\n", communication.brief(), ergodicity.brief());
  const auto unreachable = names_of(model.states(), communication.unreachable);
  const auto absorbing = names_of(model.states(), communication.absorbing);
  if (!unreachable.empty()) {
    report.text += fmt::format("  unreachable from the start: {}\n", short_list(unreachable));
  }
  if (!absorbing.empty()) {
    report.text += fmt::format("  absorbing (terminal): {}\n", short_list(absorbing));
  }
  // Classic files are for discounted rewards until the end; here the end lasts for ever.
  if (!absorbing.empty() && model.num_states() > 1 &&
      communication.num_closed_classes() == static_cast<int>(absorbing.size())) {
    report.text +=
        "  runs that try all actions end in absorbing states, where only the reward there counts\n";
  }
  report.json["dynamics"] = {{"epsilon", ergodicity.min_transition},
                             {"dobrushin", ergodicity.coefficient},
                             {"second_eigenvalue", ergodicity.second_eigenvalue},
                             {"smallest_stationary", ergodicity.min_stationary},
                             {"ergodic", communication.ergodic()},
                             {"unreachable", unreachable},
                             {"absorbing", absorbing}};
}

}  // namespace oas::cli
