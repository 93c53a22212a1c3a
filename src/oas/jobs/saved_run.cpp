#include "oas/jobs/detail/saved_run.hpp"

namespace oas::detail {

namespace {

void save_episode(const Episode& episode, ByteWriter& out) {
  for (const std::int64_t value : {episode.start, episode.length, episode.pairs}) out.put(value);
  out.put(episode.flagged_rows);
  for (const double value : {episode.floor, episode.radius, episode.planned_gain,
                             episode.optimistic_gain, episode.planning_seconds}) {
    out.put(value);
  }
  out.put_text(episode.status);
  out.put(episode.failure.has_value());
  if (episode.failure) {
    out.put(episode.failure->kind);
    out.put_text(episode.failure->message);
  }
  out.put(episode.transition.has_value());
  if (!episode.transition) return;
  out.put(episode.transition->num_states());
  out.put(episode.transition->num_actions());
  out.put_all(episode.transition->values());
}

Episode load_episode(ByteReader& in) {
  Episode episode;
  for (std::int64_t* value : {&episode.start, &episode.length, &episode.pairs}) {
    *value = in.get<std::int64_t>();
  }
  episode.flagged_rows = in.get<int>();
  for (double* value : {&episode.floor, &episode.radius, &episode.planned_gain,
                        &episode.optimistic_gain, &episode.planning_seconds}) {
    *value = in.get<double>();
  }
  episode.status = in.get_text();
  if (in.get<bool>()) {
    const auto kind = in.get<Episode::Failure::Kind>();
    episode.failure = Episode::Failure{kind, in.get_text()};
  }
  if (in.get<bool>()) {
    const int states = in.get<int>();
    const int actions = in.get<int>();
    episode.transition.emplace(states, actions, in.get_all<double>());
  }
  return episode;
}

}  // namespace

void save_run(const LearningRun& run, ByteWriter& out) {
  out.put_all(run.checkpoints);
  out.put_all(run.oracle_rewards);
  out.put(run.seconds);
  out.put(static_cast<std::uint64_t>(run.episodes.size()));
  for (const Episode& episode : run.episodes) save_episode(episode, out);
}

LearningRun load_run(const LearningOptions& options, ByteReader& in) {
  LearningRun run;
  run.options = options;
  run.checkpoints = in.get_all<Checkpoint>();
  run.oracle_rewards = in.get_all<double>();
  run.seconds = in.get<double>();
  for (auto left = in.get<std::uint64_t>(); left > 0; --left) {
    run.episodes.push_back(load_episode(in));
  }
  return run;
}

}  // namespace oas::detail
