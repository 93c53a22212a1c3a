#include "oas/planning/evaluation/detail/grid_chain.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "oas/belief/first_beliefs.hpp"
#include "oas/belief/joint_kernel.hpp"

namespace oas::detail {

namespace {

constexpr std::size_t kChainBlock = 64;
constexpr double kRounding = 1e-15;             // of a model: what 1 - 0.9 - 0.1 leaves
constexpr double kVertexDust = 1e-12;           // weights of vertices that are rounding
constexpr std::size_t kMostPlaces = 3'000;      // of a chain that is solved by linear systems
constexpr std::size_t kMostMoves = 10'000'000;  // between them

// The filter's model, with first readings if the true one has them.
Pomdp as_the_truth_opens(const Pomdp& filter, const Pomdp& truth) {
  return filter.reading_first() == truth.reading_first()
             ? filter
             : filter.with_rows(truth.reading_first() ? Rows::reading_first : Rows::action_first);
}

}  // namespace

GridChain::GridChain(const Pomdp& truth, const Plan& plan, const Pomdp& filter,
                     const BeliefGrid& grid, Parallelism parallelism)
    : truth_(truth),
      grid_(grid),
      num_states_(static_cast<std::size_t>(truth.num_states())),
      num_actions_(static_cast<std::size_t>(truth.num_actions())),
      num_observations_(static_cast<std::size_t>(truth.num_observations())),
      iota_(plan.iota),
      rewards_(truth.expected_reward()),
      kernel_(joint_kernel(truth, truth.transition())),
      filter_kernel_(prefix_kernel(filter)),
      filter_predict_(num_actions_ * num_states_ * num_states_, 0.0),
      moves_((grid.size() + kChainBlock - 1) / kChainBlock),
      values_(grid.size() * num_actions_ * num_states_, 0.0),
      next_(values_.size()),
      increments_(values_.size()) {
  const std::size_t square = num_states_ * num_states_;
  for (std::size_t i = 0; i < filter_kernel_.size(); ++i) {
    filter_predict_[i / (square * num_observations_) * square + i % square] += filter_kernel_[i];
  }
  LookAhead look_ahead(plan);
  for (const FirstBelief& start : first_beliefs(as_the_truth_opens(filter, truth))) {
    starts_.push_back({start.first, start.belief, look_ahead.greedy(start.belief)});
  }
  parallel_for(moves_.size(), parallelism,
               [&](std::size_t block) { build_block(block, look_ahead); });
}

void GridChain::add_moves(Moves& moves, int action, const double* belief,
                          LookAhead& look_ahead) const {
  const auto n = static_cast<std::ptrdiff_t>(num_states_);
  std::array<double, kMaxGridStates> next;
  const double* kernel =
      filter_kernel_.data() + action * static_cast<int>(num_observations_) * n * n;
  const auto move = [&](const double* prefix_kernel) {
    double previous = 0.0;
    for (std::ptrdiff_t j = 0; j < n; ++j) {
      double prefix = 0.0;
      for (std::ptrdiff_t s = 0; s < n; ++s) prefix += belief[s] * prefix_kernel[s * n + j];
      next[j] = prefix - previous;
      previous = prefix;
    }
    for (std::ptrdiff_t j = 0; j < n; ++j) next[j] = std::max(next[j] / previous, 0.0);
    return previous;
  };
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  const auto view = std::span<const double>(next).first(num_states_);
  for (std::size_t o = 0; o < num_observations_; ++o, kernel += n * n) {
    // An observation that the filter thinks impossible is skipped: the belief moves by T_a alone.
    if (!(move(kernel) > 0.0)) move(filter_predict_.data() + action * n * n);
    const int count = grid_.interpolate(view, indices.data(), weights.data());
    moves.targets.insert(moves.targets.end(), indices.begin(), indices.begin() + count);
    moves.weights.insert(moves.weights.end(), weights.begin(), weights.begin() + count);
    moves.offsets.push_back(static_cast<std::uint32_t>(moves.targets.size()));
    moves.greedy.push_back(look_ahead.greedy(view));
  }
}

void GridChain::build_block(std::size_t block, LookAhead look_ahead) {
  const std::size_t first = block * kChainBlock;
  const std::size_t last = std::min(first + kChainBlock, grid_.size());
  std::vector<double> belief(num_states_);
  for (std::size_t point = first; point < last; ++point) {
    grid_.point(point, belief);
    for (std::size_t a = 0; a < num_actions_; ++a) {
      add_moves(moves_[block], static_cast<int>(a), belief.data(), look_ahead);
    }
  }
}

// out(s) = r(a,s) + Σ_{o,s'} K_a^o(s,s') h(next belief, its greedy action, s').
void GridChain::back_up_action(const Moves& moves, std::size_t point, std::size_t action,
                               double* out) const {
  std::array<double, kMaxGridStates> mixed;
  std::size_t row = (point % kChainBlock * num_actions_ + action) * num_observations_;
  const double* kernel = kernel_.data() + action * num_observations_ * num_states_ * num_states_;
  for (std::size_t s = 0; s < num_states_; ++s) {
    out[s] = rewards_(static_cast<Eigen::Index>(action), static_cast<Eigen::Index>(s));
  }
  for (std::size_t o = 0; o < num_observations_; ++o, ++row) {
    std::fill_n(mixed.begin(), num_states_, 0.0);
    const double* labelled =
        values_.data() + static_cast<std::size_t>(moves.greedy[row]) * num_states_;
    for (std::uint32_t k = moves.offsets[row]; k < moves.offsets[row + 1]; ++k) {
      const double* value = labelled + moves.targets[k] * width();
      for (std::size_t s = 0; s < num_states_; ++s) mixed[s] += moves.weights[k] * value[s];
    }
    for (std::size_t s = 0; s < num_states_; ++s, kernel += num_states_) {
      for (std::size_t t = 0; t < num_states_; ++t) out[s] += kernel[t] * mixed[t];
    }
  }
}

void GridChain::sweep_block(std::size_t block) {
  const std::size_t first = block * kChainBlock;
  const std::size_t last = std::min(first + kChainBlock, grid_.size());
  const double greedy_share = 1.0 - static_cast<double>(num_actions_) * iota_;
  std::array<double, kMaxGridStates> sum;
  for (std::size_t point = first; point < last; ++point) {
    double* increments = increments_.data() + point * width();
    std::fill_n(sum.begin(), num_states_, 0.0);
    for (std::size_t a = 0; a < num_actions_; ++a) {
      back_up_action(moves_[block], point, a, increments + a * num_states_);
      for (std::size_t s = 0; s < num_states_; ++s) sum[s] += increments[a * num_states_ + s];
    }
    for (std::size_t i = 0; i < width(); ++i) {
      const double now = values_[point * width() + i];
      increments[i] = greedy_share * increments[i] + iota_ * sum[i % num_states_] - now;
      next_[point * width() + i] = now + 0.5 * increments[i];
    }
  }
}

void GridChain::sweep(WorkerTeam& team) {
  team.for_each([&](std::size_t block) { sweep_block(block); });
  std::swap(values_, next_);
}

// The true start state, the first reading, and the cell of the filter's belief.
template <class Visit>
void GridChain::for_each_start(Visit visit) const {
  std::array<std::uint32_t, kMaxGridStates> indices;
  std::array<double, kMaxGridStates> weights;
  for (const AgentStart& start : starts_) {
    const int count = grid_.interpolate(start.belief, indices.data(), weights.data());
    for (int k = 0; k < count; ++k) {
      for (std::size_t s = 0; s < num_states_; ++s) {
        const double seen = start.first == kMissing
                                ? 1.0
                                : (*truth_.first_observation())(Action{0}, State{s}, start.first);
        visit(indices[k] * width() + static_cast<std::size_t>(start.greedy) * num_states_ + s,
              weights[k] * truth_.start()[s] * seen);
      }
    }
  }
}

double GridChain::at_start(std::span<const double> table) const {
  double value = 0.0;
  for_each_start(
      [&](std::size_t place, double probability) { value += probability * table[place]; });
  return value;
}

double GridChain::chance_of(std::size_t action, std::size_t greedy) const {
  return iota_ + (action == greedy ? 1.0 - static_cast<double>(num_actions_) * iota_ : 0.0);
}

double GridChain::worth_of(std::size_t place) const {
  const std::size_t greedy = place % width() / num_states_;
  double worth = 0.0;
  for (std::size_t a = 0; a < num_actions_; ++a) {
    worth += chance_of(a, greedy) *
             rewards_(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(place % num_states_));
  }
  return worth;
}

// Each number of the model counts by itself: a move that is rare since several of them are small is
// a move all the same, and may be the only one that leads on.
bool GridChain::may_go(std::size_t action, std::size_t state, std::size_t next,
                       std::size_t observation) const {
  const Action a{action};
  const State seen_in{truth_.timing() == Timing::before ? state : next};
  return truth_.transition()(a, State{state}, State{next}) > kRounding &&
         truth_.sensors()(a, seen_in, Observation{observation}) > kRounding;
}

// Calls visit(next place, probability), perhaps several times for one place.
template <class Visit>
void GridChain::for_each_move(std::size_t place, Visit visit) const {
  const std::size_t point = place / width();
  const Moves& moves = moves_[point / kChainBlock];
  std::size_t row = point % kChainBlock * num_actions_ * num_observations_;
  const std::size_t state = place % num_states_;
  const double* kernel = kernel_.data() + state * num_states_;
  for (std::size_t a = 0; a < num_actions_; ++a) {
    const double chance = chance_of(a, place % width() / num_states_);
    for (std::size_t o = 0; o < num_observations_; ++o, ++row) {
      const std::size_t labelled = static_cast<std::size_t>(moves.greedy[row]) * num_states_;
      for (std::size_t t = 0; t < num_states_; ++t) {
        const double move = chance * kernel[t];
        if (!(move > 0.0) || !may_go(a, state, t, o)) continue;
        for (std::uint32_t k = moves.offsets[row]; k < moves.offsets[row + 1]; ++k) {
          if (!(moves.weights[k] > kVertexDust)) continue;
          visit(moves.targets[k] * width() + labelled + t, move * moves.weights[k]);
        }
      }
      kernel += num_states_ * num_states_;
    }
  }
}

// What the start leads to; nothing where that is too much for linear systems.
std::optional<MarkovChain> GridChain::reached(std::vector<std::size_t>& places) const {
  std::vector<int> numbers(values_.size(), -1);
  const auto number_of = [&](std::size_t place) {
    if (numbers[place] < 0) {
      numbers[place] = static_cast<int>(places.size());
      places.push_back(place);
    }
    return numbers[place];
  };
  for_each_start([&](std::size_t place, double probability) {
    if (probability > 0.0) number_of(place);
  });
  MarkovChain::Rows rows;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for_each_move(places[i], [&](std::size_t next, double p) {
      rows.targets.push_back(number_of(next));
      rows.weights.push_back(p);
    });
    rows.end_row();
    if (places.size() > kMostPlaces || rows.targets.size() > kMostMoves) return std::nullopt;
  }
  return MarkovChain(std::move(rows));
}

}  // namespace oas::detail
