#include "oas/theory/communication.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Arrows of Σ_a T_a as lists of successors, increasing.
using Graph = std::vector<std::vector<int>>;

Graph union_graph(const TransitionModel& transition) {
  const int num_states = transition.num_states();
  Graph successors(static_cast<std::size_t>(num_states));
  std::vector<char> linked(static_cast<std::size_t>(num_states));
  for (int s = 0; s < num_states; ++s) {
    auto& list = successors[static_cast<std::size_t>(s)];
    for (int a = 0; a < transition.num_actions(); ++a) {
      transition.for_each_next(Action{a}, State{s}, [&](State next, double) {
        if (std::exchange(linked[static_cast<std::size_t>(next)], 1) == 0) list.push_back(next);
      });
    }
    std::sort(list.begin(), list.end());
    for (const int next : list) linked[static_cast<std::size_t>(next)] = 0;
  }
  return successors;
}

// Tarjan's algorithm with a stack of its own: models with many thousand states in a row are real,
// and recursion that deep is not.
class Classes {
 public:
  explicit Classes(const Graph& graph)
      : graph_(graph), order_(graph.size(), -1), low_(graph.size()), class_of_(graph.size(), -1) {
    for (int root = 0; root < static_cast<int>(graph.size()); ++root) {
      if (at(order_, root) < 0) search(root);
    }
  }

  [[nodiscard]] std::vector<int> take() && { return std::move(class_of_); }
  [[nodiscard]] int count() const { return count_; }

 private:
  struct Visit {
    int node;
    std::size_t next_successor;
  };

  static int& at(std::vector<int>& values, int i) { return values[static_cast<std::size_t>(i)]; }

  void search(int root) {
    enter(root);
    while (!path_.empty()) {
      Visit& visit = path_.back();
      const auto& successors = graph_[static_cast<std::size_t>(visit.node)];
      if (visit.next_successor < successors.size()) {
        follow(visit.node, successors[visit.next_successor++]);
      } else {
        leave(visit.node);
      }
    }
  }

  void enter(int node) {
    at(order_, node) = at(low_, node) = entered_++;
    open_.push_back(node);
    path_.push_back({node, 0});
  }

  void follow(int node, int next) {
    if (at(order_, next) < 0) {
      enter(next);
    } else if (at(class_of_, next) < 0) {
      at(low_, node) = std::min(at(low_, node), at(order_, next));
    }
  }

  void leave(int node) {
    path_.pop_back();
    if (!path_.empty()) {
      int& low = at(low_, path_.back().node);
      low = std::min(low, at(low_, node));
    }
    if (at(low_, node) != at(order_, node)) return;
    int member = -1;
    while (member != node) {
      member = open_.back();
      open_.pop_back();
      at(class_of_, member) = count_;
    }
    ++count_;
  }

  const Graph& graph_;
  std::vector<int> order_;  // when a node was entered, -1: not yet
  std::vector<int> low_;    // earliest open node that it reaches
  std::vector<int> class_of_;
  std::vector<int> open_;
  std::vector<Visit> path_;
  int entered_ = 0;
  int count_ = 0;
};

// Steps by the shortest way, -1: not reached.
using Distances = std::vector<int>;

// Walks from the roots to all nodes whose distance is -1 and sets it; returns the nodes. O(arrows
// that leave them).
std::vector<int> walk(const Graph& graph, std::vector<int> roots, Distances& distance) {
  for (const int root : roots) distance[static_cast<std::size_t>(root)] = 0;
  for (std::size_t i = 0; i < roots.size(); ++i) {
    const auto node = static_cast<std::size_t>(roots[i]);
    for (const int next : graph[node]) {
      if (distance[static_cast<std::size_t>(next)] >= 0) continue;
      distance[static_cast<std::size_t>(next)] = distance[node] + 1;
      roots.push_back(next);
    }
  }
  return roots;
}

// Period of the closed class of `member`, none of which was reached before: gcd over its arrows u→v
// of d(u) + 1 - d(v). Nothing leads out of it, so that the walk costs its arrows only.
long period_of(const Graph& graph, int member, Distances& distance) {
  long period = 0;
  for (const int node : walk(graph, {member}, distance)) {
    const auto from = static_cast<std::size_t>(node);
    for (const int next : graph[from]) {
      period = std::gcd(period, distance[from] + 1L - distance[static_cast<std::size_t>(next)]);
    }
  }
  return period;
}

std::vector<bool> find_closed(const Graph& graph, std::span<const int> class_of, int count) {
  std::vector<bool> closed(static_cast<std::size_t>(count), true);
  for (std::size_t node = 0; node < graph.size(); ++node) {
    for (const int next : graph[node]) {
      if (class_of[static_cast<std::size_t>(next)] != class_of[node]) {
        closed[static_cast<std::size_t>(class_of[node])] = false;
      }
    }
  }
  return closed;
}

// The least common multiple, at most kLongestPeriod: rings of 2, 3, 5, … 53 states exceed 2^63.
long common_multiple(long one, long other) {
  constexpr long kLongest = CommunicationReport::kLongestPeriod;
  const long factor = other / std::gcd(one, other);
  return one > kLongest / factor ? kLongest : one * factor;
}

long long_run_period(const Graph& graph, const CommunicationReport& report) {
  long period = 1;
  Distances distance(graph.size(), -1);
  for (std::size_t node = 0; node < graph.size(); ++node) {
    const auto id = static_cast<std::size_t>(report.class_of[node]);
    if (distance[node] >= 0 || !report.class_closed[id]) continue;
    period = common_multiple(period, period_of(graph, static_cast<int>(node), distance));
    if (period == CommunicationReport::kLongestPeriod) break;
  }
  return period;
}

std::vector<State> find_unreachable(const Graph& graph, std::span<const double> start) {
  std::vector<int> roots;
  for (std::size_t s = 0; s < start.size(); ++s) {
    if (start[s] > 0.0) roots.push_back(static_cast<int>(s));
  }
  Distances distance(graph.size(), -1);
  walk(graph, std::move(roots), distance);
  std::vector<State> unreachable;
  for (std::size_t s = 0; s < distance.size(); ++s) {
    if (distance[s] < 0) unreachable.emplace_back(s);
  }
  return unreachable;
}

}  // namespace

int CommunicationReport::num_closed_classes() const {
  return static_cast<int>(std::count(class_closed.begin(), class_closed.end(), true));
}

std::string CommunicationReport::brief() const {
  std::string text = class_of.empty()       ? "not analysed"
                     : strongly_connected() ? "all states reach each other"
                                            : fmt::format("{} classes of states, {} of them closed",
                                                          num_classes(), num_closed_classes());
  if (period == kLongestPeriod) {
    text += ", period 10^18 or more";
  } else if (period != 1) {
    text += fmt::format(", period {}", period);
  }
  if (!absorbing.empty()) text += fmt::format(", {} absorbing", absorbing.size());
  if (!unreachable.empty()) {
    text += fmt::format(", {} out of reach of the start", unreachable.size());
  }
  return text;
}

CommunicationReport analyse_communication(const TransitionModel& transition,
                                          std::span<const double> start) {
  OAS_REQUIRE(start.size() == static_cast<std::size_t>(transition.num_states()),
              "start has {} entries for {} states", start.size(), transition.num_states());
  const Graph graph = union_graph(transition);
  CommunicationReport report;
  Classes classes(graph);
  const int count = classes.count();
  report.class_of = std::move(classes).take();
  report.class_closed = find_closed(graph, report.class_of, count);
  report.unreachable = find_unreachable(graph, start);
  for (std::size_t s = 0; s < graph.size(); ++s) {
    if (graph[s].size() == 1 && graph[s][0] == static_cast<int>(s))
      report.absorbing.emplace_back(s);
  }
  report.period = long_run_period(graph, report);
  return report;
}

}  // namespace oas
