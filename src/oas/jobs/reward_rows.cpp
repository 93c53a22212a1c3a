#include "oas/jobs/detail/reward_rows.hpp"

#include <cmath>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::detail {

namespace {

constexpr std::int64_t kRowsAtOnce = 1 << 16;  // in memory, filtered under all draws
constexpr std::size_t kReadingWorth = 3;       // draws: to read rows and filter them for batches

// Pieces of runs, one after the other.
using Pieces = std::vector<LoggedRun>;

// Calls receive(action, belief before the row, reward) for the rows of the next piece of a run
// whose reward is known.
void for_each_reward(PieceFilter& filter, const LoggedRun& piece,
                     const std::function<void(Action, std::span<const double>, double)>& receive) {
  filter.walk(piece, [&](std::size_t t, std::span<const double> belief) {
    // What was earned where the log is silent is not known.
    if (!std::isnan(piece.rewards[t])) receive(piece.actions[t], belief, piece.rewards[t]);
  });
}

// All rows of the logs.
void read_pieces(const AnyModel& model, std::span<const std::string> logs,
                 const RewardEstimation& how, const std::function<void(const Pieces&)>& receive) {
  Pieces pieces;
  std::int64_t rows = 0;
  const auto hand_on = [&] {
    if (!pieces.empty()) receive(pieces);
    pieces.clear();
    rows = 0;
  };
  for (const OneLog& log : logs_of(logs, how.rows)) {
    LogReader reader =
        std::visit([&](const auto& any) { return LogReader(log, any, how.rows); }, model);
    OAS_REQUIRE(reader.has_reward(), "{}: has no column for the reward", log.name());
    const auto add = [&](const LoggedRun& piece) {
      pieces.push_back(piece);
      rows += piece.rows();
      if (how.progress) how.progress(piece.rows());
      if (rows >= kRowsAtOnce) hand_on();
    };
    for_each_run(reader, add, kRowsAtOnce);
  }
  hand_on();
}

// What rows say under the estimated dynamics, in batches, and under some drawn ones.
class RewardFold {
 public:
  RewardFold(const AnyModel& model, const Pomdp& chain, std::span<const TransitionModel> draws,
             Parallelism parallelism)
      : parallelism_(parallelism),
        batches_(chain.num_actions(), chain.num_states()),
        filter_(chain, std::holds_alternative<Pomdp>(model)) {
    models_.reserve(draws.size());
    for (const TransitionModel& draw : draws) {
      filters_.emplace_back(models_.emplace_back(chain.with_transition(draw)),
                            std::holds_alternative<Pomdp>(model));
    }
    const auto actions = static_cast<std::size_t>(chain.num_actions());
    sums_.assign(models_.size(), std::vector(actions, RewardSums(chain.num_states())));
  }

  void add_to_batches(const Pieces& pieces) {
    for (const LoggedRun& piece : pieces) {
      for_each_reward(filter_, piece,
                      [&](Action action, std::span<const double> belief, double reward) {
                        batches_.add(action, belief, reward);
                      });
    }
  }
  void add_to_draws(const Pieces& pieces) {
    parallel_for(models_.size(), parallelism_, [&](std::size_t draw) {
      for (const LoggedRun& piece : pieces) {
        for_each_reward(filters_[draw], piece,
                        [&](Action action, std::span<const double> belief, double reward) {
                          sums_[draw][static_cast<std::size_t>(action)].add(belief, reward);
                        });
      }
    });
  }
  [[nodiscard]] RewardRows take() { return {std::move(batches_), std::move(sums_)}; }

 private:
  Parallelism parallelism_;
  RewardBatches batches_;
  PieceFilter filter_;
  std::vector<Pomdp> models_;
  std::vector<PieceFilter> filters_;  // [draw]
  std::vector<DrawSums> sums_;        // [draw][action]
};

// What filters and sums look at.
std::string saved_pieces(const Pieces& pieces) {
  ByteWriter out;
  for (const LoggedRun& piece : pieces) {
    out.put_all(piece.actions);
    out.put_all(piece.observations);
    out.put_all(piece.rewards);
    out.put_all(piece.likelihoods);
    piece.start.save(out);
    out.put(piece.is_more);
  }
  return out.take();
}

Pieces loaded_pieces(const std::string& bytes) {
  Pieces pieces;
  for (ByteReader in(bytes); !in.at_end();) {
    LoggedRun& piece = pieces.emplace_back();
    piece.actions = in.get_all<Action>();
    piece.observations = in.get_all<Observation>();
    piece.rewards = in.get_all<double>();
    piece.likelihoods = in.get_all<double>();
    piece.start = RunStart::loaded(in);
    piece.is_more = in.get<bool>();
  }
  return pieces;
}

// Rows that rank 0 reads, on all ranks; nobody is more than one give() behind.
class SharedRows {
 public:
  explicit SharedRows(Team& team) : team_(team) {}

  void give(const Pieces& pieces) {
    wait_for_others();
    static_cast<void>(team_.broadcast(saved_pieces(pieces)));
    given_ = true;
  }
  void end() {
    wait_for_others();
    static_cast<void>(team_.broadcast({}));
  }
  // On the other ranks.
  void take_all(const std::function<void(const Pieces&)>& receive) {
    std::exception_ptr failure;
    for (std::string bytes; !(bytes = team_.broadcast({})).empty();) {
      team_.send(0, {});
      try {
        if (!failure) receive(loaded_pieces(bytes));
      } catch (...) {
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
  }

 private:
  void wait_for_others() {
    for (int rank = 1; given_ && rank < team_.size(); ++rank) {
      static_cast<void>(team_.receive(rank));
    }
    given_ = false;
  }

  Team& team_;
  bool given_ = false;
};

void read_for_all(const AnyModel& model, std::span<const std::string> logs,
                  const RewardEstimation& how, bool share,
                  const std::function<void(const Pieces&)>& receive) {
  SharedRows shared(*how.parallelism.team);
  try {
    read_pieces(model, logs, how, [&](const Pieces& pieces) {
      if (share) shared.give(pieces);
      receive(pieces);
    });
  } catch (...) {
    shared.end();
    throw;
  }
  shared.end();
}

// Rank 0 reads, and what it reads is filtered by all, each under some of the draws.
RewardRows fold_rewards_together(const AnyModel& model, const Pomdp& chain,
                                 std::span<const std::string> logs,
                                 std::span<const TransitionModel> draws,
                                 const RewardEstimation& how) {
  Team& team = *how.parallelism.team;
  const auto first_of = [&](int rank) {
    const auto ranks = static_cast<std::size_t>(team.size());
    const std::size_t work = draws.size() + kReadingWorth;
    const auto end = (work * static_cast<std::size_t>(rank) + ranks - 1) / ranks;
    return std::max(end, kReadingWorth) - kReadingWorth;
  };
  const std::size_t first = first_of(team.rank());
  const auto own = draws.subspan(first, first_of(team.rank() + 1) - first);
  std::optional<RewardFold> fold;  // made where it may fail
  const auto add = [&](const Pieces& pieces) {
    if (!fold) fold.emplace(model, chain, own, Parallelism{how.parallelism.threads});
    if (team.leads()) fold->add_to_batches(pieces);
    fold->add_to_draws(pieces);
  };
  RewardRows found{RewardBatches(chain.num_actions(), chain.num_states()), {}};
  std::vector<DrawSums> drawn;
  gather(
      team,
      [&] {
        if (team.leads()) {
          read_for_all(model, logs, how, !draws.empty(), add);
        } else {
          SharedRows(team).take_all(add);
        }
        add({});
        found = fold->take();
        ByteWriter out;
        for (const DrawSums& sums_of_draw : found.drawn) {
          for (const RewardSums& sums : sums_of_draw) sums.save(out);
        }
        return out.take();
      },
      [&](const std::string& bytes) {
        for (ByteReader in(bytes); !in.at_end();) {
          DrawSums& sums_of_draw = drawn.emplace_back();
          for (int a = 0; a < chain.num_actions(); ++a) {
            sums_of_draw.emplace_back(chain.num_states()).load(in);
          }
        }
      });
  found.drawn = std::move(drawn);
  return found;
}

// The dynamics of an estimate, which only rank 0 has, as the others need them.
std::string saved_dynamics(const TransitionEstimate& estimate) {
  ByteWriter out;
  out.put_all(estimate.transition.values());
  out.put_all(estimate.draws);
  out.put(estimate.sensors.has_value());
  if (estimate.sensors) out.put_all(estimate.sensors->values());
  return out.take();
}

TransitionEstimate loaded_dynamics(const Pomdp& chain, const std::string& bytes) {
  ByteReader in(bytes);
  TransitionEstimate estimate;
  estimate.transition =
      TransitionModel(chain.num_states(), chain.num_actions(), in.get_all<double>());
  estimate.draws = in.get_all<double>();
  if (in.get<bool>()) {
    estimate.sensors = ObservationModel(chain.num_states(), chain.num_actions(),
                                        chain.num_observations(), in.get_all<double>());
  }
  return estimate;
}

RewardRows fold_any(const AnyModel& model, std::span<const std::string> logs,
                    const TransitionEstimate& estimate, const RewardEstimation& how) {
  const Pomdp chain = estimated_model(chain_of(model), estimate);
  const std::vector<TransitionModel> draws = drawn_transitions(estimate);
  if (how.parallelism.team != nullptr) {
    return fold_rewards_together(model, chain, logs, draws, how);
  }
  RewardFold fold(model, chain, draws, how.parallelism);
  read_pieces(model, logs, how, [&](const Pieces& pieces) {
    fold.add_to_batches(pieces);
    fold.add_to_draws(pieces);
  });
  return fold.take();
}

}  // namespace

RewardRows reward_rows(const AnyModel& model, std::span<const std::string> logs,
                       const TransitionEstimate& estimate, const RewardEstimation& how) {
  if (how.parallelism.team != nullptr) how.parallelism.team->give_order(saved_dynamics(estimate));
  return fold_any(model, logs, estimate, how);
}

void help_reward_rows(const AnyModel& model, std::span<const std::string> logs,
                      const RewardEstimation& how) {
  const std::string order = how.parallelism.team->order();
  static_cast<void>(fold_any(model, logs, loaded_dynamics(chain_of(model), order), how));
}

}  // namespace oas::detail
