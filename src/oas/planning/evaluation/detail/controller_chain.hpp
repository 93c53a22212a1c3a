#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "oas/core/linear_algebra.hpp"
#include "oas/planning/evaluation/detail/markov_chain.hpp"
#include "oas/planning/policies/controller.hpp"

namespace oas::detail {

/// The chain on the (node, state) pairs that a controller can reach in a model, rows one after the
/// other, with its closed classes. An observation without next node leads to a sink, which is left
/// by nothing. Numbers of the model below 1e-15 count as 0: they cannot be told from rounding.
/// Pairs are named node · S + state outside, and numbered from 0 in the order in which they are
/// met.
class ControllerChain {
 public:
  /// From these pairs on. States marked in `absorbing` [S] are left by nothing. Keeps references.
  /// Throws InvalidArgument beyond kMaxGraphPairs.
  ControllerChain(const Pomdp& truth, const Controller& controller,
                  std::span<const std::size_t> roots, std::span<const char> absorbing = {});

  [[nodiscard]] std::size_t num_pairs() const { return pairs_.size(); }
  [[nodiscard]] int node_of(std::size_t pair) const {
    return static_cast<int>(pairs_[pair] / num_states_);
  }
  [[nodiscard]] State state_of(std::size_t pair) const { return State{pairs_[pair] % num_states_}; }
  /// The number of a pair that can be reached.
  [[nodiscard]] std::size_t number(int node, std::size_t state) const {
    return static_cast<std::size_t>(numbers_[static_cast<std::size_t>(node) * num_states_ + state]);
  }
  [[nodiscard]] int num_closed() const;
  [[nodiscard]] double residual() const { return chain_->residual(); }

  /// The long-run mean of each column of `worth` [pair][·] from every pair; NaN where the sink can
  /// be reached.
  [[nodiscard]] Eigen::MatrixXd long_run(const Eigen::MatrixXd& worth);

  /// The share of the steps in each pair, in the long run from the law `start`: the limit of laws
  /// of a chain that rests in every tenth step, which has the same one and no periods. Nothing
  /// where they do not settle quickly, and where moves of probability below 1e-6 decide in which
  /// class a run ends; long_run() then answers at the cost of a linear system.
  [[nodiscard]] std::optional<Vector> settled_law(Vector start) const;

  /// The expected number of steps to a state that is absorbing; ∞ where that may not happen.
  [[nodiscard]] Vector steps_to_absorption();

  /// The distribution over pairs one step after `law`.
  void advance(const Vector& law, Vector& next) const;

  /// What is expected one step later of each column of `worth` [pair][·], from every pair.
  void expect(const Matrix& worth, Matrix& before) const;

  /// Which node, state and observation lead to the sink; empty: none.
  [[nodiscard]] std::string what_is_missing() const;

 private:
  int number_of(int node, std::size_t state);
  void add_row(std::size_t pair);
  void add_moves(int node, Action action, State state, double chance);
  [[nodiscard]] std::size_t class_of(std::size_t number) const {
    return static_cast<std::size_t>(chain_->class_of(number));
  }

  const Pomdp& truth_;
  const Controller& controller_;
  std::span<const char> absorbing_;
  std::size_t num_states_;
  std::vector<int> numbers_;          // of node * S + state, -1: not reached
  std::vector<std::size_t> pairs_;    // node * S + state by number
  std::vector<int> missing_;          // by pair: an observation without next node
  MarkovChain::Rows rows_;            // until they are the chain's
  std::optional<MarkovChain> chain_;  // of the pairs, and of the sink
  int sink_ = 0;
};

}  // namespace oas::detail
