#include "oas/report/policy_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "oas/core/markup.hpp"
#include "oas/figures/line_styles.hpp"
#include "oas/figures/svg.hpp"
#include "oas/planning/look_ahead.hpp"
#include "oas/planning/plan_policy.hpp"
#include "oas/simulation/environment.hpp"
#include "oas/simulation/run.hpp"

namespace oas {

namespace {

constexpr int kSteps = 20'000;
constexpr double kGrain = 10.0;  // beliefs that agree to 1/10 are one

struct Group {
  std::vector<double> sum;
  std::int64_t steps = 0;
};

std::vector<VisitedBelief> most_visited(std::vector<VisitedBelief> all, std::size_t most) {
  std::map<Action, double> share;
  for (const VisitedBelief& visited : all) share[visited.action] += visited.share;
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return a.action != b.action ? share[a.action] > share[b.action] : a.share > b.share;
  });
  std::map<Action, std::size_t> kept;
  std::erase_if(all, [&](const auto& visited) { return ++kept[visited.action] > most; });
  return all;
}

}  // namespace

std::vector<VisitedBelief> visited_beliefs(const Plan& plan, std::uint64_t seed, std::size_t most) {
  std::map<std::pair<std::vector<int>, Action>, Group> groups;
  LookAhead look_ahead(plan);
  PlanPolicy policy(plan);
  Environment environment(plan.model, Rng({seed, 0, Role::environment}));
  Rng rng({seed, 0, Role::agent});
  play(environment, policy, rng, kSteps, [&](const Choice&, const Environment::Outcome&) {
    const auto belief = policy.belief();  // at which it has acted
    std::vector<int> key;
    for (const double p : belief) key.push_back(static_cast<int>(std::lround(kGrain * p)));
    Group& group = groups[{std::move(key), Action{look_ahead.greedy(belief)}}];
    group.sum.resize(belief.size(), 0.0);
    for (std::size_t s = 0; s < belief.size(); ++s) group.sum[s] += belief[s];
    ++group.steps;
  });
  std::vector<VisitedBelief> result;
  for (const auto& [key, group] : groups) {
    VisitedBelief visited{group.sum, key.second, static_cast<double>(group.steps) / kSteps};
    for (double& value : visited.belief) value /= static_cast<double>(group.steps);
    result.push_back(std::move(visited));
  }
  return most_visited(std::move(result), most);
}

std::string policy_svg(const Pomdp& model, std::span<const VisitedBelief> beliefs) {
  constexpr double kBar = 420.0;
  constexpr double kLeftEdge = 20.0;
  constexpr double kRow = 30.0;
  std::vector<std::string> names;
  for (int s = 0; s < model.num_states(); ++s) names.push_back(model.states()[s]);
  const auto styles = styles_of(names);
  double x = kLeftEdge;
  double top = 10.0;
  Svg svg(kLeftEdge + kBar + 380.0,
          60.0 + 20.0 * (model.num_states() / 6.0) + kRow * static_cast<double>(beliefs.size()),
          "what the plan does where");
  for (const std::string& name : names) {
    svg.shade({x, top}, 14.0, 12.0, styles.at(name).color, 0.8, name);
    svg.label({x + 20.0, top + 10.0}, name, "start", 12);
    x += 44.0 + 7.2 * static_cast<double>(num_characters(name));
    if (x > kBar + 250.0) {
      x = kLeftEdge;
      top += 20.0;
    }
  }
  top += 30.0;
  for (const VisitedBelief& visited : beliefs) {
    double start = kLeftEdge;
    for (std::size_t s = 0; s < visited.belief.size(); ++s) {
      const double width = kBar * visited.belief[s];
      svg.shade({start, top}, width, kRow - 8.0, styles.at(names[s]).color, 0.8,
                fmt::format("{} {:.2f}", names[s], visited.belief[s]));
      if (width > 36.0) {
        svg.label({start + 0.5 * width, top + 15.0}, fmt::format("{:.2f}", visited.belief[s]),
                  "middle", 11);
      }
      start += width;
    }
    svg.label({kLeftEdge + kBar + 16.0, top + 15.0}, model.actions()[visited.action], "start", 13,
              "bold");
    svg.label({kLeftEdge + kBar + 360.0, top + 15.0},
              fmt::format("{:.1f} % of the time", 100.0 * visited.share), "end", 12);
    top += kRow;
  }
  return svg.finish();
}

}  // namespace oas
