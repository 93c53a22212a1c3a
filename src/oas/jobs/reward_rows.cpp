#include "oas/jobs/detail/reward_rows.hpp"

#include <cmath>
#include <functional>
#include <utility>
#include <variant>

#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/jobs/logged_runs.hpp"
#include "oas/logs/log_reader.hpp"

namespace oas::detail {

namespace {

constexpr std::int64_t kRowsAtOnce = 1 << 16;  // in memory, filtered under all draws

// Calls receive(action, belief before the row, reward) for the rows of the next piece of a run
// whose reward is known.
void for_each_reward(PieceFilter& filter, const LoggedRun& piece,
                     const std::function<void(Action, std::span<const double>, double)>& receive) {
  filter.walk(piece, [&](std::size_t t, std::span<const double> belief) {
    // What was earned where the log is silent is not known.
    if (!std::isnan(piece.rewards[t])) receive(piece.actions[t], belief, piece.rewards[t]);
  });
}

// [draw][action]: what the rows say under each of some drawn dynamics.
class SumsUnderDraws {
 public:
  SumsUnderDraws(const Pomdp& chain, std::span<const TransitionModel> draws, bool finite,
                 Parallelism parallelism)
      : parallelism_(parallelism) {
    models_.reserve(draws.size());
    for (const TransitionModel& draw : draws) {
      filters_.emplace_back(models_.emplace_back(chain.with_transition(draw)), finite);
    }
    const auto actions = static_cast<std::size_t>(chain.num_actions());
    sums_.assign(models_.size(), std::vector(actions, RewardSums(chain.num_states())));
  }

  void add(const LoggedRun& piece) {
    if (models_.empty()) return;
    waiting_.push_back(piece);
    rows_waiting_ += piece.rows();
    if (rows_waiting_ >= kRowsAtOnce) finish();
  }
  void finish() {
    parallel_for(models_.size(), parallelism_, [&](std::size_t draw) {
      for (const LoggedRun& piece : waiting_) {
        for_each_reward(filters_[draw], piece,
                        [&](Action action, std::span<const double> belief, double reward) {
                          sums_[draw][static_cast<std::size_t>(action)].add(belief, reward);
                        });
      }
    });
    waiting_.clear();
    rows_waiting_ = 0;
  }

  [[nodiscard]] std::vector<DrawSums> take() { return std::move(sums_); }

 private:
  Parallelism parallelism_;
  std::vector<Pomdp> models_;
  std::vector<PieceFilter> filters_;  // [draw]
  std::vector<DrawSums> sums_;
  std::vector<LoggedRun> waiting_;
  std::int64_t rows_waiting_ = 0;
};

// `batches`: whether these are wanted, beside some of the drawn dynamics.
RewardRows fold_rewards(const AnyModel& model, const Pomdp& chain,
                        std::span<const std::string> logs, std::span<const TransitionModel> draws,
                        bool batches, const RewardEstimation& how) {
  const bool finite = std::holds_alternative<Pomdp>(model);
  RewardRows found{RewardBatches(chain.num_actions(), chain.num_states()), {}};
  SumsUnderDraws drawn(chain, draws, finite, {how.parallelism.threads});
  PieceFilter filter(chain, finite);
  for (const OneLog& log : logs_of(logs, how.rows)) {
    LogReader reader =
        std::visit([&](const auto& any) { return LogReader(log, any, how.rows); }, model);
    OAS_REQUIRE(reader.has_reward(), "{}: has no column for the reward", log.name());
    const auto add = [&](const LoggedRun& piece) {
      if (batches) {
        for_each_reward(filter, piece,
                        [&](Action action, std::span<const double> belief, double reward) {
                          found.batches.add(action, belief, reward);
                        });
      }
      drawn.add(piece);
      if (how.progress) how.progress(piece.rows());
    };
    for_each_run(reader, add, kRowsAtOnce);
  }
  drawn.finish();
  found.drawn = drawn.take();
  return found;
}

// Batches are rank 0's, draws of the dynamics are dealt out; whoever has some reads the logs.
RewardRows fold_rewards_together(const AnyModel& model, const Pomdp& chain,
                                 std::span<const std::string> logs,
                                 std::span<const TransitionModel> draws,
                                 const RewardEstimation& how) {
  Team& team = *how.parallelism.team;
  const auto first_of = [&](int rank) {  // batches weigh as much as a draw
    const auto ranks = static_cast<std::size_t>(team.size());
    const auto end = ((draws.size() + 1) * static_cast<std::size_t>(rank) + ranks - 1) / ranks;
    return std::max<std::size_t>(end, 1) - 1;
  };
  const std::size_t first = first_of(team.rank());
  const auto own = draws.subspan(first, first_of(team.rank() + 1) - first);
  RewardEstimation reading = how;
  if (!team.leads()) reading.progress = {};
  RewardRows found{RewardBatches(chain.num_actions(), chain.num_states()), {}};
  std::vector<DrawSums> drawn;
  gather(
      team,
      [&] {
        ByteWriter out;
        if (!team.leads() && own.empty()) return out.take();
        found = fold_rewards(model, chain, logs, own, team.leads(), reading);
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
  if (how.parallelism.team == nullptr) return fold_rewards(model, chain, logs, draws, true, how);
  return fold_rewards_together(model, chain, logs, draws, how);
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
