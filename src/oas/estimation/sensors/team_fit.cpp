#include "oas/estimation/sensors/detail/team_fit.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "oas/core/bytes.hpp"
#include "oas/core/contracts.hpp"
#include "oas/core/team.hpp"
#include "oas/estimation/sensors/detail/fit_in_parts.hpp"

namespace oas::detail {

namespace {

constexpr std::string_view kFitOrder = "fit";

std::string order_of(const Pomdp& model, const std::vector<double>& unknown_start) {
  ByteWriter out;
  out.put_all(model.transition().values());
  out.put_all(model.sensors().values());
  out.put_all(unknown_start);
  return std::string(kFitOrder) + out.take();
}

Pomdp with_dynamics(const Pomdp& model, ByteReader& in) {
  PomdpParts parts = model.parts();
  parts.transition = TransitionModel(model.num_states(), model.num_actions(), in.get_all<double>());
  parts.sensors = ObservationModel(model.num_states(), model.num_actions(),
                                   model.num_observations(), in.get_all<double>());
  return Pomdp(std::move(parts));
}

std::string place_of(const SensorFitTest& test) {
  ByteWriter out;
  test.save_place(out);
  return out.take();
}

// The test as one rank goes through it.
class RankFit {
 public:
  RankFit(const TeamRows& rows, const Pomdp& model, const std::vector<double>& unknown_start,
          Parallelism parallelism)
      : rows_(rows),
        team_(rows.team()),
        model_(model),
        parallelism_(parallelism),
        sums_(SensorFitTest(model)) {
    if (!unknown_start.empty()) {
      law_ = std::make_shared<const std::vector<double>>(unknown_start);
    }
  }

  // What was counted up to the end of this rank's rows, and the belief there: to the next rank, or
  // to rank 0.
  void run() {
    const int rank = team_.rank();
    const bool last = rank + 1 == rows_.ranks();
    if (!last) send_guess();
    SensorFitTest guess(model_);
    if (rank > 0) load_place(team_.receive(rank - 1), guess);
    FitInParts own = tested(guess, guess);
    if (rank > 0) {
      const std::string bytes = team_.receive(rank - 1);
      ByteReader in(bytes);
      SensorFitTest before(model_);
      before.load_place(in);
      sums_.load(in);
      if (rows_.continues() && !FitInParts::same(guess, before)) own = tested(guess, before);
    }
    sums_.append(own.sums());
    if (last && rank == 0) return;
    ByteWriter out;
    own.last().save_place(out);
    sums_.save(out);
    team_.send(last ? 0 : rank + 1, out.take());
  }

  // On rank 0.
  [[nodiscard]] SensorFit finish() {
    if (rows_.ranks() > 1) {
      const std::string bytes = team_.receive(rows_.ranks() - 1);
      ByteReader in(bytes);
      SensorFitTest end(model_);
      end.load_place(in);
      sums_.load(in);
    }
    return sums_.total().finish();
  }

 private:
  static void load_place(const std::string& bytes, SensorFitTest& test) {
    ByteReader in(bytes);
    test.load_place(in);
  }
  // Calls receive(action, observation, start with the law of unknown ones).
  template <class Receive>
  [[nodiscard]] auto with_law(const Receive& receive) const {
    return [&receive, this](Action action, Observation observation, const RunStart* start) {
      const RunStart how = start != nullptr ? start->with_law(law_) : RunStart();
      receive(action, observation, start != nullptr ? &how : nullptr);
    };
  }
  void send_guess() const {
    SensorFitTest guess(model_);
    const auto follow = [&](Action action, Observation observation, const RunStart* start) {
      guess.follow(action, observation, start);
    };
    rows_.visit_last_rows(kFitBurnIn, with_law(follow));
    team_.send(team_.rank() + 1, place_of(guess));
  }
  [[nodiscard]] FitInParts tested(const SensorFitTest& guess, const SensorFitTest& before) const {
    FitInParts test(model_, parallelism_);
    test.go_on(rows_.first_row(), guess, before);
    const auto add = [&](Action action, Observation observation, const RunStart* start) {
      test.add(action, observation, start);
    };
    rows_.visit_rows(kMostTestedRows - rows_.first_row(), with_law(add));
    test.test_all();
    return test;
  }

  const TeamRows& rows_;
  Team& team_;
  const Pomdp& model_;
  Parallelism parallelism_;
  FitSums sums_;
  std::shared_ptr<const std::vector<double>> law_;
};

}  // namespace

SensorFit lead_fit(const TeamRows& rows, const Pomdp& model,
                   const std::vector<double>& unknown_start, Parallelism parallelism) {
  const Exchange exchange(rows.team());
  rows.team().give_order(order_of(model, unknown_start));
  RankFit fit(rows, model, unknown_start, parallelism);
  fit.run();
  return fit.finish();
}

bool is_fit_order(const std::string& order) { return order.starts_with(kFitOrder); }

void help_fit(const TeamRows& rows, const Pomdp& model, const std::string& order,
              Parallelism parallelism) {
  if (!rows.takes_part()) return;
  const Exchange exchange(rows.team());
  ByteReader in(std::string_view(order).substr(kFitOrder.size()));
  const Pomdp with = with_dynamics(model, in);
  RankFit(rows, with, in.get_all<double>(), parallelism).run();
}

}  // namespace oas::detail
