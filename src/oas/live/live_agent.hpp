#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "oas/live/live_options.hpp"
#include "oas/live/live_warning.hpp"
#include "oas/model/any_model.hpp"

namespace oas {

/// What one call gives: a status as in HTTP and one line of JSON.
struct LiveReply {
  int status = 200;  ///< 400 bad request, 404 unknown, 409 not in order, 413 too long, 503 later
  std::string body;  ///< without line feed

  [[nodiscard]] bool ok() const { return status == 200; }
};

/// An agent for real systems: many units that share their dynamics, each with a belief of its own;
/// all teach one evidence and one plan serves all. It answers calls (docs/reference/live.md):
///
///     LiveAgent agent(model, {.journal = "pumps"});
///     agent.answer(R"({"call":"act","unit":"pump-7","step":0})");
///
/// Every accepted call is in the journal before it is answered, and what the agent is, is a
/// function of model, settings, seed and the journal in its order: made again from the same folder
/// it goes on as if nothing had happened, after kill -9 too. A call that is refused has changed
/// nothing. Plans are made beside the calls, unless LiveOptions::synchronous; the journal says
/// which came into force where.
///
/// Agents that learn from the rows of all units together and those that play a fixed model serve a
/// fleet. The others take one unit, whose actions nobody else may choose, and plan within the call.
///
/// Calls may come from several threads. A step costs O(A O S²), at most 1,024 times that for
/// the first one of a unit under a new plan, or as often as the unit has steps under the first.
class LiveAgent {
 public:
  /// Opens the journal or begins one. Throws InvalidArgument on wrong options, on a model that the
  /// agent cannot play, on a journal of another model, agent or seed, that is damaged or that
  /// another process has open; IoError where the folder cannot be written.
  LiveAgent(AnyModel model, LiveOptions options);
  ~LiveAgent();
  LiveAgent(const LiveAgent&) = delete;
  LiveAgent& operator=(const LiveAgent&) = delete;

  /// One call by name with a JSON object, in which "call" may be left out. Throws nothing.
  [[nodiscard]] LiveReply call(std::string_view call, std::string_view body);
  /// One request {"call":…} in a line of JSON, one answer.
  [[nodiscard]] std::string answer(std::string_view line);
  /// What can be counted, in Prometheus' text format.
  [[nodiscard]] std::string metrics() const;
  /// What whoever runs it should know now: also in the answers of `status` and `health`.
  [[nodiscard]] std::vector<LiveWarning> warnings() const;
  /// What was found at the start and deserves a warning: a torn end, a snapshot that was no use.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace oas
