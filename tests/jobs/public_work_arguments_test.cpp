// What evidence, estimates, calibration, agents and logs make of wrong arguments: InvalidArgument,
// and what was there before is as it was.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "public_arguments.hpp"
#include "support/temporary_directory.hpp"

namespace oas {
namespace {

using test::expect_all_refused;
using test::kInfinite;
using test::kNan;
using test::other_model;
using test::sample_model;
using test::sample_rows;
using test::with;

TEST(PublicArguments, Evidence) {
  const Pomdp model = sample_model();
  const Trajectory run = sample_rows(model);
  Evidence evidence = make_evidence("oas-overlap", model);
  evidence.add(run);
  const TransitionEstimate estimate = evidence.estimate();
  const std::string before = evidence.save();
  const auto add = [&](const auto& change) {
    Trajectory rows = sample_rows(model, 5);
    change(rows);
    evidence.add(rows);
  };
  const auto made = [&](const auto& change) {
    EvidenceOptions options;
    change(options);
    (void)make_evidence("gibbs", model, options);
  };
  const auto asked = [&](const auto& change) {
    EstimateOptions options;
    change(options);
    (void)evidence.estimate(options);
  };
  Evidence elsewhere = make_evidence("oas-overlap", other_model());
  elsewhere.add(sample_rows(other_model()));
  TransitionEstimate foreign = elsewhere.estimate();
  const Evidence likelihood = make_evidence("oas-ml", model);
  const std::vector<std::size_t> in_the_middle = {2};
  const std::vector<RunStart> no_state = {RunStart::known(State{3})};
  RowBlock starts_wrong(run);
  starts_wrong.run_starts = in_the_middle;
  starts_wrong.starts = no_state;
  const std::vector<double> likelihoods(run.size() * 2, 1.0);
  RowBlock narrow(run);
  narrow.likelihoods = likelihoods;
  expect_all_refused({
      {"make_evidence: name", [&] { (void)make_evidence("oas-none", model); }},
      {"make_evidence: setting",
       [&] {
         (void)make_evidence("oas", model, std::vector<Setting>{{"particles", "7"}});
       }},
      {"make_evidence: draws", [&] { made([](auto& o) { o.draws = -5; }); }},
      {"make_evidence: patience", [&] { made([](auto& o) { o.patience = 0; }); }},
      {"make_evidence: concentration", [&] { made([](auto& o) { o.concentration = kNan; }); }},
      {"make_evidence: half-life", [&] { made([](auto& o) { o.forgetting.half_life = kNan; }); }},
      {"make_evidence: particles", [&] { made([](auto& o) { o.particles.particles = -1; }); }},
      {"make_evidence: cells", [&] { made([](auto& o) { o.cells.cells = -1; }); }},
      {"find_estimator", [] { (void)find_estimator(""); }},
      {"add: action", [&] { add([](auto& rows) { rows.actions[3] = Action{2}; }); }},
      {"add: negative", [&] { add([](auto& rows) { rows.actions[3] = Action{-1}; }); }},
      {"add: observation", [&] { add([](auto& r) { r.observations[4] = Observation{4}; }); }},
      {"add: below missing", [&] { add([](auto& r) { r.observations[4] = Observation{-2}; }); }},
      {"add: propensity 0", [&] { add([](auto& rows) { rows.propensities[4] = 0; }); }},
      {"add: propensity NaN", [&] { add([](auto& rows) { rows.propensities[4] = kNan; }); }},
      {"add: propensity 2", [&] { add([](auto& rows) { rows.propensities[4] = 2; }); }},
      {"add: columns", [&] { add([](auto& rows) { rows.observations.pop_back(); }); }},
      {"add: start", [&] { evidence.add(starts_wrong); }},
      {"add: likelihoods", [&] { evidence.add(narrow); }},
      {"add to a run that starts others", [&] { evidence.add(9, starts_wrong); }},
      {"start_run", [&] { evidence.start_run(RunStart::known(State{9})); }},
      {"end_run", [&] { evidence.end_run(77); }},
      {"fresh", [&] { (void)evidence.fresh(-1); }},
      {"merge", [&] { evidence.merge(elsewhere); }},
      {"merge: estimator", [&] { evidence.merge(likelihood); }},
      {"estimate: confidence", [&] { asked([](auto& o) { o.confidence = kNan; }); }},
      {"estimate: confidence 1", [&] { asked([](auto& o) { o.confidence = 1; }); }},
      {"estimate: prior", [&] { asked([](auto& o) { o.prior = -1; }); }},
      {"estimate: passes", [&] { asked([](auto& o) { o.max_passes = 0; }); }},
      {"estimate: seconds", [&] { asked([](auto& o) { o.max_seconds = kNan; }); }},
      {"check", [&] { likelihood.check({}, foreign); }},
      {"resample", [&] { (void)evidence.resample(foreign, {}, {}); }},
      {"resample: resamples", [&] { (void)evidence.resample(estimate, {}, {.resamples = -3}); }},
      {"again: estimate", [&] { (void)evidence.again(evidence, foreign, {}); }},
      {"again: estimator", [&] { (void)evidence.again(likelihood, estimate, {}); }},
      {"again: model", [&] { (void)evidence.again(elsewhere, estimate, {}); }},
      {"read: threads",
       [&] {
         StoredRows rows;
         rows.add(run);
         Evidence(evidence).read(rows, {-1});
       }},
      {"estimate_from_rows",
       [&] {
         const auto open = [](const AnyModel&, const RowsRead&, const LogOptions&) {
           return std::unique_ptr<RowSource>();
         };
         (void)estimate_from_rows(
             model, open, with<Estimation>([](auto& how) { how.rows.known_states = true; }));
       }},
      {"moments", [&] { (void)likelihood.moments(); }},
      {"load: nothing", [&] { evidence.load(""); }},
      {"load: of others", [&] { evidence.load(elsewhere.save()); }},
      {"load: changed",
       [&] {
         std::string bytes = before;
         bytes[bytes.size() / 2] ^= 1;
         evidence.load(bytes);
       }},
      {"estimation_from",
       [&] {
         (void)estimation_from("oas", model, std::vector<Setting>{{"x", ""}});
       }},
      {"estimate_from_logs",
       [&] {
         const std::vector<std::string> paths = {"/nowhere/log.csv"};
         (void)estimate_from_logs(model, paths);
       }},
      {"estimate_from_logs: none", [&] { (void)estimate_from_logs(model, {}); }},
  });
  EXPECT_EQ(evidence.save(), before);
}

TEST(PublicArguments, Estimates) {
  const Pomdp model = sample_model();
  Evidence evidence = make_evidence("oas-overlap", model);
  evidence.add(sample_rows(model));
  const TransitionEstimate estimate = evidence.estimate();
  const auto changed = [&](const auto& change) {
    TransitionEstimate wrong = estimate;
    change(wrong);
    return wrong;
  };
  const std::vector<TransitionEstimate> wrong = {
      changed([](auto& e) { e.transition = TransitionModel(); }),
      changed([](auto& e) { e.transition = other_model().transition(); }),
      changed([](auto& e) { e.standard_error.pop_back(); }),
      changed([](auto& e) { e.lower.clear(); }),
      changed([](auto& e) { e.upper.push_back(1); }),
      changed([](auto& e) { e.visits.pop_back(); }),
      changed([](auto& e) { e.pairs.push_back(1); }),
      changed([](auto& e) {
        e.draws = {1, 2, 3};
      }),
      changed([](auto& e) { e.reward = {1}; }),
      changed([](auto& e) { e.reward_draws = {1}; }),
      changed([](auto& e) { e.row_region.lower = {1}; }),
      changed([](auto& e) {
        e.flagged.push_back({Action{2}, State{0}, ""});
      }),
      changed([](auto& e) {
        e.flagged.push_back({Action{0}, State{-1}, ""});
      }),
  };
  for (const TransitionEstimate& each : wrong) {
    SCOPED_TRACE(&each - wrong.data());
    TransitionEstimate own = each;
    expect_all_refused({
        {"estimate_to_json", [&] { (void)estimate_to_json(model, each); }},
        {"write_estimate", [&] { write_estimate("/nowhere/e.json", model, each); }},
        {"estimated_model", [&] { (void)estimated_model(model, each); }},
        {"drawn_models", [&] { (void)drawn_models(model, each); }},
        {"warn_of_poor_rows", [&] { warn_of_poor_rows(model, own); }},
    });
  }
  expect_all_refused({
      {"drawn_transitions", [&] { (void)drawn_transitions(wrong[7]); }},
      {"without_unseen", [&] { (void)without_unseen(wrong[5]); }},
      {"parse_estimate", [] { (void)parse_estimate("[]", "e.json"); }},
      {"read_estimate", [] { (void)read_estimate("/nowhere/e.json"); }},
      {"parse_undetermined_rows", [] { (void)parse_undetermined_rows("{", "e.json"); }},
      {"parse_undetermined_rewards",
       [&] { (void)parse_undetermined_rewards("{", "e.json", model); }},
  });
}

TEST(PublicArguments, Calibration) {
  const Pomdp model = sample_model();
  const Trajectory run = sample_rows(model);
  SensorCounter counter(model);
  counter.add(run, 0, run.size());
  const SensorCounts counts = counter.finish();
  const auto add = [&](const auto& change) {
    Trajectory rows = run;
    change(rows);
    counter.add(rows, 0, rows.size());
  };
  const auto counted = [&](const auto& change) {
    SensorCounts wrong = counts;
    change(wrong);
    (void)calibrate(wrong, model);
  };
  SensorCounts sum = counts;
  expect_all_refused({
      {"SensorCounts: none", [] { (void)SensorCounts(0, 1, 1); }},
      {"SensorCounts: beyond all", [] { (void)SensorCounts(1 << 22, 1 << 21, 1 << 21); }},
      {"add of other sizes", [&] { sum.add(SensorCounts(3, 1, 8)); }},
      {"at", [&] { (void)sum.at(Action{0}, State{3}, Observation{0}); }},
      {"at: missing", [&] { (void)sum.at(Action{0}, State{0}, kMissing); }},
      {"total", [&] { (void)counts.total(Action{2}, State{0}); }},
      {"add: rows", [&] { counter.add(run, 1, run.size()); }},
      {"add: wraps", [&] { counter.add(run, 2, static_cast<std::size_t>(-1)); }},
      {"add: action", [&] { add([](auto& rows) { rows.actions[9] = Action{2}; }); }},
      {"add: state", [&] { add([](auto& rows) { rows.states[9] = State{3}; }); }},
      {"add: below unknown", [&] { add([](auto& rows) { rows.states[9] = State{-2}; }); }},
      {"add: observation", [&] { add([](auto& r) { r.observations[9] = Observation{4}; }); }},
      {"add: columns", [&] { add([](auto& rows) { rows.observations.pop_back(); }); }},
      {"add: no states", [&] { add([](auto& rows) { rows.states.clear(); }); }},
      {"test_action_dependence",
       [] {
         (void)test_action_dependence(with<SensorCounts>(
             [](auto& c) { c.num_states = c.num_actions = c.num_observations = 3; }));
       }},
      {"calibrate: nothing", [&] { (void)calibrate(SensorCounts(3, 2, 4), model); }},
      {"calibrate: sizes", [&] { counted([](auto& c) { c.values.pop_back(); }); }},
      {"calibrate: negative", [&] { counted([](auto& c) { c.values[0] = -1; }); }},
      {"calibrate: model", [&] { (void)calibrate(counts, other_model()); }},
      {"calibrate: confidence", [&] { (void)calibrate(counts, model, {.confidence = kNan}); }},
      {"calibrate: prior", [&] { (void)calibrate(counts, model, {.prior = kInfinite}); }},
      {"calibrate: draws", [&] { (void)calibrate(counts, model, {.draws = 1}); }},
  });
  EXPECT_EQ(counter.finish().values, counts.values);
}

// Chooses an action that the model does not have.
struct Astray {
  static Choice act(Rng& /*rng*/) { return {Action{2}, 1.0}; }
  static void observe(Observation /*observation*/) {}
};

TEST(PublicArguments, Agents) {
  const Pomdp model = sample_model();
  const RegretOracle oracle(model, {.gap = 1e-2});
  AnyAgent agent = make_agent("uniform", model);
  const std::string before = agent.save().dump();
  std::vector<double> three(3);
  Trajectory out = sample_rows(model, 5);
  const Trajectory kept = out;
  ClosedLoop astray = ClosedLoop::of(model, Astray(), 1);
  ClosedLoop loop(model, {.name = "uniform"}, 1);
  const nlohmann::ordered_json nothing = nlohmann::ordered_json::object();
  LearningRun run;
  run.checkpoints.resize(1);
  const auto played = [](const char* name, std::int64_t steps) {
    return with<LearningOptions>([&](auto& options) {
      options.agent = name;
      options.steps = steps;
    });
  };
  const test::TemporaryDirectory folder;
  const auto live = [&](const auto& change) {
    (void)LiveAgent(model, with<LiveOptions>([&](auto& options) {
                      options.journal = folder.file("journal");
                      change(options);
                    }));
  };
  expect_all_refused({
      {"make_agent: name", [&] { (void)make_agent("best", model); }},
      {"make_agent: setting",
       [&] {
         (void)make_agent("uniform", model, std::vector<Setting>{{"x", "1"}});
       }},
      {"find_agent", [] { (void)find_agent(""); }},
      {"split_agent", [&] { (void)split_agent("uniform-of-none", model); }},
      {"probabilities", [&] { agent.probabilities(three); }},
      {"observe", [&] { agent.observe(Observation{4}); }},
      {"begin", [&] { agent.begin(Observation{9}); }},
      {"reveal: not asked for", [&] { agent.reveal(State{0}); }},
      {"reveal: state", [&] { agent.reveal(State{3}); }},
      {"load", [&] { agent.load(JsonView(nothing, "state.json")); }},
      {"find_policy", [] { (void)find_policy("best"); }},
      {"ClosedLoop: policy", [&] { (void)ClosedLoop(model, {.name = "best"}, 1); }},
      {"ClosedLoop: floor", [&] { (void)ClosedLoop(model, {.min_action_probability = kNan}, 1); }},
      {"ClosedLoop: own",
       [&] { (void)ClosedLoop(model, {.own_transition = other_model().transition()}, 1); }},
      {"ClosedLoop: unknown dynamics",
       [&] { (void)ClosedLoop(model.without_transition(), {.name = "uniform"}, 1); }},
      {"advance: as many steps as there are numbers",
       [&] { loop.advance(static_cast<std::size_t>(-1), out); }},
      {"oracle_gap_for", [&] { (void)oracle_gap_for(model, 0); }},
      {"RegretOracle: gap", [&] { (void)RegretOracle(model, {.gap = kNan}); }},
      {"RegretOracle: floor", [&] { (void)RegretOracle(model, {.floor = kNan, .gap = 1e-2}); }},
      {"learn: agent", [&] { (void)learn(model, oracle, played("best", 5)); }},
      {"learn: steps", [&] { (void)learn(model, oracle, played("uniform", 0)); }},
      {"learn: checkpoints",
       [&] {
         (void)learn(model, oracle, with<LearningOptions>([](auto& o) { o.checkpoints = -1; }));
       }},
      {"learn: oracle", [&] { (void)learn(other_model(), oracle, played("uniform", 5)); }},
      {"end", [] { (void)LearningRun().end(); }},
      {"run_csv_rows", [&] { (void)run_csv_rows(run, oracle); }},
      {"run_to_json", [&] { (void)run_to_json(LearningRun(), model, oracle); }},
      {"LiveAgent: no journal", [&] { live([](auto& o) { o.journal.clear(); }); }},
      {"LiveAgent: agent", [&] { live([](auto& o) { o.agent = "best"; }); }},
      {"LiveAgent: seconds", [&] { live([](auto& o) { o.sync_seconds = kNan; }); }},
  });
  EXPECT_EQ(agent.save().dump(), before);
  EXPECT_EQ(out, kept);
  expect_all_refused({{"advance: an action that is not", [&] { astray.advance(1, out); }}});
}

TEST(PublicArguments, LogWriters) {
  const test::TemporaryDirectory folder;
  const Pomdp model = sample_model();
  const Trajectory run = sample_rows(model, 5);
  const auto written = [&](const auto& change, LogColumns columns = {}) {
    LogWriter writer(folder.file("log.csv"), model, columns);
    Trajectory rows = run;
    change(rows);
    writer.write(rows, 0);
  };
  expect_all_refused({
      {"LogWriter: folder", [&] { (void)LogWriter("/nowhere/log.csv", model, {}); }},
      {"LogWriter: densities",
       [&] { (void)LogWriter(folder.file("l"), ContinuousPomdp(model), {}); }},
      {"write: action", [&] { written([](auto& rows) { rows.actions[0] = Action{2}; }); }},
      {"write: observation", [&] { written([](auto& r) { r.observations[0] = Observation{4}; }); }},
      {"write: state",
       [&] { written([](auto& rows) { rows.states[0] = State{3}; }, {.state = true}); }},
      {"write: propensity",
       [&] { written([](auto& r) { r.propensities[0] = kNan; }, {.propensity = true}); }},
      {"write: reward",
       [&] { written([](auto& r) { r.rewards.assign(5, kInfinite); }, {.reward = true}); }},
      {"write: no such column",
       [&] { written([](auto& rows) { rows.states.clear(); }, {.state = true}); }},
      {"write: columns", [&] { written([](auto& rows) { rows.observations.pop_back(); }); }},
      {"write: another run",
       [&] {
         LogWriter writer(folder.file("log.csv"), model, {});
         writer.write(run, 0);
         writer.write(run, 1);
       }},
      {"commit: no rows", [&] { LogWriter(folder.file("log.csv"), model, {}).commit(); }},
      {"commit: twice",
       [&] {
         LogWriter writer(folder.file("log.csv"), model, {});
         writer.write(run, 0);
         writer.commit();
         writer.commit();
       }},
      {"write: after commit",
       [&] {
         LogWriter writer(folder.file("log.csv"), model, {});
         writer.write(run, 0);
         writer.commit();
         writer.write(run, 0);
       }},
  });
}

}  // namespace
}  // namespace oas
