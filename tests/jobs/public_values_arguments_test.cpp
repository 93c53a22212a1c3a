// What models, sensors, rows and beliefs make of wrong arguments: InvalidArgument, and what was
// there before is as it was.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "oas/core/bytes.hpp"
#include "oas/core/checks.hpp"
#include "oas/sensors/cells.hpp"
#include "public_arguments.hpp"

namespace oas {
namespace {

using test::expect_all_refused;
using test::kInfinite;
using test::kMostInt;
using test::kNan;
using test::other_model;
using test::sample_model;
using test::sample_rows;
using test::with;

TEST(PublicArguments, TransitionModels) {
  const TransitionModel t = sample_model().transition();
  const TransitionModel list = TransitionModel::listed(2, 1, {{1, 1.0}, {0, 1.0}}, {0, 1, 2});
  expect_all_refused({
      {"TransitionModel: no states", [] { (void)TransitionModel(0, 1, {}); }},
      {"TransitionModel: NaN", [] { (void)TransitionModel(1, 1, {kNan}); }},
      {"TransitionModel: negative",
       [] {
         TransitionModel(2, 1, {-1, 2, 0, 1});
       }},
      {"TransitionModel: too few",
       [] {
         TransitionModel(2, 1, {1, 0});
       }},
      // 2^20 · 2^20 · 2^24 numbers are 0 numbers where a product wraps around.
      {"TransitionModel: a size beyond all", [] { (void)TransitionModel(1 << 20, 1 << 24, {}); }},
      {"uniform: none", [] { (void)TransitionModel::uniform(0, 1); }},
      {"uniform: negative", [] { (void)TransitionModel::uniform(2, -1); }},
      {"uniform: beyond all", [] { (void)TransitionModel::uniform(kMostInt, kMostInt); }},
      {"listed: rows",
       [] {
         (void)TransitionModel::listed(2, 1, {{0, 1.0}}, {0, 1});
       }},
      {"listed: outcome",
       [] {
         (void)TransitionModel::listed(1, 1, {{1, 1.0}}, {0, 1});
       }},
      {"listed: NaN",
       [] {
         (void)TransitionModel::listed(1, 1, {{0, kNan}}, {0, 1});
       }},
      {"values of a list", [&] { (void)list.values(); }},
      {"matrix of a list", [&] { (void)list.matrix(Action{0}); }},
      {"matrix: no such action", [&] { (void)t.matrix(Action{2}); }},
      {"matrix: negative", [&] { (void)t.matrix(Action{-1}); }},
      {"row: action", [&] { (void)t.row(Action{kMostInt}, State{0}); }},
      {"row: state", [&] { (void)t.row(Action{0}, State{3}); }},
      {"row: negative", [&] { (void)t.row(Action{0}, State{-1}); }},
      {"at: action", [&] { (void)t.at(Action{2}, State{0}, State{0}); }},
      {"at: state", [&] { (void)t.at(Action{0}, State{-3}, State{0}); }},
      {"at: next", [&] { (void)t.at(Action{0}, State{0}, State{3}); }},
      {"at: next in a list", [&] { (void)list.at(Action{0}, State{0}, State{2}); }},
      {"for_each_next", [&] { t.for_each_next(Action{0}, State{9}, [](State, double) {}); }},
      {"for_each_next in a list",
       [&] { list.for_each_next(Action{1}, State{0}, [](State, double) {}); }},
      {"mean_next: action", [&] { (void)t.mean_next(Action{5}, Vector(Vector::Zero(3))); }},
      {"mean_next: size", [&] { (void)t.mean_next(Action{0}, Vector(Vector::Zero(2))); }},
      {"mean_next: list", [&] { (void)list.mean_next(Action{0}, Vector(Vector::Zero(1))); }},
      {"mean_next: rows", [&] { (void)list.mean_next(Action{0}, Matrix(Matrix::Zero(3, 1))); }},
      {"nothing in an empty one", [] { (void)TransitionModel().row(Action{0}, State{0}); }},
      {"smallest_transition: empty", [] { (void)smallest_transition(TransitionModel()); }},
      {"uniform_policy_chain: empty", [] { (void)uniform_policy_chain(TransitionModel()); }},
      {"analyse_ergodicity: empty", [] { (void)analyse_ergodicity(TransitionModel()); }},
      {"dobrushin_coefficient", [] { (void)dobrushin_coefficient(Matrix(0, 0)); }},
      {"dobrushin_coefficient: NaN",
       [] { (void)dobrushin_coefficient(Matrix(Matrix::Constant(2, 2, kNan))); }},
      {"second_eigenvalue_modulus: not square",
       [] { (void)second_eigenvalue_modulus(Matrix(Matrix::Ones(2, 3))); }},
      {"second_eigenvalue_modulus: infinite",
       [] { (void)second_eigenvalue_modulus(Matrix(Matrix::Constant(2, 2, kInfinite))); }},
      {"contraction_bound: states", [] { (void)contraction_bound(0, 1, 0.1, 0.1); }},
      {"contraction_bound: NaN", [] { (void)contraction_bound(2, 2, kNan, 0.1); }},
      {"transition_error: sizes", [&] { (void)transition_error(t, other_model().transition()); }},
  });
}

TEST(PublicArguments, Sensors) {
  const ObservationModel z = sample_model().sensors();
  const ObservationCounts counts(1, 2, 2, {1, 2, 3, 4});
  expect_all_refused({
      {"ObservationModel: none", [] { (void)ObservationModel(1, 1, 0, {}); }},
      {"ObservationModel: NaN", [] { (void)ObservationModel(1, 1, 1, {kNan}); }},
      {"ObservationModel: beyond all",
       [] { (void)ObservationModel(1 << 22, 1 << 21, 1 << 21, {}); }},
      {"matrix", [&] { (void)z.matrix(Action{2}); }},
      {"distribution: action", [&] { (void)z.distribution(Action{-1}, State{0}); }},
      {"distribution: state", [&] { (void)z.distribution(Action{0}, State{3}); }},
      {"at: observation", [&] { (void)z.at(Action{0}, State{0}, Observation{4}); }},
      {"at: missing", [&] { (void)z.at(Action{0}, State{0}, kMissing); }},
      {"ObservationCounts: negative", [] { (void)ObservationCounts(1, 1, 1, {-1}); }},
      {"ObservationCounts: infinite", [] { (void)ObservationCounts(1, 1, 1, {kInfinite}); }},
      {"ObservationCounts: beyond all",
       [] { (void)ObservationCounts(1 << 22, 1 << 21, 1 << 21, {}); }},
      {"counts, distribution", [&] { (void)counts.distribution(Action{2}, State{0}); }},
      {"counts, total", [&] { (void)counts.total(Action{0}, State{1}); }},
      {"analyse_sensors: empty", [] { (void)analyse_sensors(ObservationModel()); }},
  });
}

TEST(PublicArguments, Densities) {
  const VectorDensity one({Density::gaussian(0, 1), Density::gaussian(0, 2)});
  const VectorDensity both = VectorDensity::gaussian({0, 0}, {1, 0.5, 0.5, 1});
  const DensitySensors sensors(2, 1, {one, one});
  const Cells cells(std::vector<std::vector<double>>{{0.0}, {1.0}});
  const Cells line(std::vector<std::vector<double>>{{0.0}});
  const auto cells_of = [](std::vector<std::vector<double>> splits) { (void)Cells(splits); };
  Rng rng({1, 0, Role::test});
  std::vector<double> two(2);
  std::vector<double> three(3);
  std::vector<Observation> rows(2);
  const ContinuousPomdp chain(test::random_model({.num_states = 2, .num_actions = 1}, 5), sensors);
  expect_all_refused({
      {"gaussian: NaN", [] { (void)Density::gaussian(kNan, 1); }},
      {"gaussian: no spread", [] { (void)Density::gaussian(0, 0); }},
      {"lognormal", [] { (void)Density::lognormal(0, kInfinite); }},
      {"beta", [] { (void)Density::beta(-1, 1); }},
      {"gamma", [] { (void)Density::gamma(1, 0); }},
      {"poisson", [] { (void)Density::poisson(kNan); }},
      {"table: one edge", [] { (void)Density::table({0}, {}); }},
      {"table: edges fall",
       [] {
         (void)Density::table({1, 0}, {1});
       }},
      {"kernel: no points", [] { (void)Density::kernel({}, 1); }},
      {"kernel: width", [] { (void)Density::kernel({0}, kNan); }},
      {"mixture: empty", [] { (void)Density::mixture({}, {}); }},
      {"mixture: weights", [] { (void)Density::mixture({kNan}, {Density::poisson(1)}); }},
      {"cdf", [] { (void)Density::gaussian(0, 1).cdf(kNan); }},
      {"quantile", [] { (void)Density::poisson(1).quantile(kNan); }},
      {"from_uniform of one", [] { (void)Density::gamma(1, 1).from_uniform(kNan); }},
      {"VectorDensity: nothing", [] { (void)VectorDensity(std::vector<Density>()); }},
      {"VectorDensity: size",
       [] {
         (void)VectorDensity::gaussian({0}, {1, 2});
       }},
      {"VectorDensity: indefinite",
       [] {
         (void)VectorDensity::gaussian({0, 0}, {1, 2, 2, 1});
       }},
      {"VectorDensity at", [&] { (void)one(three); }},
      {"VectorDensity at, dependent", [&] { (void)both(std::vector<double>{0}); }},
      {"sample", [&] { one.sample(three, rng); }},
      {"from_uniform", [&] { both.from_uniform(three, two); }},
      {"from_uniform: room", [&] { both.from_uniform(two, three); }},
      {"box: low", [&] { (void)one.box(three, two); }},
      {"box: high", [&] { (void)both.box(two, three); }},
      {"DensitySensors: none", [] { (void)DensitySensors(1, 1, {}); }},
      {"DensitySensors: huge", [&] { (void)DensitySensors(1 << 30, 4, {one}); }},
      {"at: action", [&] { (void)sensors.at(Action{1}, State{0}); }},
      {"at: state", [&] { (void)sensors.at(Action{0}, State{2}); }},
      {"discrete", [&] { (void)sensors.discrete(2); }},
      {"likelihood: action", [&] { sensors.likelihood(Action{1}, two, two); }},
      {"likelihood: reading", [&] { sensors.likelihood(Action{0}, three, two); }},
      {"likelihood: room", [&] { sensors.likelihood(Action{0}, two, three); }},
      {"Cells: none", [&] { cells_of({}); }},
      {"Cells: NaN", [&] { cells_of({{kNan}}); }},
      {"Cells: fall",
       [] {
         Cells({{1, 0}});
       }},
      {"cell", [&] { (void)cells.cell(three); }},
      {"to_cells", [&] { to_cells(three, cells, rows); }},
      {"cell_sensors", [&] { (void)cell_sensors(sensors, line); }},
      {"discretise", [&] { (void)discretise(chain, line); }},
      {"parse_cells", [] { (void)parse_cells("{}", "m.json"); }},
      {"ContinuousPomdp: sizes", [&] { (void)ContinuousPomdp(sample_model(), sensors); }},
      {"with_draw", [&] { (void)chain.with_draw(0); }},
      {"sensors of none", [] { (void)ContinuousPomdp(sample_model()).sensors(); }},
      {"with_sensors", [&] { (void)chain.with_sensors(sample_model().sensors()); }},
      {"with_transition", [&] { (void)chain.with_transition(sample_model().transition()); }},
  });
  EXPECT_EQ(rows, std::vector<Observation>(2));
}

TEST(PublicArguments, Models) {
  const Pomdp model = sample_model();
  const Pomdp after = sample_model(Timing::after);
  const Labels names({"a", "b"}, "state");
  Rng rng({1, 0, Role::problem});
  const auto changed = [&](const auto& change) {
    PomdpParts parts = model.parts();
    change(parts);
    (void)Pomdp(std::move(parts));
  };
  expect_all_refused({
      {"Labels: none", [] { (void)Labels(0, "state"); }},
      {"Labels: empty list", [] { (void)Labels(std::vector<std::string>(), "state"); }},
      {"Labels: twice",
       [] {
         Labels({"a", "a"}, "state");
       }},
      {"Labels: digits", [] { (void)Labels({"7"}, "state"); }},
      {"Labels at", [&] { (void)names[2]; }},
      {"Labels at, negative", [&] { (void)names[-1]; }},
      {"Labels at, unnamed", [] { (void)Labels(3, "state")[3]; }},
      {"Pomdp: nothing", [] { (void)Pomdp(PomdpParts()); }},
      {"Pomdp: start", [&] { changed([](auto& parts) {
                               parts.start = {1, 1, 1};
                             }); }},
      {"Pomdp: start, NaN", [&] { changed([](auto& parts) {
                                    parts.start = {kNan, 0, 1};
                                  }); }},
      {"Pomdp: start, size", [&] { changed([](auto& parts) { parts.start = {1}; }); }},
      {"Pomdp: transition",
       [&] { changed([](auto& p) { p.transition = TransitionModel::uniform(2, 2); }); }},
      {"Pomdp: sensors", [&] { changed([](auto& p) { p.sensors = ObservationModel(); }); }},
      {"Pomdp: reward", [&] { changed([](auto& p) { p.reward = Reward::by_observation({1}); }); }},
      {"Pomdp: discount", [&] { changed([](auto& parts) { parts.discount = kNan; }); }},
      {"Pomdp: rows", [&] { changed([](auto& p) { p.rows = Rows::reading_first; }); }},
      {"with_transition", [&] { (void)model.with_transition(TransitionModel()); }},
      {"with_rows", [&] { (void)model.with_rows(Rows::reading_first); }},
      {"with_rows of any", [&] { (void)with_rows(AnyModel(model), Rows::reading_first); }},
      {"transition of none", [&] { (void)model.without_transition().transition(); }},
      {"expected_reward of none", [&] { (void)after.without_transition().expected_reward(); }},
      {"expected_reward: sizes",
       [&] {
         const TransitionModel t = other_model().transition();
         (void)expected_reward(model.reward(), Timing::before, model.sensors(), &t);
       }},
      {"Reward: NaN", [] { (void)Reward::by_observation({kNan}); }},
      {"Reward: infinite", [] { (void)Reward::by_action_state({kInfinite}); }},
      {"to_table",
       [&] {
         (void)Reward::by_action_state({1, 2}).to_table(3, 1, 1);
       }},
      {"check_size", [] { Reward::by_transition({1}).check_size(1 << 16, 1 << 16, 1 << 16); }},
      {"RewardTable: a rule",
       [] { (void)RewardTable(1, 1, 1, std::vector{RewardRule{.state = 1}}); }},
      {"RewardTable: rows", [] { (void)RewardTable(1, 1, 1, {RewardRow()}, {1}); }},
      {"row_at, checked", [] { (void)RewardTable(2, 1, 1, {}).at(0, 2, 0, 0); }},
      {"RewardTable at: action", [] { (void)RewardTable(2, 1, 1, {}).at(-1, 0, 0, 0); }},
      {"RewardTable at: observation", [] { (void)RewardTable(2, 1, 1, {}).at(0, 0, 0, 1); }},
      {"from_dense", [] { (void)RewardTable::from_dense(1, 1, 1, std::vector<double>(2)); }},
      {"parse_rows", [] { (void)parse_rows("both"); }},
      {"make_problem", [] { (void)make_problem("nothing"); }},
      {"random_pomdp",
       [&] {
         (void)random_pomdp(with<RandomPomdpOptions>([](auto& o) { o.num_states = 0; }), rng);
       }},
      {"random_pomdp: NaN",
       [&] { (void)random_pomdp(with<RandomPomdpOptions>([](auto& o) { o.peak = kNan; }), rng); }},
      {"random_pomdp: floor",
       [&] {
         (void)random_pomdp(with<RandomPomdpOptions>([](auto& o) { o.min_transition = 0.9; }), rng);
       }},
      {"random_transition: none", [&] { (void)random_transition(0, 1, 0, rng); }},
      {"random_transition: floor", [&] { (void)random_transition(2, 1, kNan, rng); }},
      {"random_transition: beyond all",
       [&] { (void)random_transition(kMostInt, kMostInt, 0, rng); }},
      {"parse_model", [] { (void)parse_model("{}", "m.json"); }},
      {"read_model", [] { (void)read_model("/nowhere/m.json"); }},
      {"parse_any_model", [] { (void)parse_any_model("", "m.pomdp"); }},
      {"read_any_model", [] { (void)read_any_model("/nowhere/m.pomdp"); }},
      {"format_of_ending", [] { (void)format_of_ending("m.txt"); }},
      {"write_any_model: ending", [&] { (void)write_any_model("m.txt", model); }},
      {"write_model: folder", [&] { write_model("/nowhere/m.json", model); }},
      {"num_threads", [] { (void)num_threads({-1}); }},
      {"parallel_for: threads", [] { parallel_for(3, {-1}, [](std::size_t) {}); }},
  });
}

TEST(PublicArguments, Beliefs) {
  const Pomdp model = sample_model();
  BeliefFilter filter(model);
  const auto before = std::vector(filter.belief().begin(), filter.belief().end());
  std::vector<double> two(2);
  std::vector<double> three(3);
  const RunStart elsewhere = RunStart::known(State{3});
  const RunStart wrong_reading = RunStart().with({Observation{0}, {}, {1.0}});
  expect_all_refused({
      {"Belief: empty", [] { (void)Belief({}); }},
      {"Belief: NaN",
       [] {
         Belief({kNan, 1});
       }},
      {"Belief: sum",
       [] {
         Belief({0.5, 0.6});
       }},
      {"uniform", [] { (void)Belief::uniform(0); }},
      {"Belief at", [] { (void)Belief::uniform(2)[2]; }},
      {"Belief at, negative", [] { (void)Belief::uniform(2)[-1]; }},
      {"known: negative", [] { (void)RunStart::known(State{-1}); }},
      {"belief: state", [&] { (void)elsewhere.belief(three, three); }},
      {"belief: reading", [&] { (void)wrong_reading.belief(three, three); }},
      {"belief: room", [&] { (void)RunStart().belief(three, two); }},
      {"belief: law", [&] { (void)RunStart::unknown().belief(three, three, two); }},
      {"loaded",
       [] {
         ByteReader in("abc");
         (void)RunStart::loaded(in);
       }},
      {"load_starts",
       [] {
         ByteReader in("abc");
         (void)load_starts(in);
       }},
      {"first_reading", [&] { (void)first_reading(model.sensors(), Observation{4}); }},
      {"BeliefFilter: no dynamics", [&] { (void)BeliefFilter(model.without_transition()); }},
      {"reset: state", [&] { filter.reset(elsewhere); }},
      {"reset: reading", [&] { filter.reset(wrong_reading); }},
      {"reset: size", [&] { filter.reset(Belief::uniform(2)); }},
      {"begin", [&] { filter.begin(Observation{0}); }},
      {"update: action", [&] { filter.update(Action{2}, Observation{0}); }},
      {"update: negative action", [&] { filter.update(Action{-1}, Observation{0}); }},
      {"update: observation", [&] { filter.update(Action{0}, Observation{4}); }},
      {"update: below missing", [&] { filter.update(Action{0}, Observation{-2}); }},
  });
  EXPECT_EQ(before, std::vector(filter.belief().begin(), filter.belief().end()));
}

TEST(PublicArguments, Rows) {
  const Pomdp model = sample_model();
  const Trajectory run = sample_rows(model, 10);
  StoredRows rows;
  rows.add(run);
  ByteWriter before;
  rows.save(before);
  const auto block = [&](const auto& change) {
    RowBlock some(run);
    change(some);
    return some;
  };
  const std::vector<std::size_t> behind = {10};
  const std::vector<std::size_t> falling = {3, 3};
  const std::vector<RunStart> starts(3);
  const std::vector<double> few(7);
  const std::vector<double> wide(20);
  expect_all_refused({
      {"part: behind", [&] { (void)RowBlock(run).part(11, 0); }},
      {"part: too many", [&] { (void)RowBlock(run).part(1, 10); }},
      {"part: wraps", [&] { (void)RowBlock(run).part(5, static_cast<std::size_t>(-2)); }},
      {"validate: columns",
       [&] { block([&](RowBlock& b) { b.observations = b.observations.first(9); }).validate(); }},
      {"validate: runs", [&] { block([&](RowBlock& b) { b.run_starts = behind; }).validate(); }},
      {"add: columns",
       [&] { rows.add(block([&](RowBlock& b) { b.observations = b.observations.first(9); })); }},
      {"add: run behind", [&] { rows.add(block([&](RowBlock& b) { b.run_starts = behind; })); }},
      {"add: runs fall", [&] { rows.add(block([&](RowBlock& b) { b.run_starts = falling; })); }},
      {"add: starts", [&] { rows.add(block([&](RowBlock& b) { b.starts = starts; })); }},
      {"add: readings", [&] { rows.add(block([&](RowBlock& b) { b.readings = few; })); }},
      {"add: another width", [&] { rows.add(block([&](RowBlock& b) { b.readings = wide; })); }},
      {"add: likelihoods", [&] { rows.add(block([&](RowBlock& b) { b.likelihoods = wide; })); }},
      {"fail", [&] { rows.fail(0, "no"); }},
      {"fail_at", [&] { rows.fail_at(-1, "no"); }},
      {"load",
       [&] {
         ByteReader in("abc");
         StoredRows().load(in);
       }},
      {"LogFiles: none", [&] { (void)LogFiles(model, {}); }},
      {"LogFiles: nowhere",
       [&] {
         const std::vector<std::string> paths = {"/nowhere/log.csv"};
         LogFiles files(model, paths);
         RowBlock rows_of_it;
         (void)files.next(rows_of_it);
       }},
  });
  ByteWriter after;
  rows.save(after);
  EXPECT_EQ(before.take(), after.take());
}

}  // namespace
}  // namespace oas
