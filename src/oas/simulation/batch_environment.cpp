#include "oas/simulation/batch_environment.hpp"

#include <algorithm>
#include <array>

#include "oas/core/contracts.hpp"

namespace oas {

namespace {

// Copies whose draws lie in the first-level cache together.
constexpr std::size_t kBlock = 256;

}  // namespace

struct BatchEnvironment::Draws {
  std::array<std::uint64_t, kBlock> first;
  std::array<std::uint64_t, kBlock> second;
};

void BatchOptions::validate() const {
  OAS_REQUIRE(copies >= 1, "copies is {}; there must be at least 1", copies);
}

BatchEnvironment::BatchEnvironment(const Pomdp& model, const BatchOptions& options)
    : timing_(model.timing()),
      num_states_(model.num_states()),
      num_actions_(model.num_actions()),
      start_(model.start()),
      transitions_(detail::transition_samplers(model.transition())),
      answers_(model),
      reading_first_(model.reading_first()),
      streams_({options.seed, options.first_replication, Role::environment}, options.copies),
      states_(options.copies),
      observations_(options.copies),
      rewards_(options.copies) {
  options.validate();
  if (options.track_beliefs) beliefs_.emplace(model, options.copies);
  restart_all();
}

void BatchEnvironment::reset(std::uint64_t seed, std::uint32_t first_replication) {
  streams_ = RngBatch({seed, first_replication, Role::environment}, size());
  restart_all();
}

void BatchEnvironment::restart_all() { step(std::vector<Action>(size(), kRestart)); }

void BatchEnvironment::restart(std::span<const bool> begins) {
  OAS_REQUIRE(begins.size() == size(), "{} copies to begin or not, of {}", begins.size(), size());
  for (std::size_t k = 0; k < size(); ++k) {
    if (!begins[k]) continue;
    std::uint64_t first = 0;
    std::uint64_t second = 0;
    streams_.next_two(k, {&first, 1}, {&second, 1});
    restart(k, first, second);
  }
}

void BatchEnvironment::check(std::span<const Action> actions) const {
  OAS_REQUIRE(actions.size() == size(), "{} actions for {} copies", actions.size(), size());
  // kRestart is -1: in unsigned numbers the smallest after adding one.
  std::uint32_t largest = 0;
  for (const Action action : actions) {
    largest = std::max(largest, static_cast<std::uint32_t>(action.value()) + 1);
  }
  if (largest <= static_cast<std::uint32_t>(num_actions_)) return;
  for (std::size_t k = 0; k < actions.size(); ++k) {
    OAS_REQUIRE(actions[k] >= kRestart && actions[k] < num_actions_,
                "the action of copy {} is {}; there are {} actions", k, actions[k].value(),
                num_actions_);
  }
}

void BatchEnvironment::restart(std::size_t copy, std::uint64_t first, std::uint64_t second) {
  states_[copy] = State{sample_categorical(start_, first)};
  rewards_[copy] = 0.0;
  if (reading_first_) {
    observations_[copy] = answers_.show_first(states_[copy], second);
  } else {
    observations_[copy] = kMissing;
    streams_.put_back(copy);
  }
  if (beliefs_) beliefs_->begin(copy, observations_[copy]);
}

template <Timing timing>
[[gnu::flatten]] void BatchEnvironment::step_block(std::size_t begin,
                                                   std::span<const Action> actions,
                                                   const Draws& draws) {
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::size_t k = begin + i;
    const Action action = actions[i];
    if (action < 0) [[unlikely]] {
      restart(k, draws.first[i], draws.second[i]);
      continue;
    }
    const State now = states_[k];
    const int row = action * num_states_ + now;
    if constexpr (timing == Timing::before) {
      observations_[k] = answers_.show(action, now, draws.first[i]);
      states_[k] = State{transitions_.sample(row, draws.second[i])};
    } else {
      states_[k] = State{transitions_.sample(row, draws.first[i])};
      observations_[k] = answers_.show(action, states_[k], draws.second[i]);
    }
    rewards_[k] = answers_.pay(row, states_[k], observations_[k]);
  }
}

void BatchEnvironment::step(std::span<const Action> actions) {
  check(actions);
  Draws draws;
  for (std::size_t begin = 0; begin < size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, size() - begin);
    streams_.next_two(begin, std::span(draws.first).first(count),
                      std::span(draws.second).first(count));
    if (timing_ == Timing::before) {
      step_block<Timing::before>(begin, actions.subspan(begin, count), draws);
    } else {
      step_block<Timing::after>(begin, actions.subspan(begin, count), draws);
    }
  }
  if (beliefs_) beliefs_->update(actions, observations_);
}

std::span<const double> BatchEnvironment::belief(std::size_t copy) const {
  OAS_REQUIRE(beliefs_.has_value(), "the belief of copy {} was not kept: track_beliefs is false",
              copy);
  return beliefs_->belief(copy);
}

}  // namespace oas
