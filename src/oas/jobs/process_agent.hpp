#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "oas/core/json_text.hpp"
#include "oas/core/rng.hpp"
#include "oas/jobs/learning_run.hpp"
#include "oas/learning/episode.hpp"
#include "oas/model/pomdp.hpp"
#include "oas/model/trajectory.hpp"

namespace oas {

/// Somebody else's agent: a program that is told observations and answers actions, line by line.
struct ProcessAgentOptions {
  std::string command;    ///< for /bin/sh -c
  double timeout = 60.0;  ///< seconds to wait for an answer, above 0 and at most 3600
  /// Called at least ten times a second while the program is waited for; what it throws ends the
  /// run. May be empty.
  std::function<void()> watch;

  /// Throws InvalidArgument naming the field and the value.
  void validate() const;
};

/// Such a program as one agent in one run (docs/reference/benchmark.md, "The protocol"): requests
/// `begin` (the model without its transition, the seed and the length of the run), `act` and
/// `step`, each one line of JSON, each answered by one. What the program does wrong (ends, hangs,
/// answers what is no answer) throws IoError with step and reason. Its policy is
/// what it does, whatever it says of that: it is judged. Copies are the same program, which ends
/// with the last of them.
class ProcessAgent {
 public:
  /// Throws IoError when it does not begin, and as ProcessAgentOptions::validate().
  ProcessAgent(const Pomdp& model, const ProcessAgentOptions& options, const LearningOptions& run);

  void begin(Observation first);
  [[nodiscard]] Choice act(Rng& rng);
  void observe(Observation observation);
  void probabilities(std::span<double> out);
  [[nodiscard]] std::span<const Episode> episodes() const { return {}; }
  /// Programs are not saved: both throw InvalidArgument.
  [[nodiscard]] nlohmann::ordered_json save() const;
  void load(const JsonView& state);

 private:
  struct Program;
  std::shared_ptr<Program> program_;
};

}  // namespace oas
